//! The gradients of element-wise functions: products of what flows back with a factor that the function's argument or
//! result gives.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::op::Op;
use kernlink_geometry::element_wise::ensure_alike;

use super::binary::{Binary, BinaryFn};
use super::driver::element_wise;

/// The kernel of a [`BinaryFn`] whose arguments do not broadcast.
pub(super) struct Gradient<F, T>(PhantomData<fn() -> (F, T)>);

impl<O: Op, F: BinaryFn<T> + Loose, T: Pod> OpKernel<O> for Gradient<F, T> {
    fn new(_ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Gradient(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let (x, y) = (ctx.input_at(0)?.shape(), ctx.input_at(1)?.shape());
        if x == y {
            return element_wise(ctx, &Binary::<F, T>::SPEC, &[]);
        }
        ensure_alike(x, y, F::LOOSE)?;
        let second = ctx.input_at(1)?.clone().reshaped(x.clone())?;
        element_wise(ctx, &Binary::<F, T>::SPEC, &[second])
    }
}

/// What a gradient asks of its inputs' shapes.
pub(super) trait Loose {
    /// Whether they may differ if the number of elements does not. The first shape is then that of the result.
    const LOOSE: bool;
}

/// Registers [`Gradient`] kernels: `register_gradient! { true; SqrtGrad = [f32, f64]; }`, where `true` says that shapes
/// may differ.
macro_rules! register_gradient {
    ($loose:literal; $($op:ident: $function:ident = [$($t:tt)+];)+) => {$(
        const _: () = {
            #[kernlink_macros::register_kernel(device = Cpu, op = $op, T = [$($t)+])]
            type Kernel<T> = $crate::grad::Gradient<$function, T>;
        };
        impl $crate::grad::Loose for $op {
            const LOOSE: bool = $loose;
        }
    )+};
}
pub(super) use register_gradient;
