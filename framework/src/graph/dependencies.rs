//! Adding nodes that wait for others: TensorFlow's `control_dependencies`.

use super::build::NodeSpec;
use super::context::Dependencies;
use super::{Graph, NodeClass, NodeId};
use crate::error::Result;

impl Graph {
    /// Adds nodes that all run after some others: what `build` adds waits for them, itself or by what it takes. Constants do
    /// not, as nobody could tell. Calls nest.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn control_dependencies<R>(
        &mut self,
        nodes: impl IntoIterator<Item = impl Into<NodeId>>,
        build: impl FnOnce(&mut Graph) -> Result<R>,
    ) -> Result<R> {
        let nodes = nodes.into_iter().map(Into::into).collect();
        let depth = self.dependencies.len();
        self.dependencies.push(Dependencies { first: self.nodes.len(), nodes });
        self.restored(build, |graph, _| graph.dependencies.truncate(depth)).0
    }

    /// Has a node wait for what it must, unless a node that it takes or waits for does so already.
    pub(super) fn depend(&self, spec: &mut NodeSpec) {
        let is_constant = spec.inputs.is_empty() && NodeClass::of(&spec.op.def.name) == NodeClass::Constant;
        if is_constant {
            return;
        }
        let is_added_and_waits = |node: NodeId, first: usize| {
            node.index() >= first && self.get(node).is_some_and(|node| node.class != NodeClass::Constant)
        };
        let own = spec.control_inputs.len();
        for Dependencies { first, nodes } in &self.dependencies {
            let mut before =
                spec.inputs.iter().map(|input| input.node).chain(spec.control_inputs[..own].iter().copied());
            if !before.any(|node| is_added_and_waits(node, *first)) {
                spec.control_inputs.extend(nodes);
            }
        }
    }
}
