//! What kernels of a run are called with.

use std::sync::Arc;

use smallvec::SmallVec;

use super::state::{Position, State};
use crate::error::{Error, Result};
use crate::kernel::{DynKernel, RunInfo};
use crate::runtime::call::KernelCall;
use crate::runtime::index::{IterationIndex, NodeIndex};
use crate::runtime::plan::layout::{LayoutNode, Source};
use crate::runtime::plan::{Plan, PlanNode};
use crate::step::Step;
use crate::tensor::Tensor;

/// What all nodes of a run share. It does not change while the run goes on.
pub(super) struct RunContext {
    pub(super) plan: Arc<Plan>,
    pub(super) step: Arc<Step>,
    pub(super) feeds: SmallVec<[Tensor; 4]>,
    /// In how many calls of functions the run is nested.
    pub(super) depth: u32,
    /// Tells the run, and its loops, from the other runs of the step.
    pub(super) number: u64,
    /// Whether expensive nodes go to the pool.
    pub(super) is_parallel: bool,
}

/// A node: how it is laid out, and what runs it.
#[derive(Clone, Copy)]
pub(super) struct NodeRef<'p> {
    pub(super) layout: &'p LayoutNode,
    pub(super) plan: &'p PlanNode,
}

impl<'p> NodeRef<'p> {
    #[inline(always)]
    pub(super) fn of(plan: &'p Plan, index: NodeIndex) -> NodeRef<'p> {
        NodeRef { layout: &plan.layout.nodes[index], plan: &plan.nodes[index] }
    }

    /// A call of a kernel for the node.
    #[inline(always)]
    pub(super) fn call<'c>(
        self,
        plan: &'c Plan,
        step: &'c Arc<Step>,
        depth: u32,
        position: Position,
        kernel: &'c Arc<dyn DynKernel>,
    ) -> KernelCall<'c>
    where
        'p: 'c,
    {
        let node = self.plan;
        KernelCall {
            node: &node.name,
            op: node.op,
            signature: &node.signature,
            kernel,
            device: &*plan.devices[node.device as usize],
            pool: plan.pools[node.device as usize].as_deref(),
            step,
            run: RunInfo {
                depth,
                frame: position.frame,
                iteration: position.iteration,
                unused_outputs: node.unused_outputs,
                memory: node.memory.as_deref(),
                ..RunInfo::default()
            },
            #[cfg(debug_assertions)]
            inferred: node.inferred.as_deref(),
        }
    }
}

impl RunContext {
    /// Where an iteration stands among all iterations of the step.
    #[inline]
    pub(super) fn position(&self, state: &State, iteration: IterationIndex) -> Position {
        if !self.plan.layout.branches {
            return Position { frame: self.number, iteration: 0 };
        }
        let Position { frame, iteration } = state.position(iteration);
        Position { frame: self.number + frame, iteration }
    }

    /// A call of a kernel for a node of the plan.
    #[inline(always)]
    pub(super) fn call<'c>(
        &'c self,
        node: NodeRef<'c>,
        position: Position,
        kernel: &'c Arc<dyn DynKernel>,
    ) -> KernelCall<'c> {
        node.call(&self.plan, &self.step, self.depth, position, kernel)
    }

    /// Fills in the inputs of a node that are no outputs of other nodes.
    #[inline(always)]
    pub(super) fn fill(&self, node: NodeRef<'_>, inputs: &mut [Option<Tensor>]) -> Result<()> {
        if node.layout.has_externals(inputs) { Ok(()) } else { self.fill_some(node, inputs) }
    }

    /// See [`RunContext::fill`]. It is a function of its own, so that its loop takes no registers from nodes without such
    /// inputs.
    #[inline(never)]
    fn fill_some(&self, node: NodeRef<'_>, inputs: &mut [Option<Tensor>]) -> Result<()> {
        for external in &self.plan.layout.externals[node.layout.externals] {
            let slot = &mut inputs[external.slot.offset_from(node.layout.inputs.start)];
            let tensor = match external.source {
                // It is still there from the run before.
                Source::Constant(_) if slot.is_some() => continue,
                Source::Constant(index) => &self.plan.constants[index],
                Source::Feed(index) => &self.feeds[index.position()],
                Source::Node { .. } => return Err(Error::internal("an output stands among the externals")),
            };
            Tensor::put_clone(tensor, slot);
        }
        if !node.plan.references.is_empty() {
            read_references(node.plan, inputs)?;
        }
        Ok(())
    }
}

/// Reads the references of which the node takes the value.
#[cold]
fn read_references(node: &PlanNode, inputs: &mut [Option<Tensor>]) -> Result<()> {
    for input in &node.references {
        let slot = &mut inputs[input.index as usize];
        let Some(reference) = slot.as_ref().and_then(Tensor::reference) else { continue };
        let value = reference.get()?;
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
