//! Nodes that become others in their place, so that the ids of all stay.

use super::budget::Budget;
use super::build::NodeSpec;
use super::infer::Scope;
use super::remembered::Known;
use super::{Graph, Node, NodeId, Output};
use crate::attr::AttrMap;
use crate::collect::OpEntry;
use crate::error::{Error, Result};

impl Graph {
    /// Gives a node another op and other attrs. It keeps its name, its inputs, what it waits for and its outputs, behind which
    /// there may be more. [`Graph::roll_back`] takes that back.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if such a node would not be valid; INTERNAL if it would not have all outputs that it has now. The
    /// graph is as it was then.
    pub(crate) fn supersede(&mut self, id: NodeId, op: &'static OpEntry, attrs: AttrMap) -> Result<()> {
        let last = self.nodes.len();
        let before = self.node(id).clone();
        let name = self.free_name(&before.name);
        let (inputs, control_inputs, device) =
            (before.inputs.clone(), before.control_inputs.clone(), before.device.clone());
        let added =
            self.add(NodeSpec { name, op, attrs, inputs, control_inputs, device }, &Scope::root(&Budget::new()))?;
        let mut node = self.node(added).clone();
        let mut next_symbol = self.next_symbol;
        let outputs = before.signature.outputs.len();
        let known: Vec<Known> = (outputs..node.signature.outputs.len())
            .map(|index| self.known(Output { node: added, index }, &mut next_symbol))
            .collect();
        self.truncate(last);
        if node.signature.outputs.get(..outputs) != Some(&before.signature.outputs[..]) {
            return Err(Error::internal(format!("`{}` would not have the outputs that it has", before.name)));
        }
        self.next_symbol = next_symbol;
        node.name.clone_from(&before.name);
        node.output_shapes.splice(..outputs, before.output_shapes.iter().cloned());
        self.nodes[id.index()] = node;
        for (index, known) in (outputs..).zip(known) {
            self.note(Output { node: id, index }, known);
        }
        self.constants = super::Constants::default();
        self.superseded.push((id, before));
        Ok(())
    }

    /// The nodes that became others in their places since an earlier clone of the graph was made.
    pub(crate) fn superseded_since(&self, earlier: &Graph) -> impl Iterator<Item = NodeId> + '_ {
        self.superseded.iter().skip(earlier.superseded.len()).map(|(id, _)| *id)
    }

    /// Takes back what became of a node.
    pub(super) fn restore(&mut self, id: NodeId, node: Node) {
        let outputs = node.signature.outputs.len();
        let is_gone = |output: &Output| output.node == id && output.index >= outputs;
        self.links.retain(|output, _| !is_gone(output));
        self.held.retain(|output, _| !is_gone(output));
        self.nodes[id.index()] = node;
        self.constants = super::Constants::default();
    }

    /// Takes over the functions of a graph that had all of this one's and has defined more, and counts unknown dimensions on
    /// from where that graph is.
    pub(crate) fn adopt_functions(&mut self, from: &mut Graph) {
        self.functions = from.functions.take();
        self.next_symbol = self.next_symbol.max(from.next_symbol);
    }
}
