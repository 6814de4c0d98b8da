//! Ragged tensors, of which the values are differentiated.

use kernlink::dtype::DataType;
use kernlink::gradient::{Gradient, GradientScope, IndexedSlices, NoGradient, ShapeOf, Value};
use kernlink::{Result, bail};
use kernlink_macros::register_gradient;

use super::{long_dims, scalar_like, unbroadcast, with_ones_behind};
use crate::*;

#[register_gradient(op = RaggedFillEmptyRows)]
fn ragged_fill_empty_rows_gradient(
    g: &mut GradientScope<'_>,
    reverse_index_map: Value,
    d_output_values: Value,
) -> Result<(NoGradient, Value, NoGradient, Value)> {
    let flow = ragged_fill_empty_rows_grad(g, reverse_index_map, d_output_values).build()?;
    Ok((NoGradient, flow.d_values, NoGradient, flow.d_default_value))
}

#[register_gradient(op = RaggedTensorToSparse)]
fn ragged_tensor_to_sparse_gradient(
    g: &mut GradientScope<'_>,
    rt_dense_values: ShapeOf,
    d_sparse_values: Value,
) -> Result<(Vec<NoGradient>, Value)> {
    let dims = g.dims(&rt_dense_values)?;
    Ok((Vec::new(), reshape(g, d_sparse_values, dims).build()?))
}

/// The numbers of the values, laid out in the same way, say where each element of the result came from; what came from the
/// default has number -1.
#[register_gradient(op = RaggedTensorToTensor)]
fn ragged_tensor_to_tensor_gradient(
    g: &mut GradientScope<'_>,
    row_partition_types: Vec<String>,
    values: ShapeOf,
    default_value: ShapeOf,
    row_partition_tensors: Vec<Value>,
    result: ShapeOf,
    d_result: Value,
) -> Result<(NoGradient, Value, Value, Vec<NoGradient>)> {
    let ragged_dims = row_partition_types.iter().filter(|ty| *ty != "FIRST_DIM_SIZE").count() as i32;
    let (rows, dims) = (first_of(g, &values)?, long_dims(g, &result)?);
    let dims = strided_slice(g, dims, &[0i32][..], &[1 + ragged_dims][..], &[1i32][..]).build()?;
    let (zero, one, none) = (g.constant(0i64)?, g.constant(1i64)?, g.constant(-1i64)?);
    let numbers = range(g, zero, rows, one).build()?;
    let places =
        ragged_tensor_to_tensor(g, dims, numbers, none, row_partition_tensors, &row_partition_types[..]).build()?;
    let of_values = unsorted_segment_sum(g, d_result, places, rows).build()?;
    let (is_default, nothing) = (equal(g, places, none).build()?, scalar_like(g, d_result, 0.0)?);
    let is_default = with_ones_behind(g, is_default, d_result)?;
    let of_default = select_v2(g, is_default, d_result, nothing).build()?;
    Ok((NoGradient, of_values, unbroadcast(g, of_default, &default_value)?, Vec::new()))
}

/// The size of the first dimension, an `int64`.
fn first_of(g: &mut GradientScope<'_>, shape: &ShapeOf) -> Result<Value> {
    let dims = long_dims(g, shape)?;
    strided_slice(g, dims, &[0i32][..], &[1i32][..], &[1i32][..]).shrink_axis_mask(1).build()
}

/// The rows that were picked, by where the values of each begin and end.
#[register_gradient(op = RaggedGather)]
fn ragged_gather_gradient(
    g: &mut GradientScope<'_>,
    params_nested_splits: Vec<Value>,
    params_dense_values: ShapeOf,
    indices: Value,
    d_output_dense_values: Value,
) -> Result<(Vec<NoGradient>, Gradient, NoGradient)> {
    let mut splits = params_nested_splits.into_iter();
    let Some(mut begins) = splits.next() else {
        return Ok((Vec::new(), d_output_dense_values.into(), NoGradient));
    };
    for inner in splits {
        begins = gather_v2(g, inner, begins, 0).build()?;
    }
    let rows = reshape(g, indices, &[-1i32][..]).build()?;
    let (one, dtype) = (g.constant(1i64)?, g.dtype(begins)?);
    let one = cast(g, one, dtype).build()?;
    let next = add_v2(g, rows, 1).build()?;
    let (from, to) = (gather_v2(g, begins, rows, 0).build()?, gather_v2(g, begins, next, 0).build()?);
    let indices = ragged_range(g, from, to, one).build()?.rt_dense_values;
    let dense_shape = g.dims(&params_dense_values)?;
    Ok((Vec::new(), IndexedSlices { values: d_output_dense_values, indices, dense_shape }.into(), NoGradient))
}

/// A ragged tensor whose variants are those that were decoded.
#[register_gradient(op = RaggedTensorFromVariant)]
fn ragged_tensor_from_variant_gradient(
    g: &mut GradientScope<'_>,
    output_ragged_rank: i64,
    encoded_ragged: ShapeOf,
    output_nested_splits: Vec<Value>,
    d_output_dense_values: Value,
) -> Result<Value> {
    let batched = match encoded_ragged.known().rank() {
        Some(rank @ (0 | 1)) => rank == 1,
        None => output_ragged_rank > 0,
        Some(rank) => {
            bail!(Unimplemented, "there is no gradient for variants in {rank} dimensions, only for up to one")
        }
    };
    ragged_tensor_to_variant(g, output_nested_splits, d_output_dense_values, batched).build()
}

#[register_gradient(op = RaggedTensorToVariant)]
fn ragged_tensor_to_variant_gradient_of(
    g: &mut GradientScope<'_>,
    Tvalues: DataType,
    rt_nested_splits: Vec<Value>,
    rt_dense_values: ShapeOf,
    d_encoded_ragged: Value,
) -> Result<(Vec<NoGradient>, Value)> {
    let splits = match rt_nested_splits.first() {
        Some(&splits) => splits,
        None => g.constant(0i64)?,
    };
    let dims = g.dims(&rt_dense_values)?;
    let dims = cast(g, dims, DataType::Int32).build()?;
    Ok((Vec::new(), ragged_tensor_to_variant_gradient(g, d_encoded_ragged, splits, dims, Tvalues).build()?))
}
