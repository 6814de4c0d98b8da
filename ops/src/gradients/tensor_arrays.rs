//! Arrays of tensors: each has an array of gradients for each call that computes some, in which what is written adds up.

use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink::{Result, bail};
use kernlink_macros::{not_differentiable, register_gradient};

use crate::*;

not_differentiable!(TensorArrayV3, TensorArraySizeV3, TensorArrayCloseV3);

/// An array of gradients has no gradients itself; without this, what went through it would be lost.
#[register_gradient(op = TensorArrayGradV3)]
fn grad_gradient(_g: &mut GradientScope<'_>, d_flow_out: Value) -> Result<(NoGradient, Value)> {
    let _ = d_flow_out;
    bail!(
        Unimplemented,
        "gradients of gradients do not go through a TensorArray: lists of tensors, which TensorFlow 2 makes of them, have such"
    )
}

/// The array of gradients of an array, and what orders what is done with it.
fn gradients_of(g: &mut GradientScope<'_>, handle: Value, flow: Value) -> Result<(Value, Value)> {
    let source = g.source().to_owned();
    let of = tensor_array_grad_v3(g, handle, flow, &source).build()?;
    Ok((of.grad_handle, of.flow_out))
}

#[register_gradient(op = TensorArrayReadV3)]
fn read_gradient(
    g: &mut GradientScope<'_>,
    handle: Value,
    index: Value,
    flow_in: Value,
    d_value: Value,
) -> Result<(NoGradient, NoGradient, Value)> {
    let (array, flow) = gradients_of(g, handle, flow_in)?;
    Ok((NoGradient, NoGradient, tensor_array_write_v3(g, array, index, d_value, flow).build()?))
}

#[register_gradient(op = TensorArrayWriteV3)]
fn write_gradient(
    g: &mut GradientScope<'_>,
    handle: Value,
    index: Value,
    d_flow_out: Value,
) -> Result<(NoGradient, NoGradient, Value, Value)> {
    let dtype: DataType = g.attrs().required("T")?;
    let (array, flow) = gradients_of(g, handle, d_flow_out)?;
    let of_value = tensor_array_read_v3(g, array, index, flow, dtype).build()?;
    Ok((NoGradient, NoGradient, of_value, d_flow_out))
}

#[register_gradient(op = TensorArrayGatherV3)]
fn gather_gradient(
    g: &mut GradientScope<'_>,
    handle: Value,
    indices: Value,
    flow_in: Value,
    d_value: Value,
) -> Result<(NoGradient, NoGradient, Value)> {
    let (array, flow) = gradients_of(g, handle, flow_in)?;
    Ok((NoGradient, NoGradient, tensor_array_scatter_v3(g, array, indices, d_value, flow).build()?))
}

#[register_gradient(op = TensorArrayScatterV3)]
fn scatter_gradient(
    g: &mut GradientScope<'_>,
    handle: Value,
    indices: Value,
    d_flow_out: Value,
) -> Result<(NoGradient, NoGradient, Value, Value)> {
    let dtype: DataType = g.attrs().required("T")?;
    let (array, flow) = gradients_of(g, handle, d_flow_out)?;
    let of_value = tensor_array_gather_v3(g, array, indices, flow, dtype).build()?;
    Ok((NoGradient, NoGradient, of_value, d_flow_out))
}

#[register_gradient(op = TensorArrayConcatV3)]
fn concat_gradient(
    g: &mut GradientScope<'_>,
    handle: Value,
    flow_in: Value,
    lengths: Value,
    d_value: Value,
) -> Result<(NoGradient, Value)> {
    let (array, flow) = gradients_of(g, handle, flow_in)?;
    Ok((NoGradient, tensor_array_split_v3(g, array, d_value, lengths, flow).build()?))
}

#[register_gradient(op = TensorArraySplitV3)]
fn split_gradient(
    g: &mut GradientScope<'_>,
    handle: Value,
    d_flow_out: Value,
) -> Result<(NoGradient, Value, NoGradient, Value)> {
    let dtype: DataType = g.attrs().required("T")?;
    let (array, flow) = gradients_of(g, handle, d_flow_out)?;
    let of_value = tensor_array_concat_v3(g, array, flow, dtype).build()?.value;
    Ok((NoGradient, of_value, NoGradient, d_flow_out))
}
