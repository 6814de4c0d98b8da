//! One tensor into several: Split, SplitV, Unpack.

use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink_geometry::split::Split;
use kernlink_kernels_common::strided::arranged;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Sets the outputs to the parts of input `index`. Parts along the first axis share the input's buffer.
fn cut(ctx: &mut RawContext<'_>, index: usize, split: &Split) -> Result<()> {
    let input = ctx.take_input_at(index)?;
    for (index, part) in split.parts(input.shape()).enumerate() {
        let output = arranged(ctx, index, input.clone(), part)?;
        ctx.set_output_at(index, output)?;
    }
    Ok(())
}

#[register_kernel(
    device = Cpu,
    host_memory = ["split_dim"],
    T = [
        realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, int4, quint8, resource, string, uint4,
        variant,
    ],
)]
fn split_kernel(ctx: &mut KernelContext<'_, ops::Split>) -> Result<()> {
    let input = ctx.input(ops::Split::VALUE)?.shape();
    let split = Split::evenly(input, ctx.input(ops::Split::SPLIT_DIM)?, ctx.num_outputs())?;
    cut(ctx, 1, &split)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["size_splits", "split_dim"],
    Tlen = [int32, int64, int8],
    T = [
        realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, int4, quint8, resource, string, uint4,
        variant,
    ],
)]
#[register_kernel(device = Default, T = [int32], host_memory = ["value", "size_splits", "split_dim", "output"])]
fn split_v(ctx: &mut KernelContext<'_, ops::SplitV>) -> Result<()> {
    let (input, sizes) = (ctx.input(ops::SplitV::VALUE)?.shape(), ctx.input(ops::SplitV::SIZE_SPLITS)?);
    let split = Split::by_sizes(input, sizes, ctx.input(ops::SplitV::SPLIT_DIM)?, ctx.num_outputs())?;
    cut(ctx, 0, &split)
}

#[register_kernel(
    device = Cpu,
    T = [realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, resource, string, variant],
)]
#[register_kernel(device = Default, T = [int32, int64], host_memory = ["value", "output"])]
fn unpack(attrs: &Attrs<ops::Unpack>, ctx: &mut KernelContext<'_, ops::Unpack>) -> Result<()> {
    let split = Split::unpacked(ctx.input(ops::Unpack::VALUE)?.shape(), attrs.axis, ctx.num_outputs())?;
    cut(ctx, 0, &split)
}
