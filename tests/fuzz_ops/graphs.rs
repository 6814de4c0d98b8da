//! Golden cases of several nodes (variables, queues, tables, lists, loops) with other constants and attrs.

use std::collections::BTreeSet;
use std::sync::Arc;

use kernlink::attr::AttrValue;
use kernlink::device::Device;
use kernlink::op::AttrBase;
use kernlink::proto::{self, GraphDef, NodeDef};
use kernlink::registry::Registry;

use crate::run_graph;
use crate::support::random_op::{self, Choices, Outcome};

/// The nodes of an op, and the constants that they take.
fn around(graph: &GraphDef, op: &str) -> Vec<usize> {
    let nodes = graph.node.iter().filter(|node| node.op == op);
    let inputs: BTreeSet<&str> = nodes.flat_map(|node| &node.input).map(|input| source(input)).collect();
    let near = |node: &NodeDef| node.op == op || node.op == "Const" && inputs.contains(node.name.as_str());
    (0..graph.node.len()).filter(|&index| near(&graph.node[index])).collect()
}

/// The node that an input comes from.
fn source(input: &str) -> &str {
    input.trim_start_matches('^').split(':').next().unwrap_or_default()
}

/// Runs a case after one to three changes, only near nodes of op `near` if there is one; `told` hears of the case before it runs.
pub(crate) fn mutate_and_run(
    choices: &mut Choices,
    case: &GraphDef,
    near: Option<&str>,
    registry: &Registry,
    device: &Arc<dyn Device>,
    told: impl FnOnce(&str),
) -> Result<Outcome, String> {
    let mut graph = case.clone();
    let mut changes = graph.node.last().map(|node| node.name.clone()).unwrap_or_default();
    let places = near.map_or_else(|| (0..graph.node.len()).collect(), |op| around(&graph, op));
    for _ in 0..1 + choices.below(3) {
        let index = places[choices.below(places.len())];
        let node = &mut graph.node[index];
        if let Some((attr, value)) = change(choices, node, registry)
            && let Ok(message) = proto::attr_to_proto(&value)
        {
            changes += &format!("\n  {} {attr} = {value}", node.name);
            node.attr.insert(attr, message);
        }
    }
    told(&changes);
    run_graph(&graph, device).map_err(|fault| format!("{changes}\n  {fault}"))
}

/// Another value of a node's attr; of a constant, mostly one with another element or shape.
fn change(choices: &mut Choices, node: &NodeDef, registry: &Registry) -> Option<(String, AttrValue)> {
    if node.op == "Const"
        && let AttrValue::Tensor(mut value) = proto::attr_from_proto(node.attr.get("value")?).ok()?
    {
        if choices.one_in(3) {
            let shape = random_op::random_shape(choices);
            value = random_op::tensor(choices, value.dtype(), shape);
        } else {
            random_op::replace_element(choices, &mut value);
        }
        return Some(("value".to_owned(), AttrValue::Tensor(value)));
    }
    let op = registry.op(&node.op).ok()?.def;
    let attr = op.attrs.get(choices.below(op.attrs.len().max(1)))?;
    // Another dtype mostly does not suit the other nodes.
    if attr.ty.base == AttrBase::Type && !choices.one_in(8) {
        return None;
    }
    Some((attr.name.to_string(), random_op::attr_value(choices, attr, op)))
}
