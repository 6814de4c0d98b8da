//! Computes nodes whose inputs are constants once, before the run.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::liveness::is_constant_enter;
use super::pass::{Ends, Pass};
use super::purity::{Purity, has_effects, outputs};
use crate::error::Result;
use crate::graph::{Graph, GraphPatch, Node, NodeBuilder, NodeId, Output, created};
use crate::shape::PartialShape;
use crate::sort::CompactSort as _;
use crate::tensor::Tensor;

pub(super) struct FoldConstants;

impl Pass for FoldConstants {
    fn name(&self) -> &'static str {
        "fold-constants"
    }

    fn summary(&self) -> &'static str {
        "computes nodes of constants once, before the run"
    }

    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool {
        let is_constant = |input: &Output| graph.constant(*input).or_else(|| entering(graph, *input)).is_some();
        let mut purity = Purity::default();
        nodes.iter().any(|&id| {
            let node = graph.node(id);
            !node.inputs.is_empty() && node.inputs.iter().all(is_constant) && may_fold(graph, id, &mut purity)
        })
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        let folded = Folded::find(patch, ends);
        let mut constants = HashMap::new();
        for id in folded.seen(patch, ends) {
            if let Some(constant) = replace(patch, ends, id, &folded, &constants) {
                constants.insert(id, constant);
            }
        }
        Ok(constants.len())
    }
}

/// By how much the results of one node may be larger than its inputs, in bytes.
pub(super) const MAX_GROWTH: usize = 4 << 20;

/// By how much all results together may be larger than what they are computed from, in bytes. What several results are
/// computed from counts once: else it would double with each node that takes it twice.
pub(super) const MAX_TOTAL_GROWTH: usize = 64 << 20;

/// What is stored by others, such as in variables, is made anew for them if it has more bytes.
const MAX_STORED: usize = 1 << 12;

/// What waits for more nodes is not folded: each constant waits for all that the constants behind it wait for, so that the
/// work would not be linear.
const FEW: usize = 8;

/// What is waited for where a constant is in a branch or loop.
type Waits = SmallVec<[NodeId; 2]>;

/// The nodes that are computed, and what all constants are.
#[derive(Default)]
struct Folded {
    values: HashMap<Output, Tensor>,
    /// For each node with values.
    waits: HashMap<NodeId, Waits>,
    nodes: Vec<NodeId>,
    /// How many bytes of each value no result stands for yet.
    unspent: HashMap<Output, usize>,
}

impl Folded {
    fn find(graph: &Graph, ends: &Ends) -> Folded {
        let mut folded = Folded::default();
        let (mut growth, mut purity) = (0, Purity::default());
        for id in graph.ids() {
            let node = graph.node(id);
            let output = Output { node: id, index: 0 };
            if let Some(value) = graph.constant(output) {
                if node.control_inputs.len() <= FEW {
                    folded.insert(output, value.clone());
                    folded.waits.insert(id, node.control_inputs.iter().copied().collect());
                }
                continue;
            }
            if let Some(value) = entering(graph, output).filter(|_| !ends.is_fed(node.inputs[0])) {
                // No result stands for it: the constant outside of the loop stays.
                folded.values.insert(output, value.clone());
                folded.waits.insert(id, [id].into_iter().collect());
                continue;
            }
            let is_known = |input: &Output| folded.values.contains_key(input) && !ends.is_fed(*input);
            if node.inputs.is_empty() || !node.inputs.iter().all(is_known) || ends.feeds_some_of(id) {
                continue;
            }
            let Some(waits) = folded.waits_of(node).filter(|_| may_fold(graph, id, &mut purity)) else { continue };
            let inputs: Vec<Option<Tensor>> =
                node.inputs.iter().map(|input| folded.values.get(input).cloned()).collect();
            let mut distinct = node.inputs.clone();
            distinct.compact_sort();
            distinct.dedup();
            let given: usize =
                distinct.iter().filter_map(|input| folded.values.get(input)).map(Tensor::num_bytes).sum();
            let unspent: usize = distinct.iter().filter_map(|input| folded.unspent.get(input)).sum();
            // What several results are made of is there once: all but the first are new.
            let fits_in = |bytes: usize| {
                let total = growth + bytes.saturating_sub(unspent);
                bytes <= given.saturating_add(MAX_GROWTH) && total <= MAX_TOTAL_GROWTH
            };
            if !sizes(node).is_some_and(fits_in) {
                continue;
            }
            // One that fails stays, and the run says why.
            let Some(values) = graph.compute(node, inputs) else { continue };
            let fits = |(output, value): (Output, &Option<Tensor>)| {
                let slot = &node.signature.outputs[output.index];
                value.as_ref().is_some_and(|value| {
                    value.dtype() == slot.dtype && PartialShape::from(value.shape()).is_compatible(graph.shape(output))
                })
            };
            let bytes: usize = values.iter().flatten().map(Tensor::num_bytes).sum();
            if !outputs(graph, id).zip(&values).all(fits) || !fits_in(bytes) {
                continue;
            }
            growth += bytes.saturating_sub(unspent);
            folded.spend(&distinct, bytes);
            for (output, value) in outputs(graph, id).zip(values) {
                value.into_iter().for_each(|value| folded.insert(output, value));
            }
            folded.waits.insert(id, waits);
            folded.nodes.push(id);
        }
        folded
    }

