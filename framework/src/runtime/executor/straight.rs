//! Iterations of loops that go straight through their nodes, one after the other, without counting what has arrived.

use std::sync::Arc;
use std::time::Instant;

use smallvec::{SmallVec, smallvec};

use super::node::{self, LOOK};
use super::run::Run;
use super::state::{Ready, State, chosen, missing};
use super::wait::Outputs;
use crate::error::{Error, Result};
use crate::runtime::plan::{Action, Edge, Move, NONE, PlanNode, Straight};
use crate::tensor::Tensor;

/// Goes on with a loop from the beginning of an iteration, for a while.
pub(super) fn run(run: &Arc<Run>, state: &mut State, ready: Ready) {
    let plan = &*run.plan;
    let iteration = ready.iteration;
    let frame = state.frame(plan, iteration);
    let Some(straight) = &frame.straight else { return state.done(plan, iteration) };
    if run.is_parallel && straight.nodes().any(|&index| plan.nodes[index as usize].is_expensive()) {
        // The pool takes what is expensive, and several iterations run at once.
        state.count_from_here(straight, iteration);
        return state.done(plan, iteration);
    }
    let mut slots = std::mem::take(&mut state.iterations[iteration as usize].slots);
    let constants = state.lend_constants(iteration);
    let (first, reclassify) = (state.count, state.reclassify);
    let ended = loop {
        match iterate(run, state, iteration, straight, &mut slots, &constants) {
            // What turns out to take long is for the pool.
            Ok(true) if state.count.wrapping_sub(first) < LOOK && state.reclassify == reclassify => {}
            Ok(goes_on) => break Ok(!goes_on),
            Err(failed) => break Err(failed),
        }
    };
    if state.count / LOOK != first / LOOK {
        // The next node is one before which the clock is looked at.
        state.count |= LOOK - 1;
    }
    let mut left: SmallVec<[Option<Tensor>; 4]> = SmallVec::new();
    if let Ok(true) = ended {
        left.extend(straight.exits.iter().map(|exit| {
            let slot = &mut slots[exit.slot as usize];
            if exit.is_last { slot.take() } else { slot.clone() }
        }));
        frame.clear(&mut slots);
    }
    state.iterations[iteration as usize].slots = slots;
    state.take_back_constants(iteration, constants);
    match ended {
        Ok(true) => {
            for (exit, tensor) in straight.exits.iter().zip(left) {
                match tensor {
                    Some(tensor) => state.leave(plan, &plan.nodes[exit.node as usize], iteration, tensor),
                    None => state.dead_exit(exit.node, iteration),
                }
            }
        }
        Ok(false) => state.push(straight.merge, iteration, false),
        Err((index, error)) => return node::fail(run, state, &plan.nodes[index as usize], error),
    }
    state.done(plan, iteration);
}

impl Straight {
    /// What has a kernel, and what hands its inputs on.
    fn nodes(&self) -> impl Iterator<Item = &u32> {
        self.head.iter().chain(&self.body)
    }
}

/// Runs an iteration; returns whether another follows. An error comes with the node that met it.
#[inline(always)]
fn iterate(
    run: &Run,
    state: &mut State,
    iteration: u32,
    straight: &Straight,
    slots: &mut [Option<Tensor>],
    constants: &[(u32, Option<Tensor>)],
) -> std::result::Result<bool, (u32, Error)> {
    let plan = &*run.plan;
    let position = state.position(run, iteration);
    // One that runs nothing takes time, too.
    state.count = state.count.wrapping_add(1);
    for (enter, tensor) in constants {
        for edge in plan.edges_of(&plan.nodes[*enter as usize], 0) {
            Tensor::copy(tensor, &mut slots[edge.slot as usize]);
        }
    }
    take(slots, &straight.begin);
    for &index in &straight.head {
        step(run, state, slots, index, position).map_err(|error| (index, error))?;
    }
    let condition = slots[straight.condition as usize].as_ref().ok_or_else(missing);
    let taken =
        condition.and_then(|condition| chosen(condition, false, 2)).map_err(|error| (straight.switch, error))?;
    if taken == 0 {
        return Ok(false);
    }
    take(slots, &straight.go_on);
    for &index in &straight.body {
        step(run, state, slots, index, position).map_err(|error| (index, error))?;
    }
    state.advance(iteration);
    Ok(true)
}

/// Runs a node. What comes of it goes to its slots.
#[inline(always)]
fn step(run: &Run, state: &mut State, slots: &mut [Option<Tensor>], index: u32, position: (u64, u64)) -> Result<()> {
    let plan = &*run.plan;
    let node = &plan.nodes[index as usize];
    let Action::Compute(kernel) = &node.action else { return forward(run, node, slots) };
    state.count = state.count.wrapping_add(1);
    let started = node::is_measured(state.count, node).then(Instant::now);
    let inputs = &mut slots[node.inputs.start as usize..node.inputs.end as usize];
    node::fill(run, node, inputs, node.inputs.start)?;
    if node.only_edge.slot != NONE {
        node::call_in_place(run, position, node, kernel, slots)?;
    } else {
        let mut outputs: Outputs = smallvec![None; node.outputs.len()];
        node::call(run, position, node, kernel, inputs, &mut outputs)?;
        for (output, tensor) in outputs.iter_mut().enumerate() {
            let edges = plan.edges_of(node, output);
            if tensor.is_none() && !edges.is_empty() {
                return Err(node::unset(output));
            }
            hand_on(slots, edges, tensor);
        }
    }
    if let Some(started) = started {
        node::measured(state, node, node::nanoseconds(started));
    }
    Ok(())
}

/// Hands on what a node without a kernel has.
#[inline(never)]
fn forward(run: &Run, node: &PlanNode, slots: &mut [Option<Tensor>]) -> Result<()> {
    let range = node.inputs.start as usize..node.inputs.end as usize;
    node::fill(run, node, &mut slots[range.clone()], node.inputs.start)?;
    for (output, slot) in range.enumerate().take(node.outputs.len()) {
        let mut tensor = slots[slot].take();
        hand_on(slots, run.plan.edges_of(node, output), &mut tensor);
    }
    Ok(())
}

/// Takes an output to where its edges lead.
#[inline(always)]
fn hand_on(slots: &mut [Option<Tensor>], edges: &[Edge], tensor: &mut Option<Tensor>) {
    let Some((last, edges)) = edges.split_last() else { return };
    for edge in edges {
        Tensor::copy(tensor, &mut slots[edge.slot as usize]);
    }
    Tensor::shift(tensor, &mut slots[last.slot as usize]);
}

/// Takes tensors from slot to slot.
#[inline(always)]
fn take(slots: &mut [Option<Tensor>], moves: &[Move]) {
    for &Move { from, to, is_last } in moves {
        match slots.get_disjoint_mut([from as usize, to as usize]) {
            Ok([from, to]) if is_last => Tensor::shift(from, to),
            Ok([from, to]) => Tensor::copy(from, to),
            // Nothing takes it.
            Err(_) => Tensor::clear(&mut slots[from as usize]),
        }
    }
}
