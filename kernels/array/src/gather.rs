//! Rows by index: Gather, GatherV2, GatherNd.

use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink_geometry::indices::ignores_bad_indices;
use kernlink_geometry::integers::scalar;
use kernlink_kernels_common::gather::{gather, gather_nd};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(
    device = Cpu,
    Tindices = [int32, int64],
    Tparams = [numbertype, bool, float8_e4m3fn, float8_e5m2, resource, string, variant],
)]
fn gather_kernel(ctx: &mut KernelContext<'_, ops::Gather>) -> Result<()> {
    let output = gather(ctx, ctx.input_at(0)?, ctx.input_at(1)?, None, 0)?;
    ctx.set_output(ops::Gather::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["axis"],
    Tindices = [int16, int32, int64],
    Tparams = [numbertype, bool, float8_e4m3fn, float8_e5m2, resource, string, variant],
)]
fn gather_v2(attrs: &Attrs<ops::GatherV2>, ctx: &mut KernelContext<'_, ops::GatherV2>) -> Result<()> {
    let axis = scalar(ctx.input(ops::GatherV2::AXIS)?, "axis")?;
    let output = gather(ctx, ctx.input_at(0)?, ctx.input_at(1)?, Some(axis), attrs.batch_dims)?;
    ctx.set_output(ops::GatherV2::OUTPUT, output)
}

/// If `lenient`, indices that are out of range give zeros.
#[register_kernel(
    device = Cpu,
    Tindices = [int16, int32, int64],
    Tparams = [
        realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, qint32, qint8, quint8, resource,
        string, variant,
    ],
    state = |ctx| ignores_bad_indices(&ctx.attrs().bad_indices_policy),
)]
fn gather_nd_kernel(&lenient: &bool, ctx: &mut KernelContext<'_, ops::GatherNd>) -> Result<()> {
    let (params, indices) = (ctx.input(ops::GatherNd::PARAMS)?, ctx.input(ops::GatherNd::INDICES)?);
    let output = gather_nd(ctx, params, indices, lenient)?;
    ctx.set_output(ops::GatherNd::OUTPUT, output)
}
