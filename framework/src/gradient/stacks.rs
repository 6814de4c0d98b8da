//! Stacks of TensorFlow 1, by which its loops hand values to the loops of their gradients.

use crate::error::{Error, Result, shortened};
use crate::graph::{Graph, NodeClass, NodeId};

/// Refuses gradients of what is popped from a stack to which something is pushed that depends on what they are by: no edge says how
/// one follows from the other, so that they would lack a part. `needed` is what is differentiated, `reached` what depends on what it
/// is differentiated by.
pub(super) fn check(graph: &Graph, needed: &[bool], reached: &[bool]) -> Result<()> {
    let (pushes, pops) = (having(graph, NodeClass::StackPush), having(graph, NodeClass::StackPop));
    let first = |nodes: Vec<NodeId>, marks: &[bool]| nodes.into_iter().find(|id| marks[id.index()]);
    let (Some(pop), Some(push)) = (first(pops, needed), first(pushes, reached)) else { return Ok(()) };
    let name = |id: NodeId| format!("`{}` ({})", shortened(&graph.node(id).name), graph.node(id).op.def.name);
    Err(Error::unimplemented(format!(
        "the way goes through a stack: {} pops from one what {} pushes, and gradients do not go through stacks. Loops of TensorFlow 1 \
         have them together with their gradients: begin with the graph as it was before `tf.gradients`, and add the first gradient to \
         it as well as the second",
        name(pop),
        name(push)
    )))
}

/// The nodes of a class, and those that come to call functions with such nodes.
fn having(graph: &Graph, class: NodeClass) -> Vec<NodeId> {
    let is_one = |op: &str| NodeClass::of(op) == class;
    let is_in_functions = graph.function_names().into_iter().any(|name| graph.function_ops(name).any(is_one));
    let calls_one = |id: NodeId| {
        let node = graph.node(id);
        (node.class.is_call() || matches!(node.class, NodeClass::For | NodeClass::SymbolicGradient))
            && graph.functions_reached(&[id]).iter().any(|name| graph.function_ops(name).any(is_one))
    };
    graph.ids().filter(|&id| graph.node(id).class == class || (is_in_functions && calls_one(id))).collect()
}
