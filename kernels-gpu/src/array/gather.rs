//! Rows by index: Gather, GatherV2, GatherNd, ResourceGather, ResourceGatherNd.

use std::ops::Range;

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::indices::{self as geometry, Gathered, gathered, gathered_nd, ignores_bad_indices};

use super::integers::scalar;
use super::mover::Mover;
use super::unit::{Unit, word};
use super::variant::Variant;
use crate::device::{Groups, counted};
use crate::indices::{Indices, nd_params, out_of_range, read_nd};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program};
use crate::training::place;
use crate::windows::{read, read_if, whole, written};

/// The program that gathers along an axis, from `height` rows of each block from row `top` on.
pub(super) fn program(unit: Unit, index: Indices) -> Program {
    let mut program = unit.declare(Program::trusted(format!("gather of {unit:?} by {index:?} indices")));
    program = unit.write(index.read(unit.read(program, "x")), "y");
    for name in ["inner", "picked", "outer", "size", "top", "height"] {
        program = program.param(name, "u32");
    }
    refusal::declare(program).declare(refusal::FUNCTION).build(Entry::Elements, include_str!("gather.wgsl"))
}

/// The program that gathers what vectors of indices name.
pub(super) fn nd_program(unit: Unit, index: Indices) -> Program {
    let mut program = unit.declare(Program::trusted(format!("gather of {unit:?} by vectors of {index:?} indices")));
    program = unit.write(read_nd(index, unit.read(program, "x").param("inner", "u32")), "y");
    refusal::declare(program).build(Entry::Elements, include_str!("gather_nd.wgsl"))
}

/// Gathers from `params` along `axis` what `indices` names, batch by batch over the first `batch_dims` dimensions, for
/// output 0.
fn gather(
    on: &Mover<'_>,
    ctx: &RawContext<'_>,
    params: &Tensor,
    indices: &Tensor,
    given: Option<i64>,
    batch_dims: i64,
    refusal: Refusal,
) -> Result<Tensor> {
    let Gathered { shape, batch_dims, outer, size, inner, picked } =
        gathered(params.shape(), indices.shape(), given, batch_dims)?;
    let output = on.output(ctx, 0, shape)?;
    if output.num_elements() == 0 {
        return Ok(output);
    }
    let (unit, times) = Unit::of(params.dtype())?.widest(|times| inner.is_multiple_of(times));
    let variant = Variant::Gather(unit, Indices::of(indices.dtype())?);
    let batches = params.shape()[..batch_dims].iter().product::<usize>();
    let record = |tensors: &[&Tensor], outer: usize, rows: Range<usize>| {
        let mut sizes = [inner / times, picked, outer, size].map(word).to_vec();
        sizes.extend([counted(rows.start)?, counted(rows.len())?]);
        let groups = Groups::Elements(tensors[2].num_elements() / times);
        on.run_refusing(refusal, variant, tensors, &sizes, groups)
    };
    if batches * outer > 1 {
        let units = if batches > 1 { batches } else { outer };
        let parts = [read(params), read_if(batches > 1, indices), written(&output)];
        on.gpu.in_windows(units, &parts, |blocks, tensors| {
            record(tensors, if batches > 1 { outer } else { blocks.len() }, 0..size)
        })?;
    } else {
        on.gpu.in_windows(picked, &[read(indices), written(&output)], |_, picks| {
            on.gpu.in_windows(size, &[read(params), whole(picks[0]), whole(picks[1])], |rows, tensors| {
                record(tensors, 1, rows)
            })
        })?;
    }
    Ok(output)
}

pub(super) fn gather_v1(&refusal: &Refusal, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let output = gather(on, ctx, ctx.input_at(0)?, ctx.input_at(1)?, None, 0, refusal)?;
    ctx.set_output_at(0, output)
}

/// Of kernels that know nothing of their node but how to refuse indices.
pub(super) fn refusal(ctx: &RawConstruction<'_>) -> Result<Refusal> {
    Ok(out_of_range(ctx))
}

/// What gathering by batches keeps of its node.
type Batches = (i64, Refusal);

/// Attr `batch_dims`.
pub(super) fn batch_dims(ctx: &RawConstruction<'_>) -> Result<Batches> {
    Ok((ctx.attrs.required("batch_dims")?, out_of_range(ctx)))
}

pub(super) fn gather_v2(&(batch_dims, refusal): &Batches, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let axis = scalar(ctx.input_at(2)?, "axis")?;
    let output = gather(on, ctx, ctx.input_at(0)?, ctx.input_at(1)?, Some(axis), batch_dims, refusal)?;
    ctx.set_output_at(0, output)
}

/// Attr `batch_dims` of gathering from a variable.
pub(super) fn positive_batch_dims(ctx: &RawConstruction<'_>) -> Result<Batches> {
    let (batch_dims, refusal) = batch_dims(ctx)?;
    Ok((geometry::positive_batch_dims(batch_dims)?, refusal))
}

pub(super) fn gather_resource(
    &(batch_dims, refusal): &Batches,
    on: &Mover<'_>,
    ctx: &mut RawContext<'_>,
) -> Result<()> {
    // Held no longer than this kernel runs, so that an update that follows changes the variable in place.
    let params = place::read(on.gpu, ctx, 0, ctx.output_dtype_at(0)?)?;
    let output = gather(on, ctx, &params, ctx.input_at(1)?, None, batch_dims, refusal)?;
    ctx.set_output_at(0, output)
}

/// Gathers from `params` what the vectors in `indices` name, for output 0.
fn gather_nd_of(
    on: &Mover<'_>,
    ctx: &RawContext<'_>,
    params: &Tensor,
    indices: &Tensor,
    refusal: Refusal,
) -> Result<Tensor> {
    let (shape, depth) = gathered_nd(params.shape(), indices.shape())?;
    let output = on.output(ctx, 0, shape)?;
    if output.num_elements() > 0 {
        let (indexed, row) = params.shape().split_at(depth);
        let inner: usize = row.iter().product();
        let (unit, times) = Unit::of(params.dtype())?.widest(|times| inner.is_multiple_of(times));
        let variant = Variant::GatherNd(unit, Indices::of(indices.dtype())?);
        on.gpu.in_windows(output.num_elements() / inner, &[read(indices), written(&output)], |_, picks| {
            let parts = [read(params), whole(picks[0]), whole(picks[1])];
            on.gpu.in_windows(indexed.iter().product(), &parts, |rows, tensors| {
                let mut sizes = vec![word(inner / times)];
                sizes.extend(nd_params(indexed, rows)?);
                let groups = Groups::Elements(tensors[2].num_elements() / times);
                on.run_refusing(refusal, variant, tensors, &sizes, groups)
            })
        })?;
    }
    Ok(output)
}

/// Attr `bad_indices_policy`: how indices that are out of range are refused, or that they are not.
pub(super) fn bad_indices_policy(ctx: &RawConstruction<'_>) -> Result<Refusal> {
    let policy: String = ctx.attrs.required("bad_indices_policy")?;
    Ok(if ignores_bad_indices(&policy)? { Refusal::NONE } else { out_of_range(ctx) })
}

pub(super) fn gather_nd(&refusal: &Refusal, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let output = gather_nd_of(on, ctx, ctx.input_at(0)?, ctx.input_at(1)?, refusal)?;
    ctx.set_output_at(0, output)
}

pub(super) fn gather_nd_resource(&refusal: &Refusal, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let params = place::read(on.gpu, ctx, 0, ctx.output_dtype_at(0)?)?;
    let output = gather_nd_of(on, ctx, &params, ctx.input_at(1)?, refusal)?;
    ctx.set_output_at(0, output)
}
