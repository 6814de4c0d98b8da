//! Inference runs on whatever a graph holds, so no attr, shape or constant may bring it down.

use std::collections::HashMap;

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::graph::Graph;
use kernlink::proto::{self, NodeDef, attr_value::Value};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};

use super::{expected, unpack, with_inputs};
use crate::support::Random;

fn extreme(random: &mut Random) -> i64 {
    let values = [i64::MIN, i32::MIN.into(), -2, -1, 0, 1, 2, 3, 255, i32::MAX.into(), 1 << 62, i64::MAX];
    values[random.below(values.len())]
}

/// The same dtype and rank, but any shape and any values; now and then another rank.
fn any_tensor(random: &mut Random, like: &Tensor) -> Result<Tensor> {
    let rank = if random.below(6) == 0 { random.below(3) } else { like.rank() };
    let shape: Vec<usize> = (0..rank).map(|_| random.below(5)).collect();
    let values: Vec<i64> = (0..shape.iter().product()).map(|_| extreme(random)).collect();
    let narrow: Vec<i32> = values.iter().map(|&value| value as i32).collect();
    match like.dtype() {
        DataType::Int32 => Tensor::from_elements(shape, &narrow),
        DataType::Int64 => Tensor::from_elements(shape, &values),
        _ => Ok(like.clone()),
    }
}

/// Changes a node's attrs, but not how many inputs and outputs it has.
fn twist(random: &mut Random, node: &mut NodeDef, counts: &[&str]) {
    for (name, value) in &mut node.attr {
        if random.below(3) > 0 || counts.contains(&name.as_str()) {
            continue;
        }
        match &mut value.value {
            Some(Value::I(value)) => *value = extreme(random),
            Some(Value::List(list)) if !list.i.is_empty() => {
                let length = if random.below(4) == 0 { random.below(10) } else { list.i.len() };
                list.i = (0..length).map(|_| extreme(random)).collect();
            }
            Some(Value::Shape(shape)) => {
                let dims: Vec<i64> = (0..random.below(6)).map(|_| extreme(random).max(-1)).collect();
                if let Ok(dims) = PartialShape::from_dims(&dims) {
                    *shape = proto::shape_to_proto(&dims);
                }
            }
            Some(Value::Tensor(tensor)) => {
                let like = proto::tensor_from_proto(tensor).expect("the tensor is well-formed");
                let other = AttrValue::Tensor(any_tensor(random, &like).expect("shape and elements fit"));
                *value = proto::attr_to_proto(&other).expect("a plain value");
            }
            _ => {}
        }
    }
}

#[test]
fn no_graph_makes_inference_panic() {
    let registry = kernlink::registry().unwrap();
    let file = unpack(include_bytes!("../../shapes/cases.pb.gz"));
    let nodes: HashMap<&str, &NodeDef> = file.node.iter().map(|node| (node.name.as_str(), node)).collect();
    let mut random = Random::new(20);
    let (mut accepted, mut refused) = (0, 0);
    for case in file.node.iter().filter(|node| expected(node).is_some()) {
        let mut graph = with_inputs(case, &nodes, &file.versions);
        for node in &mut graph.node {
            let op = registry.op(&node.op).expect("the op is declared").def;
            let args = op.inputs.iter().chain(op.outputs.iter());
            let counts: Vec<&str> = args.filter_map(|arg| arg.number_attr.as_deref()).collect();
            twist(&mut random, node, &counts);
        }
        match Graph::import(&graph, &registry) {
            Ok(_) => accepted += 1,
            Err(error) => {
                assert_ne!(error.code(), Code::Internal, "{error}\n{graph:?}");
                refused += 1;
            }
        }
    }
    println!("{accepted} graphs are accepted and {refused} refused");
    assert!(accepted > 1000 && refused > 1000);
}
