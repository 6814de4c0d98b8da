//! Rows by index: Gather, GatherV2, GatherNd.

use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_geometry::indices::ignores_bad_indices;
use kernlink_geometry::integers::scalar;
use kernlink_kernels_common::gather::{gather, gather_nd};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(device = Cpu, Tindices = [int32, int64], Tparams = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint16, qint32, qint8, quint16, quint8, resource, string, uint16, uint32, uint64, uint8, variant,
])]
fn gather_kernel(ctx: &mut KernelContext<'_, ops::Gather>) -> Result<()> {
    let output = gather(ctx, ctx.input_at(0)?, ctx.input_at(1)?, None, 0)?;
    ctx.set_output(ops::Gather::OUTPUT, output)
}

struct GatherV2Kernel {
    batch_dims: i64,
}

#[register_kernel(device = Cpu, host_memory = ["axis"], Tindices = [int16, int32, int64], Tparams = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint16, qint32, qint8, quint16, quint8, resource, string, uint16, uint32, uint64, uint8, variant,
])]
impl OpKernel<ops::GatherV2> for GatherV2Kernel {
    fn new(ctx: &KernelConstruction<'_, ops::GatherV2>) -> Result<Self> {
        Ok(Self { batch_dims: ctx.attrs().batch_dims })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::GatherV2>) -> Result<()> {
        let axis = scalar(ctx.input(ops::GatherV2::AXIS)?, "axis")?;
        let output = gather(ctx, ctx.input_at(0)?, ctx.input_at(1)?, Some(axis), self.batch_dims)?;
        ctx.set_output(ops::GatherV2::OUTPUT, output)
    }
}

struct GatherNdKernel {
    /// Indices out of range give zeros.
    lenient: bool,
}

#[register_kernel(device = Cpu, Tindices = [int16, int32, int64], Tparams = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint32, qint8, quint8, resource, string, uint16, uint32, uint64, uint8, variant,
])]
impl OpKernel<ops::GatherNd> for GatherNdKernel {
    fn new(ctx: &KernelConstruction<'_, ops::GatherNd>) -> Result<Self> {
        let lenient = ignores_bad_indices(&ctx.attrs().bad_indices_policy)?;
        Ok(Self { lenient })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::GatherNd>) -> Result<()> {
        let (params, indices) = (ctx.input(ops::GatherNd::PARAMS)?, ctx.input(ops::GatherNd::INDICES)?);
        let output = gather_nd(ctx, params, indices, self.lenient)?;
        ctx.set_output(ops::GatherNd::OUTPUT, output)
    }
}
