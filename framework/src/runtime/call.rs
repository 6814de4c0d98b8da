//! Calling kernels: the one way in which the runtime does, on whatever thread and for whomever.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use crate::device::Device;
use crate::error::{Result, catch_panic};
use crate::kernel::{DynKernel, RawContext, RunInfo};
use crate::op::{OpDef, Signature};
#[cfg(debug_assertions)]
use crate::shape::PartialShape;
#[cfg(debug_assertions)]
use crate::shape_inference::{Inferred, check_outputs};
use crate::step::{Begun, Ran, Step, at_work, trace_node};
use crate::tensor::Tensor;
use crate::threads::ThreadPool;

/// A kernel that is to be called, for a node. It goes by value, so that a call that is inlined need not put it into memory.
#[derive(Clone, Copy)]
pub(super) struct KernelCall<'c> {
    /// The node's name.
    pub(super) node: &'c str,
    pub(super) op: &'static OpDef,
    pub(super) signature: &'c Signature,
    /// By its owner: one word, for which the call need not find out where in it the kernel is.
    pub(super) kernel: &'c Arc<dyn DynKernel>,
    pub(super) device: &'c dyn Device,
    /// The threads over which the kernel splits its work.
    pub(super) pool: Option<&'c ThreadPool>,
    pub(super) step: &'c Arc<Step>,
    /// What else the kernel is told of this run; its step and device are those above.
    pub(super) run: RunInfo<'c>,
    /// What the outputs are held against.
    #[cfg(debug_assertions)]
    pub(super) inferred: Option<&'c Inferred>,
}

impl<'c> KernelCall<'c> {
    /// Runs the kernel to its end on this thread.
    ///
    /// # Errors
    /// What the kernel meets; INTERNAL if it panics, or in a debug build its op's shape function.
    #[inline(always)]
    pub(super) fn run(self, inputs: &mut [Option<Tensor>], outputs: &mut [Option<Tensor>]) -> Result<()> {
        let kernel = self.kernel;
        #[cfg(debug_assertions)]
        let shapes = self.shapes(inputs)?;
        let mut context = self.context(inputs, outputs);
        let begun = self.begin(&context);
        self.guarded(|| kernel.compute(&mut context))?;
        if let Some(begun) = begun {
            record(&context, begun, kernel.is_async());
        }
        #[cfg(debug_assertions)]
        self.check(shapes, outputs)?;
        Ok(())
    }

    /// The shapes that the outputs must have, as far as they are known.
    ///
    /// # Errors
    /// INTERNAL if the shape function panics.
    #[cfg(debug_assertions)]
    fn shapes(self, inputs: &[Option<Tensor>]) -> Result<Option<Vec<PartialShape>>> {
        self.inferred.map_or(Ok(None), |inferred| inferred.of_call(self.op, self.signature, inputs))
    }

    #[cfg(debug_assertions)]
    fn check(self, shapes: Option<Vec<PartialShape>>, outputs: &[Option<Tensor>]) -> Result<()> {
        shapes.map_or(Ok(()), |shapes| check_outputs(self.op, &shapes, outputs, self.run.unused_outputs))
    }

    /// Runs the kernel as one that waits, which holds no thread meanwhile.
    ///
    /// # Errors
    /// See [`KernelCall::run`].
    pub(super) async fn run_async(&self, inputs: &mut [Option<Tensor>], outputs: &mut [Option<Tensor>]) -> Result<()> {
        #[cfg(debug_assertions)]
        let shapes = self.shapes(inputs)?;
        let mut context = self.context(inputs, outputs);
        let begun = self.begin(&context);
        {
            let mut computing = pin!(async { self.kernel.compute_async(&mut context).await });
            let attended = poll_fn(|waker| match self.guarded(|| Ok(computing.as_mut().poll(waker))) {
                Ok(polled) => polled,
                Err(panicked) => Poll::Ready(Err(panicked)),
            });
            attended.await?;
        }
        if let Some(begun) = begun {
            record(&context, begun, true);
        }
        #[cfg(debug_assertions)]
        self.check(shapes, outputs)?;
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
    fn begin(self, context: &RawContext<'_>) -> Option<Begun> {
        self.step.stats().map(|_| begin(&**self.kernel, context))
    }
}

/// Notes what is to be told of a call from the time before it.
#[cold]
fn begin(kernel: &dyn DynKernel, context: &RawContext<'_>) -> Begun {
    // A trace is no reason to fail a run.
    let said = catch_panic("the kernel's trace_string", || Ok(kernel.trace_string(context)));
    Begun::now(context.inputs(), said.unwrap_or_else(|error| Some(error.message().to_owned())))
}

/// Notes that a kernel has run, if the step collects statistics. It reads the context, which is in memory in any case, and
/// not the call, which otherwise would have to be.
#[cold]
fn record(context: &RawContext<'_>, begun: Begun, is_async: bool) {
    let RunInfo { step, device, depth, .. } = *context.run();
    if let (Some(step), Some(device)) = (step, device)
        && let Some(stats) = step.stats()
    {
        let ran = Ran {
            node: context.node(),
            op: &context.op().name,
            device: device.name(),
            is_async,
            depth,
            temporary: context.temp_memory_allocated(),
            persistent: context.persistent_memory_allocated(),
        };
        stats.record(begun.ended(step.start(), &ran, context.outputs()));
    }
}
