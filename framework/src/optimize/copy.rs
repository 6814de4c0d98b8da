//! Copies of nodes, which take and wait for other nodes than they do.

use crate::attr::AttrValue;
use crate::graph::{GraphPatch, Node, NodeBuilder, NodeId, NodeInput, Operand, Output};

/// Adds a node that computes of these inputs what another one does of its own, with some attrs more. `None` if such a node
/// would not be valid.
pub(super) fn copy<'a>(
    patch: &mut GraphPatch<'_>,
    node: &Node,
    inputs: &[Output],
    controls: &[NodeId],
    more: impl IntoIterator<Item = (&'a str, AttrValue)>,
) -> Option<NodeId> {
    let mut builder = NodeBuilder::new(patch, node.op.def);
    for (argument, range) in node.op.def.inputs.iter().zip(&node.signature.input_ranges) {
        let given = inputs.get(range.clone())?;
        match (argument.is_list(), given) {
            (false, [input]) => builder.operands(NodeInput::Single(Operand::Value(*input))),
            _ => builder.operands(NodeInput::List(given.iter().map(|&input| Operand::Value(input)).collect())),
        };
    }
    for (name, value) in node.attrs.iter().filter(|(name, _)| *name != "_output_shapes") {
        builder.attr(name, value.clone());
    }
    more.into_iter().for_each(|(name, value)| _ = builder.attr(name, value));
    controls.iter().for_each(|&control| _ = builder.control_input(control));
    let new = builder.build().ok()?;
    (patch.node(new).signature.outputs.len() == node.signature.outputs.len()).then_some(new)
}
