//! Kernels that wait, and whoever wakes them.

use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake};

use smallvec::smallvec;

use super::node::{fail, fill, finish, info, record, take_task};
use super::run::{Message, Run, Task};
use super::state::{Ready, State};
use crate::error::{Result, catch_panic};
use crate::kernel::{DynKernel, RawContext};
use crate::runtime::plan::PlanNode;
use crate::step::{Begun, BoxFuture, at_work};
use crate::tensor::Tensor;

/// The outputs of a node.
pub(super) type Outputs = smallvec::SmallVec<[Option<Tensor>; 2]>;

/// A node whose kernel waits.
pub(super) struct Waiting {
    pub(super) node: u32,
    pub(super) iteration: u32,
    pub(super) future: BoxFuture<'static, Result<Outputs>>,
}

/// Has a run look at one of its waiting nodes.
pub(super) struct Waker {
    pub(super) run: Weak<Run>,
    pub(super) position: u32,
}

impl Wake for Waker {
    fn wake(self: Arc<Self>) {
        if let Some(run) = self.run.upgrade() {
            run.post(Message::Wake(self.position));
        }
    }
}

/// Runs a kernel that may wait.
pub(super) fn wait(run: &Arc<Run>, state: &mut State, ready: Ready, node: &PlanNode, kernel: Arc<dyn DynKernel>) {
    let Task { mut inputs, position, .. } = take_task(run, state, ready);
    if let Err(error) = fill(run, node, &mut inputs, node.inputs.start) {
        return fail(run, state, node, error);
    }
    let (plan, step, depth, index) = (run.plan.clone(), run.step.clone(), run.depth, ready.node as usize);
    let future = Box::pin(async move {
        let node = &plan.nodes[index];
        let mut outputs: Outputs = smallvec![None; node.outputs.len()];
        let info = info(&plan, &step, depth, node, position);
        let pool = plan.pools[node.device as usize].as_deref();
        let signature = (node.op, &*node.signature);
        let mut context = RawContext::in_run(&node.name, signature, &mut inputs, &mut outputs, pool, info);
        let begun = step.stats().map(|_| Begun::now());
        kernel.compute_async(&mut context).await?;
        if let Some(begun) = begun {
            let own = (context.temp_memory_allocated(), context.persistent_memory_allocated());
            record(&plan, &step, depth, node, (begun, own), &outputs);
        }
        Ok(outputs)
    });
    let position = state.free_waiting.pop().unwrap_or_else(|| {
        state.waiting.push(None);
        state.waiting.len() as u32 - 1
    });
    state.waiting[position as usize] = Some(Waiting { node: ready.node, iteration: ready.iteration, future });
    poll(run, state, position);
}

/// Looks whether a kernel has done waiting.
pub(super) fn poll(run: &Arc<Run>, state: &mut State, position: u32) {
    let Some(mut waiting) = state.waiting.get_mut(position as usize).and_then(Option::take) else { return };
    let waker = Arc::new(Waker { run: Arc::downgrade(run), position }).into();
    let mut context = Context::from_waker(&waker);
    let polled = {
        let _at_work = at_work(run.plan.nodes[waiting.node as usize].op);
        catch_panic("the kernel", || Ok(waiting.future.as_mut().poll(&mut context)))
    };
    let outputs = match polled {
        Ok(Poll::Pending) => {
            state.waiting[position as usize] = Some(waiting);
            return;
        }
        Ok(Poll::Ready(outputs)) => outputs,
        Err(error) => Err(error),
    };
    state.free_waiting.push(position);
    let node = &run.plan.nodes[waiting.node as usize];
    finish(run, state, node, waiting.iteration, outputs);
}
