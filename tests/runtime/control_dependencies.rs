//! Nodes that are added to wait for others.

use kernlink::prelude::*;

fn names(graph: &Graph, node: NodeId) -> Vec<&str> {
    graph.node(node).control_inputs.iter().map(|&control| graph.node(control).name.as_str()).collect()
}

#[test]
fn what_is_added_waits_itself_or_by_what_it_takes() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    let first = ops::no_op(&mut graph).name("first").build().unwrap();
    let second = ops::no_op(&mut graph).name("second").build().unwrap();
    let added = graph.control_dependencies([first], |graph| {
        let a = ops::neg(graph, x).build()?;
        let b = ops::mul(graph, a, 2.0).build()?;
        // A constant waits for nothing, and what takes only that does.
        let c = ops::neg(graph, 3.0f32).build()?;
        let inner = graph.control_dependencies([second], |graph| {
            let d = ops::add_v2(graph, b, c).build()?;
            let e = ops::exp(graph, d).build()?;
            Ok([d, e, ops::neg(graph, x).build()?])
        })?;
        Ok([vec![a, b, c], inner.to_vec()].concat())
    });
    let added = added.unwrap();
    let waits: Vec<Vec<&str>> = added.iter().map(|output| names(&graph, output.node)).collect();
    let (one, two) = (vec!["first"], vec!["second"]);
    assert_eq!(waits, [one.clone(), vec![], one, two, vec![], vec!["first", "second"]]);
    let is_constant = |node: &&kernlink::graph::Node| &*node.op.def.name == "Const";
    assert!(graph.nodes().iter().filter(is_constant).all(|node| node.control_inputs.is_empty()));
    // Afterwards nothing waits any more, after an error, too.
    let failed = graph.control_dependencies([first], |graph| ops::mat_mul(graph, x, "words").build());
    assert!(failed.is_err());
    let free = ops::neg(&mut graph, x).build().unwrap();
    assert!(graph.node(free.node).control_inputs.is_empty());
}

/// A variable is read before it changes and after that, in each run.
#[test]
fn reads_and_assignments_come_in_the_order_that_was_asked_for() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let counter = ops::var_handle_op(&mut graph, DataType::Int64, [0usize; 0]).shared_name("counter").build().unwrap();
    let init = ops::assign_variable_op(&mut graph, counter, 0i64).name("init").build().unwrap();
    let before = ops::read_variable_op(&mut graph, counter, DataType::Int64).name("before").build().unwrap();
    let change = |graph: &mut Graph| ops::assign_add_variable_op(graph, counter, 1i64).build();
    let change = graph.control_dependencies([before], change).unwrap();
    let read = |graph: &mut Graph| ops::read_variable_op(graph, counter, DataType::Int64).name("after").build();
    graph.control_dependencies([change], read).unwrap();
    // A branch as a whole waits for what was asked for around it.
    let branch = |graph: &mut Graph| {
        let is_true = ops::constant(graph, true)?;
        let one = |graph: &mut Graph| ops::read_variable_op(graph, counter, DataType::Int64).build();
        let other = |graph: &mut Graph| ops::constant(graph, -1i64);
        let chosen = ops::cond(graph, is_true, one, other).build()?;
        ops::identity(graph, chosen).name("branch").build()
    };
    graph.control_dependencies([change], branch).unwrap();
    let init = graph.node(init).name.clone();
    let session = Session::new(graph).unwrap();
    session.run(&[], &[], &[&init]).unwrap();
    for step in 0..50 {
        let found = session.run(&[], &["before", "after", "branch"], &[]).unwrap();
        let found: Vec<i64> = found.iter().map(|value| value.to_scalar().unwrap()).collect();
        assert_eq!(found, [step, step + 1, step + 1]);
    }
}
