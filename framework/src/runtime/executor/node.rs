//! Running nodes.

use std::sync::Arc;
use std::time::Instant;

use smallvec::{SmallVec, smallvec};

use super::run::{Message, Run, SAMPLE, Task};
use super::state::{Ready, State, missing};
use super::straight;
use super::wait::{self, Outputs};
use crate::error::{Code, Error, Result, catch_panic};
use crate::kernel::{DynKernel, RawContext, RunInfo};
use crate::runtime::plan::{Action, NONE, Plan, PlanNode, Source, held};
use crate::step::{Begun, Ran, Step, at_work, trace_node};
use crate::tensor::Tensor;

/// Nodes with at most as many outputs keep them on the stack.
const FEW: usize = 3;

/// How many nodes run between two looks at the clock and at whether the step was cancelled.
pub(in crate::runtime) const LOOK: u32 = 256;

/// Runs what is ready. What is expensive goes to the pool, but for the last one, which is left in `own_task`, or run at
/// once if nothing else is under way.
pub(super) fn run_ready(run: &Arc<Run>, state: &mut State) {
    loop {
        run_cheap(run, state);
        let Some(last) = state.expensive.pop() else {
            if !state.held_back.is_empty() && state.let_go(&run.plan) {
                continue;
            }
            return;
        };
        if state.expensive.is_empty() && state.in_flight == 0 {
            run_here(run, state, last);
            continue;
        }
        give_to_pool(run, state);
        state.own_task = Some(take_task(run, state, last));
        state.in_flight += 1;
        return;
    }
}

/// Has threads of the pool run what was put aside.
fn give_to_pool(run: &Arc<Run>, state: &mut State) {
    let pool = run.pool();
    for ready in std::mem::take(&mut state.expensive) {
        let task = take_task(run, state, ready);
        state.in_flight += 1;
        let run = run.clone();
        let work = move || {
            let _at_work = run.step.begin_work();
            run.guarded(|| {
                let message = run_task(&run, task);
                run.finished(message);
            });
        };
        match pool {
            Some(pool) => pool.spawn(work),
            // Without a pool nothing is put aside as expensive.
            None => work(),
        }
    }
}

/// Runs what is ready and cheap, and puts aside what is expensive.
pub(super) fn run_cheap(run: &Arc<Run>, state: &mut State) {
    while !state.ready.is_empty() {
        let count = state.count.wrapping_add(1);
        state.count = count;
        if count.is_multiple_of(LOOK) && state.error.is_none() {
            look(run, state);
        }
        if state.error.is_some() {
            stop(state);
            return;
        }
        let Some(ready) = state.ready.pop() else { return };
        let node = &run.plan.nodes[ready.node as usize];
        if let Some(waiting) = &node.waiting
            && !ready.is_dead
            && takes_variable(run, state, ready, node)
        {
            wait::wait(run, state, ready, node, waiting.clone());
            continue;
        }
        if run.is_parallel && !ready.is_dead && node.is_expensive() {
            state.expensive.push(ready);
            continue;
        }
        let started = is_measured(count, node).then(Instant::now);
        step(run, state, ready, node);
        if let Some(started) = started {
            measured(state, node, nanoseconds(started));
        }
    }
}

/// Whether an input names a variable. What is missing is told when the node runs.
#[cold]
fn takes_variable(run: &Run, state: &mut State, ready: Ready, node: &PlanNode) -> bool {
    let slots = &mut state.iterations[ready.iteration as usize].slots;
    let inputs = &mut slots[node.inputs.start as usize..node.inputs.end as usize];
    let resources = run.step.resources();
    fill(run, node, inputs, node.inputs.start).is_ok()
        && inputs.iter().flatten().any(|input| held::variable(resources, input).is_some())
}

/// Runs an expensive node on this thread while it drives the run.
fn run_here(run: &Arc<Run>, state: &mut State, ready: Ready) {
    look(run, state);
    if state.error.is_some() {
        stop(state);
        return;
    }
    let node = &run.plan.nodes[ready.node as usize];
    let started = Instant::now();
    step(run, state, ready, node);
    measured(state, node, nanoseconds(started));
}

/// Whether the time of this run of a node is taken. In a loop it is another node's turn after some iterations.
#[inline(always)]
pub(super) fn is_measured(count: u32, node: &PlanNode) -> bool {
    count.wrapping_add(count / LOOK).is_multiple_of(SAMPLE) || node.is_unmeasured()
}

