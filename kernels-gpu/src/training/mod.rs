//! Variables on the device: adding to them, and steps of optimisers. Their values are changed in place if nobody else
//! holds them. Handles, reading and assigning are with the kernels for the processor, which serve all devices.

mod accumulate;
mod apply;
pub(crate) mod place;
mod rules;

use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::op::Op as _;
use kernlink_macros::register_kernel;
use kernlink_ops::*;

use accumulate::Accumulate;
use apply::Apply;

#[register_kernel(
    device = Gpu,
    op = [AssignAdd, AssignSub],
    T = [f32, u32, f16 if "f16", i64 if "i64"],
    programs = |T| accumulate::programs(T, O::DEF.name.starts_with("AssignSub"))
)]
impl OpKernel<O> for Accumulate {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Accumulate::new(ctx.input_dtype(O::VALUE), O::DEF.name.starts_with("AssignSub"))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.run(ctx)
    }
}

#[register_kernel(
    device = Gpu,
    op = [AssignAddVariableOp, AssignSubVariableOp],
    dtype = [f32, u32, f16 if "f16", i64 if "i64"],
    programs = |dtype| accumulate::programs(dtype, O::DEF.name.starts_with("AssignSub"))
)]
impl OpKernel<O> for Accumulate {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Accumulate::new(ctx.input_dtype(O::VALUE), O::DEF.name.starts_with("AssignSub"))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.run(ctx)
    }
}

#[register_kernel(
    device = Gpu,
    op = [
        ApplyAdaMax, ApplyAdadelta, ApplyAdagrad, ApplyAdagradV2, ApplyAdam, ApplyAddSign, ApplyCenteredRMSProp,
        ApplyFtrl, ApplyFtrlV2, ApplyGradientDescent, ApplyMomentum, ApplyPowerSign, ApplyRMSProp,
        ResourceApplyAdaMax, ResourceApplyAdadelta, ResourceApplyAdagrad, ResourceApplyAdagradV2, ResourceApplyAdam,
        ResourceApplyAdamWithAmsgrad, ResourceApplyAddSign, ResourceApplyCenteredRMSProp, ResourceApplyFtrl,
        ResourceApplyFtrlV2, ResourceApplyGradientDescent, ResourceApplyKerasMomentum, ResourceApplyMomentum,
        ResourceApplyPowerSign, ResourceApplyRMSProp, ResourceSparseApplyAdadelta, ResourceSparseApplyAdagrad,
        ResourceSparseApplyAdagradV2, ResourceSparseApplyCenteredRMSProp, ResourceSparseApplyFtrl,
        ResourceSparseApplyFtrlV2, ResourceSparseApplyKerasMomentum, ResourceSparseApplyMomentum,
        ResourceSparseApplyRMSProp, SparseApplyAdadelta, SparseApplyAdagrad, SparseApplyAdagradV2,
        SparseApplyCenteredRMSProp, SparseApplyFtrl, SparseApplyFtrlV2, SparseApplyMomentum, SparseApplyRMSProp
    ],
    T = [f32, f16 if "f16"],
    programs = |T| apply::programs(O::DEF, T)
)]
impl OpKernel<O> for Apply {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Apply::new(ctx)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.run(ctx)
    }
}

#[register_kernel(
    device = Gpu,
    op = [
        ApplyProximalAdagrad, ApplyProximalGradientDescent, ResourceApplyProximalAdagrad,
        ResourceApplyProximalGradientDescent, ResourceSparseApplyProximalAdagrad,
        ResourceSparseApplyProximalGradientDescent, SparseApplyProximalAdagrad, SparseApplyProximalGradientDescent
    ],
    T = [f32],
    programs = |T| apply::programs(O::DEF, T)
)]
impl OpKernel<O> for Apply {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Apply::new(ctx)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.run(ctx)
    }
}
