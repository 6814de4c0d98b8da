//! Graphs of a line for each node, run on the host and on devices.

use std::sync::Arc;

use kernlink::device::{CpuDevice, Device};
use kernlink::prelude::*;

use super::device::TestDevice;

/// Nodes of a graph in a line each: `name = Op(inputs) @device attr=value ...`. A dtype is a type, and a Const has its
/// values as `values=1,2`, and `shape=2` if it is no scalar.
pub(crate) fn nodes(text: &str) -> String {
    let mut proto = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, rest) = line.split_once(" = ").unwrap();
        let (op, rest) = rest.split_once('(').unwrap();
        let (inputs, rest) = rest.split_once(')').unwrap();
        proto += &format!("node {{ name: \"{name}\" op: \"{op}\" ");
        for input in inputs.split(',').map(str::trim).filter(|input| !input.is_empty()) {
            proto += &format!("input: \"{input}\" ");
        }
        let attr = |key: &str, value: &str| format!("attr {{ key: \"{key}\" value {{ {value} }} }} ");
        let words: Vec<&str> = rest.split_whitespace().collect();
        let find = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
        if let Some(values) = find("values=") {
            let field = match find("dtype=").unwrap() {
                "float" => "float_val",
                "double" => "double_val",
                "int32" => "int_val",
                "string" => "string_val",
                _ => "bool_val",
            };
            let values: String = values.split(',').map(|value| format!("{field}: {value} ")).collect();
            let shape = find("shape=").map(|size| format!("dim {{ size: {size} }}")).unwrap_or_default();
            let dtype = find("dtype=").unwrap().to_uppercase();
            proto += &attr("value", &format!("tensor {{ dtype: DT_{dtype} tensor_shape {{ {shape} }} {values} }}"));
        }
        for word in words {
            if let Some(device) = word.strip_prefix('@') {
                proto += &format!("device: \"{device}\" ");
                continue;
            }
            let (key, value) = word.split_once('=').unwrap();
            let value = match value {
                _ if op == "Const" && matches!(key, "values" | "shape") => continue,
                "float" | "double" | "int32" | "bool" | "string" | "resource" => {
                    format!("type: DT_{}", value.to_uppercase())
                }
                "true" | "false" => format!("b: {value}"),
                "any" => "shape { unknown_rank: true }".to_owned(),
                value if value.starts_with('\'') => format!("s: {value}"),
                value if value.starts_with('&') => format!("func {{ name: \"{}\" }}", &value[1..]),
                value if value.starts_with('[') => {
                    let types = value.trim_matches(['[', ']']).split(',').filter(|word| !word.is_empty());
                    let types: String = types.map(|dtype| format!("type: DT_{} ", dtype.to_uppercase())).collect();
                    format!("list {{ {types} }}")
                }
                value => format!("i: {value}"),
            };
            proto += &attr(key, &value);
        }
        proto += "}\n";
    }
    proto
}

pub(crate) const LIBRARY: &str = r#"library {
    function {
        signature { name: "Below" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "r" type: DT_BOOL } }
        node_def { name: "limit" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
            attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 100 } } } }
        node_def { name: "less" op: "Less" input: "x" input: "limit:output:0" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "less:z:0" }
    }
    function {
        signature { name: "Twice" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "r" type: DT_FLOAT } }
        node_def { name: "twice" op: "AddV2" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "host" op: "OnHost" input: "twice:z:0" }
        node_def { name: "same" op: "Identity" input: "host:y:0" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "same:output:0" }
    }
    function {
        signature { name: "Plus" input_arg { name: "v" type: DT_RESOURCE } input_arg { name: "x" type: DT_FLOAT }
            output_arg { name: "r" type: DT_FLOAT } is_stateful: true }
        node_def { name: "read" op: "ReadVariableOp" input: "v" attr { key: "dtype" value { type: DT_FLOAT } } }
        node_def { name: "sum" op: "AddV2" input: "read:value:0" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "sum:z:0" }
    }
    function {
        signature { name: "More" input_arg { name: "v" type: DT_RESOURCE } input_arg { name: "x" type: DT_FLOAT }
            output_arg { name: "r" type: DT_FLOAT } is_stateful: true }
        node_def { name: "more" op: "AssignAddVariableOp" input: "v" input: "x"
            attr { key: "dtype" value { type: DT_FLOAT } } }
        node_def { name: "read" op: "ReadVariableOp" input: "v" input: "^more"
            attr { key: "dtype" value { type: DT_FLOAT } } }
        ret { key: "r" value: "read:value:0" }
        control_ret { key: "more" value: "more" }
    }
    function {
        signature { name: "Scale" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "r" type: DT_FLOAT } }
        node_def { name: "scales" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value {
            tensor { dtype: DT_FLOAT tensor_shape { dim { size: 4 } } float_val: 1 float_val: 2 float_val: 3 float_val: 4 } } } }
        node_def { name: "scaled" op: "Mul" input: "x" input: "scales:output:0"
            attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "scaled:z:0" }
    }
}
"#;

pub(crate) fn graph_with(text: &str, library: &str) -> Graph {
    let proto = nodes(text) + library + "versions { producer: 2474 }";
    let def = kernlink::proto::graph_from_text(&proto).unwrap();
    Graph::import(&def, &kernlink::registry().unwrap()).unwrap()
}

/// Runs of a graph on the host and on devices, on one thread and on several.
pub(crate) fn on(graph: &Graph, capabilities: &'static [&'static str], check: impl Fn(&Session, &TestDevice)) {
    for threads in [1, 3] {
        let device = TestDevice::new(0, capabilities);
        let host = Arc::new(CpuDevice::new(threads).unwrap());
        let devices: [Arc<dyn Device>; 2] = [host, device.clone()];
        let session = Session::on_devices(graph.clone(), devices, &SessionOptions::new());
        check(&session, &device);
    }
}

pub(crate) fn on_device_alone(text: &str, check: impl Fn(&Session, &TestDevice)) {
    on(&graph_with(text, ""), &[], check);
}

#[track_caller]
pub(crate) fn scalars(tensors: &[Tensor]) -> Vec<f32> {
    tensors.iter().map(|tensor| tensor.to_scalar().unwrap()).collect()
}

pub(crate) fn node_of(error: &Error) -> &str {
    error.node().map_or("", |node| &node.node)
}

pub(crate) fn one() -> (&'static str, Tensor) {
    ("x", Tensor::scalar(1f32))
}
