//! Running nodes: kernels get their inputs from the state, and what they compute is handed on.

use std::sync::Arc;
use std::time::Instant;

use smallvec::{SmallVec, smallvec};

use super::context::{NodeRef, RunContext};
use super::sampling::nanoseconds;
use super::state::{Position, State, TaggedNode};
use crate::error::{Error, Result};
use crate::kernel::DynKernel;
use crate::runtime::index::IterationIndex;
use crate::runtime::plan::layout::Slots;
use crate::runtime::plan::{Action, Plan, held};
use crate::step::BoxFuture;
use crate::tensor::Tensor;

/// The outputs of a node that runs elsewhere.
pub(super) type Outputs = SmallVec<[Option<Tensor>; 2]>;

/// Nodes with at most as many outputs keep them on the stack.
const FEW: usize = 3;

/// Runs a kernel on this thread, and hands on what it computes.
#[inline]
pub(super) fn compute(
    context: &RunContext,
    state: &mut State,
    iteration: IterationIndex,
    node: NodeRef<'_>,
    kernel: &Arc<dyn DynKernel>,
) -> Result<()> {
    let layout = &context.plan.layout;
    let position = context.position(state, iteration);
    let slots = state.slots(iteration);
    let inputs = node.layout.inputs_of(slots);
    context.fill(node, inputs)?;
    let edge = node.layout.only_edge;
    if !edge.slot.is_none() {
        call_in_place(context, position, node, kernel, slots)?;
        state.serve_edge(layout, edge, iteration);
        state.serve_controls(layout, node.layout, iteration, false);
        return Ok(());
    }
    let node_run = NodeRun { context, iteration, position, node, kernel };
    match node.layout.outputs.len() {
        0 | 1 if node.layout.first_edges.is_empty() => {
            let mut output = [None];
            call(context, position, node, kernel, inputs, &mut output[..node.layout.outputs.len()])?;
            Tensor::clear(&mut output[0]);
            state.serve_controls(layout, node.layout, iteration, false);
            Ok(())
        }
        0 | 1 => node_run.compute_into(state, &mut [const { None }; 1]),
        2..=FEW => node_run.compute_into(state, &mut [const { None }; FEW]),
        count => node_run.compute_into(state, &mut vec![None; count]),
    }
}

/// A run of a node whose inputs are filled in.
struct NodeRun<'r> {
    context: &'r RunContext,
    iteration: IterationIndex,
    position: Position,
    node: NodeRef<'r>,
    kernel: &'r Arc<dyn DynKernel>,
}

impl NodeRun<'_> {
    /// Runs the kernel with room for at least as many outputs as it has.
    #[inline(never)]
    fn compute_into(self, state: &mut State, outputs: &mut [Option<Tensor>]) -> Result<()> {
        let NodeRun { context, iteration, position, node, kernel } = self;
        let outputs = &mut outputs[..node.layout.outputs.len()];
        let inputs = node.layout.inputs_of(state.slots(iteration));
        call(context, position, node, kernel, inputs, outputs)?;
        hand_on(&context.plan, state, iteration, node, outputs)
    }
}

/// Calls a kernel whose output goes to one slot: it is written there.
#[inline(always)]
pub(super) fn call_in_place(
    context: &RunContext,
    position: Position,
    node: NodeRef<'_>,
    kernel: &Arc<dyn DynKernel>,
    slots: &mut Slots,
) -> Result<()> {
    let disjoint = slots.span_and_one_mut(node.layout.inputs, node.layout.only_edge.slot);
    let (inputs, output) = disjoint.ok_or_else(|| Error::internal("a node waits for itself"))?;
    Tensor::clear(&mut output[0]);
    call(context, position, node, kernel, inputs, output)?;
    if output[0].is_none() {
        return Err(unset(node, 0));
    }
    Ok(())
}

/// Calls a kernel, and empties the slots of its inputs.
#[inline(always)]
pub(super) fn call(
    context: &RunContext,
    position: Position,
    node: NodeRef<'_>,
    kernel: &Arc<dyn DynKernel>,
    inputs: &mut [Option<Tensor>],
    outputs: &mut [Option<Tensor>],
) -> Result<()> {
    context.call(node, position, kernel).run(inputs, outputs)?;
    node.layout.clear(inputs);
    Ok(())
}

#[cold]
pub(super) fn unset(node: NodeRef<'_>, output: usize) -> Error {
    let output = node.plan.signature.output_called(node.plan.op, output);
    Error::internal(format!("the kernel did not set {output}"))
}

