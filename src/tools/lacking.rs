//! What of a graph cannot run because ops are missing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use crate::attr::{AttrValue, FunctionRef};
use crate::error::shortened;
use crate::formats::{Signature, load_targets};
use crate::graph::{Graph, MissingOps, Node, NodeClass, NodeId, Output};
use crate::proto::MetaGraphDef;
use crate::tools::callees::Callees;
use crate::tools::defaults::some;
use crate::tools::words::count;

/// So many ops are told of, one by one: names like each are looked for, which takes time.
pub(crate) const MOST: usize = 100;

/// A line for each of the first ops that are missing, and one that counts the others.
pub(crate) fn lines(missing: &MissingOps, line: impl Fn(&str, &[String]) -> String) -> Vec<String> {
    let mut lines: Vec<String> = missing.iter().take(MOST).map(|(op, nodes)| line(op, nodes)).collect();
    let more = missing.len() - lines.len();
    if more > 0 {
        lines.push(format!("and {}", count(more, "more op")));
    }
    lines
}

/// Lines that say which signatures of a graph need ops that are missing, and whether its model can be loaded without them;
/// nothing for a graph without signatures.
pub(crate) fn signatures(graph: &Graph, def: &MetaGraphDef, signatures: &BTreeMap<String, Signature>) -> String {
    let lacking = Lacking::of(graph, &[]);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for (name, signature) in signatures {
        let fed: Vec<Output> = signature.inputs.values().filter_map(|input| graph.output(&input.tensor).ok()).collect();
        // What is fed in the place of a placeholder changes nothing of what is lacking.
        let own = fed.iter().any(|output| !graph.is_placeholder(output.node)).then(|| Lacking::of(graph, &fed));
        let needs = own.as_ref().unwrap_or(&lacking).outputs_of(graph, signature, &fed);
        match needs.len() {
            0 => without.push(name.clone()),
            all if all == signature.outputs.len() => with.push(name.clone()),
            _ => with.push(format!("{name} (for {})", some(&needs))),
        }
    }
    let mut text = String::new();
    if !with.is_empty() {
        let _ = writeln!(text, "signatures that need ops that are missing: {}", some(&with));
    }
    if !without.is_empty() {
        let _ = writeln!(text, "signatures that need none of them: {}", some(&without));
    }
    let loading = load_targets(def).unwrap_or_default();
    if loading.iter().filter_map(|name| graph.find(name)).any(|node| lacking.needs(node)) {
        text += "what runs when the model is loaded needs them, too\n";
    }
    if signatures.is_empty() { String::new() } else { text }
}

/// The nodes that need ops which this program lacks.
pub(crate) struct Lacking {
    nodes: HashSet<NodeId>,
    ops: BTreeSet<String>,
}

impl Lacking {
    /// Of a graph in which `fed` is fed. A call needs what its function's results need; a conditional or a loop may never
    /// come to what it lacks.
    pub(crate) fn of(graph: &Graph, fed: &[Output]) -> Lacking {
        if !graph.lacks_ops() {
            return Lacking { nodes: HashSet::new(), ops: BTreeSet::new() };
        }
        let fed: HashSet<Output> = fed.iter().copied().collect();
        let mut known = Callees::default();
        let (mut open, mut ops) = (Vec::new(), BTreeSet::new());
        let mut users: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for id in graph.ids() {
            let node = graph.node(id);
            let lacks = match (node.class, called(node)) {
                (NodeClass::Missing, _) => {
                    ops.insert(node.op_name().into_owned());
                    true
                }
                (_, Some(call)) => {
                    known.any(graph, call, |graph, function| lacked_and_calls(graph, function, &mut ops))
                }
                _ => false,
            };
            if lacks {
                open.push(id);
            }
            let taken = node.inputs.iter().filter(|input| !fed.contains(input)).map(|input| input.node);
            taken.chain(node.control_inputs.iter().copied()).for_each(|from| users.entry(from).or_default().push(id));
        }
        let mut nodes = HashSet::new();
        while let Some(id) = open.pop() {
            if nodes.insert(id) {
                open.extend(users.remove(&id).unwrap_or_default());
            }
        }
        Lacking { nodes, ops }
    }

    /// Whether a node needs one.
    pub(crate) fn needs(&self, node: NodeId) -> bool {
        self.nodes.contains(&node)
    }

    /// The outputs of a signature that need one where `fed` is fed.
    pub(crate) fn outputs_of(&self, graph: &Graph, signature: &Signature, fed: &[Output]) -> Vec<String> {
        let outputs = signature.outputs.iter().filter(|(_, output)| {
            graph.output(&output.tensor).is_ok_and(|output| !fed.contains(&output) && self.needs(output.node))
        });
        outputs.map(|(name, _)| name.clone()).collect()
    }

    /// The line that says what does not run for it.
    pub(crate) fn line(&self, left_out: &[String]) -> String {
        let ops: Vec<String> = self.ops.iter().map(|op| shortened(op).to_string()).collect();
        format!("not run, as it needs what this program lacks ({}): {}\n", some(&ops), some(left_out))
    }
}

/// Whether a function lacks ops by itself, which are added to `ops`, and the functions that it calls.
fn lacked_and_calls(graph: &Graph, function: &FunctionRef, ops: &mut BTreeSet<String>) -> (bool, Vec<FunctionRef>) {
    // What is wrong with a function otherwise, its call says.
    let Ok(body) = graph.function_body(function) else { return (false, Vec::new()) };
    let (mut lacks, mut calls) = (false, Vec::new());
    for id in body.graph.needed(&[], &body.results, &body.targets) {
        let node = body.graph.node(id);
        if node.class == NodeClass::Missing {
            lacks = true;
            ops.insert(node.op_name().into_owned());
        }
        calls.extend(called(node).cloned());
    }
    (lacks, calls)
}

/// The function that a node calls whenever it runs.
fn called(node: &Node) -> Option<&FunctionRef> {
    match node.attrs.get("f") {
        Some(AttrValue::Func(function)) if node.class == NodeClass::Call => Some(function),
        _ => None,
    }
}
