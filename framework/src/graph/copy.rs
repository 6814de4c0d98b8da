//! Copies of nodes, which take and wait for other nodes than they do.

use super::colocation::CLASS;
use super::{Node, NodeBuilder, NodeId, NodeInput, OpScope, Operand, Output};
use crate::attr::AttrValue;
use crate::error::{Error, Result};

/// Adds a node that computes of these inputs what another one does of its own, with some attrs more. A copy in the body of a
/// function takes the name `in_body`, asks for the device of the node, and for that of no other node, which need not be there.
///
/// # Errors
/// INVALID_ARGUMENT if such a node would not be valid.
pub(crate) fn copy_node<'a, S: OpScope<Output = Output, Node = NodeId>>(
    scope: &mut S,
    node: &Node,
    in_body: Option<&str>,
    inputs: &[Output],
    controls: &[NodeId],
    more: impl IntoIterator<Item = (&'a str, AttrValue)>,
) -> Result<NodeId> {
    let mut builder = NodeBuilder::new(scope, node.op.def);
    in_body.into_iter().for_each(|name| _ = builder.name(name).device(&node.device));
    for (argument, range) in node.op.def.inputs.iter().zip(&node.signature.input_ranges) {
        let given = inputs.get(range.clone()).ok_or_else(|| Error::internal("a copy lacks an input"))?;
        match (argument.is_list(), given) {
            (false, [input]) => builder.operands(NodeInput::Single(Operand::Value(*input))),
            _ => builder.operands(NodeInput::List(given.iter().map(|&input| Operand::Value(input)).collect())),
        };
    }
    for (name, value) in
        node.attrs.iter().filter(|(name, _)| *name != "_output_shapes" && (in_body.is_none() || *name != CLASS))
    {
        builder.attr(name, value.clone());
    }
    more.into_iter().for_each(|(name, value)| _ = builder.attr(name, value));
    controls.iter().for_each(|&control| _ = builder.control_input(control));
    builder.build()
}
