//! Nodes and outputs that a graph is given and that are none of its own: of another graph, of a clone, from before an edit.

use kernlink::graph::FunctionBuilder;
use kernlink::optimize::{Ends, Optimizer};
use kernlink::prelude::*;

const FOREIGN: &str = "belongs to another graph";
const GONE: &str = "is not in the graph, or not any more";

fn new() -> Graph {
    Graph::new(&kernlink::registry().unwrap())
}

/// A graph with `n` placeholders of floats, and the last one.
fn graph(n: usize) -> (Graph, Output) {
    let mut graph = new();
    let last = (0..n).map(|_| ops::placeholder(&mut graph, DataType::Float).build().unwrap()).last().unwrap();
    (graph, last)
}

#[track_caller]
fn refused<T>(result: Result<T>, words: &[&str]) {
    let error = result.err().expect("it should be refused");
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    words.iter().for_each(|words| assert!(error.to_string().contains(words), "no `{words}` in {error}"));
}

#[test]
fn outputs_of_another_graph_connect_to_nothing() {
    let ((mut g, x), (mut other, foreign)) = (graph(2), graph(2));
    assert_eq!(x.node.index(), foreign.node.index(), "nodes that stand in the same place are what is told apart");
    let g = &mut g;
    refused(ops::neg(g, foreign).build(), &["Input 'x' cannot be connected", "this output", FOREIGN, "Neg"]);
    refused(ops::add_v2(g, x, foreign).build(), &["Input 'y' cannot be connected", FOREIGN]);
    refused(ops::add_n(g, [x, foreign]).build(), &["Input 'inputs' cannot be connected", FOREIGN]);
    let waits = ops::neg(g, x).name("waits").control_input(foreign).build();
    refused(waits, &["a control input: this node", FOREIGN, "waits"]);
    refused(ops::cond(g, true, |g| ops::neg(g, foreign).build(), |_| Ok(x)).build(), &[FOREIGN]);
    refused(ops::v1::cond(g, true, |g| ops::neg(g, foreign).build(), |_| Ok(x)).build(), &[FOREIGN]);
    refused(ops::v1::cond(g, true, |_| Ok(foreign), |_| Ok(x)).build(), &[FOREIGN]);
    let takes = FunctionBuilder::new("Takes", [DataType::Float]);
    refused(takes.build(g, |g, [y]| ops::add_v2(g, y, foreign).build()), &["in function `Takes`", FOREIGN]);
    let returns = FunctionBuilder::new("Returns", [DataType::Float]);
    refused(returns.build(g, |_, [_]| Ok(foreign)), &["in function `Returns`: result 0: this output", FOREIGN]);
    // What a function captures is of the graph in which it was built.
    let captures = FunctionBuilder::new("F", [DataType::Float]);
    let captures = captures.build(&mut other, |g, [y]| ops::add_v2(g, y, foreign).build()).unwrap();
    FunctionBuilder::new("F", [DataType::Float; 2]).build(g, |g, [y, z]| ops::add_v2(g, y, z).build()).unwrap();
    assert_eq!(captures.captures(), [foreign]);
    refused(ops::call(g, &captures, [x]).build(), &[FOREIGN]);

    let mut patch = g.patch();
    patch.replace_uses(x, foreign);
    refused(patch.apply(), &["an output that the patch names: this output", FOREIGN]);
    let mut patch = g.patch();
    patch.remove(foreign.node);
    refused(patch.apply(), &["a node that the patch changes: this node", FOREIGN]);
    let optimizer = Optimizer::default();
    for (mut ends, what) in [
        (Ends::new(vec![foreign], vec![x], vec![]), "a feed: this output"),
        (Ends::new(vec![], vec![foreign], vec![]), "a fetch: this output"),
        (Ends::new(vec![], vec![x], vec![foreign.node]), "a target: this node"),
    ] {
        refused(optimizer.optimize(g, &mut ends), &[what, FOREIGN]);
    }
    let session = Session::new(g.clone()).unwrap();
    refused(session.device_of(foreign.node), &[FOREIGN]);
    session.device_of(x.node).unwrap();
    assert_eq!(g.nodes().len(), 2, "what was refused left nothing");
}

#[test]
fn bodies_take_from_their_graph_what_they_use() {
    let (mut g, x) = graph(1);
    let built = FunctionBuilder::new("F", [DataType::Float]).build(&mut g, |g, [y]| {
        let inner = FunctionBuilder::new("G", [DataType::Float; 0]);
        let inner = inner.build(g, |g, []| ops::add_v2(g, x, y).control_input(y).build())?;
        assert_eq!(inner.captures(), [x, y]);
        Ok(ops::call(g, &inner, [x; 0]).build()?[0])
    });
    assert_eq!(built.unwrap().captures(), [x]);
}

#[test]
fn a_clone_has_the_nodes_that_there_were() {
    let (mut g, x) = graph(2);
    let mut clone = g.clone();
    let in_clone = ops::neg(&mut clone, x).name("in_clone").build().unwrap();
    let in_original = ops::abs(&mut g, x).name("in_original").build().unwrap();
    assert_eq!(in_clone.node.index(), in_original.node.index());
    assert!(clone.has(x.node) && clone.has(in_clone.node) && !clone.has(in_original.node) && !g.has(in_clone.node));
    assert_eq!(clone.find("in_clone"), Some(in_clone.node));
    assert_eq!(clone.node(in_clone.node).inputs, [x]);
    refused(ops::neg(&mut g, in_clone).build(), &[FOREIGN]);
    refused(ops::neg(&mut clone, in_original).build(), &[GONE, "a clone has only the nodes"]);
    let of_both = clone.clone();
    assert!(of_both.has(x.node) && of_both.has(in_clone.node));
}

#[test]
fn ids_from_before_an_edit_name_the_nodes_that_did_not_move() {
    let (mut g, x) = graph(1);
    let [a, b] = ["a", "b"].map(|name| ops::neg(&mut g, x).name(name).build().unwrap());
    let mut patch = g.patch();
    patch.remove(a.node);
    let renumbering = patch.apply().unwrap();
    let moved = renumbering.output(b).unwrap();
    assert_eq!((moved.node.index(), renumbering.node(a.node), renumbering.node(x.node)), (1, None, Some(x.node)));
    assert!(g.has(x.node) && g.has(moved.node) && !g.has(a.node) && !g.has(b.node));
    refused(ops::abs(&mut g, a).build(), &[GONE, "its `Renumbering` tells"]);
    ops::abs(&mut g, moved).build().unwrap();
    assert_eq!(renumbering.node(graph(1).1.node), None, "it is of another graph");
}

#[test]
fn nodes_wait_for_outputs_too() {
    let (mut g, x) = graph(1);
    let first = ops::neg(&mut g, x).build().unwrap();
    let then = ops::abs(&mut g, x).control_input(first).build().unwrap();
    assert_eq!(g.node(then.node).control_inputs, [first.node]);
    let chosen = ops::cond(&mut g, true, |_| Ok(x), |_| Ok(x)).control_input(then).build().unwrap();
    assert_eq!(g.node(chosen.node).control_inputs, [then.node]);
}
