//! Elements in another order, or some of them, or again and again: what is one copy between strided boxes. Transpose,
//! ConjugateTranspose, Slice, StridedSlice, Reverse, ReverseV2, Tile, BroadcastTo, DepthToSpace, SpaceToDepth.

use kernlink::error::Result;
use kernlink::kernel::{GPU, KernelContext};
use kernlink::op::{InputArg, Op, OutputArg};
use kernlink::shape_inference::strided_slice::Masks;
use kernlink::tensor::Tensor;
use kernlink_geometry::rearranged::{Elements, Rearranged, broadcast_to, reversed, reversed_along, tiled, transposed};
use kernlink_geometry::slice as geometry;
use kernlink_geometry::space::Block;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::strided::{Run as _, StridedCopy, copies};
use crate::device::GpuDevice;

/// The tensor that becomes of another.
pub(crate) fn rearranged(gpu: &GpuDevice, input: Tensor, to: Rearranged) -> Result<Tensor> {
    let Rearranged { shape, elements } = to;
    let copy = match elements {
        Elements::Same => return input.reshaped(shape),
        // No buffer begins within another.
        Elements::Rows(rows) => {
            let row: usize = input.shape()[1..].iter().product();
            StridedCopy::new(0, rows.start * row).step(rows.len() * row, 1, 1)
        }
        Elements::Copied(copy) => copy,
    };
    let output = gpu.allocate(input.dtype(), shape)?;
    copy.run(gpu, &output, &input)?;
    Ok(output)
}

/// A matrix of so many rows and columns, transposed.
pub(crate) fn turned(gpu: &GpuDevice, matrix: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor> {
    let turned = gpu.allocate(matrix.dtype(), [columns, rows])?;
    let copy = StridedCopy::new(0, 0).step(columns, rows, 1).step(rows, 1, columns as isize);
    copy.run(gpu, &turned, matrix)?;
    Ok(turned)
}

/// Sets an output to what becomes of an input.
fn rearrange<O: Op>(
    ctx: &mut KernelContext<'_, O>,
    input: InputArg<O>,
    output: OutputArg<O>,
    to: Rearranged,
) -> Result<()> {
    let rearranged = rearranged(GpuDevice::of(ctx)?, ctx.take_input(input)?, to)?;
    ctx.set_output(output, rearranged)
}

#[register_kernel(
    device = Gpu, op = [ops::Transpose, ops::ConjugateTranspose], T = [f32, i32, u32, bool, i64, f16 if "f16"],
    host_memory = ["perm"], programs = |T| copies(T)
)]
fn transpose(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let to = transposed(ctx.input(O::X)?.shape(), ctx.input(O::PERM)?)?;
    rearrange(ctx, O::X, O::Y, to)
}

#[register_kernel(
    device = Gpu, op = ops::Slice, T = [f32, u32, bool, i64, f16 if "f16"], host_memory = ["begin", "size"],
    programs = |T| copies(T)
)]
fn slice(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let part = geometry::sliced(ctx.input(O::INPUT)?.shape(), ctx.input(O::BEGIN)?, ctx.input(O::SIZE)?)?;
    rearrange(ctx, O::INPUT, O::OUTPUT, part)
}

#[register_kernel(
    device = Gpu, op = ops::StridedSlice, T = [f32, u32, bool, i64, f16 if "f16"],
    host_memory = ["begin", "end", "strides"], programs = |T| copies(T), state = |ctx| Masks::from_attrs(ctx.attrs)
)]
fn strided_slice(&masks: &Masks, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let part = geometry::strided(ctx, masks)?;
    rearrange(ctx, O::INPUT, O::OUTPUT, part)
}

#[register_kernel(
    device = Gpu, op = ops::Reverse, T = [f32, u32, bool, i64, f16 if "f16"], host_memory = ["dims"],
    programs = |T| copies(T)
)]
fn reverse(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let turned = reversed(ctx.input(O::TENSOR)?.shape(), ctx.input(O::DIMS)?)?;
    rearrange(ctx, O::TENSOR, O::OUTPUT, turned)
}

#[register_kernel(
    device = Gpu, op = ops::ReverseV2, T = [f32, u32, bool, i64, f16 if "f16"], Tidx = [i32, i64],
    host_memory = ["axis"], programs = |T| copies(T)
)]
fn reverse_along(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let turned = reversed_along(ctx.input(O::TENSOR)?.shape(), ctx.input(O::AXIS)?)?;
    rearrange(ctx, O::TENSOR, O::OUTPUT, turned)
}

#[register_kernel(
    device = Gpu, op = ops::Tile, T = [f32, i32, u32, bool, i64, f16 if "f16"], Tmultiples = [i32, i64],
    host_memory = ["multiples"], programs = |T| copies(T)
)]
fn tile(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let to = tiled(ctx.input(O::INPUT)?.shape(), ctx.input(O::MULTIPLES)?)?;
    rearrange(ctx, O::INPUT, O::OUTPUT, to)
}

#[register_kernel(
    device = Gpu, op = ops::BroadcastTo, T = [f32, u32, bool, i64, f16 if "f16"], host_memory = ["shape"],
    programs = |T| copies(T)
)]
fn broadcast(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let to = broadcast_to(ctx.input(O::INPUT)?.shape(), ctx.input(O::SHAPE)?)?;
    rearrange(ctx, O::INPUT, O::OUTPUT, to)
}

#[register_kernel(
    device = Gpu, op = [ops::DepthToSpace, ops::SpaceToDepth], T = [f32, i32, u32, bool, i64, f16 if "f16"],
    programs = |T| copies(T), state = |ctx| Block::new(ctx.attrs().block_size, &ctx.attrs().data_format, GPU)
)]
fn depth_and_space(block: &Block, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let moved = block.moved(ctx.input(O::INPUT)?.shape(), O::DEF.name == "DepthToSpace")?;
    rearrange(ctx, O::INPUT, O::OUTPUT, moved)
}
