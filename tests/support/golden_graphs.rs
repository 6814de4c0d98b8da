//! Golden cases of several nodes, each as a graph of its own.

use std::collections::{BTreeMap, BTreeSet};

use kernlink::graph::called_functions;
use kernlink::proto::{GraphDef, NodeDef};

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
            library: file.library.as_ref().map(|library| called_functions(library, &nodes)),
            node: nodes.into_iter().filter(|node| !node.name.starts_with(&format!("{name}/expected/"))).collect(),
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
