//! Computes once, outside of a loop of TensorFlow 1, what is the same in all of its iterations.
//!
//! A node is invariant if all that it takes is: values that a constant `Enter` brings in, constants, and what other invariant
//! nodes give. Its copy stands outside, where the `Enter`s take their values from, and a constant `Enter` brings the result in.
//!
//! An `Enter` is alive in every iteration, where the node may have waited for a node that is not: that of the body, which is
//! dead in the last iteration, and in all if the loop never runs. So whoever took the node's outputs waits for that node
//! instead, unless it depends on it anyway; and only what cannot fail may be computed that the loop might never have computed.
//! The same goes for a node that is always alive, but which has effects, itself or by what it depends on. What waits for neither
//! is computed in the first iteration in any case, whether the loop goes on then or not, and may
//! fail outside as well as inside.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::copy::copy;
use super::fold_constants::{MAX_GROWTH, MAX_TOTAL_GROWTH, sizes};
use super::liveness::{FEW, Liveness, is_constant_enter};
use super::pass::{Ends, Pass};
use super::purity::{Purity, has_effects, outputs};
use crate::dtype::DataType;
use crate::error::Result;
use crate::graph::{Graph, GraphPatch, Node, NodeClass, NodeId, Output};
use crate::op::InOutType;
use crate::sort::CompactSort as _;

pub(super) struct HoistInvariants;

impl Pass for HoistInvariants {
    fn name(&self) -> &'static str {
        "hoist-invariants"
    }

    fn summary(&self) -> &'static str {
        "computes once, outside of a loop, what is the same in all of its iterations"
    }

    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool {
        let enters = |input: &Output| is_constant_enter(graph.node(input.node));
        let is_invariant = |input: &Output| enters(input) || graph.constant(*input).is_some();
        let mut purity = Purity::default();
        nodes.iter().any(|&id| {
            let node = graph.node(id);
            node.inputs.iter().any(enters) && node.inputs.iter().all(is_invariant) && purity.is_pure(graph, node)
        })
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        let invariants = Invariants::find(patch, ends);
        if invariants.nodes.is_empty() {
            return Ok(0);
        }
        let waits = waits_of_users(patch, ends, &invariants);
        let mut hoisted = Hoisted::default();
        let mut count = 0;
        for (id, invariant) in &invariants.nodes {
            // What cannot be copied stays, and what takes it.
            count += usize::from(hoisted.hoist(patch, &invariants, *id, invariant).is_some());
        }
        for (id, more) in waits {
            // What it waits for concerns those alone that are outside now.
            let more = more.into_iter().filter(|(source, _)| hoisted.outside.contains_key(source));
            let mut controls = patch.node(id).control_inputs.clone();
            controls.extend(more.map(|(_, wait)| wait));
            if !hoisted.outside.contains_key(&id) && controls.len() > patch.node(id).control_inputs.len() {
                patch.set_control_inputs(id, controls);
            }
        }
        Ok(count)
    }

    /// What is outside may be a constant, a duplicate of what is there, or invariant in a loop further out.
    fn opens(&self) -> bool {
        true
    }
}

/// What is waited for where a node is.
type Waits = SmallVec<[NodeId; 2]>;

/// An invariant node.
struct Invariant {
    /// What the node waits for in the loop, itself or through its inputs, and may be dead or have effects.
    waits: Waits,
    /// A constant `Enter` of its loop.
    enter: NodeId,
}

/// The nodes that are computed outside, in the order of the graph.
struct Invariants {
    nodes: Vec<(NodeId, Invariant)>,
    /// For each node, in how many loops it is.
    depths: Vec<usize>,
}

impl Invariants {
    fn find(graph: &Graph, ends: &Ends) -> Invariants {
        let depths = depths(graph);
        let (blocked, free) = (blocked(graph), free(graph, ends));
        let mut found: HashMap<NodeId, Invariant> = HashMap::new();
        let mut nodes = Vec::new();
        let (mut purity, mut memory) = (Purity::default(), Memory::default());
        for id in graph.ids() {
            let node = graph.node(id);
            let may_move = !node.inputs.is_empty()
                && !blocked.contains(&id)
                && !ends.holds(id)
                && node.attrs.get("_class").is_none();
            let invariant =
                Some(node).filter(|_| may_move).and_then(|node| invariant(graph, ends, node, &found, &free));
            let Some(invariant) = invariant.filter(|_| purity.is_pure(graph, node)) else { continue };
            // What waits may wait for what never comes, or fails before.
            let may_run = invariant.waits.is_empty() || cannot_fail(graph, node);
            if may_run && memory.affords(graph, node, id) {
                found.insert(id, invariant);
                nodes.push(id);
            }
        }
        let nodes = nodes.into_iter().filter_map(|id| Some((id, found.remove(&id)?))).collect();
        Invariants { nodes, depths }
    }
}

