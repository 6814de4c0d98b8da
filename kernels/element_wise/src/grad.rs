//! The gradients of element-wise functions: products of what flows back with a factor that the function's argument or
//! result gives.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::kernel::{ElementWise, KernelConstruction, KernelContext, Meet, OpKernel, RawContext};
use kernlink::op::Op;
use kernlink_geometry::element_wise::ensure_alike;

use super::binary::{Binary, BinaryFn};
use super::driver::{Spec, element_wise};

/// The kernel of a [`BinaryFn`] whose arguments do not broadcast. If it is `LOOSE`, their shapes may differ as long as the
/// number of elements does not; the first shape is then that of the result.
pub(super) struct Gradient<F, T, const LOOSE: bool>(PhantomData<fn() -> (F, T)>);

impl<O: Op, F: BinaryFn<T>, T: Pod, const LOOSE: bool> OpKernel<O> for Gradient<F, T, LOOSE> {
    const ELEMENT_WISE: Option<ElementWise> =
        Binary::<F, T>::element_wise(None, if LOOSE { Meet::Alike } else { Meet::Equal });

    fn new(_ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Gradient(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        gradient(ctx, &Binary::<F, T>::SPEC, LOOSE)
    }
}

/// What such kernels have in common.
#[inline(never)]
fn gradient(ctx: &mut RawContext<'_>, spec: &Spec<2>, loosely: bool) -> Result<()> {
    let (x, y) = (ctx.input_at(0)?.shape(), ctx.input_at(1)?.shape());
    if x == y {
        return element_wise(ctx, spec, &[]);
    }
    ensure_alike(x, y, loosely)?;
    let second = ctx.input_at(1)?.clone().reshaped(x.clone())?;
    element_wise(ctx, spec, &[second])
}
