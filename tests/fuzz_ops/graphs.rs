//! Golden cases of several nodes (variables, queues, tables, lists, loops) with other constants and attrs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kernlink::attr::AttrValue;
use kernlink::device::Device;
use kernlink::op::AttrBase;
use kernlink::proto::{self, GraphDef, NodeDef};
use kernlink::registry::Registry;

use crate::run_graph;
use crate::support::random_op::{self, Choices, Outcome};

/// The golden cases of a file that are more than one op on constants.
pub(crate) fn cases(file: &GraphDef) -> Vec<GraphDef> {
    let mut by_case: BTreeMap<&str, Vec<NodeDef>> = BTreeMap::new();
    let named = |node: &NodeDef| node.name.split("/actual/").next().map(str::len).filter(|&end| end < node.name.len());
    let names: BTreeSet<&str> = file.node.iter().filter_map(|node| named(node).map(|end| &node.name[..end])).collect();
    for node in &file.node {
        let mut prefix = node.name.as_str();
        while let Some((shorter, _)) = prefix.rsplit_once('/') {
            prefix = shorter;
            if let Some(name) = names.get(prefix) {
                by_case.entry(name).or_default().push(node.clone());
                break;
            }
        }
    }
    let computes = |node: &&NodeDef| {
        let rest = ["/actual/", "/expected/", "/tolerance", "/error"];
        !matches!(node.op.as_str(), "Const" | "PlaceholderWithDefault")
            && !rest.iter().any(|part| node.name.contains(part))
    };
    let graph = |(name, nodes): (&str, Vec<NodeDef>)| {
        (nodes.iter().filter(computes).count() > 1).then(|| GraphDef {
            node: nodes.into_iter().filter(|node| !node.name.starts_with(&format!("{name}/expected/"))).collect(),
            library: file.library.clone(),
            ..GraphDef::default()
        })
    };
    by_case.into_iter().filter_map(graph).collect()
}

/// The golden cases in which each op computes something, by their positions.
pub(crate) fn by_op(cases: &[GraphDef]) -> BTreeMap<String, Vec<usize>> {
    let mut by_op: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        for node in &case.node {
            let known = by_op.entry(node.op.clone()).or_default();
            if known.last() != Some(&index) {
                known.push(index);
            }
        }
    }
    by_op
}

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
