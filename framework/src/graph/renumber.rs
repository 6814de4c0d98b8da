//! Some of the nodes of a graph, with new numbers.

use std::collections::HashMap;

use super::ids::Epochs;
use super::{Graph, NodeId, Output};
use crate::error::{Error, Result};
use crate::sort::CompactSort as _;

/// Where the nodes of a graph are after it was edited: a [`NodeId`] counts the nodes before it, so that nodes that go,
/// or move behind others, change the ids of the rest. Nodes before the first that goes or moves keep theirs.
#[derive(Clone, Debug, Default)]
pub struct Renumbering {
    /// Of the graph from before.
    pub(super) epochs: Epochs,
    /// For each node from before, where it is.
    pub(super) nodes: Vec<Option<NodeId>>,
    /// What took the place of outputs from before, as ids of the edited graph.
    pub(super) replaced: HashMap<Output, Output>,
    /// What took the place of nodes from before as those that others wait for, as ids of the edited graph.
    pub(super) redirected: HashMap<NodeId, Vec<NodeId>>,
    /// The nodes that were added, each with the node from before whose device it takes.
    pub(super) added: Vec<(NodeId, Option<NodeId>)>,
}

impl Renumbering {
    /// That of a graph in which nothing has changed.
    pub(crate) fn identity(graph: &Graph) -> Renumbering {
        let nodes = graph.ids().map(Some).collect();
        Renumbering { epochs: graph.epochs.clone(), nodes, ..Renumbering::default() }
    }

    /// This one, and then another one of the graph that it led to.
    pub(crate) fn then(&self, next: &Renumbering) -> Renumbering {
        let mut replaced: HashMap<Output, Output> = HashMap::new();
        let mut redirected: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for (before, middle) in &self.replaced {
            replaced.extend(next.used_for(*middle).map(|after| (*before, after)));
        }
        for (before, middle) in &self.redirected {
            redirected.insert(*before, middle.iter().flat_map(|id| next.awaited_for(*id)).collect());
        }
        let before_of: HashMap<NodeId, NodeId> =
            (0..self.nodes.len()).filter_map(|position| Some((self.at(position)?, self.epochs.id(position)))).collect();
        for (middle, after) in &next.replaced {
            if let Some(&node) = before_of.get(&middle.node) {
                replaced.entry(Output { node, index: middle.index }).or_insert(*after);
            }
        }
        for (middle, after) in &next.redirected {
            if let Some(&node) = before_of.get(middle) {
                redirected.entry(node).or_insert_with(|| after.clone());
            }
        }
        let nodes = self.nodes.iter().map(|middle| middle.and_then(|id| next.node(id))).collect();
        Renumbering { epochs: self.epochs.clone(), nodes, replaced, redirected, added: Vec::new() }
    }

    /// Where the node in this place from before is; `None` if it is gone.
    pub(crate) fn at(&self, position: usize) -> Option<NodeId> {
        self.nodes.get(position).copied().flatten()
    }

    /// Where a node from before is; `None` if it is gone, or of another graph.
    pub fn node(&self, before: NodeId) -> Option<NodeId> {
        self.at(before.index()).filter(|_| self.epochs.id(before.index()) == before)
    }

    /// Where an output from before is; `None` if its node is gone.
    pub fn output(&self, before: Output) -> Option<Output> {
        Some(Output { node: self.node(before.node)?, ..before })
    }

    /// What is used where an output from before was: another one if its uses were replaced.
    pub fn used_for(&self, before: Output) -> Option<Output> {
        self.replaced.get(&before).copied().or_else(|| self.output(before))
    }

    /// What is waited for where a node from before was: others if control edges were redirected.
    pub fn awaited_for(&self, before: NodeId) -> Vec<NodeId> {
        match self.redirected.get(&before) {
            Some(nodes) => nodes.clone(),
            None => self.node(before).into_iter().collect(),
        }
    }

    /// The nodes that were added, in order, each with the node from before that it
    /// [stands beside](super::GraphPatch::beside).
    pub fn added(&self) -> &[(NodeId, Option<NodeId>)] {
        &self.added
    }
}

impl Graph {
    /// A graph of these nodes in this order, which has every node before those that use it, and with every node what it
    /// needs. Returns for each node where it is.
    ///
    /// # Errors
    /// INTERNAL if a node is missing.
    pub(crate) fn subgraph(&self, keep: &[NodeId]) -> Result<(Graph, Renumbering)> {
        let mut graph = self.empty_like(self.next_symbol);
        graph.nodes = keep.iter().map(|&id| self.node(id).clone()).collect();
        graph.epochs.begin(0);
        let map = positions(keep, self.nodes.len(), &graph.epochs);
        graph.rename_edges(&map)?;
        for output in keep.iter().flat_map(|&id| outputs(self, id)) {
            let to = Output { node: map[output.node.index()].unwrap_or(output.node), ..output };
            if let Some(shape) = self.links.get(&output) {
                graph.links.insert(to, shape.clone());
            }
            if let Some(held) = self.held.get(&output) {
                graph.held.insert(to, held.clone());
            }
        }
        Ok((graph, Renumbering { epochs: self.epochs.clone(), nodes: map, ..Renumbering::default() }))
    }

    /// Keeps these nodes, in this order; see [`Graph::subgraph`].
    ///
    /// # Errors
    /// INTERNAL if a node that another one needs is missing; the graph is of no use then.
    pub(super) fn retain(&mut self, keep: &[NodeId]) -> Result<Vec<Option<NodeId>>> {
        let stay = keep.iter().enumerate().take_while(|(position, id)| id.index() == *position).count();
        if stay < self.nodes.len() {
            self.epochs.end(stay);
            self.epochs.begin(stay);
        }
        let map = positions(keep, self.nodes.len(), &self.epochs);
        let mut nodes: Vec<_> = std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        self.nodes = keep.iter().filter_map(|id| nodes[id.index()].take()).collect();
        self.rename_edges(&map)?;
        let moved = |output: &Output| Some(Output { node: map[output.node.index()]?, ..*output });
        self.links = self.links.drain().filter_map(|(output, shape)| Some((moved(&output)?, shape))).collect();
        self.held = self.held.drain().filter_map(|(output, held)| Some((moved(&output)?, held))).collect();
        self.by_name.take();
        // Their ids are others now.
        self.superseded.clear();
        self.constants = super::Constants::default();
        Ok(map)
    }

    fn rename_edges(&mut self, map: &[Option<NodeId>]) -> Result<()> {
        let position = |id: NodeId| {
            let position = map.get(id.index()).copied().flatten();
            position.ok_or_else(|| Error::internal("a node was removed that another one needs"))
        };
        for node in &mut self.nodes {
            for input in &mut node.inputs {
                input.node = position(input.node)?;
            }
            for control in &mut node.control_inputs {
                *control = position(*control)?;
            }
            node.control_inputs.compact_sort();
        }
        Ok(())
    }
}

fn positions(keep: &[NodeId], nodes: usize, epochs: &Epochs) -> Vec<Option<NodeId>> {
    let mut map = vec![None; nodes];
    keep.iter().enumerate().for_each(|(position, id)| map[id.index()] = Some(epochs.id(position)));
    map
}

/// The outputs of a node.
pub(super) fn outputs(graph: &Graph, node: NodeId) -> impl Iterator<Item = Output> + use<> {
    (0..graph.node(node).signature.outputs.len()).map(move |index| Output { node, index })
}
