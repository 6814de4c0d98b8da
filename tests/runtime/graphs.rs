//! Graphs, and nodes for them.

use kernlink::attr::AttrValue;
use kernlink::graph::{NodeBuilder, Output};
use kernlink::prelude::*;

pub(crate) fn graph() -> Graph {
    Graph::new(&kernlink::registry().unwrap())
}

pub(crate) fn node(graph: &mut Graph, op: &str, name: &str, inputs: &[Output], attrs: &[(&str, AttrValue)]) -> Output {
    let def = graph.registry().op(op).unwrap().def;
    let mut builder = NodeBuilder::new(graph, def);
    builder.name(name);
    inputs.iter().for_each(|&input| _ = builder.input(input));
    attrs.iter().for_each(|(name, value)| _ = builder.attr(name, value.clone()));
    Output { node: builder.build().unwrap(), index: 0 }
}

pub(crate) fn scalar(value: f32) -> Tensor {
    Tensor::scalar(value)
}

/// Nodes that wait at a gate, open it, and fail later.
pub(crate) fn waiting_graph() -> Graph {
    let mut graph = graph();
    let count = node(&mut graph, "Placeholder", "count", &[], &[("dtype", DataType::Int32.into())]);
    node(&mut graph, "WaitAtGate", "wait", &[count], &[]);
    node(&mut graph, "OpenGate", "open", &[], &[]);
    node(&mut graph, "FailLater", "fail", &[], &[("panics", false.into())]);
    node(&mut graph, "FailLater", "panic", &[], &[("panics", true.into())]);
    graph
}

/// A loop that never ends.
pub(crate) fn endless() -> Graph {
    let text = r#"
        node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
               attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 0 } } } }
        node { name: "true" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
               attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: true } } } }
        node { name: "enter" op: "Enter" input: "zero" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "frame_name" value { s: "loop" } } }
        node { name: "always" op: "Enter" input: "true" attr { key: "T" value { type: DT_BOOL } }
               attr { key: "frame_name" value { s: "loop" } } attr { key: "is_constant" value { b: true } } }
        node { name: "merge" op: "Merge" input: "enter" input: "next" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "N" value { i: 2 } } }
        node { name: "switch" op: "Switch" input: "merge" input: "always" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "more" op: "Add" input: "switch:1" input: "switch:1" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "next" op: "NextIteration" input: "more" attr { key: "T" value { type: DT_INT32 } } }
        node { name: "exit" op: "Exit" input: "switch" attr { key: "T" value { type: DT_INT32 } } }
        versions { producer: 2474 }"#;
    let def = kernlink::proto::graph_from_text(text).unwrap();
    Graph::import(&def, &kernlink::registry().unwrap()).unwrap()
}

pub(crate) fn placed(devices: &[(&str, &str)]) -> Graph {
    let mut graph = graph();
    let mut last = node(&mut graph, "Placeholder", "x", &[], &[("dtype", DataType::Float.into())]);
    for (name, device) in devices {
        last = ops::add_v2(&mut graph, last, 1.0f32).name(name).device(device).build().unwrap();
    }
    graph
}
