//! What of a graph cannot run because ops are missing.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::attr::{AttrValue, FunctionRef};
use crate::cli::callees::Callees;
use crate::cli::defaults::some;
use crate::error::shortened;
use crate::graph::{Graph, Node, NodeClass, NodeId, Output};

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
