//! Parts of a tensor: Slice, StridedSlice, ReverseV2.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::shape_inference::strided_slice::Masks;
use kernlink_geometry::rearranged::reversed_along;
use kernlink_geometry::slice::{sliced, strided};
use kernlink_kernels_common::strided::rearrange;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(
    device = Cpu,
    host_memory = ["begin", "size"],
    T = [realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, qint32, qint8, quint8, string],
)]
#[register_kernel(device = Default, T = [int32], host_memory = ["input", "begin", "size", "output"])]
fn slice_kernel(ctx: &mut KernelContext<'_, ops::Slice>) -> Result<()> {
    let input = ctx.input(ops::Slice::INPUT)?.shape();
    let part = sliced(input, ctx.input(ops::Slice::BEGIN)?, ctx.input(ops::Slice::SIZE)?)?;
    rearrange(ctx, 0, part)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["begin", "end", "strides"],
    T = [
        realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, qint32, qint8, quint8, resource,
        string, variant,
    ],
    state = |ctx| Masks::from_attrs(ctx.attrs),
)]
#[register_kernel(
    device = Default,
    T = [int32],
    host_memory = ["input", "begin", "end", "strides", "output"],
)]
fn strided_slice(&masks: &Masks, ctx: &mut KernelContext<'_, ops::StridedSlice>) -> Result<()> {
    let part = strided(ctx, masks)?;
    rearrange(ctx, 0, part)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["axis"],
    Tidx = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, string],
)]
#[register_kernel(device = Default, T = [int32], Tidx = [int32, int64], host_memory = ["tensor", "axis", "output"])]
fn reverse_v2(ctx: &mut KernelContext<'_, ops::ReverseV2>) -> Result<()> {
    let input = ctx.input(ops::ReverseV2::TENSOR)?.shape();
    let turned = reversed_along(input, ctx.input(ops::ReverseV2::AXIS)?)?;
    rearrange(ctx, 0, turned)
}
