//! Reductions along axes, where the greatest element is, softmax, running sums, and the greatest elements of rows.

mod arg;
mod cross_entropy;
mod fold;
mod large;
mod layer_norm;
mod masked_softmax;
mod plan;
mod reducer;
mod scan;
mod softmax;
mod top_k;
mod top_k_long;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::op::Op as _;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::channels::bias_gradient;
use kernlink_macros::register_kernel;
use kernlink_ops::shapes::TensorFormat;
use kernlink_ops::{All, Any, BiasAddGrad, EuclideanNorm, L2Loss, Max, Mean, Min, Prod, Sum};

use crate::device::GpuDevice;
use crate::shader::{Program, scalar_of};

pub(crate) use fold::Fold;
pub(crate) use plan::{Plan, Run};
pub(crate) use reducer::Kind;

/// A reduction along some axes.
struct Reduction {
    kind: Kind,
    keep_dims: bool,
    fold: Fold,
}

impl Reduction {
    fn new(op: &str, dtype: DataType, keep_dims: bool) -> Result<Reduction> {
        let kind = Kind::of_op(op)?;
        Ok(Reduction { kind, keep_dims, fold: Fold::new(kind.of(scalar_of(dtype)?)) })
    }

    fn run(&self, gpu: &GpuDevice, input: &Tensor, axes: &Tensor) -> Result<Tensor> {
        let plan = Plan::new(input.shape(), &axes.to_i64_vec()?, self.keep_dims)?;
        // A norm loses the sign.
        if plan.is_copy() && self.kind != Kind::Norm {
            return input.clone().reshaped(plan.output);
        }
        self.fold.run(gpu, input, &plan, input.dtype())
    }
}

pub(crate) fn programs(kind: Kind, dtype: DataType) -> Result<Vec<Program>> {
    Ok(fold::programs(&kind.of(scalar_of(dtype)?)))
}

#[register_kernel(
    device = Gpu, op = [EuclideanNorm, Max, Min, Prod, Sum], T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    host_memory = ["reduction_indices"], programs = |T| programs(Kind::of_op(&O::DEF.name)?, T)
)]
// Sums of integers are kept in 64 bits.
#[register_kernel(
    device = Gpu, op = Mean, T = [f32, f16 if "f16", i32 if "i64", u32 if "i64", i64 if "i64"],
    host_memory = ["reduction_indices"], programs = |T| programs(Kind::Mean, T)
)]
#[register_kernel(
    device = Gpu, op = [All, Any], Tidx = [i32, i64], host_memory = ["reduction_indices"],
    programs = || programs(Kind::of_op(&O::DEF.name)?, DataType::Bool)
)]
impl OpKernel<O> for Reduction {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Reduction::new(&O::DEF.name, ctx.input_dtype(O::INPUT), ctx.attrs().keep_dims)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let output = self.run(GpuDevice::of(ctx)?, ctx.input(O::INPUT)?, ctx.input(O::REDUCTION_INDICES)?)?;
        ctx.set_output(O::OUTPUT, output)
    }
}

#[register_kernel(
    device = Gpu, op = L2Loss, T = [f32, f16 if "f16"], programs = |T| programs(Kind::HalfSquares, T),
    state = |ctx| Ok(Fold::new(Kind::HalfSquares.of(scalar_of(ctx.input_dtype(O::T))?)))
)]
fn half_of_squares(fold: &Fold, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let input = ctx.input(O::T)?;
    let plan = Plan::new(&Shape::from([input.num_elements()]), &[0], false)?;
    let output = fold.run(GpuDevice::of(ctx)?, input, &plan, input.dtype())?;
    ctx.set_output(O::OUTPUT, output)
}

/// The sum of each channel.
struct ChannelSums {
    channels_last: bool,
    fold: Fold,
}

#[register_kernel(
    device = Gpu, op = BiasAddGrad, T = [f32, i32, u32, f16 if "f16", i64 if "i64"], programs = |T| programs(Kind::Sum, T),
    state = |ctx| Ok(ChannelSums {
        channels_last: TensorFormat::of_images(&ctx.attrs().data_format)? == TensorFormat::Nhwc,
        fold: Fold::new(Kind::Sum.of(scalar_of(ctx.input_dtype(O::OUT_BACKPROP))?)),
    })
)]
fn bias_gradients(sums: &ChannelSums, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gradient = ctx.input(O::OUT_BACKPROP)?;
    bias_gradient(gradient.shape(), sums.channels_last)?;
    let rank = gradient.rank();
    let channels = if sums.channels_last { rank - 1 } else { 1 };
    let axes: Vec<i64> = (0..rank as i64).filter(|&axis| axis != channels as i64).collect();
    let plan = Plan::new(gradient.shape(), &axes, false)?;
    let output = sums.fold.run(GpuDevice::of(ctx)?, gradient, &plan, gradient.dtype())?;
    ctx.set_output(O::OUTPUT, output)
}
