//! Parts of a variable by index, without a copy of the whole.

use kernlink::Result;
use kernlink::kernel::KernelContext;
use kernlink_geometry::indices::positive_batch_dims;
use kernlink_kernels_common::gather::{gather, gather_nd};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::place::read;

#[register_kernel(
    device = Cpu,
    host_memory = ["resource"],
    Tindices = [int32, int64],
    dtype = [realnumbertype, bool, complex128, complex64, qint32, qint8, quint8, resource, string, variant],
    state = |ctx| positive_batch_dims(ctx.attrs().batch_dims),
)]
fn resource_gather(&batch_dims: &i64, ctx: &mut KernelContext<'_, ops::ResourceGather>) -> Result<()> {
    // Held no longer than this kernel runs, so that an update that follows changes the variable in place.
    let params = read(ctx, 0, ctx.output_dtype_at(0)?)?;
    let output = gather(ctx, &params, ctx.input(ops::ResourceGather::INDICES)?, None, batch_dims)?;
    ctx.set_output(ops::ResourceGather::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["resource"],
    Tindices = [int32, int64],
    dtype = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn resource_gather_nd(ctx: &mut KernelContext<'_, ops::ResourceGatherNd>) -> Result<()> {
    let params = read(ctx, 0, ctx.output_dtype_at(0)?)?;
    let output = gather_nd(ctx, &params, ctx.input(ops::ResourceGatherNd::INDICES)?, false)?;
    ctx.set_output(ops::ResourceGatherNd::OUTPUT, output)
}
