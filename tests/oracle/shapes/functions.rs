//! Graphs that call functions, branch and loop. `functions.py` draws them.

use std::collections::{BTreeMap, BTreeSet};

use kernlink::graph::Graph;
use kernlink::proto::{self, GraphDef, NodeDef};
use kernlink::shape::PartialShape;

use super::{expected, unpack};

/// Whether `ours` says all that `theirs` says, and perhaps more.
fn refines(ours: &PartialShape, theirs: &PartialShape) -> bool {
    match (ours.dims(), theirs.dims()) {
        (_, None) => true,
        (Some(ours), Some(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(ours, theirs)| theirs.is_none() || ours == theirs)
        }
        (None, Some(_)) => false,
    }
}

/// Where values that may differ meet. What is better known of them than in TensorFlow stands in `finer.txt`: a
/// change of it needs a look, for a shape that says more may say what is wrong.
const JOINS: &[&str] = &["If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile", "Merge", "Exit"];

/// TensorFlow assumes that a `While` whose attr `output_shapes` is empty changes no shape; here its body tells.
fn is_assumed(node: &NodeDef) -> bool {
    let has_shapes = node.attr.get("output_shapes").is_some_and(|value| match proto::attr_from_proto(value) {
        Ok(value) => value.list_len() != Some(0),
        Err(_) => true,
    });
    matches!(&*node.op, "While" | "StatelessWhile") && !has_shapes
}

#[test]
fn graphs_with_functions_and_loops_infer_what_tensorflow_infers_or_more() {
    let registry = kernlink::registry().unwrap();
    let file = unpack(include_bytes!("../../shapes/functions.pb.gz"));
    let mut cases: BTreeMap<&str, Vec<NodeDef>> = BTreeMap::new();
    for node in &file.node {
        cases.entry(node.name.split('/').next().unwrap_or_default()).or_default().push(node.clone());
    }
    let mut joins = BTreeSet::new();
    let (mut nodes, mut refused, mut finer, mut different) = (0, 0, 0, Vec::new());
    let unnamed = GraphDef { node: Vec::new(), ..file.clone() };
    for (name, case) in &cases {
        let tested: Vec<_> = case.iter().filter_map(|node| Some((node, expected(node)?))).collect();
        let mut node = case.clone();
        node.iter_mut().for_each(|node| node.attr.retain(|name, _| !matches!(&**name, "_shapes" | "_error")));
        let graph = GraphDef { node, ..unnamed.clone() };
        // What is wrong with a called function refuses the call alone.
        let imported = Graph::import(&graph, &registry);
        let imported = imported.and_then(|graph| match graph.nodes().iter().find_map(|node| node.fault()) {
            Some(fault) => Err(fault.clone()),
            None => Ok(graph),
        });
        let graph = match (imported, tested.iter().find_map(|(_, e)| e.as_ref().err())) {
            (Ok(graph), None) => graph,
            (Err(_), Some(_)) => {
                refused += 1;
                continue;
            }
            (Err(error), None) => {
                different.push(format!("{name}: {error}"));
                continue;
            }
            (Ok(_), Some(error)) => {
                different.push(format!("{name}: TensorFlow refuses it: {error}"));
                continue;
            }
        };
        for (node, theirs) in tested {
            nodes += 1;
            let ours = &graph.node(graph.find(&node.name).expect("the node is there")).output_shapes;
            let theirs = theirs.expect("the graph was not refused");
            let fits = ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| refines(a, b));
            finer += usize::from(*ours != theirs);
            if *ours != theirs && JOINS.contains(&&*node.op) {
                let ours: Vec<String> = ours.iter().map(ToString::to_string).collect();
                joins.insert(format!("{} {}", node.name, ours.join(" ")));
            }
            if !fits && !is_assumed(node) {
                different.push(format!("{}: {ours:?}, not {theirs:?}", node.name));
            }
        }
    }
    println!("{nodes} nodes of {} graphs; {refused} graphs refused; {finer} nodes are better known", cases.len());
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    let known: BTreeSet<String> = include_str!("../../shapes/finer.txt").lines().map(str::to_owned).collect();
    let wrong: Vec<&String> = joins.symmetric_difference(&known).collect();
    assert!(wrong.is_empty(), "finer.txt and what is known differ: {wrong:?}");
    assert!(nodes > 600 && refused > 10, "the data is incomplete: {nodes} nodes, {refused} refused");
}
