//! The traits that kernels implement, and their form without the op's type that the runtime calls.

use std::marker::PhantomData;
use std::ops::Deref;

use super::{ElementWise, KernelConstruction, KernelContext, RawConstruction, RawContext};
use crate::error::{Error, Result};
use crate::op::Op;
use crate::step::{BoxFuture, block_on_until, unless_cancelled};
use crate::threads::Help;

/// A synchronous kernel of op `O`.
///
/// One value serves one node; `compute` may run on several threads at once.
// The example needs ops: the crate `kernlink` compiles it.
#[cfg_attr(not(doctest), doc = "", doc = include_str!("../../doc/op_kernel.md"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kernel of op `{O}`",
    note = "a kernel of the op is `impl OpKernel<{O}> for {Self}`, with `new` and `compute`"
)]
pub trait OpKernel<O: Op>: Sized + Send + Sync + 'static {
    /// What the kernel computes of each element, if it computes each by itself.
    const ELEMENT_WISE: Option<ElementWise> = None;

    /// Makes the kernel for a node: reads and checks attrs, prepares what does not depend on the inputs.
    ///
    /// # Errors
    /// Whatever makes the node impossible to run, INVALID_ARGUMENT for bad attrs.
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self>;

    /// Computes the outputs from the inputs.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for inputs that the op does not allow, and whatever else stops the computation.
    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()>;

    /// Whether a call may take longer than scheduling it on another thread. Cheap kernels run on the thread that computed
    /// their inputs. Kernels on a GPU are always cheap: they only record commands.
    fn is_expensive(&self) -> bool {
        true
    }

    /// Whether the kernel runs even if an input is dead, as one that sends deadness to another device; see
    /// [`RawContext::is_input_dead`].
    fn takes_dead_inputs(&self) -> bool {
        false
    }

    /// Whether the kernel reads the variables whose handles it takes. For a kernel on the host that does, their values are
    /// copied to the host first from the devices that hold them.
    fn asks_for_values(&self) -> bool {
        true
    }

    /// What a trace of the run says of this call besides the node, its op and the shapes of its inputs and outputs. It is
    /// asked before the call, and only if the run is traced.
    fn trace_string(&self, ctx: &KernelContext<'_, O>) -> Option<String> {
        let _ = ctx;
        None
    }
}

/// A kernel of op `O` that waits: for an element of a queue, for a tensor from elsewhere, for a function that it calls.
/// While it waits it holds no thread.
///
/// ```ignore
/// #[register_kernel(device = Cpu)]
/// impl AsyncOpKernel<ops::QueueDequeueV2> for Dequeue {
///     fn new(ctx: &KernelConstruction<'_, ops::QueueDequeueV2>) -> Result<Self> { ... }
///     async fn compute(&self, ctx: &mut KernelContext<'_, ops::QueueDequeueV2>) -> Result<()> {
///         let queue = ctx.resource::<Queue>(ops::QueueDequeueV2::HANDLE)?;
///         let elements = queue.dequeue().await?;
///         ...
///     }
/// }
/// ```
///
/// If the step is cancelled while the kernel waits, its future is dropped: what it holds must be given back by drops.
/// A kernel that blocks its thread instead starves the step, and may stop it for good.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kernel of op `{O}`",
    note = "a kernel of the op that may wait is `impl AsyncOpKernel<{O}> for {Self}`, with `new` and an async `compute`"
)]
pub trait AsyncOpKernel<O: Op>: Sized + Send + Sync + 'static {
    /// See [`OpKernel::new`].
    ///
    /// # Errors
    /// See [`OpKernel::new`].
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self>;

    /// Computes the outputs from the inputs, and may wait meanwhile.
    ///
    /// # Errors
    /// See [`OpKernel::compute`].
    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> impl Future<Output = Result<()>> + Send;

    /// See [`OpKernel::trace_string`].
    fn trace_string(&self, ctx: &KernelContext<'_, O>) -> Option<String> {
        let _ = ctx;
        None
    }
}

/// What a kernel that is a function keeps for its node. `#[register_kernel]` on `fn name(state: &State, ctx: &mut
/// RawContext<'_>) -> Result<()>` makes it with the kernel and hands it to each call. See [`Attrs`] for the most common.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how a kernel makes it",
    label = "what the kernel keeps for its node",
    note = "give what makes it, `#[register_kernel(state = |ctx| Ok(...), ...)]`, or implement `KernelState` for the type"
)]
pub trait KernelState: Sized + Send + Sync + 'static {
    /// See [`OpKernel::new`].
    ///
    /// # Errors
    /// See [`OpKernel::new`].
    fn new(ctx: &RawConstruction<'_>) -> Result<Self>;
}

/// The attrs of a node of op `O`: what a kernel that is a function keeps if it needs nothing else.
pub struct Attrs<O: Op>(O::Attrs);

impl<O: Op> KernelState for Attrs<O> {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        O::read_attrs(ctx.attrs).map(Self)
    }
}

