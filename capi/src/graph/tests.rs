//! Graphs whose changes panic, and operations that change.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kernlink::attr::FunctionRef;
use kernlink::dtype::DataType;
use kernlink::gradient::Gradients;
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

/// A gradient has a `SymbolicGradient` become a call.
#[test]
fn an_operation_tells_the_op_that_it_has() {
    let graph = CGraph::new().unwrap();
    let (x, gradient) = graph
        .change(|graph| {
            FunctionBuilder::new("Squares", [DataType::Float])
                .build(graph, |graph, [x]| kernlink::ops::mul(graph, x, x).build())?;
            let placeholder = graph.registry().op("Placeholder")?.def;
            let mut builder = NodeBuilder::new(graph, placeholder);
            builder.attr("dtype", DataType::Float).name("x");
            let x = builder.build_output()?;
            let op = graph.registry().op("SymbolicGradient")?.def;
            let function = FunctionRef { name: "Squares".to_owned(), ..FunctionRef::default() };
            let mut builder = NodeBuilder::new(graph, op);
            builder.input_list([x, x]).attr("f", function).attr("Tout", vec![DataType::Float]);
            Ok((x, builder.build_output()?))
        })
        .unwrap();
    let operation = graph.read().operation(gradient.node);
    // SAFETY: the graph is alive.
    let told = || unsafe { TF_OperationOpType(operation) };
    // SAFETY: the text stays as long as the graph.
    let text = |told: *const c_char| unsafe { CStr::from_ptr(told) }.to_str().unwrap();
    let before = told();
    assert_eq!(text(before), "SymbolicGradient");
    assert_eq!(told(), before, "one text is told once");
    graph.change(|graph| Gradients::of([gradient]).with_respect_to([x]).add_to(graph)).unwrap();
    let after = told();
    let state = graph.read();
    assert_eq!(text(after), state.graph.node(gradient.node).op_name());
    assert_eq!((text(before), text(after)), ("SymbolicGradient", "PartitionedCall"));
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
