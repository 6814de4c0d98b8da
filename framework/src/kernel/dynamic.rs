//! The trait that kernels implement, and its form without the op's type that the runtime calls.

use std::marker::PhantomData;

use super::{KernelConstruction, KernelContext, RawConstruction, RawContext};
use crate::error::Result;
use crate::op::Op;

/// A synchronous kernel of op `O`.
///
/// One value serves one node; `compute` may run on several threads at once.
pub trait OpKernel<O: Op>: Sized + Send + Sync + 'static {
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

    /// Whether a run may take longer than handing it to another thread. Cheap kernels run on the thread that made
    /// their inputs.
    fn is_expensive(&self) -> bool {
        true
    }

    /// Whether every output is the input of the same position, unchanged, so that the runtime may do without the
    /// kernel.
    fn is_identity(&self) -> bool {
        false
    }
}

/// An [`OpKernel`] whose op is known at run time only.
pub trait DynKernel: Send + Sync + 'static {
    /// See [`OpKernel::compute`].
    ///
    /// # Errors
    /// See [`OpKernel::compute`].
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()>;

    /// See [`OpKernel::is_expensive`].
    fn is_expensive(&self) -> bool;

    /// See [`OpKernel::is_identity`].
    fn is_identity(&self) -> bool;
}

struct Erased<O, K>(K, PhantomData<fn() -> O>);

impl<O: Op, K: OpKernel<O>> DynKernel for Erased<O, K> {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        self.0.compute(KernelContext::from_raw(ctx))
    }

    fn is_expensive(&self) -> bool {
        self.0.is_expensive()
    }

    fn is_identity(&self) -> bool {
        self.0.is_identity()
    }
}

/// Makes kernel `K` for a node: what a [`KernelDef`](super::KernelDef) holds as its factory.
///
/// # Errors
/// See [`OpKernel::new`].
pub fn create_kernel<O: Op, K: OpKernel<O>>(raw: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
    let construction = KernelConstruction::<O>::new(raw)?;
    Ok(Box::new(Erased::<O, K>(K::new(&construction)?, PhantomData)))
}