/// What is to be known of a node if all that it takes is invariant.
fn invariant(
    graph: &Graph,
    ends: &Ends,
    node: &Node,
    found: &HashMap<NodeId, Invariant>,
    free: &[bool],
) -> Option<Invariant> {
    let (mut waits, mut enter): (Waits, _) = (SmallVec::new(), None);
    let mut wait = |waited: &[NodeId]| {
        for &id in waited {
            if !free[id.index()] && !waits.contains(&id) {
                waits.push(id);
            }
        }
        waits.len() <= FEW
    };
    if !wait(&node.control_inputs) {
        return None;
    }
    for input in &node.inputs {
        if ends.is_fed(*input) {
            return None;
        }
        let source = graph.node(input.node);
        if let Some(invariant) = found.get(&input.node) {
            enter = enter.or(Some(invariant.enter));
            if !wait(&invariant.waits) {
                return None;
            }
        } else if is_constant_enter(source) {
            let taken = source.inputs[0];
            // What is taken by reference may change while the loop runs, and an `Enter` that waits lets nothing in before.
            let is_ref = graph.node(taken.node).signature.outputs[taken.index].is_ref;
            // What leaves a loop further out in this round is not where it was.
            if is_ref || source.control_inputs.len() > FEW || found.contains_key(&taken.node) {
                return None;
            }
            enter = enter.or(Some(input.node));
        } else if graph.constant(*input).is_none() || !wait(&source.control_inputs) {
            return None;
        }
    }
    Some(Invariant { waits, enter: enter? })
}

/// In how many loops the nodes are.
fn depths(graph: &Graph) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(graph.nodes().len());
    for id in graph.ids() {
        let node = graph.node(id);
        let sources = node.inputs.iter().map(|input| input.node).chain(node.control_inputs.iter().copied());
        let depth = |source: NodeId| match graph.node(source).class {
            NodeClass::Enter => depths[source.index()] + 1,
            NodeClass::Exit => depths[source.index()].saturating_sub(1),
            _ => depths[source.index()],
        };
        let depth = sources.filter(|&source| source < id).map(depth).max().unwrap_or_default();
        depths.push(depth);
    }
    depths
}

/// For each node, whether nobody need wait for it: it is always alive, and neither has effects nor depends on what has.
fn free(graph: &Graph, ends: &Ends) -> Vec<bool> {
    let has_any = graph.nodes().iter().any(|node| has_effects(graph, node));
    let mut free = always_alive(graph, ends);
    for id in graph.ids().filter(|_| has_any) {
        let node = graph.node(id);
        let mut sources = node.inputs.iter().map(|input| input.node).chain(node.control_inputs.iter().copied());
        // What comes back may depend on anything in the loop.
        let is_pure = !has_effects(graph, node) && sources.all(|source| source < id && free[source.index()]);
        free[id.index()] &= is_pure;
    }
    free
}

/// For each node, whether it is certain that it is alive, in a loop in every iteration.
fn always_alive(graph: &Graph, ends: &Ends) -> Vec<bool> {
    let mut alive: Vec<bool> = Vec::with_capacity(graph.nodes().len());
    for id in graph.ids() {
        let node = graph.node(id);
        let goes_back = |source: NodeId| source >= id;
        let may_die = match node.class {
            // The variable of a loop is there in each iteration that there is.
            NodeClass::Merge => !node.inputs.iter().any(|input| goes_back(input.node)),
            NodeClass::Exit | NodeClass::NextIteration | NodeClass::Recv => true,
            class => class.is_switch(),
        };
        let inputs = node.inputs.iter().filter(|input| !ends.is_fed(**input)).map(|input| input.node);
        let mut sources = inputs.chain(node.control_inputs.iter().copied()).filter(|&source| !goes_back(source));
        let is_alive = !may_die && sources.all(|source| alive[source.index()]);
        alive.push(is_alive);
    }
    alive
}

