//! What of a graph cannot run because ops are missing.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::attr::{AttrValue, FunctionRef};
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
        let mut functions = Functions::default();
        let (mut open, mut ops) = (Vec::new(), BTreeSet::new());
        let mut users: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for id in graph.ids() {
            let node = graph.node(id);
            let lacked = functions.lacked(graph, node);
            if !lacked.is_empty() {
                ops.extend(lacked);
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

/// The ops that functions lack, each looked at once.
#[derive(Default)]
struct Functions {
    known: HashMap<String, BTreeSet<String>>,
}

impl Functions {
    /// The ops that a node lacks.
    fn lacked(&mut self, graph: &Graph, node: &Node) -> BTreeSet<String> {
        match (node.class, called(node)) {
            (NodeClass::Missing, _) => BTreeSet::from([node.op_name().into_owned()]),
            (_, Some(call)) => self.of(graph, call),
            _ => BTreeSet::new(),
        }
    }

    /// The ops that a function lacks, with the functions that it calls. Not by recursion: libraries may be chains of
    /// thousands.
    fn of(&mut self, graph: &Graph, call: &FunctionRef) -> BTreeSet<String> {
        if let Some(known) = self.known.get(&call.name) {
            return known.clone();
        }
        let (mut seen, mut open) = (HashSet::from([call.name.clone()]), vec![call.clone()]);
        let mut lacked = BTreeSet::new();
        while let Some(call) = open.pop() {
            if let Some(known) = self.known.get(&call.name) {
                lacked.extend(known.iter().cloned());
                continue;
            }
            // What is wrong with a function otherwise, its call says.
            let Ok(body) = graph.function_body(&call) else { continue };
            for id in body.graph.needed(&[], &body.results, &body.targets) {
                let node = body.graph.node(id);
                if node.class == NodeClass::Missing {
                    lacked.insert(node.op_name().into_owned());
                }
                open.extend(called(node).filter(|call| seen.insert(call.name.clone())).cloned());
            }
        }
        self.known.insert(call.name.clone(), lacked.clone());
        lacked
    }
}

/// The function that a node calls whenever it runs.
fn called(node: &Node) -> Option<&FunctionRef> {
    match node.attrs.get("f") {
        Some(AttrValue::Func(function)) if node.class == NodeClass::Call => Some(function),
        _ => None,
    }
}
