//! Between space and batch: SpaceToBatchND, BatchToSpaceND.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::space::Blocks;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::fill::{self, fill};
use super::strided::Run as _;
use crate::device::GpuDevice;

/// What the copies make of a tensor.
fn copied(gpu: &GpuDevice, input: &Tensor, blocks: &Blocks) -> Result<Tensor> {
    let output = gpu.allocate(input.dtype(), &blocks.shape)?;
    if blocks.has_gaps {
        fill(gpu, &output, [0; 2])?;
    }
    blocks.copies(&mut |copy| copy.run(gpu, &output, input))?;
    Ok(output)
}

#[register_kernel(
    device = Gpu, op = ops::SpaceToBatchND, T = [f32, i32, u32, i64, f16 if "f16"], Tblock_shape = [i32, i64],
    Tpaddings = [i32, i64], host_memory = ["block_shape", "paddings"], programs = |T| fill::with_copies(T)
)]
fn space_to_batch(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let input = ctx.input(O::INPUT)?;
    let blocks = Blocks::of_image(input.shape(), ctx.input(O::BLOCK_SHAPE)?, ctx.input(O::PADDINGS)?)?;
    let output = copied(GpuDevice::of(ctx)?, input, &blocks)?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = ops::BatchToSpaceND, T = [f32, i32, u32, i64, f16 if "f16"], Tblock_shape = [i32, i64],
    Tcrops = [i32, i64], host_memory = ["block_shape", "crops"], programs = |T| fill::with_copies(T)
)]
fn batch_to_space(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let input = ctx.input(O::INPUT)?;
    let blocks = Blocks::of_batches(input.shape(), ctx.input(O::BLOCK_SHAPE)?, ctx.input(O::CROPS)?)?;
    let output = copied(GpuDevice::of(ctx)?, input, &blocks)?;
    ctx.set_output(O::OUTPUT, output)
}
