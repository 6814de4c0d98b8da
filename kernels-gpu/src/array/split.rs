//! One tensor into several: Split, SplitV, Unpack.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::op::{InputArg, Op, OutputListArg};
use kernlink_geometry::split::Split;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::rearrange::rearranged;
use super::strided::copies;
use crate::device::GpuDevice;

/// Sets the outputs to the parts of an input.
fn cut<O: Op>(
    ctx: &mut KernelContext<'_, O>,
    input: InputArg<O>,
    outputs: OutputListArg<O>,
    split: &Split,
) -> Result<()> {
    let input = ctx.take_input(input)?;
    for (index, part) in ctx.output_range(outputs).zip(split.parts(input.shape())) {
        let output = rearranged(GpuDevice::of(ctx)?, input.clone(), part)?;
        ctx.set_output_at(index, output)?;
    }
    Ok(())
}

#[register_kernel(
    device = Gpu, op = ops::Split, T = [f32, i32, u32, bool, i64, f16 if "f16"], host_memory = ["split_dim"],
    programs = |T| copies(T)
)]
fn split_evenly(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let split = Split::evenly(ctx.input(O::VALUE)?.shape(), ctx.input(O::SPLIT_DIM)?, ctx.num_outputs())?;
    cut(ctx, O::VALUE, O::OUTPUT, &split)
}

#[register_kernel(
    device = Gpu, op = ops::SplitV, T = [f32, u32, bool, i64, f16 if "f16"], Tlen = [i32, i64, i8],
    host_memory = ["size_splits", "split_dim"], programs = |T| copies(T)
)]
fn split_by_sizes(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (input, sizes) = (ctx.input(O::VALUE)?.shape(), ctx.input(O::SIZE_SPLITS)?);
    let split = Split::by_sizes(input, sizes, ctx.input(O::SPLIT_DIM)?, ctx.num_outputs())?;
    cut(ctx, O::VALUE, O::OUTPUT, &split)
}

#[register_kernel(
    device = Gpu, op = ops::Unpack, T = [f32, u32, bool, f16 if "f16"], programs = |T| copies(T),
    state = |ctx| Ok(ctx.attrs().axis)
)]
fn unpack(&axis: &i64, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let split = Split::unpacked(ctx.input(O::VALUE)?.shape(), axis, ctx.num_outputs())?;
    cut(ctx, O::VALUE, O::OUTPUT, &split)
}
