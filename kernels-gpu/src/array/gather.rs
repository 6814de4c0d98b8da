//! Rows by index: Gather, GatherV2, GatherNd, ResourceGather, ResourceGatherNd.

use std::ops::Range;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawConstruction};
use kernlink::tensor::Tensor;
use kernlink_geometry::indices::{Gathered, gathered, gathered_nd, ignores_bad_indices, positive_batch_dims};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::integers::scalar;
use super::unit::{Unit, word};
use crate::device::{GpuDevice, Groups, counted};
use crate::indices::{Indices, nd_params, out_of_range, read_nd};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program};
use crate::training::place;
use crate::windows::{read, read_if, whole, written};

/// The program that gathers along an axis, from `height` rows of each block from row `top` on.
fn program((unit, index): (Unit, Indices)) -> Program {
    let program = unit.program(format!("gather of {unit:?} by {index:?} indices"));
    let program = unit.write(index.read(unit.read(program, "x"), "indices"), "y");
    let program = refusal::declare(program.words("inner picked outer size top height"));
    program.compose(Entry::Elements, include_str!("gather.wgsl"), index.names())
}

/// The program that gathers what vectors of indices name.
fn nd_program((unit, index): (Unit, Indices)) -> Program {
    let program = unit.program(format!("gather of {unit:?} by vectors of {index:?} indices"));
    let program = unit.write(read_nd(index, unit.read(program, "x").words("inner")), "y");
    refusal::declare(program).compose(Entry::Elements, include_str!("gather_nd.wgsl"), index.names())
}

/// The programs for elements and indices of these dtypes.
fn programs(make: fn((Unit, Indices)) -> Program, dtype: DataType, indices: DataType) -> Result<Vec<Program>> {
    let index = Indices::of(indices)?;
    Ok(Unit::all_of(dtype)?.map(|unit| make((unit, index))).collect())
}

/// Gathers from `params` along `axis` what `indices` names, batch by batch over the first `batch_dims` dimensions.
fn gather(
    gpu: &GpuDevice,
    params: &Tensor,
    indices: &Tensor,
    given: Option<i64>,
    batch_dims: i64,
    refusal: Refusal,
) -> Result<Tensor> {
    let Gathered { shape, batch_dims, outer, size, inner, picked } =
        gathered(params.shape(), indices.shape(), given, batch_dims)?;
    let output = gpu.allocate(params.dtype(), shape)?;
    if output.num_elements() == 0 {
        return Ok(output);
    }
    let (unit, times) = Unit::of(params.dtype())?.widest(|times| inner.is_multiple_of(times));
    let shader = gpu.shader(program, (unit, Indices::of(indices.dtype())?));
    let batches = params.shape()[..batch_dims].iter().product::<usize>();
    let record = |tensors: &[&Tensor], outer: usize, rows: Range<usize>| {
        let mut sizes = [inner / times, picked, outer, size].map(word).to_vec();
        sizes.extend([counted(rows.start)?, counted(rows.len())?]);
        let groups = Groups::Elements(tensors[2].num_elements() / times);
        gpu.dispatch_refusing(refusal, &shader, tensors, &sizes, groups)
    };
    if batches * outer > 1 {
        let units = if batches > 1 { batches } else { outer };
        let parts = [read(params), read_if(batches > 1, indices), written(&output)];
        gpu.in_windows(units, &parts, |blocks, tensors| {
            record(tensors, if batches > 1 { outer } else { blocks.len() }, 0..size)
        })?;
    } else {
        gpu.in_windows(picked, &[read(indices), written(&output)], |_, picks| {
            gpu.in_windows(size, &[read(params), whole(picks[0]), whole(picks[1])], |rows, tensors| {
                record(tensors, 1, rows)
            })
        })?;
    }
    Ok(output)
}

#[register_kernel(
    device = Gpu, op = ops::Gather, Tparams = [f32, i32, u32, bool, i64, f16 if "f16"], Tindices = [i32, i64],
    programs = |Tparams, Tindices| programs(program, Tparams, Tindices), state = |ctx| Ok(out_of_range(ctx))
)]
fn gather_v1(&refusal: &Refusal, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let output = gather(GpuDevice::of(ctx)?, ctx.input(O::PARAMS)?, ctx.input(O::INDICES)?, None, 0, refusal)?;
    ctx.set_output(O::OUTPUT, output)
}

/// What gathering by batches keeps of its node: attr `batch_dims`, and how indices are refused.
type Batches = (i64, Refusal);

