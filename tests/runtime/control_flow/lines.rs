//! Graphs that are written as text.

use kernlink::prelude::*;

/// Nodes of a graph in a line each: `name = Op(inputs) attrs`, all of floats but where it says otherwise.
pub(crate) fn lines(text: &str) -> Graph {
    let mut proto = String::from("versions { producer: 2474 }\n");
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, rest) = line.split_once(" = ").unwrap();
        let (op, rest) = rest.split_once('(').unwrap();
        let (inputs, attrs) = rest.split_once(')').unwrap();
        let inputs: Vec<&str> = inputs.split(',').map(str::trim).filter(|input| !input.is_empty()).collect();
        let inputs_text: String = inputs.iter().map(|input| format!("input: \"{input}\" ")).collect();
        let data = inputs.iter().filter(|input| !input.starts_with('^')).count();
        let dtype = match attrs.trim() {
            attrs if attrs.ends_with("bool") => "DT_BOOL",
            attrs if attrs.ends_with("int32") => "DT_INT32",
            attrs if attrs.ends_with("resource") => "DT_RESOURCE",
            _ => "DT_FLOAT",
        };
        let attr = |key: &str, value: String| format!("attr {{ key: \"{key}\" value {{ {value} }} }} ");
        let t = || attr("T", format!("type: {dtype}"));
        let attrs = match op {
            "Placeholder" => attr("dtype", format!("type: {dtype}")),
            "Const" if ["true", "false"].contains(&attrs.trim()) => {
                let tensor = format!("tensor {{ dtype: DT_BOOL tensor_shape {{}} bool_val: {} }}", attrs.trim());
                attr("dtype", "type: DT_BOOL".to_owned()) + &attr("value", tensor)
            }
            "Const" => {
                let tensor = format!("tensor {{ dtype: DT_FLOAT tensor_shape {{}} float_val: {} }}", attrs.trim());
                attr("dtype", "type: DT_FLOAT".to_owned()) + &attr("value", tensor)
            }
            "Enter" => {
                let (frame, constant) = attrs.trim().split_once(' ').unwrap_or((attrs.trim(), ""));
                let is_constant = attr("is_constant", format!("b: {}", constant.starts_with("constant")));
                t() + &attr("frame_name", format!("s: \"{frame}\"")) + &is_constant
            }
            "VarHandleOp" => {
                let shape = attr("shape", "shape { unknown_rank: true }".to_owned());
                attr("dtype", "type: DT_FLOAT".to_owned())
                    + &shape
                    + &attr("shared_name", format!("s: \"{}\"", attrs.trim()))
            }
            "ReadVariableOp" | "AssignVariableOp" | "AssignAddVariableOp" => attr("dtype", format!("type: {dtype}")),
            "IdentityN" => attr("T", format!("list {{ {} }}", format!("type: {dtype} ").repeat(data))),
            "Merge" => t() + &attr("N", format!("i: {data}")),
            "LoopCond" | "NoOp" | "ControlTrigger" | "Slow" | "Picky" | "Noted" => String::new(),
            _ => t(),
        };
        proto += &format!("node {{ name: \"{name}\" op: \"{op}\" {inputs_text} {attrs} }}\n");
    }
    let def = kernlink::proto::graph_from_text(&proto).unwrap();
    Graph::import(&def, &kernlink::registry().unwrap()).unwrap()
}

pub(crate) fn on_threads(graph: &Graph, check: impl Fn(&Session)) {
    for threads in [1, 2] {
        check(&Session::with_options(graph.clone(), &SessionOptions::new().threads(threads)).unwrap());
    }
}

pub(crate) fn scalar(value: f32) -> Tensor {
    Tensor::scalar(value)
}
