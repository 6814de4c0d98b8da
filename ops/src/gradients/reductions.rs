//! Sums and their like over some dimensions.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::{real_flow, shape_of};
use crate::*;

/// The shape of a reduction whose dimensions are kept with size 1, as a vector.
fn kept_dims(g: &mut GradientScope<'_>, input: &ShapeOf, axes: Value) -> Result<Value> {
    if let (Some(shape), Some(axes)) = (input.known().to_shape(), g.known_value(axes)) {
        let mut dims: Vec<i64> = shape.iter().map(|&dim| dim as i64).collect();
        for axis in axes.to_i64_vec()? {
            let axis = kernlink::shape::resolve_axis(axis, dims.len())?;
            dims[axis] = 1;
        }
        return g.constant(dims);
    }
    let dims = g.dims(input)?;
    let rank = size(g, dims).build()?;
    // Axes may be counted from the end.
    let axes = cast(g, axes, DataType::Int32).build()?;
    let axes = reshape(g, axes, &[-1i32][..]).build()?;
    let places = add_v2(g, axes, rank).build()?;
    let places = floor_mod(g, places, rank).build()?;
    let ones = ones_like(g, places).build()?;
    let places = expand_dims(g, places, 1).build()?;
    tensor_scatter_update(g, dims, places, ones).build()
}

/// What flows back to a reduction, in the shape of what was reduced.
pub(super) fn spread(g: &mut GradientScope<'_>, flow: Value, input: &ShapeOf, axes: Value) -> Result<Value> {
    let kept = kept_dims(g, input, axes)?;
    let flow = reshape(g, flow, kept).build()?;
    let dims = g.dims(input)?;
    broadcast_to(g, flow, dims).build()
}

#[register_gradient(op = Sum)]
fn sum_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    reduction_indices: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    Ok((spread(g, d_output, &input, reduction_indices)?, NoGradient))
}

#[register_gradient(op = Mean)]
fn mean_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    output: ShapeOf,
    reduction_indices: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    let dtype = g.dtype(d_output)?;
    let count = match (input.known().to_shape(), output.known().to_shape()) {
        (Some(input), Some(output)) => {
            let count = input.num_elements().checked_div(output.num_elements()).unwrap_or(1).max(1);
            g.scalar(dtype, count as f64)?
        }
        _ => {
            let (input, output) = (g.dims(&input)?, g.dims(&output)?);
            let (all, left) = (prod(g, input, 0).build()?, prod(g, output, 0).build()?);
            let left = maximum(g, left, 1).build()?;
            let count = floor_div(g, all, left).build()?;
            cast(g, count, dtype).build()?
        }
    };
    // Divided while it is small.
    let flow = real_div(g, d_output, count).build()?;
    Ok((spread(g, flow, &input, reduction_indices)?, NoGradient))
}

/// Shared equally among all that are the largest or the smallest.
fn extreme(g: &mut GradientScope<'_>, input: Value, axes: Value, output: Value, flow: Value) -> Result<Value> {
    let shape = shape_of(g, input);
    let kept = kept_dims(g, &shape, axes)?;
    let (output, flow) = (reshape(g, output, kept).build()?, reshape(g, flow, kept).build()?);
    let is_it = equal(g, input, output).build()?;
    let dtype = g.dtype(flow)?;
    let is_it = cast(g, is_it, dtype).build()?;
    let count = sum(g, is_it, axes).build()?;
    let count = reshape(g, count, kept).build()?;
    let share = real_div(g, is_it, count).build()?;
    mul(g, share, flow).build()
}

#[register_gradient(op = [Max, Min])]
fn extreme_gradient(
    g: &mut GradientScope<'_>,
    input: Value,
    reduction_indices: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    Ok((extreme(g, input, reduction_indices, output, d_output)?, NoGradient))
}

#[register_gradient(op = EuclideanNorm)]
fn euclidean_norm_gradient(
    g: &mut GradientScope<'_>,
    input: Value,
    reduction_indices: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    let shape = shape_of(g, input);
    let kept = kept_dims(g, &shape, reduction_indices)?;
    let (output, flow) = (reshape(g, output, kept).build()?, reshape(g, d_output, kept).build()?);
    let flow = real_flow(g, flow)?;
    let scale = real_div(g, flow, output).build()?;
    Ok((mul(g, input, scale).build()?, NoGradient))
}
