//! Rows by index: Gather, GatherV2, GatherNd, ResourceGather, ResourceGatherNd.

use std::ops::Range;

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

use super::index::{Index, nd_params, out_of_range, read_nd};
use super::integers::{axis, checked_shape, scalar};
use super::mover::Mover;
use super::unit::{Unit, word};
use super::variant::Variant;
use crate::device::{Groups, counted};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program};
use crate::training::place;
use crate::windows::{read, read_if, whole, written};

/// The program that gathers along an axis, from `height` rows of each block from row `top` on.
pub(super) fn program(unit: Unit, index: Index) -> Program {
    let mut program = unit.declare(Program::builder(format!("gather of {unit:?} by {index:?} indices")));
    program = unit.write(index.read(unit.read(program, "x")), "y");
    for name in ["inner", "picked", "outer", "size", "top", "height"] {
        program = program.param(name, "u32");
    }
    refusal::declare(program).declare(refusal::FUNCTION).build(Entry::Elements, include_str!("gather.wgsl"))
}

/// The program that gathers what vectors of indices name.
pub(super) fn nd_program(unit: Unit, index: Index) -> Program {
    let mut program = unit.declare(Program::builder(format!("gather of {unit:?} by vectors of {index:?} indices")));
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
    let (rank, indices_rank) = (params.rank() as i64, indices.rank() as i64);
    ensure!(rank > 0, InvalidArgument, "params must be at least 1 dimensional");
    ensure!(
        batch_dims == 0 || (-indices_rank..=indices_rank).contains(&batch_dims),
        InvalidArgument,
        "Expected batch_dims in the range [-{indices_rank}, {indices_rank}], but got {batch_dims}"
    );
    let batch_dims = if batch_dims < 0 { batch_dims + indices_rank } else { batch_dims };
    ensure!(batch_dims < rank, InvalidArgument, "batch_dims ({batch_dims}) must be less than rank(params) ({rank}).");
    let axis = axis(given.unwrap_or(batch_dims), params.rank(), "axis")?;
    let batch_dims = batch_dims as usize;
    ensure!(
        axis >= batch_dims,
        InvalidArgument,
        "batch_dims ({batch_dims}) must be less than or equal to axis ({axis})."
    );
    ensure!(
        params.shape()[..batch_dims] == indices.shape()[..batch_dims],
        InvalidArgument,
        "the first {batch_dims} dimensions of params {} and of indices {} should be equal",
        params.shape(),
        indices.shape()
    );
    let size = params.shape()[axis];
    let product = |dims: &[usize]| dims.iter().product::<usize>();
    let outer = product(&params.shape()[batch_dims..axis]);
    let inner = product(&params.shape()[axis + 1..]);
    let picked = product(&indices.shape()[batch_dims..]);
    let dims = params.shape()[..axis].iter().chain(&indices.shape()[batch_dims..]).chain(&params.shape()[axis + 1..]);
    let output = on.output(ctx, 0, checked_shape(dims.map(|&dim| Some(dim)))?)?;
    if output.num_elements() == 0 {
        return Ok(output);
    }
    let (unit, times) = Unit::of(params.dtype())?.widest(|times| inner.is_multiple_of(times));
    let variant = Variant::Gather(unit, Index::of(indices.dtype())?);
    let batches = product(&params.shape()[..batch_dims]);
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
    ensure!(batch_dims >= 0, InvalidArgument, "batch_dims is negative ({batch_dims})");
    Ok((batch_dims, refusal))
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
    ensure!(params.rank() > 0, InvalidArgument, "params must be at least a vector");
    let Some((&depth, outer)) = indices.shape().split_last() else {
        bail!(InvalidArgument, "indices must be at least a vector");
    };
    ensure!(
        depth <= params.rank(),
        InvalidArgument,
        "index innermost dimension length must be <= params rank; saw: {depth} vs. {}",
        params.rank()
    );
    let (indexed, row) = params.shape().split_at(depth);
    let shape = checked_shape(outer.iter().chain(row).map(|&dim| Some(dim)))?;
    let output = on.output(ctx, 0, shape)?;
    if outer.iter().product::<usize>() > 0 {
        ensure!(
            params.num_elements() > 0,
            InvalidArgument,
            "Requested more than 0 entries, but params is empty.  Params shape: {}",
            params.shape()
        );
        let inner: usize = row.iter().product();
        let (unit, times) = Unit::of(params.dtype())?.widest(|times| inner.is_multiple_of(times));
        let variant = Variant::GatherNd(unit, Index::of(indices.dtype())?);
        on.gpu.in_windows(outer.iter().product(), &[read(indices), written(&output)], |_, picks| {
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
    match ctx.attrs.required::<String>("bad_indices_policy")?.as_str() {
        "" | "DEFAULT" | "ERROR" => Ok(out_of_range(ctx)),
        "IGNORE" => Ok(Refusal::NONE),
        other => bail!(InvalidArgument, "Unknown bad indices handling attribute: {other}"),
    }
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
