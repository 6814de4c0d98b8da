//! Constants in loops and branches. They wait for a node of theirs, so that they are dead where it is dead. Where all
//! that uses a constant is dead then anyway, it need not wait, and costs nothing.

use std::collections::HashSet;

use super::liveness::{FEW, Liveness};
use super::pass::{Ends, Pass};
use crate::error::Result;
use crate::graph::{Graph, GraphPatch, NodeClass, NodeId, Output};
use crate::sort::CompactSort as _;

pub(super) struct FreeConstants;

impl Pass for FreeConstants {
    fn name(&self) -> &'static str {
        "free-constants"
    }

    fn summary(&self) -> &'static str {
        "has constants in loops and branches wait for nothing where their users wait themselves"
    }

    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool {
        nodes.iter().any(|&id| waits(graph, id))
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        let needed = patch.needed(ends.feeds(), ends.fetches(), ends.targets());
        let mut free: Vec<NodeId> = free(patch, &needed, ends).into_iter().collect();
        free.compact_sort();
        free.iter().for_each(|&id| _ = patch.set_control_inputs(id, Vec::new()));
        Ok(free.len())
    }

    /// TensorFlow wants an `Enter` where a constant comes into a loop.
    fn is_portable(&self) -> bool {
        false
    }
}

/// Whether a node is a constant that waits for something.
fn waits(graph: &Graph, id: NodeId) -> bool {
    !graph.node(id).control_inputs.is_empty() && graph.constant(Output { node: id, index: 0 }).is_some()
}

/// The constants that need not wait. Those that wait for many nodes go on waiting, so that the work is linear.
fn free(graph: &Graph, needed: &[NodeId], ends: &Ends) -> HashSet<NodeId> {
    let is_constant = |id: NodeId| graph.constant(Output { node: id, index: 0 }).is_some();
    let mut candidates: HashSet<NodeId> =
        needed.iter().copied().filter(|&id| waits(graph, id) && !ends.holds(id)).collect();
    candidates.retain(|&id| graph.node(id).control_inputs.len() <= FEW);
    if candidates.is_empty() {
        return candidates;
    }
    let liveness = Liveness::find(graph, needed, ends);
    // All users of a constant must be dead with it, without looking at the constant itself.
    for &id in needed {
        let node = graph.node(id);
        node.control_inputs.iter().for_each(|control| _ = candidates.remove(control));
        let used: HashSet<NodeId> =
            node.inputs.iter().map(|input| input.node).filter(|n| candidates.contains(n)).collect();
        if used.is_empty() {
            continue;
        }
        let given = liveness.without(node, is_constant);
        let decides = node.class.is_switch() || matches!(node.class, NodeClass::Merge | NodeClass::ControlTrigger);
        for constant in used {
            let mut asked = graph.node(constant).control_inputs.iter();
            if decides || !asked.all(|&control| liveness.is_implied(control, &given)) {
                candidates.remove(&constant);
            }
        }
    }
    candidates
}