pub(super) fn nanoseconds(started: Instant) -> u32 {
    started.elapsed().as_nanos().try_into().unwrap_or(u32::MAX)
}

pub(super) fn measured(state: &mut State, node: &PlanNode, nanoseconds: u32) {
    if matches!(node.action, Action::Compute(_)) && node.measured(nanoseconds) {
        state.reclassify = true;
    }
}

/// Ends the run early if its step was cancelled or its time is up. If it goes on, so does what waits until nothing is ready
/// any more: a loop may go round until something else in the run has happened.
#[cold]
fn look(run: &Arc<Run>, state: &mut State) {
    if let Err(error) = run.step.check() {
        state.error.get_or_insert(error);
        return;
    }
    for message in run.take_messages() {
        receive(run, state, message);
    }
    give_to_pool(run, state);
    // Each that waits for its turn among what is ready has it once.
    if let Some(last) = state.ready.len().checked_sub(1) {
        state.turn = if state.turn < last { state.turn + 1 } else { 0 };
        state.ready.swap(state.turn, last);
    }
}

/// Drops what has not run.
#[cold]
fn stop(state: &mut State) {
    state.ready.clear();
    state.expensive.clear();
    // What a future holds may want to tell the run something: it finds the lock free.
    let waiting = std::mem::take(&mut state.waiting);
    state.free_waiting.clear();
    drop(waiting);
}

/// Notes an error, the first one as that of the run, and ends the step early.
#[cold]
pub(super) fn fail(run: &Run, state: &mut State, node: &PlanNode, error: Error) {
    if state.error.is_none() {
        let device = run.plan.devices[node.device as usize].name();
        let error = match run.step.cancellation().reason() {
            // The run was ended, and the kernel merely says so.
            Some(reason) if matches!(error.code(), Code::Cancelled | Code::Aborted | Code::DeadlineExceeded) => reason,
            _ => error.at_node(&node.name, &node.op.name, device),
        };
        run.step.cancellation().cancel(error.clone());
        state.error = Some(error);
    }
    stop(state);
}

/// Runs a node, and notes what that makes ready.
#[inline]
fn step(run: &Arc<Run>, state: &mut State, ready: Ready, node: &PlanNode) {
    let plan = &*run.plan;
    let iteration = ready.iteration;
    if ready.is_dead {
        match &node.action {
            Action::Compute(kernel) if kernel.takes_dead_inputs() => compute_dead(run, state, ready, node, kernel),
            _ => dead(plan, state, ready, node),
        }
        return;
    }
    let done = match &node.action {
        Action::Compute(kernel) => compute(run, state, iteration, node, kernel),
        Action::Merge if state.iterations[iteration as usize].is_straight => return straight::run(run, state, ready),
        Action::Wait(kernel) => return wait::wait(run, state, ready, node, kernel.clone()),
        _ => control(run, state, ready, node),
    };
    match done {
        Ok(()) => state.done(plan, iteration),
        Err(error) => fail(run, state, node, error),
    }
}

/// Passes on that a node does not run.
fn dead(plan: &Plan, state: &mut State, ready: Ready, node: &PlanNode) {
    let iteration = ready.iteration;
    match node.action {
        Action::Enter { frame, constant } => state.enter(plan, node, ready.node, (frame, iteration, constant), None),
        Action::Exit => state.dead_exit(ready.node, iteration),
        Action::NextIteration => {}
        _ => state.deliver_dead(plan, node, iteration),
    }
    state.done(plan, iteration);
}

/// Runs a kernel that takes dead inputs. What it does not set is dead.
#[cold]
fn compute_dead(run: &Arc<Run>, state: &mut State, ready: Ready, node: &PlanNode, kernel: &Arc<dyn DynKernel>) {
    let Task { mut inputs, position, .. } = take_task(run, state, ready);
    let mut outputs = match run_kernel(run, node, kernel, &mut inputs, position, true) {
        Ok(outputs) => outputs,
        Err(error) => return fail(run, state, node, error),
    };
    for (index, output) in outputs.iter_mut().enumerate() {
        state.deliver(&run.plan, run.plan.edges_of(node, index), ready.iteration, output);
    }
    state.serve_controls(&run.plan, node, ready.iteration, true);
    state.done(&run.plan, ready.iteration);
}

