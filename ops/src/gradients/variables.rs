//! Variables: what flows back to their handles is that for their values.

use kernlink::gradient::{Gradient, GradientScope, IndexedSlices, NoGradient, Value};
use kernlink::{Result, ensure};
use kernlink_macros::{not_differentiable, register_gradient};

use crate::*;

not_differentiable!(VarHandleOp, VariableShape, VarIsInitializedOp);

#[register_gradient(op = ReadVariableOp)]
fn read_variable_gradient(_g: &mut GradientScope<'_>, d_value: Gradient) -> Result<Gradient> {
    Ok(d_value)
}

#[register_gradient(op = ResourceGather)]
fn resource_gather_gradient(
    g: &mut GradientScope<'_>,
    batch_dims: i64,
    resource: Value,
    indices: Value,
    d_output: Value,
) -> Result<(IndexedSlices, NoGradient)> {
    ensure!(batch_dims == 0, Unimplemented, "the gradient of ResourceGather with batch_dims {batch_dims} is not there");
    let dense_shape = variable_shape(g, resource).build()?;
    let row = slice(g, dense_shape, &[1i32][..], &[-1i32][..]).build()?;
    let any = g.constant(&[-1i32][..])?;
    let dims = concat_v2(g, [any, row], 0).build()?;
    let values = reshape(g, d_output, dims).build()?;
    let indices = reshape(g, indices, &[-1i32][..]).build()?;
    Ok((IndexedSlices { values, indices, dense_shape }, NoGradient))
}

#[register_gradient(op = ResourceGatherNd)]
fn resource_gather_nd_gradient(
    g: &mut GradientScope<'_>,
    resource: Value,
    indices: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    let dtype = g.dtype(indices)?;
    let dims = variable_shape(g, resource).out_type(dtype).build()?;
    Ok((scatter_nd(g, indices, d_output, dims).build()?, NoGradient))
}