/// Hands on what a kernel has computed.
#[inline(always)]
pub(super) fn hand_on(
    plan: &Plan,
    state: &mut State,
    iteration: IterationIndex,
    node: NodeRef<'_>,
    outputs: &mut [Option<Tensor>],
) -> Result<()> {
    for (index, output) in outputs.iter_mut().enumerate() {
        let edges = plan.layout.edges_of(node.layout, index);
        if edges.is_empty() {
            continue;
        }
        if output.is_none() {
            return Err(unset(node, index));
        }
        state.deliver(&plan.layout, edges, iteration, output);
    }
    state.serve_controls(&plan.layout, node.layout, iteration, false);
    Ok(())
}

/// Runs what has no kernel.
#[inline]
pub(super) fn flow(context: &RunContext, state: &mut State, tagged: TaggedNode, node: NodeRef<'_>) -> Result<()> {
    context.fill(node, node.layout.inputs_of(state.slots(tagged.iteration)))?;
    state.run_flow(&context.plan.layout, tagged, node.layout)
}

/// Passes on that a node is dead, or runs it if its kernel takes dead inputs. What that does not set is dead.
pub(super) fn dead(context: &RunContext, state: &mut State, tagged: TaggedNode, node: NodeRef<'_>) -> Result<()> {
    let layout = &context.plan.layout;
    match &node.plan.action {
        Action::Compute(kernel) if kernel.takes_dead_inputs() => {
            let task = Task { is_input_dead: true, ..Task::take(context, state, tagged) };
            let mut outputs = task.run_kernel(context, node, kernel)?;
            for (index, output) in outputs.iter_mut().enumerate() {
                state.deliver(layout, layout.edges_of(node.layout, index), tagged.iteration, output);
            }
            state.serve_controls(layout, node.layout, tagged.iteration, true);
        }
        _ => state.run_dead(layout, tagged, node.layout),
    }
    Ok(())
}

/// Whether an input names a variable. What is missing is told when the node runs.
#[cold]
pub(super) fn takes_variable(context: &RunContext, state: &mut State, tagged: TaggedNode, node: NodeRef<'_>) -> bool {
    let inputs = node.layout.inputs_of(state.slots(tagged.iteration));
    let resources = context.step.resources();
    context.fill(node, inputs).is_ok()
        && inputs.iter().flatten().any(|input| held::variable(resources, input).is_some())
}

// ---- on other threads, and later ----

/// A node with its inputs, which runs apart from the state.
pub(super) struct Task {
    tagged: TaggedNode,
    inputs: SmallVec<[Option<Tensor>; 4]>,
    position: Position,
    is_input_dead: bool,
}

/// A task that has ended.
pub(super) struct TaskDone {
    pub(super) tagged: TaggedNode,
    pub(super) outputs: Result<Outputs>,
    pub(super) nanoseconds: u32,
}

impl Task {
    /// Takes the inputs of a node out of the state.
    pub(super) fn take(context: &RunContext, state: &mut State, tagged: TaggedNode) -> Task {
        let node = &context.plan.layout.nodes[tagged.node];
        let inputs = node.inputs_of(state.slots(tagged.iteration)).iter_mut().map(Option::take).collect();
        Task { tagged, inputs, position: context.position(state, tagged.iteration), is_input_dead: false }
    }

    /// Runs the task on this thread.
    pub(super) fn run(self, context: &RunContext) -> TaskDone {
        let tagged = self.tagged;
        let node = NodeRef::of(&context.plan, tagged.node);
        let started = Instant::now();
        let outputs = context.step.cancellation().check().and_then(|()| match &node.plan.action {
            Action::Compute(kernel) => self.run_kernel(context, node, kernel),
            _ => Err(Error::internal("a node without a kernel counts as expensive")),
        });
        TaskDone { tagged, outputs, nanoseconds: nanoseconds(started) }
    }

    fn run_kernel(mut self, context: &RunContext, node: NodeRef<'_>, kernel: &Arc<dyn DynKernel>) -> Result<Outputs> {
        context.fill(node, &mut self.inputs)?;
        let mut outputs: Outputs = smallvec![None; node.layout.outputs.len()];
        let mut call = context.call(node, self.position, kernel);
        call.run.is_input_dead = self.is_input_dead;
        call.run(&mut self.inputs, &mut outputs)?;
        Ok(outputs)
    }

    /// The run of a kernel that waits.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if a variable among the inputs has no value.
    pub(super) fn run_async(
        mut self,
        context: &RunContext,
        kernel: Arc<dyn DynKernel>,
    ) -> Result<BoxFuture<'static, Result<Outputs>>> {
        let index = self.tagged.node;
        context.fill(NodeRef::of(&context.plan, index), &mut self.inputs)?;
        let (plan, step, depth) = (context.plan.clone(), context.step.clone(), context.depth);
        Ok(Box::pin(async move {
            let node = NodeRef::of(&plan, index);
            let mut outputs: Outputs = smallvec![None; node.layout.outputs.len()];
            let call = node.call(&plan, &step, depth, self.position, &kernel);
            call.run_async(&mut self.inputs, &mut outputs).await?;
            Ok(outputs)
        }))
    }
}