/// The nodes that stay where they are for the sake of others: of those that wait for them, or that may be alive if a node is
/// dead that they take.
fn blocked(graph: &Graph) -> HashSet<NodeId> {
    let mut blocked = HashSet::new();
    for node in graph.nodes() {
        blocked.extend(&node.control_inputs);
        let leads_on = matches!(
            node.class,
            NodeClass::Merge | NodeClass::ControlTrigger | NodeClass::Exit | NodeClass::NextIteration
        );
        if leads_on {
            blocked.extend(node.inputs.iter().map(|input| input.node));
        }
    }
    blocked
}

/// Whether a node succeeds whatever it is given: it takes elements one by one, of one tensor and of scalars that go with any
/// shape.
fn cannot_fail(graph: &Graph, node: &Node) -> bool {
    const CAST: &[DataType] = &[DataType::Float, DataType::Double, DataType::Int32, DataType::Int64, DataType::Bool];
    let slots = || node.signature.inputs.iter().chain(&node.signature.outputs);
    match node.class {
        NodeClass::Elementwise => operands(graph, node).len() <= 1,
        NodeClass::Cast => slots().all(|slot| CAST.contains(&slot.dtype)),
        NodeClass::Identity | NodeClass::Rank => true,
        _ => false,
    }
}

/// The inputs of a node but for scalars that are constants.
fn operands(graph: &Graph, node: &Node) -> SmallVec<[Output; 2]> {
    let is_scalar = |input: &Output| graph.constant(*input).is_some_and(|value| value.rank() == 0);
    let mut operands: SmallVec<[Output; 2]> = node.inputs.iter().copied().filter(|input| !is_scalar(input)).collect();
    operands.compact_sort();
    operands.dedup();
    operands
}

/// How much memory results take that stay for as long as the loop runs, in each round of all passes. As with constants that are computed, it may be more than
/// what they are made of takes by a bounded number of bytes.
#[derive(Default)]
struct Memory {
    growth: usize,
    /// What results stand for already, of which the sizes are not known.
    spent: HashSet<Output>,
    /// For what has a known size, how many bytes of it no result stands for yet.
    unspent: HashMap<Output, usize>,
}

impl Memory {
    /// Whether the results of a node may stay; if so, they count from now on.
    fn affords(&mut self, graph: &Graph, node: &Node, id: NodeId) -> bool {
        let operands = operands(graph, node);
        let Some(bytes) = sizes(node) else { return self.affords_unknown(node, &operands) };
        let size = |input: &Output| bytes_of(graph, *input).unwrap_or_default();
        let given: usize = operands.iter().map(size).sum();
        let mut left = bytes;
        for input in &operands {
            let unspent = self.unspent.entry(*input).or_insert_with(|| size(input));
            let spent = left.min(*unspent);
            *unspent -= spent;
            left -= spent;
        }
        let fits = bytes <= given.saturating_add(MAX_GROWTH) && self.growth + left <= MAX_TOTAL_GROWTH;
        if fits {
            self.growth += left;
            self.unspent.insert(Output { node: id, index: 0 }, bytes);
        }
        fits
    }

    /// As [`Memory::affords`] for a node of which nobody knows how large its results are: they are no larger than the one tensor
    /// that it takes, in the place of which they are there.
    fn affords_unknown(&mut self, node: &Node, operands: &[Output]) -> bool {
        let [operand] = operands else { return node.class == NodeClass::Rank };
        let widest = |slots: &[InOutType]| slots.iter().map(|slot| slot.dtype.size()).max();
        let keeps_size = matches!(node.class, NodeClass::Elementwise | NodeClass::Cast | NodeClass::Identity)
            && widest(&node.signature.outputs) <= widest(&node.signature.inputs);
        keeps_size && self.spent.insert(*operand)
    }
}

/// How many bytes an output has, if that is known.
fn bytes_of(graph: &Graph, output: Output) -> Option<usize> {
    let count = graph.shape(output).to_shape()?.num_elements();
    Some(count.saturating_mul(graph.node(output.node).signature.outputs[output.index].dtype.size().max(1)))
}

