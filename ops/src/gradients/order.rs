//! What is chosen by its rank among others.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::{long_dims, product_of, shape_of};
use crate::*;

/// To what was chosen, by its index in its row.
fn chosen(g: &mut GradientScope<'_>, input: &ShapeOf, indices: Value, flow: Value) -> Result<Value> {
    let dims = long_dims(g, input)?;
    let rank = size(g, dims).build()?;
    let rank = cast(g, rank, DataType::Int64).build()?;
    let (zero, one) = (g.constant(0i64)?, g.constant(1i64)?);
    let last = sub(g, rank, one).build()?;
    let (rows, row) = (product_of(g, dims, zero, last)?, product_of(g, dims, last, rank)?);
    let picked = shape_of(g, indices);
    let picked = long_dims(g, &picked)?;
    let picked = product_of(g, picked, last, rank)?;
    let by_row = pack(g, [rows, picked]).build()?;
    let indices = cast(g, indices, DataType::Int64).build()?;
    let indices = reshape(g, indices, by_row).build()?;
    let numbers = range(g, zero, rows, one).build()?;
    let begins = mul(g, numbers, row).build()?;
    let begins = expand_dims(g, begins, 1).build()?;
    let places = add_v2(g, indices, begins).build()?;
    let places = expand_dims(g, places, 2).build()?;
    let (flow, total) = (reshape(g, flow, by_row).build()?, mul(g, rows, row).build()?);
    let total = expand_dims(g, total, 0).build()?;
    let flat = scatter_nd(g, places, flow, total).build()?;
    reshape(g, flat, dims).build()
}

/// Of the last dimension, along which alone there are kernels.
#[register_gradient(op = [TopK, ApproxTopK])]
fn top_k_gradient(g: &mut GradientScope<'_>, input: ShapeOf, indices: Value, d_values: Value) -> Result<Value> {
    chosen(g, &input, indices, d_values)
}

#[register_gradient(op = TopKV2)]
fn top_k_v2_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    indices: Value,
    d_values: Value,
) -> Result<(Value, NoGradient)> {
    Ok((chosen(g, &input, indices, d_values)?, NoGradient))
}

/// Shared equally among all that are equal to what was chosen.
#[cfg(feature = "nn")]
#[register_gradient(op = NthElement)]
fn nth_element_gradient(
    g: &mut GradientScope<'_>,
    input: Value,
    values: Value,
    d_values: Value,
) -> Result<(Value, NoGradient)> {
    let (values, flow) = (expand_dims(g, values, -1).build()?, expand_dims(g, d_values, -1).build()?);
    let is_it = equal(g, input, values).build()?;
    let dtype = g.dtype(flow)?;
    let is_it = cast(g, is_it, dtype).build()?;
    let count = sum(g, is_it, &[-1i32][..]).keep_dims(true).build()?;
    let share = real_div(g, is_it, count).build()?;
    Ok((mul(g, share, flow).build()?, NoGradient))
}
