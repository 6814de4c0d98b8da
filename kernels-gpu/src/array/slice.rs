//! Parts of tensors that are written: StridedSliceGrad, TensorStridedSliceUpdate.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::op::{InputArg, Op};
use kernlink::shape_inference::strided_slice::Masks;
use kernlink::tensor::Tensor;
use kernlink_geometry::rearranged::{Elements, Rearranged};
use kernlink_geometry::slice as geometry;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::fill::{self, fill};
use super::strided::{Run as _, copies};
use crate::device::GpuDevice;

#[register_kernel(
    device = Gpu, op = ops::StridedSliceGrad, T = [f32, u32, bool, i64, f16 if "f16"],
    host_memory = ["shape", "begin", "end", "strides"], programs = |T| fill::with_copies(T),
    state = |ctx| Masks::from_attrs(ctx.attrs)
)]
fn gradient(&masks: &Masks, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let Rearranged { shape, elements } = geometry::gradient(ctx, masks)?;
    let dy = ctx.take_input(O::DY)?;
    let output = match elements {
        Elements::Copied(copy) => {
            let gpu = GpuDevice::of(ctx)?;
            let output = gpu.output(ctx, O::OUTPUT, shape)?;
            fill(gpu, &output, [0; 2])?;
            copy.run(gpu, &output, &dy)?;
            output
        }
        _ => dy.reshaped(shape)?,
    };
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = ops::TensorStridedSliceUpdate, T = [f32, u32, bool, i64, f16 if "f16"],
    host_memory = ["begin", "end", "strides"], programs = |T| copies(T), state = |ctx| Masks::from_attrs(ctx.attrs)
)]
fn update(&masks: &Masks, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let copy = geometry::update(ctx, masks)?;
    let value = ctx.input(O::VALUE)?.clone();
    let output = own(gpu, ctx, O::INPUT)?;
    copy.run(gpu, &output, &value)?;
    ctx.set_output(O::OUTPUT, output)
}

/// An input to be changed: itself if nothing else uses it, or else a copy.
pub(super) fn own<O: Op>(gpu: &GpuDevice, ctx: &mut KernelContext<'_, O>, input: InputArg<O>) -> Result<Tensor> {
    let mut input = ctx.take_input(input)?;
    if input.is_unique() { Ok(input) } else { gpu.copy(&input) }
}