/// For each node that takes what invariant nodes give, those of them with what it is to wait for in their place.
fn waits_of_users(graph: &Graph, ends: &Ends, invariants: &Invariants) -> Vec<(NodeId, Vec<(NodeId, NodeId)>)> {
    let waiting: HashMap<NodeId, &Waits> = invariants
        .nodes
        .iter()
        .filter(|(_, invariant)| !invariant.waits.is_empty())
        .map(|(id, invariant)| (*id, &invariant.waits))
        .collect();
    if waiting.is_empty() {
        return Vec::new();
    }
    let needed = graph.needed(ends.feeds(), ends.fetches(), ends.targets());
    let liveness = Liveness::find(graph, &needed, ends);
    let moved: HashSet<NodeId> = invariants.nodes.iter().map(|(id, _)| *id).collect();
    let mut users = Vec::new();
    for id in graph.ids() {
        let node = graph.node(id);
        let taken: Vec<NodeId> =
            node.inputs.iter().map(|input| input.node).filter(|source| waiting.contains_key(source)).collect();
        if taken.is_empty() {
            continue;
        }
        let given = liveness.without(node, |source| moved.contains(&source));
        let missing = |wait: &NodeId| !liveness.is_implied(*wait, &given);
        let pairs = taken.iter().flat_map(|&source| waiting[&source].iter().map(move |&wait| (source, wait)));
        users.push((id, pairs.filter(|(_, wait)| missing(wait)).collect()));
    }
    users
}

/// What is outside of the loops.
#[derive(Default)]
struct Hoisted {
    /// For each node that was in a loop, its copy.
    outside: HashMap<NodeId, NodeId>,
    /// The copies of constants, for each node beside which they stand.
    constants: HashMap<(NodeId, NodeId), NodeId>,
}

impl Hoisted {
    /// Has a node be computed outside. `None` if that cannot be done, and then nothing is changed.
    fn hoist(
        &mut self,
        patch: &mut GraphPatch<'_>,
        invariants: &Invariants,
        id: NodeId,
        invariant: &Invariant,
    ) -> Option<()> {
        let before = patch.nodes().len();
        let mut constants = Vec::new();
        let added = self.add(patch, invariants, id, invariant, &mut constants);
        let Some((moved, entered)) = added else {
            patch.take_back(before);
            return None;
        };
        for (output, &node) in outputs(patch, id).zip(&entered) {
            patch.replace_uses(output, Output { node, index: 0 });
        }
        patch.remove_for(id, moved);
        self.constants.extend(constants);
        self.outside.insert(id, moved);
        Some(())
    }

    /// Adds the copy of a node outside, with the `constants` that it takes, and what brings its outputs in.
    fn add(
        &self,
        patch: &mut GraphPatch<'_>,
        invariants: &Invariants,
        id: NodeId,
        invariant: &Invariant,
        constants: &mut Vec<((NodeId, NodeId), NodeId)>,
    ) -> Option<(NodeId, Vec<NodeId>)> {
        let (node, enter) = (patch.node(id).clone(), patch.node(invariant.enter).clone());
        // A constant is in a loop by what it waits for.
        let site = enter.inputs[0].node;
        let site_waits: &[NodeId] = if invariants.depths[invariant.enter.index()] > 0 { &[site] } else { &[] };
        let mut waits: Vec<NodeId> = Vec::new();
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            let source = patch.node(input.node).clone();
            inputs.push(if let Some(&copied) = self.outside.get(&input.node) {
                Output { node: copied, ..*input }
            } else if is_constant_enter(&source) {
                waits.extend(&source.control_inputs);
                source.inputs[0]
            } else if patch.constant(*input).is_none() {
                return None;
            } else if source.control_inputs.is_empty() {
                *input
            } else if let Some(&constant) = self.constants.get(&(input.node, site)) {
                Output { node: constant, index: 0 }
            } else {
                let constant = copy(patch.beside(input.node), &source, &[], site_waits, [])?;
                constants.push(((input.node, site), constant));
                Output { node: constant, index: 0 }
            });
        }
        waits.compact_sort();
        waits.dedup();
        let moved = copy(patch.beside(id), &node, &inputs, &waits, [])?;
        let mut entered = Vec::new();
        for output in outputs(patch, moved) {
            let dtype = [("T", node.signature.outputs[output.index].dtype.into())];
            entered.push(copy(patch.beside(id), &enter, &[output], &[], dtype)?);
        }
        Some((moved, entered))
    }
}
