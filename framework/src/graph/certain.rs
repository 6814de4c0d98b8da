//! What is certain of shapes, whatever is fed.

use super::budget::Budget;
use super::call::unknown;
use super::infer::Scope;
use super::renumber::outputs;
use super::{Graph, Node, NodeClass, NodeId};
use crate::shape::PartialShape;

impl Graph {
    /// For each node, what is certain of its outputs' shapes if nothing is of those of the nodes that are `open`. What
    /// attrs such as `_output_shapes` say does not count. In graphs with loops and switches of TensorFlow 1 little is certain.
    pub(crate) fn certain_shapes(&self, is_open: impl Fn(NodeId, &Node) -> bool) -> Vec<Vec<PartialShape>> {
        let mut graph = self.clone();
        graph.constants = super::Constants::default();
        let open: Vec<bool> = self.ids().map(|id| is_open(id, self.node(id))).collect();
        for (node, &is_open) in graph.nodes.iter_mut().zip(&open) {
            node.attrs.remove("_output_shapes");
            if is_open || node.class.is_control_flow() {
                // Nothing is computed of what it is made of.
                (node.class, node.inputs) = (NodeClass::Placeholder, Vec::new());
            }
        }
        let budget = Budget::new();
        let scope = Scope::root(&budget);
        let mut symbols = graph.next_symbol;
        for id in self.ids() {
            let known = match graph.node(id).class {
                NodeClass::Placeholder => None,
                _ => graph.infer_again(id, &scope, &mut symbols).ok(),
            };
            for (at, output) in outputs(self, id).enumerate() {
                let known = known.as_ref().and_then(|known| known.get(at)).cloned();
                graph.note(output, known.unwrap_or_else(|| unknown(&mut symbols)));
            }
        }
        graph.nodes.into_iter().map(|node| node.output_shapes).collect()
    }
}