    fn insert(&mut self, output: Output, value: Tensor) {
        self.unspent.insert(output, value.num_bytes());
        self.values.insert(output, value);
    }

    /// Notes that a result of so many bytes stands for as much of what it is computed from.
    fn spend(&mut self, inputs: &[Output], mut bytes: usize) {
        for input in inputs {
            if let Some(unspent) = self.unspent.get_mut(input) {
                let spent = bytes.min(*unspent);
                *unspent -= spent;
                bytes -= spent;
            }
        }
    }

    /// What a node waits for itself or through its inputs; `None` for too many.
    fn waits_of(&self, node: &Node) -> Option<Waits> {
        let mut waits: Waits = SmallVec::new();
        let given = node.inputs.iter().filter_map(|input| self.waits.get(&input.node)).flatten();
        for &wait in given.chain(&node.control_inputs) {
            if !waits.contains(&wait) {
                waits.push(wait);
            }
            if waits.len() > FEW {
                return None;
            }
        }
        Some(waits)
    }

    /// The nodes that were computed and of which others take something, or that are seen from outside.
    fn seen(&self, graph: &Graph, ends: &Ends) -> Vec<NodeId> {
        let own: HashSet<NodeId> = self.nodes.iter().copied().collect();
        let others = graph.ids().filter(|id| !own.contains(id)).map(|id| graph.node(id));
        let (mut taken, mut stored) = (HashSet::new(), HashSet::new());
        for node in others {
            taken.extend(node.inputs.iter().map(|input| input.node).chain(node.control_inputs.iter().copied()));
            if has_effects(graph, node) || node.signature.inputs.iter().any(|slot| slot.is_ref) {
                stored.extend(node.inputs.iter().filter(|input| self.is_large(**input)).map(|input| input.node));
            }
        }
        // What folded nodes wait for themselves, the constants in their places wait for.
        taken.extend(self.nodes.iter().filter_map(|id| self.waits.get(id)).flatten());
        let is_seen = |id: &NodeId| (taken.contains(id) || ends.holds(*id)) && !stored.contains(id);
        self.nodes.iter().copied().filter(is_seen).collect()
    }

    /// Whether a value would better not be there twice: in the plan, and in the variable that begins with it and changes.
    fn is_large(&self, output: Output) -> bool {
        self.values.get(&output).is_some_and(|value| value.num_bytes() > MAX_STORED)
    }
}

/// The constant that a node brings into all iterations of a loop. What is made of it is a constant in the loop that waits for
/// the node.
fn entering(graph: &Graph, output: Output) -> Option<&Tensor> {
    let node = graph.node(output.node);
    match node.inputs[..] {
        [input] if is_constant_enter(node) => graph.constant(input),
        _ => None,
    }
}

/// How many bytes the outputs of a node have; `None` if that is not known before it runs. Strings are counted by their
/// number.
pub(super) fn sizes(node: &Node) -> Option<usize> {
    let mut bytes = 0usize;
    for (shape, slot) in node.output_shapes.iter().zip(&node.signature.outputs) {
        let count = shape.dims()?.iter().try_fold(1usize, |count, dim| count.checked_mul((*dim)?))?;
        bytes = bytes.checked_add(count.checked_mul(slot.dtype.size().max(1))?)?;
    }
    Some(bytes)
}

/// Whether a node may be computed by the CPU before a run, and a constant be where it was.
fn may_fold(graph: &Graph, id: NodeId, purity: &mut Purity) -> bool {
    let node = graph.node(id);
    !node.signature.outputs.is_empty() && node.inputs.iter().all(|input| input.node < id) && purity.is_pure(graph, node)
}

/// Puts constants where a node was, and returns the first; `made` are those in the places of nodes before it. `None` if that
/// cannot be done.
fn replace(
    patch: &mut GraphPatch<'_>,
    ends: &Ends,
    id: NodeId,
    folded: &Folded,
    made: &HashMap<NodeId, NodeId>,
) -> Option<NodeId> {
    let count = patch.node(id).signature.outputs.len();
    // The name can go to one constant only.
    if count > 1 && ends.is_written && ends.holds(id) {
        return None;
    }
    let op = patch.registry().op(created::CONSTANT).ok()?;
    patch.beside(id);
    let mut constants: Vec<NodeId> = Vec::with_capacity(count);
    for output in outputs(patch, id) {
        let value = folded.values.get(&output)?;
        let mut builder = NodeBuilder::new(patch, op.def);
        builder.attr("dtype", value.dtype()).attr("value", value.clone());
        for wait in folded.waits.get(&id).into_iter().flatten() {
            builder.control_input(made.get(wait).copied().unwrap_or(*wait));
        }
        match builder.build() {
            Ok(node) => constants.push(node),
            Err(_) => {
                constants.first().into_iter().for_each(|&first| patch.take_back(first.index()));
                return None;
            }
        }
    }
    match constants[..] {
        [constant] => _ = patch.replace_node(id, constant),
        _ => {
            for (output, &node) in outputs(patch, id).zip(&constants) {
                patch.replace_uses(output, Output { node, index: 0 });
            }
            patch.redirect_controls(id, &constants[..1]);
        }
    }
    constants.first().copied()
}
