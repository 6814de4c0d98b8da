//! Picking rows, and elements by their indices.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{Gradient, GradientScope, IndexedSlices, NoGradient, ShapeOf, Value};
use kernlink::shape::resolve_axis;
use kernlink::tensor::Tensor;
use kernlink_macros::register_gradient;

use super::{long_dims, product_of, shape_of};
use crate::*;

/// The rows that were gathered, of which the others are zero.
fn gathered(g: &mut GradientScope<'_>, params: &ShapeOf, indices: Value, flow: Value) -> Result<IndexedSlices> {
    let dense_shape = g.dims(params)?;
    let below = strided_slice(g, dense_shape, &[1i32][..], &[0i32][..], &[1i32][..]).end_mask(1).build()?;
    let rows = size(g, indices).build()?;
    let rows = expand_dims(g, rows, 0).build()?;
    let dtype = g.dtype(dense_shape)?;
    let rows = cast(g, rows, dtype).build()?;
    let dims = concat_v2(g, [rows, below], 0).build()?;
    let values = reshape(g, flow, dims).build()?;
    let indices = reshape(g, indices, &[-1i32][..]).build()?;
    Ok(IndexedSlices { values, indices, dense_shape })
}

#[register_gradient(op = Gather)]
fn gather_gradient(
    g: &mut GradientScope<'_>,
    params: ShapeOf,
    indices: Value,
    d_output: Value,
) -> Result<(IndexedSlices, NoGradient)> {
    Ok((gathered(g, &params, indices, d_output)?, NoGradient))
}

/// The axis of a gather, if it is known, and how many dimensions both its tensors begin with.
fn place_of(
    g: &GradientScope<'_>,
    params: &ShapeOf,
    indices: &ShapeOf,
    axis: Value,
    batch_dims: i64,
) -> Result<(Option<usize>, Option<usize>)> {
    let resolved = match (g.known_value(axis).map(Tensor::to_i64_vec).transpose()?.as_deref(), params.known().rank()) {
        (Some(&[axis]), Some(rank)) => Some(resolve_axis(axis, rank)?),
        (Some(&[axis]), None) => usize::try_from(axis).ok(),
        _ => None,
    };
    let batch = match (usize::try_from(batch_dims), indices.known().rank()) {
        (Ok(batch), _) => Some(batch),
        (Err(_), Some(rank)) => usize::try_from(batch_dims + rank as i64).ok(),
        (Err(_), None) => None,
    };
    Ok((resolved, batch))
}

/// Rows along any dimension: the elements as `[batch, outer, rows, inner]`, of which the rows are added by their indices.
fn gathered_along(
    g: &mut GradientScope<'_>,
    params: &ShapeOf,
    indices: Value,
    [axis, batch]: [Value; 2],
    flow: Value,
) -> Result<Value> {
    let (dims, zero, one) = (long_dims(g, params)?, g.constant(0i64)?, g.constant(1i64)?);
    let after = add_v2(g, axis, one).build()?;
    let rank = size(g, dims).build()?;
    let rank = cast(g, rank, DataType::Int64).build()?;
    let batches = product_of(g, dims, zero, batch)?;
    let (outer, rows, inner) =
        (product_of(g, dims, batch, axis)?, product_of(g, dims, axis, after)?, product_of(g, dims, after, rank)?);
    // What was picked is as long as the indices of each batch.
    let picked = shape_of(g, indices);
    let picked = long_dims(g, &picked)?;
    let of_indices = size(g, picked).build()?;
    let of_indices = cast(g, of_indices, DataType::Int64).build()?;
    let picked = product_of(g, picked, batch, of_indices)?;

    let parts = pack(g, [batches, outer, picked, inner]).build()?;
    let flow = reshape(g, flow, parts).build()?;
    let flow = transpose(g, flow, &[0i32, 2, 1, 3][..]).build()?;
    let (all_picked, all_rows) = (mul(g, batches, picked).build()?, mul(g, batches, rows).build()?);
    let behind = pack(g, [all_picked, outer, inner]).build()?;
    let flow = reshape(g, flow, behind).build()?;

    let indices = cast(g, indices, DataType::Int64).build()?;
    let by_batch = pack(g, [batches, picked]).build()?;
    let indices = reshape(g, indices, by_batch).build()?;
    let numbers = range(g, zero, batches, one).build()?;
    let offsets = mul(g, numbers, rows).build()?;
    let offsets = expand_dims(g, offsets, 1).build()?;
    let indices = add_v2(g, indices, offsets).build()?;
    let all_picked = expand_dims(g, all_picked, 0).build()?;
    let indices = reshape(g, indices, all_picked).build()?;
    let summed = unsorted_segment_sum(g, flow, indices, all_rows).build()?;

    let parts = pack(g, [batches, rows, outer, inner]).build()?;
    let summed = reshape(g, summed, parts).build()?;
    let summed = transpose(g, summed, &[0i32, 2, 1, 3][..]).build()?;
    reshape(g, summed, dims).build()
}

#[register_gradient(op = GatherV2)]
fn gather_v2_gradient(
    g: &mut GradientScope<'_>,
    batch_dims: i64,
    params: ShapeOf,
    indices: Value,
    axis: Value,
    d_output: Value,
) -> Result<(Gradient, NoGradient, NoGradient)> {
    let of_indices = shape_of(g, indices);
    let (place, batch) = place_of(g, &params, &of_indices, axis, batch_dims)?;
    if (place, batch) == (Some(0), Some(0)) {
        return Ok((gathered(g, &params, indices, d_output)?.into(), NoGradient, NoGradient));
    }
    let place = match place {
        Some(place) => g.constant(place as i64)?,
        None => {
            let dims = g.dims(&params)?;
            let rank = size(g, dims).build()?;
            let (axis, rank) = (cast(g, axis, DataType::Int64).build()?, cast(g, rank, DataType::Int64).build()?);
            floor_mod(g, axis, rank).build()?
        }
    };
    let batch = match batch {
        Some(batch) => g.constant(batch as i64)?,
        None => {
            let (rank, own) = (rank(g, indices).build()?, g.constant(batch_dims)?);
            let rank = cast(g, rank, DataType::Int64).build()?;
            add_v2(g, rank, own).build()?
        }
    };
    Ok((gathered_along(g, &params, indices, [place, batch], d_output)?.into(), NoGradient, NoGradient))
}

#[register_gradient(op = GatherNd)]
fn gather_nd_gradient(
    g: &mut GradientScope<'_>,
    bad_indices_policy: String,
    params: ShapeOf,
    indices: Value,
    d_output: Value,
) -> Result<(Gradient, NoGradient)> {
    let dims = g.dims(&params)?;
    // A list of rows.
    if matches!(g.known_shape(indices).dims(), Some([_, Some(1)])) && bad_indices_policy != "IGNORE" {
        let indices = squeeze(g, indices).squeeze_dims(&[1][..]).build()?;
        return Ok((IndexedSlices { values: d_output, indices, dense_shape: dims }.into(), NoGradient));
    }
    let dtype = g.dtype(indices)?;
    let dims = cast(g, dims, dtype).build()?;
    let whole = scatter_nd(g, indices, d_output, dims).bad_indices_policy(&bad_indices_policy).build()?;
    Ok((whole.into(), NoGradient))
}