/// Fills in the inputs that are no outputs of other nodes.
#[inline(always)]
pub(super) fn fill(run: &Run, node: &PlanNode, slots: &mut [Option<Tensor>], first: u32) -> Result<()> {
    if node.is_filled {
        return Ok(());
    }
    for external in &run.plan.externals[node.externals.start as usize..node.externals.end as usize] {
        let slot = &mut slots[(external.slot - first) as usize];
        let tensor = match external.source {
            // It is still there from the run before.
            Source::Constant(_) if slot.is_some() => continue,
            Source::Constant(index) => &run.plan.constants[index as usize],
            Source::Feed(index) => &run.feeds[index as usize],
            Source::Node { .. } => return Err(Error::internal("an output stands among the externals")),
        };
        Tensor::put(slot, Some(tensor.clone()));
    }
    if !node.references.is_empty() {
        read_references(node, slots)?;
    }
    Ok(())
}

/// Reads the references of which the node takes the value.
#[cold]
fn read_references(node: &PlanNode, inputs: &mut [Option<Tensor>]) -> Result<()> {
    for input in &node.references {
        let slot = &mut inputs[input.index as usize];
        let Some(reference) = slot.as_ref().and_then(Tensor::reference) else { continue };
        let value = reference.get();
        if value.is_none() && input.is_initialized {
            let message = format!("Attempting to use uninitialized value {}", input.source);
            return Err(Error::failed_precondition(message));
        }
        if input.is_read {
            *slot = value;
        }
    }
    Ok(())
}

/// Where a node runs.
#[inline]
pub(super) fn info<'r>(
    plan: &'r Plan,
    step: &'r Arc<Step>,
    depth: u32,
    node: &'r PlanNode,
    (frame, iteration): (u64, u64),
) -> RunInfo<'r> {
    let device = Some(&*plan.devices[node.device as usize]);
    let (unused_outputs, memory) = (node.unused_outputs, node.memory.as_deref());
    RunInfo { step: Some(step), device, depth, frame, iteration, unused_outputs, is_input_dead: false, memory }
}

/// Runs a kernel on this thread.
#[inline]
fn compute(run: &Run, state: &mut State, iteration: u32, node: &PlanNode, kernel: &Arc<dyn DynKernel>) -> Result<()> {
    let plan = &*run.plan;
    let position = if plan.branches { state.position(run, iteration) } else { (run.number, 0) };
    let slots = &mut state.iterations[iteration as usize].slots;
    let inputs = &mut slots[node.inputs.start as usize..node.inputs.end as usize];
    fill(run, node, inputs, node.inputs.start)?;
    if node.only_edge.slot != NONE {
        return compute_in_place(run, state, (iteration, position), node, kernel);
    }
    match node.outputs.len() {
        0 | 1 if node.first_edges.is_empty() => {
            let slots = &mut state.iterations[iteration as usize].slots;
            let inputs = &mut slots[node.inputs.start as usize..node.inputs.end as usize];
            let mut output = [None];
            call(run, position, node, kernel, inputs, &mut output[..node.outputs.len()])?;
            Tensor::clear(&mut output[0]);
            state.serve_controls(plan, node, iteration, false);
            Ok(())
        }
        0 | 1 => compute_into(run, state, (iteration, position), node, kernel, &mut [const { None }; 1]),
        2..=FEW => compute_into(run, state, (iteration, position), node, kernel, &mut [const { None }; FEW]),
        count => compute_into(run, state, (iteration, position), node, kernel, &mut vec![None; count]),
    }
}

/// Runs a kernel whose inputs are filled in, and whose output goes to one slot: it is written there.
#[inline(always)]
fn compute_in_place(
    run: &Run,
    state: &mut State,
    (iteration, position): (u32, (u64, u64)),
    node: &PlanNode,
    kernel: &Arc<dyn DynKernel>,
) -> Result<()> {
    let (plan, edge) = (&*run.plan, node.only_edge);
    call_in_place(run, position, node, kernel, &mut state.iterations[iteration as usize].slots)?;
    if edge.node != NONE {
        state.served(plan, edge.node, &plan.nodes[edge.node as usize], iteration);
    }
    state.serve_controls(plan, node, iteration, false);
    Ok(())
}

/// Calls a kernel whose output goes to one slot.
#[inline(always)]
pub(super) fn call_in_place(
    run: &Run,
    position: (u64, u64),
    node: &PlanNode,
    kernel: &Arc<dyn DynKernel>,
    slots: &mut [Option<Tensor>],
) -> Result<()> {
    let at = node.only_edge.slot as usize;
    let disjoint = slots.get_disjoint_mut([node.inputs.start as usize..node.inputs.end as usize, at..at + 1]);
    let [inputs, output] = disjoint.map_err(|_| Error::internal("a node waits for itself"))?;
    Tensor::clear(&mut output[0]);
    call(run, position, node, kernel, inputs, output)?;
    if output[0].is_none() {
        return Err(unset(0));
    }
    Ok(())
}

