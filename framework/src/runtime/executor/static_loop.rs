//! Running static loops: iterations that go through their nodes in the plan's order, without counting what has arrived.

use smallvec::smallvec;

use super::context::{NodeRef, RunContext};
use super::node::{self, Outputs};
use super::sampling::Sampler;
use super::state::{Lent, Position, State, TaggedNode, chosen, missing};
use crate::error::{Error, Result};
use crate::runtime::index::{IterationIndex, NodeIndex};
use crate::runtime::plan::Action;
use crate::runtime::plan::layout::{CHECK_INTERVAL, Edge, Move, Slots, StaticLoop};
use crate::tensor::Tensor;

/// An error, and the node that met it.
pub(super) struct Failed {
    pub(super) node: NodeIndex,
    pub(super) error: Error,
}

/// Goes on with a loop from the beginning of an iteration, for a while.
pub(super) fn run(
    context: &RunContext,
    state: &mut State,
    sampler: &mut Sampler,
    tagged: TaggedNode,
    static_loop: &StaticLoop,
) -> std::result::Result<(), Failed> {
    let plan = &*context.plan;
    let iteration = tagged.iteration;
    if context.is_parallel && static_loop.nodes().any(|index| plan.nodes[index].is_expensive()) {
        // The pool takes what is expensive, and several iterations run at once.
        state.count_from_here(static_loop, iteration);
        return Ok(());
    }
    let mut lent = state.lend(iteration);
    let (first, reclassify) = (sampler.count, sampler.reclassify);
    let ended = loop {
        match iterate(context, state, sampler, iteration, static_loop, &mut lent) {
            // What turns out to take long is for the pool.
            Ok(true) if sampler.count.wrapping_sub(first) < CHECK_INTERVAL && sampler.reclassify == reclassify => {}
            Ok(goes_on) => break Ok(!goes_on),
            Err(failed) => break Err(failed),
        }
    };
    if sampler.count / CHECK_INTERVAL != first / CHECK_INTERVAL {
        // The next node is one before which the clock is looked at.
        sampler.count |= CHECK_INTERVAL - 1;
    }
    match ended {
        Ok(true) => state.end_static(&plan.layout, static_loop, iteration, lent),
        Ok(false) => {
            state.take_back(iteration, lent);
            state.pause_static(static_loop, iteration);
        }
        Err(failed) => {
            state.take_back(iteration, lent);
            return Err(failed);
        }
    }
    Ok(())
}

/// Runs an iteration; returns whether another follows.
#[inline(always)]
fn iterate(
    context: &RunContext,
    state: &mut State,
    sampler: &mut Sampler,
    iteration: IterationIndex,
    static_loop: &StaticLoop,
    lent: &mut Lent,
) -> std::result::Result<bool, Failed> {
    let layout = &context.plan.layout;
    let position = context.position(state, iteration);
    // One that runs nothing takes time, too.
    sampler.tick();
    let Lent { slots, constants } = lent;
    for constant in constants {
        for edge in layout.edges_of(&layout.nodes[constant.enter], 0) {
            Tensor::copy(&constant.tensor, &mut slots[edge.slot]);
        }
    }
    take(slots, &static_loop.begin);
    for &node in &static_loop.head {
        step(context, sampler, slots, node, position).map_err(|error| Failed { node, error })?;
    }
    let condition = slots[static_loop.condition].as_ref().ok_or_else(missing);
    let taken = condition
        .and_then(|condition| chosen(condition, false, 2))
        .map_err(|error| Failed { node: static_loop.switch, error })?;
    if taken == 0 {
        return Ok(false);
    }
    take(slots, &static_loop.go_on);
    for &node in &static_loop.body {
        step(context, sampler, slots, node, position).map_err(|error| Failed { node, error })?;
    }
    state.advance(iteration);
    Ok(true)
}

/// Runs a node. What comes of it goes to its slots.
#[inline(always)]
fn step(
    context: &RunContext,
    sampler: &mut Sampler,
    slots: &mut Slots,
    index: NodeIndex,
    position: Position,
) -> Result<()> {
    let node = NodeRef::of(&context.plan, index);
    let Action::Compute(kernel) = &node.plan.action else { return forward(context, node, slots) };
    sampler.tick();
    let started = sampler.start(node.plan);
    let inputs = node.layout.inputs_of(slots);
    context.fill(node, inputs)?;
    if node.layout.only_edge.slot.is_none() {
        let mut outputs: Outputs = smallvec![None; node.layout.outputs.len()];
        node::call(context, position, node, kernel, inputs, &mut outputs)?;
        for (output, tensor) in outputs.iter_mut().enumerate() {
            let edges = context.plan.layout.edges_of(node.layout, output);
            if tensor.is_none() && !edges.is_empty() {
                return Err(node::unset(node, output));
            }
            hand_on(slots, edges, tensor);
        }
    } else {
        node::call_in_place(context, position, node, kernel, slots)?;
    }
    sampler.end(node.plan, started);
    Ok(())
}

/// Hands on what a node without a kernel has.
#[inline(never)]
fn forward(context: &RunContext, node: NodeRef<'_>, slots: &mut Slots) -> Result<()> {
    let inputs = node.layout.inputs;
    context.fill(node, &mut slots[inputs])?;
    for output in 0..inputs.len().min(node.layout.outputs.len()) {
        let mut tensor = slots[inputs.at(output)].take();
        hand_on(slots, context.plan.layout.edges_of(node.layout, output), &mut tensor);
    }
    Ok(())
}

/// Takes an output to where its edges lead.
#[inline(always)]
fn hand_on(slots: &mut Slots, edges: &[Edge], tensor: &mut Option<Tensor>) {
    let Some((last, edges)) = edges.split_last() else { return };
    for edge in edges {
        Tensor::copy(tensor, &mut slots[edge.slot]);
    }
    Tensor::shift(tensor, &mut slots[last.slot]);
}

/// Takes tensors from slot to slot.
#[inline(always)]
fn take(slots: &mut Slots, moves: &[Move]) {
    for &Move { from, to, is_last } in moves {
        match slots.two_mut(from, to) {
            Some([from, to]) if is_last => Tensor::shift(from, to),
            Some([from, to]) => Tensor::copy(from, to),
            // Nothing takes it.
            None => Tensor::clear(&mut slots[from]),
        }
    }
}
