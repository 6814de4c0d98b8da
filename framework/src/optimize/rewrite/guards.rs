//! What every match must keep to, so that no rewrite need ask: nobody sees anything inside of it, and what takes its place
//! runs where it ran, with kernels that are there.

use std::collections::{HashMap, HashSet};

use super::def::RewriteDef;
use super::matching::Bound;
use super::view::State;
use crate::attr::AttrValue;
use crate::device::DeviceType;
use crate::graph::{Graph, Node, NodeId, Output, colocated};
use crate::kernel::Provider;
use crate::op::OpDef;
use crate::optimize::pass::Ends;
use crate::sort::CompactSort as _;

/// What was found out of ops, which many nodes have.
#[derive(Default)]
pub(super) struct Known {
    /// Whether all kernels of an op are standard ones or of a provider.
    trusted: HashMap<(*const OpDef, *const Provider), bool>,
}

/// Whether a match may be rewritten.
pub(super) fn allow(
    graph: &Graph,
    state: &State,
    ends: &Ends,
    def: &RewriteDef,
    bound: &Bound,
    known: &mut Known,
) -> bool {
    let Some(root) = bound.nodes().next() else { return false };
    let first = graph.node(root);
    let together = |node: &Node| node.device == first.device && colocated(node).eq(colocated(first));
    bound.nodes().all(|id| {
        let node = graph.node(id);
        is_plain(node)
            && !ends.feeds_some_of(id)
            && together(node)
            && (id == root || is_inside(graph, state, ends, def, bound, id))
            && is_trusted(graph, ends, node, def, known)
    })
}

/// Whether a node is of a kind that can be rewritten.
fn is_plain(node: &Node) -> bool {
    !node.op.def.is_stateful
        && !node.class.is_control_flow()
        && !node.class.is_call()
        && !node.class.is_placeholder()
        && node.signature.inputs.iter().chain(&node.signature.outputs).all(|slot| !slot.is_ref)
}

/// Whether nobody outside of a match sees one of its nodes, which is not the root.
fn is_inside(graph: &Graph, state: &State, ends: &Ends, def: &RewriteDef, bound: &Bound, id: NodeId) -> bool {
    if !graph.node(id).control_inputs.is_empty() {
        return false;
    }
    if def.is_shared {
        return true;
    }
    let inner = bound.nodes().flat_map(|user| &graph.node(user).inputs);
    let inner = inner.filter(|&&input| state.used_for(input).node == id).count();
    !ends.holds(id) && state.waits(id) == 0 && state.all_uses(id) as usize == inner
}

/// Whether every kernel that may run a node is a standard one, or one of the crate of the rewrite, which declares the op, too:
/// a user's own may do more than its op says.
fn is_trusted(graph: &Graph, ends: &Ends, node: &Node, def: &RewriteDef, known: &mut Known) -> bool {
    let find = || {
        let label = match node.attrs.get("_kernel") {
            Some(AttrValue::String(label)) => label.as_bytes(),
            _ => &[],
        };
        let may_run = |device: DeviceType| {
            ends.devices.is_empty() || device.0 == "DEFAULT" || ends.devices.iter().any(|(other, _)| *other == device)
        };
        let kernels = graph.registry().kernels_of(&node.op.def.name);
        let mut kernels = kernels.iter().filter(|kernel| kernel.label.as_bytes() == label && may_run(kernel.device));
        let is_own = |provider: &Provider| node.op.provider.is_with(def.provider) && provider.is_with(def.provider);
        kernels.all(|kernel| graph.is_standard_kernel(kernel) || is_own(kernel.provider))
    };
    match node.attrs.get("_kernel") {
        Some(_) => find(),
        None => *known.trusted.entry((node.op.def, def.provider)).or_insert_with(find),
    }
}

/// The outputs that a match takes from outside.
pub(super) fn leaves(graph: &Graph, state: &State, bound: &Bound) -> Vec<Output> {
    let matched: HashSet<NodeId> = bound.nodes().collect();
    let inputs = matched.iter().flat_map(|&id| &graph.node(id).inputs).map(|&input| state.used_for(input));
    let mut leaves: Vec<Output> = inputs.filter(|input| !matched.contains(&input.node)).collect();
    leaves.compact_sort();
    leaves.dedup();
    leaves
}

/// Whether what takes the place of a match depends on all that the match depends on, but for what may be left out: what is
/// dead makes it dead, and what has effects runs. `added` is the first node that was added for it.
pub(super) fn keeps_needs(
    graph: &Graph,
    state: &State,
    ends: &Ends,
    leaves: &[Output],
    outputs: &[Output],
    added: usize,
) -> bool {
    let mut seen: HashSet<Output> = outputs.iter().copied().collect();
    let mut open: Vec<Output> = outputs.to_vec();
    while let Some(output) = open.pop() {
        if output.node.index() >= added {
            let inputs = graph.node(output.node).inputs.iter();
            open.extend(inputs.filter(|input| seen.insert(**input)).copied());
        }
    }
    // Each output that stands for a part of the root must depend on all, as each output of the root does.
    leaves.iter().all(|leaf| seen.contains(leaf) || state.is_dispensable(*leaf, ends))
}

/// Whether the node of an output may be waited for in the place of the node that the output replaces: a node may be alive
/// where its output is not, or lead to another frame.
pub(super) fn may_be_awaited(graph: &Graph, ends: &Ends, output: Output) -> bool {
    let class = graph.node(output.node).class;
    !ends.is_fed(output) && !class.is_control_flow()
}

/// Whether the shape of an output does not contradict that of another one, and the dtype is the same.
pub(super) fn fits(graph: &Graph, old: Output, new: Output) -> bool {
    let slot = |output: Output| graph.get(output.node)?.signature.outputs.get(output.index);
    match (slot(old), slot(new)) {
        (Some(old_slot), Some(new_slot)) => {
            old_slot.dtype == new_slot.dtype && !new_slot.is_ref && graph.shape(old).is_compatible(graph.shape(new))
        }
        _ => false,
    }
}
