//! Parts of a variable by index, without a copy of the whole.

use kernlink::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_geometry::indices::positive_batch_dims;
use kernlink_kernels_common::gather::{gather, gather_nd};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::place::read;

struct ResourceGatherKernel {
    batch_dims: i64,
}

#[register_kernel(device = Cpu, host_memory = ["resource"], Tindices = [int32, int64], dtype = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, qint32, qint8, quint8,
    resource, string, uint16, uint32, uint64, uint8, variant,
])]
impl OpKernel<ops::ResourceGather> for ResourceGatherKernel {
    fn new(ctx: &KernelConstruction<'_, ops::ResourceGather>) -> Result<Self> {
        Ok(Self { batch_dims: positive_batch_dims(ctx.attrs().batch_dims)? })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::ResourceGather>) -> Result<()> {
        // Held no longer than this kernel runs, so that an update that follows changes the variable in place.
        let params = read(ctx, 0, ctx.output_dtype_at(0)?)?;
        let output = gather(ctx, &params, ctx.input(ops::ResourceGather::INDICES)?, None, self.batch_dims)?;
        ctx.set_output(ops::ResourceGather::OUTPUT, output)
    }
}

#[register_kernel(device = Cpu, host_memory = ["resource"], Tindices = [int32, int64], dtype = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, resource, string, uint16,
    uint32, uint64, uint8, variant,
])]
fn resource_gather_nd(ctx: &mut KernelContext<'_, ops::ResourceGatherNd>) -> Result<()> {
    let params = read(ctx, 0, ctx.output_dtype_at(0)?)?;
    let output = gather_nd(ctx, &params, ctx.input(ops::ResourceGatherNd::INDICES)?, false)?;
    ctx.set_output(ops::ResourceGatherNd::OUTPUT, output)
}
