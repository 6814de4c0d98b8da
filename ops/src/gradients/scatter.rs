//! Writing elements and rows by their indices.

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink_macros::register_gradient;

use super::shape_of;
use crate::*;

/// What flows on to what was written.
fn written(g: &mut GradientScope<'_>, flow: Value, indices: Value) -> Result<Value> {
    let policy: String = g.attrs().required("bad_indices_policy")?;
    gather_nd(g, flow, indices).bad_indices_policy(&policy).build()
}

#[register_gradient(op = ScatterNd)]
fn scatter_nd_gradient(
    g: &mut GradientScope<'_>,
    indices: Value,
    d_output: Value,
) -> Result<(NoGradient, Value, NoGradient)> {
    Ok((NoGradient, written(g, d_output, indices)?, NoGradient))
}

#[register_gradient(op = ScatterNdNonAliasingAdd)]
fn scatter_nd_non_aliasing_add_gradient(
    g: &mut GradientScope<'_>,
    indices: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, Value)> {
    Ok((d_output, NoGradient, written(g, d_output, indices)?))
}

#[register_gradient(op = TensorScatterAdd)]
fn tensor_scatter_add_gradient(
    g: &mut GradientScope<'_>,
    indices: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, Value)> {
    Ok((d_output, NoGradient, written(g, d_output, indices)?))
}

#[register_gradient(op = TensorScatterSub)]
fn tensor_scatter_sub_gradient(
    g: &mut GradientScope<'_>,
    indices: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, Value)> {
    let taken = written(g, d_output, indices)?;
    Ok((d_output, NoGradient, neg(g, taken).build()?))
}

#[register_gradient(op = TensorScatterUpdate)]
fn tensor_scatter_update_gradient(
    g: &mut GradientScope<'_>,
    bad_indices_policy: String,
    indices: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, Value)> {
    let updates = written(g, d_output, indices)?;
    let zeros = zeros_like(g, updates).build()?;
    let rest = tensor_scatter_update(g, d_output, indices, zeros).bad_indices_policy(&bad_indices_policy).build()?;
    Ok((rest, NoGradient, updates))
}

/// Shared equally among all that are what is left: the element that was there and the updates.
#[register_gradient(op = [TensorScatterMax, TensorScatterMin])]
fn tensor_scatter_extreme_gradient(
    g: &mut GradientScope<'_>,
    bad_indices_policy: String,
    tensor: Value,
    indices: Value,
    updates: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, Value)> {
    let (dtype, of_indices) = (g.dtype(d_output)?, g.dtype(indices)?);
    let is_tensor = equal(g, tensor, output).build()?;
    let is_tensor = cast(g, is_tensor, dtype).build()?;
    let chosen = written(g, output, indices)?;
    let is_update = equal(g, updates, chosen).build()?;
    let is_update = cast(g, is_update, dtype).build()?;
    let whole = shape_of(g, tensor);
    let dims = g.dims(&whole)?;
    let dims = cast(g, dims, of_indices).build()?;
    let counts = scatter_nd(g, indices, is_update, dims).bad_indices_policy(&bad_indices_policy).build()?;
    let counts = add_v2(g, counts, is_tensor).build()?;
    let share = real_div(g, d_output, counts).build()?;
    let of_updates = written(g, share, indices)?;
    Ok((mul(g, share, is_tensor).build()?, NoGradient, mul(g, of_updates, is_update).build()?))
}
