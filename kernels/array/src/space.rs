//! Between space, depth and batch: DepthToSpace, SpaceToDepth, SpaceToBatch, BatchToSpace and their ND.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, CPU, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::space::{Block, Blocks};
use kernlink_kernels_common::strided::{Run as _, rearrange};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(
    device = Cpu,
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
    state = |ctx| Block::new(ctx.attrs().block_size, &ctx.attrs().data_format, CPU),
)]
fn depth_to_space(block: &Block, ctx: &mut KernelContext<'_, ops::DepthToSpace>) -> Result<()> {
    let space = block.moved(ctx.input(ops::DepthToSpace::INPUT)?.shape(), true)?;
    rearrange(ctx, 0, space)
}

#[register_kernel(
    device = Cpu,
    T = [realnumbertype, bool, complex128, complex64, qint8, resource, string, variant],
    state = |ctx| Block::new(ctx.attrs().block_size, &ctx.attrs().data_format, CPU),
)]
fn space_to_depth(block: &Block, ctx: &mut KernelContext<'_, ops::SpaceToDepth>) -> Result<()> {
    let depth = block.moved(ctx.input(ops::SpaceToDepth::INPUT)?.shape(), false)?;
    rearrange(ctx, 0, depth)
}

/// Sets output 0 to what the copies make of input 0.
fn copy(ctx: &mut RawContext<'_>, blocks: &Blocks) -> Result<()> {
    let input = ctx.input_at(0)?;
    let mut output = match blocks.has_gaps {
        true => Tensor::zeros(input.dtype(), &blocks.shape)?,
        false => ctx.allocate_output_at(0, &blocks.shape)?,
    };
    blocks.copies(&mut |copy| copy.run(ctx, &mut output, input))?;
    ctx.set_output_at(0, output)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["block_shape", "paddings"],
    T = [realnumbertype],
    Tblock_shape = [int32, int64],
    Tpaddings = [int32, int64],
)]
fn space_to_batch_nd(ctx: &mut KernelContext<'_, ops::SpaceToBatchND>) -> Result<()> {
    type Op = ops::SpaceToBatchND;
    let image = ctx.input(Op::INPUT)?.shape();
    let blocks = Blocks::of_image(image, ctx.input(Op::BLOCK_SHAPE)?, ctx.input(Op::PADDINGS)?)?;
    copy(ctx, &blocks)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["block_shape", "crops"],
    T = [realnumbertype],
    Tblock_shape = [int32, int64],
    Tcrops = [int32, int64],
)]
fn batch_to_space_nd(ctx: &mut KernelContext<'_, ops::BatchToSpaceND>) -> Result<()> {
    type Op = ops::BatchToSpaceND;
    let batches = ctx.input(Op::INPUT)?.shape();
    let blocks = Blocks::of_batches(batches, ctx.input(Op::BLOCK_SHAPE)?, ctx.input(Op::CROPS)?)?;
    copy(ctx, &blocks)
}

/// Fails unless the shape is that of images, of whose two spatial dimensions squares are cut; the size of these.
fn square(images: &Shape, side: i64) -> Result<Tensor> {
    ensure!(
        images.rank() == 4,
        InvalidArgument,
        "Input rank should be 4 ([batch, height, width, depth]), not {} (shape {images})",
        images.rank()
    );
    Tensor::vector(&[side; 2])
}

#[register_kernel(device = Cpu, host_memory = ["paddings"], T = [realnumbertype], Tpaddings = [int32, int64])]
fn space_to_batch(attrs: &Attrs<ops::SpaceToBatch>, ctx: &mut KernelContext<'_, ops::SpaceToBatch>) -> Result<()> {
    type Op = ops::SpaceToBatch;
    let image = ctx.input(Op::INPUT)?.shape();
    let blocks = Blocks::of_image(image, &square(image, attrs.block_size)?, ctx.input(Op::PADDINGS)?)?;
    copy(ctx, &blocks)
}

#[register_kernel(device = Cpu, host_memory = ["crops"], T = [realnumbertype], Tidx = [int32, int64])]
fn batch_to_space(attrs: &Attrs<ops::BatchToSpace>, ctx: &mut KernelContext<'_, ops::BatchToSpace>) -> Result<()> {
    type Op = ops::BatchToSpace;
    let batches = ctx.input(Op::INPUT)?.shape();
    let blocks = Blocks::of_batches(batches, &square(batches, attrs.block_size)?, ctx.input(Op::CROPS)?)?;
    copy(ctx, &blocks)
}