#[cold]
pub(super) fn unset(output: usize) -> Error {
    Error::internal(format!("the kernel did not set output {output}"))
}

/// Calls a kernel, and empties the slots of its inputs.
#[inline(always)]
pub(super) fn call(
    run: &Run,
    position: (u64, u64),
    node: &PlanNode,
    kernel: &Arc<dyn DynKernel>,
    inputs: &mut [Option<Tensor>],
    outputs: &mut [Option<Tensor>],
) -> Result<()> {
    let info = info(&run.plan, &run.step, run.depth, node, position);
    let pool = run.plan.pools[node.device as usize].as_deref();
    let mut context = RawContext::in_run(&node.name, (node.op, &node.signature), inputs, outputs, pool, info);
    let begun = run.step.stats().map(|_| Begun::now());
    {
        let _traced = begun.map(|_| trace_node(run.step.id(), &node.name, &node.op.name, run.depth));
        let _at_work = at_work(node.op);
        catch_panic("the kernel", || kernel.compute(&mut context))?;
    }
    if let Some(begun) = begun {
        let own = (context.temp_memory_allocated(), context.persistent_memory_allocated());
        record(&run.plan, &run.step, run.depth, node, (begun, own), outputs);
    }
    node.clear(inputs);
    Ok(())
}

/// Runs a kernel whose inputs are filled in, with room for at least as many outputs as it has.
#[inline(never)]
fn compute_into(
    run: &Run,
    state: &mut State,
    (iteration, position): (u32, (u64, u64)),
    node: &PlanNode,
    kernel: &Arc<dyn DynKernel>,
    outputs: &mut [Option<Tensor>],
) -> Result<()> {
    let plan = &*run.plan;
    let outputs = &mut outputs[..node.outputs.len()];
    let slots = &mut state.iterations[iteration as usize].slots;
    let inputs = &mut slots[node.inputs.start as usize..node.inputs.end as usize];
    call(run, position, node, kernel, inputs, outputs)?;
    hand_on(plan, state, iteration, node, outputs)
}

/// Notes that a node has run.
#[cold]
pub(super) fn record(
    plan: &Plan,
    step: &Step,
    depth: u32,
    node: &PlanNode,
    (begun, (temporary, persistent)): (Begun, (usize, i64)),
    outputs: &[Option<Tensor>],
) {
    if let Some(stats) = step.stats() {
        let device = plan.devices[node.device as usize].name();
        let is_async = matches!(node.action, Action::Wait(_));
        let ran = Ran { node: &node.name, op: &node.op.name, device, is_async, depth, temporary, persistent };
        stats.record(begun.ended(step.start(), &ran, outputs));
    }
}

/// Hands on what a kernel has computed.
#[inline(always)]
fn hand_on(
    plan: &Plan,
    state: &mut State,
    iteration: u32,
    node: &PlanNode,
    outputs: &mut [Option<Tensor>],
) -> Result<()> {
    for (index, output) in outputs.iter_mut().enumerate() {
        let edges = plan.edges_of(node, index);
        if edges.is_empty() {
            continue;
        }
        if output.is_none() {
            return Err(unset(index));
        }
        state.deliver(plan, edges, iteration, output);
    }
    state.serve_controls(plan, node, iteration, false);
    Ok(())
}

/// What the runtime does without a kernel.
#[inline]
fn control(run: &Run, state: &mut State, ready: Ready, node: &PlanNode) -> Result<()> {
    let plan = &*run.plan;
    let iteration = ready.iteration;
    let slots = &mut state.iterations[iteration as usize].slots;
    let inputs = &mut slots[node.inputs.start as usize..node.inputs.end as usize];
    fill(run, node, inputs, node.inputs.start)?;
    match node.action {
        Action::Switch { by_index } => return state.switch(plan, node, iteration, by_index),
        Action::Merge => {
            let position = inputs.iter().position(Option::is_some).ok_or_else(missing)?;
            let mut tensor = inputs[position].take();
            state.merge(plan, node, iteration, position as u32, &mut tensor);
            return Ok(());
        }
        Action::Enter { frame, constant } => {
            let tensor = inputs[0].take().ok_or_else(missing)?;
            state.enter(plan, node, ready.node, (frame, iteration, constant), Some(tensor));
            return Ok(());
        }
        Action::Exit => {
            let tensor = inputs[0].take().ok_or_else(missing)?;
            return state.exit(plan, node, ready.node, iteration, tensor);
        }
        Action::NextIteration => {
            if inputs[0].is_none() {
                return Err(missing());
            }
            state.next_iteration(plan, ready.node, iteration);
            return Ok(());
        }
        _ => {
            for index in 0..inputs.len().min(node.outputs.len()) {
                let slots = &mut state.iterations[iteration as usize].slots;
                let mut tensor = slots[node.inputs.start as usize + index].take();
                state.deliver(plan, plan.edges_of(node, index), iteration, &mut tensor);
            }
        }
    }
    state.serve_controls(plan, node, iteration, false);
    Ok(())
}