#[register_kernel(
    device = Gpu, op = ops::GatherV2, Tparams = [f32, i32, u32, bool, i64, f16 if "f16"], Tindices = [i32, i64],
    host_memory = ["axis"], programs = |Tparams, Tindices| programs(program, Tparams, Tindices),
    state = |ctx| Ok((ctx.attrs().batch_dims, out_of_range(ctx)))
)]
fn gather_v2(&(batch_dims, refusal): &Batches, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (gpu, axis) = (GpuDevice::of(ctx)?, scalar(ctx.input(O::AXIS)?, "axis")?);
    let output = gather(gpu, ctx.input(O::PARAMS)?, ctx.input(O::INDICES)?, Some(axis), batch_dims, refusal)?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = ops::ResourceGather, dtype = [f32, i32, u32, bool, i64, f16 if "f16"], Tindices = [i32, i64],
    host_memory = ["resource"], programs = |dtype, Tindices| programs(program, dtype, Tindices),
    state = |ctx| Ok((positive_batch_dims(ctx.attrs().batch_dims)?, out_of_range(ctx)))
)]
fn gather_resource(&(batch_dims, refusal): &Batches, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    // Held no longer than this kernel runs, so that an update that follows changes the variable in place.
    let params = place::read(gpu, ctx, ctx.input_position(O::RESOURCE), ctx.output_dtype(O::OUTPUT)?)?;
    let output = gather(gpu, &params, ctx.input(O::INDICES)?, None, batch_dims, refusal)?;
    ctx.set_output(O::OUTPUT, output)
}

/// Gathers from `params` what the vectors in `indices` name.
fn gather_nd(gpu: &GpuDevice, params: &Tensor, indices: &Tensor, refusal: Refusal) -> Result<Tensor> {
    let (shape, depth) = gathered_nd(params.shape(), indices.shape())?;
    let output = gpu.allocate(params.dtype(), shape)?;
    if output.num_elements() > 0 {
        let (indexed, row) = params.shape().split_at(depth);
        let inner: usize = row.iter().product();
        let (unit, times) = Unit::of(params.dtype())?.widest(|times| inner.is_multiple_of(times));
        let shader = gpu.shader(nd_program, (unit, Indices::of(indices.dtype())?));
        gpu.in_windows(output.num_elements() / inner, &[read(indices), written(&output)], |_, picks| {
            let parts = [read(params), whole(picks[0]), whole(picks[1])];
            gpu.in_windows(indexed.iter().product(), &parts, |rows, tensors| {
                let mut sizes = vec![word(inner / times)];
                sizes.extend(nd_params(indexed, rows)?);
                let groups = Groups::Elements(tensors[2].num_elements() / times);
                gpu.dispatch_refusing(refusal, &shader, tensors, &sizes, groups)
            })
        })?;
    }
    Ok(output)
}

/// How a node refuses indices that are out of range, or that it does not, by its attr `bad_indices_policy`.
pub(super) fn refusal_by(ctx: &RawConstruction<'_>, bad_indices_policy: &str) -> Result<Refusal> {
    Ok(if ignores_bad_indices(bad_indices_policy)? { Refusal::NONE } else { out_of_range(ctx) })
}

#[register_kernel(
    device = Gpu, op = ops::GatherNd, Tparams = [f32, i32, u32, bool, i64, f16 if "f16"], Tindices = [i32, i64],
    programs = |Tparams, Tindices| programs(nd_program, Tparams, Tindices),
    state = |ctx| refusal_by(ctx, &ctx.attrs().bad_indices_policy)
)]
fn gather_nd_whole(&refusal: &Refusal, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let output = gather_nd(GpuDevice::of(ctx)?, ctx.input(O::PARAMS)?, ctx.input(O::INDICES)?, refusal)?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = ops::ResourceGatherNd, dtype = [f32, i32, u32, bool, i64, f16 if "f16"], Tindices = [i32, i64],
    host_memory = ["resource"], programs = |dtype, Tindices| programs(nd_program, dtype, Tindices),
    state = |ctx| Ok(out_of_range(ctx))
)]
fn gather_nd_resource(&refusal: &Refusal, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let params = place::read(gpu, ctx, ctx.input_position(O::RESOURCE), ctx.output_dtype(O::OUTPUT)?)?;
    let output = gather_nd(gpu, &params, ctx.input(O::INDICES)?, refusal)?;
    ctx.set_output(O::OUTPUT, output)
}
