//! Copies of nodes, which take and wait for other nodes than they do.

use crate::attr::AttrValue;
use crate::graph::{GraphPatch, Node, NodeId, Output, copy_node};

/// Adds a node that computes of these inputs what another one does of its own, with some attrs more. `None` if such a node
/// would not be valid.
pub(super) fn copy<'a>(
    patch: &mut GraphPatch<'_>,
    node: &Node,
    inputs: &[Output],
    controls: &[NodeId],
    more: impl IntoIterator<Item = (&'a str, AttrValue)>,
) -> Option<NodeId> {
    let new = copy_node(patch, node, None, inputs, controls, more).ok()?;
    (patch.node(new).signature.outputs.len() == node.signature.outputs.len()).then_some(new)
}