// ---- on other threads ----

/// A node with its inputs, for another thread.
pub(super) fn take_task(run: &Run, state: &mut State, ready: Ready) -> Task {
    let node = &run.plan.nodes[ready.node as usize];
    let slots = &mut state.iterations[ready.iteration as usize].slots;
    let inputs = slots[node.inputs.start as usize..node.inputs.end as usize].iter_mut().map(Option::take).collect();
    Task { ready, inputs, position: state.position(run, ready.iteration) }
}

/// Runs a node on this thread, which does not drive the run.
pub(super) fn run_task(run: &Arc<Run>, task: Task) -> Message {
    let Task { ready, mut inputs, position } = task;
    let node = &run.plan.nodes[ready.node as usize];
    let started = Instant::now();
    let outputs = match &node.action {
        Action::Compute(_) if run.step.cancellation().is_cancelled() => {
            run.step.cancellation().check().map(|()| smallvec![])
        }
        Action::Compute(kernel) => run_kernel(run, node, kernel, &mut inputs, position, false),
        _ => Err(Error::internal("a node without a kernel counts as expensive")),
    };
    Message::Done { node: ready.node, iteration: ready.iteration, outputs, nanoseconds: nanoseconds(started) }
}

fn run_kernel(
    run: &Run,
    node: &PlanNode,
    kernel: &Arc<dyn DynKernel>,
    inputs: &mut SmallVec<[Option<Tensor>; 4]>,
    position: (u64, u64),
    is_input_dead: bool,
) -> Result<Outputs> {
    fill(run, node, inputs, node.inputs.start)?;
    let mut outputs: Outputs = smallvec![None; node.outputs.len()];
    let info = RunInfo { is_input_dead, ..info(&run.plan, &run.step, run.depth, node, position) };
    let pool = run.plan.pools[node.device as usize].as_deref();
    let mut context = RawContext::in_run(&node.name, (node.op, &node.signature), inputs, &mut outputs, pool, info);
    let begun = run.step.stats().map(|_| Begun::now());
    {
        let _traced = begun.map(|_| trace_node(run.step.id(), &node.name, &node.op.name, run.depth));
        let _at_work = at_work(node.op);
        catch_panic("the kernel", || kernel.compute(&mut context))?;
    }
    if let Some(begun) = begun {
        let own = (context.temp_memory_allocated(), context.persistent_memory_allocated());
        record(&run.plan, &run.step, run.depth, node, (begun, own), &outputs);
    }
    Ok(outputs)
}

/// Takes in what another thread says.
pub(super) fn receive(run: &Arc<Run>, state: &mut State, message: Message) {
    // Whoever waits for a function's run may have left it, and the step have ended without it: what is under way ends, and
    // nothing else begins.
    if state.error.is_none()
        && let Err(error) = run.step.cancellation().check()
    {
        state.error = Some(error);
        stop(state);
    }
    match message {
        Message::Done { node: index, iteration, outputs, nanoseconds } => {
            state.in_flight -= 1;
            let node = &run.plan.nodes[index as usize];
            measured(state, node, nanoseconds);
            finish(run, state, node, iteration, outputs);
        }
        Message::Wake(position) => wait::poll(run, state, position),
        // It has been looked at.
        Message::Cancelled => {}
    }
}

pub(super) fn finish(run: &Run, state: &mut State, node: &PlanNode, iteration: u32, outputs: Result<Outputs>) {
    if state.error.is_some() {
        return;
    }
    let handed_on = outputs.and_then(|mut outputs| hand_on(&run.plan, state, iteration, node, &mut outputs));
    match handed_on {
        Ok(()) => state.done(&run.plan, iteration),
        Err(error) => fail(run, state, node, error),
    }
}
