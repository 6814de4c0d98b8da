//! Chains of functions, each of which calls the next.

use kernlink::attr::{AttrValue, FunctionRef};
use kernlink::dtype::DataType;
use kernlink::proto::{FunctionDef, FunctionDefLibrary, GraphDef, NodeDef, OpDef, op_def::ArgDef};
use kernlink::tensor::Tensor;

use super::{constant, graph, node};

/// `y` is what the first of `length` functions makes of `x`: the last negates it. With `stateful`, each keeps a state as the
/// last does.
pub(crate) fn chain(length: usize, stateful: bool) -> GraphDef {
    let float = || AttrValue::ListType(vec![DataType::Float]);
    let call = |name: &str, input: &str, function: usize| -> NodeDef {
        let function = FunctionRef { name: format!("F{function}"), ..FunctionRef::default() };
        let op = if stateful { "StatefulPartitionedCall" } else { "PartitionedCall" };
        node(name, op, &[input], &[("f", AttrValue::Func(function)), ("Tin", float()), ("Tout", float())])
    };
    let arg = |name: &str| ArgDef { name: name.to_owned(), r#type: DataType::Float.number(), ..ArgDef::default() };
    let functions = (0..length).map(|index| {
        let (mut nodes, result) = match index + 1 < length {
            true => (vec![call("c", "x", index + 1)], "c:output:0"),
            false => (vec![node("n", "Neg", &["x"], &[("T", DataType::Float.into())])], "n:y:0"),
        };
        if stateful {
            nodes.push(node("now", "Timestamp", &[], &[]));
        }
        FunctionDef {
            signature: Some(OpDef {
                name: format!("F{index}"),
                input_arg: vec![arg("x")],
                output_arg: vec![arg("y")],
                is_stateful: stateful,
                ..OpDef::default()
            }),
            node_def: nodes,
            ret: [("y".to_owned(), result.to_owned())].into(),
            ..FunctionDef::default()
        }
    });
    let library = FunctionDefLibrary { function: functions.collect(), gradient: Vec::new() };
    GraphDef { library: Some(library), ..graph([constant("x", Tensor::scalar(2f32)), call("y", "x", 0)]) }
}
