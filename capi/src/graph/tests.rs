//! Graphs whose changes panic.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kernlink::dtype::DataType;
use kernlink::graph::{FunctionBuilder, NodeBuilder, NodeId, TensorSpec};

use super::*;

fn no_op(graph: &mut Graph, name: &str) -> Result<NodeId> {
    let op = graph.registry().op("NoOp")?.def;
    let mut builder = NodeBuilder::new(graph, op);
    builder.name(name);
    builder.build()
}

/// What C sees of a graph: the names of its operations, which are found by them, and its functions.
fn seen(graph: &CGraph) -> (Vec<String>, Vec<String>) {
    let state = graph.read();
    let mut names = Vec::new();
    while !state.at(names.len()).is_null() {
        // SAFETY: the graph is alive.
        let operation = unsafe { crate::pointer::borrow(state.at(names.len()).cast_const()) }.unwrap();
        assert_eq!(state.graph.find(operation.name_text()), Some(operation.id));
        names.push(operation.name_text().to_owned());
    }
    assert_eq!(names.len(), state.graph.nodes().len());
    (names, state.graph.function_names().into_iter().map(str::to_owned).collect())
}

#[test]
fn a_panic_leaves_a_graph_as_it_was() {
    let graph = CGraph::new().unwrap();
    graph.change(|graph| no_op(graph, "before")).unwrap();
    let panics = |change: fn(&mut Graph) -> Result<()>| {
        assert!(catch_unwind(AssertUnwindSafe(|| graph.change(change))).is_err());
        assert_eq!(seen(&graph), (vec!["before".to_owned()], Vec::new()));
        // Whatever surrounded the nodes that were being added does so no more.
        let added = graph.change(|graph| {
            let added = no_op(graph, "after")?;
            assert!(graph.node(added).control_inputs.is_empty());
            assert_eq!(graph.find("before"), graph.id(0));
            Err::<(), _>(Error::cancelled("only to look"))
        });
        assert_eq!(added.unwrap_err().message(), "only to look");
        assert_eq!(seen(&graph).0, ["before"]);
    };
    panics(|graph| {
        no_op(graph, "half")?;
        panic!("a change")
    });
    panics(|graph| {
        no_op(graph, "half")?;
        let arguments = vec![TensorSpec::new(DataType::Float)];
        graph.trace(arguments, |graph, _| -> Result<Vec<Output>> {
            no_op(graph, "inside")?;
            panic!("a trace")
        })?;
        Ok(())
    });
    panics(|graph| {
        FunctionBuilder::new("first", [DataType::Float]).build(graph, |_, [x]| Ok(x))?;
        FunctionBuilder::new("second", [DataType::Float]).build(graph, |graph, [_]| -> Result<Output> {
            FunctionBuilder::new("nested", [DataType::Float])
                .build(graph, |_, [_]| -> Result<Output> { panic!("a function in a function") })?;
            Err(Error::internal("it is not reached"))
        })?;
        Ok(())
    });
    panics(|graph| {
        graph.control_dependencies(graph.find("before"), |graph| {
            no_op(graph, "half")?;
            panic!("among what waits")
        })
    });
    graph.change(|graph| no_op(graph, "after")).unwrap();
    assert_eq!(seen(&graph).0, ["before", "after"]);
    let found = |name: &CStr| {
        let pointer: *mut TF_Graph = Arc::as_ptr(&graph).cast_mut().cast();
        // SAFETY: the graph is alive.
        unsafe { TF_GraphOperationByName(pointer, name.as_ptr()) }
    };
    assert!(!found(c"before").is_null() && !found(c"after").is_null() && found(c"half").is_null());
}
