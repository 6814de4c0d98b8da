//! Leaves out nodes that hand their inputs on.

use std::collections::{HashMap, HashSet};

use super::pass::{Ends, Pass};
use crate::error::Result;
use crate::graph::{Graph, GraphPatch, Node, NodeClass, NodeId, Output};
use crate::sort::CompactSort as _;

pub(super) struct ElideIdentities;

impl Pass for ElideIdentities {
    fn name(&self) -> &'static str {
        "elide-identities"
    }

    fn summary(&self) -> &'static str {
        "has the users of Identity and the like take its inputs"
    }

    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool {
        nodes.iter().any(|&id| matches!(graph.node(id).class, NodeClass::Identity | NodeClass::LoopCond))
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        let Identities { used, awaited, .. } = Identities::find(patch, ends);
        for (old, new) in used {
            patch.replace_uses(old, new);
        }
        let changes = awaited.len();
        for (old, new) in awaited {
            patch.redirect_controls(old, &new);
        }
        Ok(changes)
    }
}

/// What is left out, found node by node in the order of the graph.
struct Identities<'g> {
    graph: &'g Graph,
    ends: &'g Ends,
    /// Whether something in the graph may be dead, or in a loop.
    has_flow: bool,
    /// The nodes that others wait for; in a partial run, whoever waits for the run among them.
    waited_for: HashSet<NodeId>,
    /// For each node that was looked at, whether nobody need wait for it: it is there when a run begins.
    is_there: Vec<bool>,
    /// What is used for the outputs of nodes that are left out.
    used: HashMap<Output, Output>,
    /// What is waited for in the place of nodes that are left out.
    awaited: HashMap<NodeId, Vec<NodeId>>,
}

impl<'g> Identities<'g> {
    fn find(graph: &'g Graph, ends: &'g Ends) -> Identities<'g> {
        let awaited = graph.nodes().iter().flat_map(|node| &node.control_inputs);
        let targets = ends.targets().iter().filter(|_| ends.is_partial);
        let mut identities = Identities {
            graph,
            ends,
            has_flow: graph.nodes().iter().any(|node| node.class.is_control_flow()),
            waited_for: awaited.chain(targets).copied().collect(),
            is_there: Vec::with_capacity(graph.nodes().len()),
            used: HashMap::new(),
            awaited: HashMap::new(),
        };
        for id in graph.ids() {
            let is_there = identities.look(id);
            identities.is_there.push(is_there);
        }
        identities
    }

    /// Leaves a node out if nothing is lost; returns whether nobody need wait for it.
    fn look(&mut self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        let waits = !node.control_inputs.iter().all(|control| self.is_there[control.index()]);
        if self.graph.constant(Output { node: id, index: 0 }).is_some() {
            return !waits;
        }
        if node.class.is_placeholder() {
            return !self.ends.is_partial && self.ends.is_fed(Output { node: id, index: 0 });
        }
        if waits || !self.is_dispensable(id, node) {
            return false;
        }
        let inputs: Vec<Output> = node.inputs.iter().map(|&input| self.source(input)).collect();
        let comes_later = |input: &&Output| match self.ends.is_fed(**input) {
            true => self.ends.is_partial,
            false => !self.is_there[input.node.index()],
        };
        let mut awaited: Vec<NodeId> = inputs.iter().filter(comes_later).map(|input| input.node).collect();
        awaited.compact_sort();
        awaited.dedup();
        // Everyone who waits for the node would wait for each of these. TensorFlow leaves out an `If` or `Case` that only control
        // edges lead from.
        let is_call = |id: &NodeId| self.graph.node(*id).class.is_call();
        let is_kept = awaited.len() > 1 || (self.ends.is_written && awaited.iter().any(is_call));
        if is_kept && self.waited_for.contains(&id) {
            return false;
        }
        for (index, &input) in inputs.iter().enumerate() {
            self.used.insert(Output { node: id, index }, input);
        }
        let is_there = awaited.is_empty();
        self.awaited.insert(id, awaited);
        is_there
    }

    /// What is used for an output.
    fn source(&self, output: Output) -> Output {
        self.used.get(&output).copied().unwrap_or(output)
    }

    /// Whether nothing is lost if a node that waits for nothing but its inputs is left out.
    fn is_dispensable(&self, id: NodeId, node: &Node) -> bool {
        let is_identity = match node.class {
            NodeClass::Identity => self.graph.has_standard_kernels(node),
            // What reads a graph knows a loop by it.
            NodeClass::LoopCond => !self.ends.is_written,
            _ => false,
        };
        is_identity
            && !node.inputs.is_empty()
            && node.inputs.len() == node.signature.outputs.len()
            // All outputs are dead if one input is, and all are in the node's loop.
            && (node.inputs.len() == 1 || !self.has_flow)
            && node.inputs.iter().all(|input| input.node < id)
            && !self.ends.feeds_some_of(id)
            && !(self.waited_for.contains(&id) && node.inputs.iter().any(|&input| self.tells_more(self.source(input))))
            && !(self.ends.is_written && self.shows(id, node))
    }

    /// Whether to wait for who takes an output is another thing than to wait for its node: the node is alive where the
    /// output may not be, or leads to another frame or iteration, or the output is a feed that is still to come.
    fn tells_more(&self, output: Output) -> bool {
        if self.ends.is_fed(output) {
            return self.ends.is_partial;
        }
        let class = self.graph.node(output.node).class;
        let leads_away = matches!(class, NodeClass::Enter | NodeClass::Exit | NodeClass::NextIteration);
        class.is_switch() || leads_away
    }

    /// Whether a reader of the graph sees something in a node that Kernlink does not need: when a reference is read, or
    /// where a value is to be.
    fn shows(&self, id: NodeId, node: &Node) -> bool {
        let reads = |input: &Output| {
            let source = self.graph.node(input.node);
            source.device != node.device || source.signature.outputs[input.index].is_ref
        };
        self.ends.holds(id) || node.inputs.iter().any(reads)
    }
}
