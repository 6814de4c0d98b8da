//! Ops that TensorFlow keeps for old graphs alone: no golden case can hold them, because its graphs are new.

use crate::support::{constant, graph, node};
use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::graph::Graph;
use kernlink::proto::{GraphDef, NodeDef, VersionDef};
use kernlink::runtime::Session;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};

/// The outputs of a node of a graph that a program of version `producer` made.
fn run(producer: i32, nodes: Vec<NodeDef>, fetches: &[&str]) -> Result<Vec<Tensor>> {
    let versions = Some(VersionDef { producer, min_consumer: 0, bad_consumers: Vec::new() });
    let def = GraphDef { versions, ..graph(nodes) };
    Session::new(Graph::import(&def, &kernlink::registry()?)?)?.run(&[], fetches, &[])
}

fn float() -> AttrValue {
    AttrValue::Type(DataType::Float)
}

#[test]
fn top_k_takes_k_as_an_attr() {
    let nodes = |k: i64| {
        let input = Tensor::from_elements([2, 4], &[3.0f32, 9.0, 1.0, 9.0, -1.0, -4.0, -3.0, -2.0]).unwrap();
        let attrs = [("T", float()), ("k", AttrValue::Int(k)), ("sorted", AttrValue::Bool(true))];
        vec![constant("x", input), node("top", "TopK", &["x"], &attrs)]
    };
    let found = run(6, nodes(2), &["top", "top:1"]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [9.0, 9.0, -1.0, -2.0]);
    assert_eq!(found[1].as_slice::<i32>().unwrap(), [1, 3, 0, 3]);
    assert_eq!(run(6, nodes(5), &["top"]).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(run(7, nodes(2), &["top"]).unwrap_err().code(), Code::Unimplemented);
}

#[test]
fn batch_norm_with_global_normalization() {
    let nodes = |scale: bool, channels: usize| {
        let vector = |name: &str, values: [f32; 2]| constant(name, Tensor::vector(&values[..channels]).unwrap());
        let attrs = [
            ("T", float()),
            ("variance_epsilon", AttrValue::Float(0.5)),
            ("scale_after_normalization", AttrValue::Bool(scale)),
        ];
        let input = Tensor::from_elements([1, 1, 2, 2], &[1.0f32, 2.0, 3.0, 4.0]).unwrap();
        vec![
            constant("t", input),
            vector("m", [1.0, -1.0]),
            vector("v", [3.5, 0.5]),
            vector("beta", [10.0, 20.0]),
            vector("gamma", [2.0, -3.0]),
            node("y", "BatchNormWithGlobalNormalization", &["t", "m", "v", "beta", "gamma"], &attrs),
        ]
    };
    let found = run(8, nodes(true, 2), &["y"]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [10.0, 11.0, 12.0, 5.0]);
    let found = run(8, nodes(false, 2), &["y"]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [10.0, 23.0, 11.0, 25.0]);
    assert_eq!(run(8, nodes(true, 1), &["y"]).unwrap_err().code(), Code::InvalidArgument);
}
