//! Calling kernels: the one way in which the runtime does, on whatever thread and for whomever.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use crate::device::Device;
use crate::error::{Result, catch_panic};
use crate::kernel::{DynKernel, RawContext, RunInfo};
use crate::op::{OpDef, Signature};
use crate::step::{Begun, Ran, Step, at_work, trace_node};
use crate::tensor::Tensor;

/// A kernel that is to be called, for a node. It goes by value, so that a call that is inlined need not put it into memory.
#[derive(Clone, Copy)]
pub(super) struct KernelCall<'c> {
    /// The node's name.
    pub(super) node: &'c str,
    pub(super) op: &'static OpDef,
    pub(super) signature: &'c Signature,
    pub(super) kernel: &'c dyn DynKernel,
    pub(super) device: &'c dyn Device,
    /// The threads over which the kernel splits its work.
    pub(super) pool: Option<&'c rayon::ThreadPool>,
    pub(super) step: &'c Arc<Step>,
    /// What else the kernel is told of this run; its step and device are those above.
    pub(super) run: RunInfo<'c>,
}

impl<'c> KernelCall<'c> {
    /// Runs the kernel to its end on this thread.
    ///
    /// # Errors
    /// What the kernel meets; INTERNAL if it panics.
    #[inline(always)]
    pub(super) fn run(self, inputs: &mut [Option<Tensor>], outputs: &mut [Option<Tensor>]) -> Result<()> {
        let begun = self.begin();
        let mut context = self.context(inputs, outputs);
        let kernel = self.kernel;
        self.guarded(|| kernel.compute(&mut context))?;
        if let Some(begun) = begun {
            let own = OwnMemory::of(&context);
            self.record(begun, own, kernel.is_async(), outputs);
        }
        Ok(())
    }

    /// Runs the kernel as one that waits, which holds no thread meanwhile.
    ///
    /// # Errors
    /// See [`KernelCall::run`].
    pub(super) async fn run_async(&self, inputs: &mut [Option<Tensor>], outputs: &mut [Option<Tensor>]) -> Result<()> {
        let begun = self.begin();
        let mut context = self.context(inputs, outputs);
        {
            let mut computing = pin!(async { self.kernel.compute_async(&mut context).await });
            let attended = poll_fn(|waker| match self.guarded(|| Ok(computing.as_mut().poll(waker))) {
                Ok(polled) => polled,
                Err(panicked) => Poll::Ready(Err(panicked)),
            });
            attended.await?;
        }
        if let Some(begun) = begun {
            let own = OwnMemory::of(&context);
            self.record(begun, own, true, outputs);
        }
        Ok(())
    }

    /// Has the kernel work on this thread: whatever a kernel does, it does within. The node is known to devices if the
    /// step is traced, a kernel that blocks the thread is found out, and a panic is an error.
    #[inline(always)]
    fn guarded<T>(self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let _traced = self.step.stats().map(|_| trace_node(self.step.id(), self.node, &self.op.name, self.run.depth));
        let _at_work = at_work(self.op);
        catch_panic("the kernel", work)
    }

    #[inline(always)]
    fn context<'a>(self, inputs: &'a mut [Option<Tensor>], outputs: &'a mut [Option<Tensor>]) -> RawContext<'a>
    where
        'c: 'a,
    {
        let run = RunInfo { step: Some(self.step), device: Some(self.device), ..self.run };
        RawContext::in_run(self.node, (self.op, self.signature), inputs, outputs, self.pool, run)
    }

    /// Notes when it begins, if the step collects statistics.
    #[inline(always)]
    fn begin(self) -> Option<Begun> {
        self.step.stats().map(|_| Begun::now())
    }

    /// Notes that the kernel has run.
    #[cold]
    fn record(self, begun: Begun, own: OwnMemory, is_async: bool, outputs: &[Option<Tensor>]) {
        if let Some(stats) = self.step.stats() {
            let ran = Ran {
                node: self.node,
                op: &self.op.name,
                device: self.device.name(),
                is_async,
                depth: self.run.depth,
                temporary: own.temporary,
                persistent: own.persistent,
            };
            stats.record(begun.ended(self.step.start(), &ran, outputs));
        }
    }
}

/// The memory that a kernel says it took for its own use, in bytes.
struct OwnMemory {
    temporary: usize,
    persistent: i64,
}

impl OwnMemory {
    fn of(context: &RawContext<'_>) -> OwnMemory {
        OwnMemory { temporary: context.temp_memory_allocated(), persistent: context.persistent_memory_allocated() }
    }
}
