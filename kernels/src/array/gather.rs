//! Rows by index: Gather, GatherV2, GatherNd.

use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::indices::{Gathered, gathered, gathered_nd, ignores_bad_indices};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::integers::{position, scalar};
use super::rows::{row_of, take_rows};

/// Gathers from `params` along `axis` what `indices` names, batch by batch over the first `batch_dims` dimensions, for
/// output 0.
pub(crate) fn gather(
    ctx: &RawContext<'_>,
    params: &Tensor,
    indices: &Tensor,
    axis: Option<i64>,
    batch_dims: i64,
) -> Result<Tensor> {
    let Gathered { shape, batch_dims, outer, size, inner, picked } =
        gathered(params.shape(), indices.shape(), axis, batch_dims)?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    if output.num_elements() == 0 {
        return Ok(output);
    }

    let picks = indices.to_i64_vec()?;
    if let Some(bad) = picks.iter().position(|&index| index < 0 || index as usize >= size) {
        return Err(Error::invalid_argument(format!(
            "indices{} = {} is not in [0, {size})",
            position(indices.shape(), bad),
            picks[bad]
        )));
    }
    if outer == 1 && batch_dims == 0 {
        take_rows(ctx, &mut output, params, inner, &|row| Some(picks[row] as usize))?;
    } else {
        take_rows(ctx, &mut output, params, inner, &|row| {
            let (block, pick) = (row / picked, row % picked);
            Some(block * size + picks[block / outer * picked + pick] as usize)
        })?;
    }
    Ok(output)
}

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

/// Gathers from `params` what the vectors in `indices` name, for output 0. Unless `lenient`, none is out of range.
pub(crate) fn gather_nd(ctx: &RawContext<'_>, params: &Tensor, indices: &Tensor, lenient: bool) -> Result<Tensor> {
    let (shape, depth) = gathered_nd(params.shape(), indices.shape())?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    let (indexed, row) = params.shape().split_at(depth);
    let outer = &indices.shape()[..indices.rank() - 1];
    let count: usize = outer.iter().product();
    if count > 0 {
        let indices = indices.to_i64_vec()?;
        let mut rows = Vec::with_capacity(count);
        for r in 0..count {
            let index = &indices[r * depth..][..depth];
            let row = row_of(index, indexed);
            ensure!(
                row.is_some() || lenient,
                InvalidArgument,
                "indices{} = {index:?} does not index into param shape {}",
                position(outer, r),
                params.shape()
            );
            rows.push(row);
        }
        take_rows(ctx, &mut output, params, row.iter().product(), &|r| rows[r])?;
    }
    Ok(output)
}
