//! The cases that generate.py writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernlink::golden::compare;
use kernlink::graph::NodeClass;
use kernlink::prelude::*;
use kernlink::proto::GraphDef;
use kernlink::registry::Registry;

/// A graph, what is differentiated, and what TensorFlow answers.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) registry: Arc<Registry>,
    pub(super) graph: Graph,
    pub(super) xs: Vec<Output>,
    pub(super) ys: Vec<Output>,
    pub(super) flows: Vec<Output>,
    pub(super) values: Vec<Tensor>,
    pub(super) expected: Vec<Option<Tensor>>,
    /// The `ys`, where their graph is not the one that TensorFlow differentiates.
    pub(super) forward: Vec<Tensor>,
    /// The gradient of the sum of all gradients, where that is known.
    pub(super) second: Option<Vec<Option<Tensor>>>,
}

/// Calls `check` for every case; tells of all that fail.
pub(super) fn each_case(check: impl Fn(&Case) -> Result<(), String>) {
    let registry = kernlink::registry().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gradients/data");
    let files = files(&folder);
    let (mut count, mut failures) = (0, Vec::new());
    for file in files {
        let def = kernlink::proto::read_graph(&file).unwrap();
        let mut by_case: BTreeMap<String, GraphDef> = BTreeMap::new();
        for node in def.node {
            let (name, _) = node.name.split_once('/').unwrap();
            by_case.entry(name.to_owned()).or_default().node.push(node);
        }
        for (name, nodes) in by_case {
            count += 1;
            let def = GraphDef { node: nodes.node, versions: def.versions.clone(), ..GraphDef::default() };
            if let Err(failure) = check(&case(&def, &name, &registry)) {
                failures.push(format!("{name}: {failure}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} cases failed:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 3000, "{count} cases");
}

/// Calls `check` for every case with branches, loops, functions, lists or arrays, a file each, by name.
pub(super) fn each_control_flow_case(check: impl Fn(&Case) -> Result<(), String>) {
    let registry = kernlink::registry().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gradients/data/control_flow");
    let files = files(&folder);
    let failures = files.iter().filter_map(|file| {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let case = case(&kernlink::proto::read_graph(file).unwrap(), name, &registry);
        check(&case).err().map(|failure| format!("{name}: {failure}"))
    });
    let failures: Vec<String> = failures.collect();
    assert!(failures.is_empty(), "{} of {} cases failed:\n{}", failures.len(), files.len(), failures.join("\n"));
    assert!(files.len() > 60, "{} cases", files.len());
}

/// The files of a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

fn case(def: &GraphDef, name: &str, registry: &Arc<Registry>) -> Case {
    let mut graph = Graph::import(def, registry).unwrap();
    graph.raise_loops().unwrap();
    let numbered = |what: &str| -> Vec<Output> {
        let found = (0..).map_while(|k| graph.find(&format!("{name}/{what}/{k}")));
        found.map(|node| Output { node, index: 0 }).collect()
    };
    let (xs, ys, flows) = (numbered("x"), numbered("y"), numbered("flow"));
    let value = |what: &str, k: usize| {
        let node = graph.node(graph.find(&format!("{name}/{what}/{k}"))?);
        assert_eq!(node.class, NodeClass::Constant);
        Some(node.attrs.required::<Tensor>("value").unwrap())
    };
    let values = (0..xs.len()).map(|k| value("value", k).unwrap()).collect();
    let expected = (0..xs.len()).map(|k| value("expected", k)).collect();
    let forward = (0..ys.len()).map_while(|k| value("forward", k)).collect();
    let second: Vec<_> = (0..xs.len()).map(|k| value("second", k)).collect();
    let second = Some(second).filter(|second| second.iter().any(Option::is_some));
    let name = name.to_owned();
    Case { name, registry: registry.clone(), graph: graph.clone(), xs, ys, flows, values, expected, forward, second }
}

/// Whether gradients are those that are expected, within what their dtype holds.
pub(super) fn agree(found: &[Option<Tensor>], expected: &[Option<Tensor>]) -> Result<(), String> {
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        match (found, expected) {
            (None, None) => {}
            (Some(found), Some(expected)) => {
                let tolerance = match expected.dtype() {
                    DataType::Half => (4e-3, 4e-3),
                    DataType::Bfloat16 => (3e-2, 3e-2),
                    DataType::Float | DataType::Complex64 => (2e-5, 2e-5),
                    _ => (1e-12, 1e-12),
                };
                compare(found, expected, Some(tolerance)).map_err(|error| format!("x {k}: {error}"))?;
            }
            (found, expected) => return Err(format!("x {k}: {found:?} instead of {expected:?}")),
        }
    }
    Ok(())
}

/// Rows as a tensor.
pub(super) fn dense<S: OpScope>(
    scope: &mut S,
    values: S::Output,
    indices: S::Output,
    shape: S::Output,
) -> Result<S::Output> {
    let rows = ops::strided_slice(scope, shape, &[0i32][..], &[1i32][..], &[1i32][..]).shrink_axis_mask(1).build()?;
    ops::unsorted_segment_sum(scope, values, indices, rows).build()
}

/// What a graph gives for some outputs.
pub(super) fn run(graph: Graph, feeds: &[(Output, Tensor)], fetches: &[Output]) -> Result<Vec<Tensor>> {
    let feeds: Vec<_> = feeds.iter().map(|(feed, value)| (graph.output_name(*feed), value.clone())).collect();
    let feeds: Vec<_> = feeds.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let fetches: Vec<_> = fetches.iter().map(|&fetch| graph.output_name(fetch)).collect();
    let fetches: Vec<_> = fetches.iter().map(String::as_str).collect();
    if fetches.is_empty() {
        return Ok(Vec::new());
    }
    Session::new(graph)?.run(&feeds, &fetches, &[])
}