impl<O: Op> Deref for Attrs<O> {
    type Target = O::Attrs;
    fn deref(&self) -> &O::Attrs {
        &self.0
    }
}

/// An [`OpKernel`] or [`AsyncOpKernel`] without its static types.
pub trait DynKernel: Send + Sync + 'static {
    /// See [`OpKernel::compute`].
    ///
    /// # Errors
    /// See [`OpKernel::compute`].
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()>;

    /// Whether the kernel may wait: it is run by [`DynKernel::compute_async`] then.
    fn is_async(&self) -> bool {
        false
    }

    /// See [`AsyncOpKernel::compute`]; for kernels that wait, as [`DynKernel::is_async`] says.
    ///
    /// # Errors
    /// INTERNAL for one that does not.
    fn compute_async<'a>(&'a self, ctx: &'a mut RawContext<'_>) -> BoxFuture<'a, Result<()>> {
        does_not_wait(ctx)
    }

    /// See [`OpKernel::is_expensive`]. What is on a GPU is not asked.
    fn is_expensive(&self) -> bool;

    /// See [`OpKernel::takes_dead_inputs`].
    fn takes_dead_inputs(&self) -> bool {
        false
    }

    /// See [`OpKernel::asks_for_values`].
    fn asks_for_values(&self) -> bool {
        true
    }

    /// See [`OpKernel::trace_string`].
    fn trace_string(&self, ctx: &RawContext<'_>) -> Option<String> {
        let _ = ctx;
        None
    }
}

/// Apart, because the function around it is compiled for every kernel.
#[inline(never)]
fn does_not_wait<'a>(ctx: &RawContext<'_>) -> BoxFuture<'a, Result<()>> {
    let message = format!("the kernel of {} does not wait: it is called by `compute`", ctx.op().name);
    Box::pin(std::future::ready(Err(Error::internal(message))))
}

/// Runs a kernel that waits, for a caller that has a thread to block: its [`DynKernel::compute`].
///
/// # Errors
/// See [`DynKernel::compute_async`]; why its step is cancelled, if it is while the kernel waits.
pub fn compute_and_wait(kernel: &dyn DynKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    // What it waits for may be a function, whose run has work for this thread, too.
    let help = ctx.pool().zip(ctx.run().step).map(|(pool, step)| Help::begin(pool, step.id(), false));
    let cancellation = ctx.run().step.map(|step| step.cancellation().clone()).unwrap_or_default();
    // Boxed, so that this is compiled once for all kernels.
    block_on_until(unless_cancelled(kernel.compute_async(ctx), &cancellation), help.as_ref(), None, || {})
}

struct Erased<O, K>(K, PhantomData<fn() -> O>);

impl<O: Op, K: OpKernel<O>> DynKernel for Erased<O, K> {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        self.0.compute(KernelContext::from_raw(ctx))
    }

    fn is_expensive(&self) -> bool {
        self.0.is_expensive()
    }

    fn takes_dead_inputs(&self) -> bool {
        self.0.takes_dead_inputs()
    }

    fn asks_for_values(&self) -> bool {
        self.0.asks_for_values()
    }

    fn trace_string(&self, ctx: &RawContext<'_>) -> Option<String> {
        self.0.trace_string(KernelContext::from_raw_ref(ctx))
    }
}

struct Waiting<O, K>(K, PhantomData<fn() -> O>);

impl<O: Op, K: AsyncOpKernel<O>> DynKernel for Waiting<O, K> {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        compute_and_wait(self, ctx)
    }

    fn is_async(&self) -> bool {
        true
    }

    fn compute_async<'a>(&'a self, ctx: &'a mut RawContext<'_>) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.compute(KernelContext::from_raw(ctx)))
    }

    fn is_expensive(&self) -> bool {
        false
    }

    fn trace_string(&self, ctx: &RawContext<'_>) -> Option<String> {
        self.0.trace_string(KernelContext::from_raw_ref(ctx))
    }
}

/// Makes a kernel `K` that waits for a node: what a [`KernelDef`](super::KernelDef) holds as its factory.
///
/// # Errors
/// See [`OpKernel::new`].
pub fn create_async_kernel<O: Op, K: AsyncOpKernel<O>>(raw: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
    let construction = KernelConstruction::<O>::new(raw)?;
    Ok(Box::new(Waiting::<O, K>(K::new(&construction)?, PhantomData)))
}

/// Makes kernel `K` for a node: what a [`KernelDef`](super::KernelDef) holds as its factory.
///
/// # Errors
/// See [`OpKernel::new`].
pub fn create_kernel<O: Op, K: OpKernel<O>>(raw: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
    // The attrs are dropped before memory is asked for, and most kernels need none: less to compile for every one.
    let kernel = K::new(&KernelConstruction::<O>::new(raw)?)?;
    Ok(Box::new(Erased::<O, K>(kernel, PhantomData)))
}
