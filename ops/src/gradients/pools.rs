//! Pools of images.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::{product_of_all, shape_of};
use crate::*;

/// The attrs that pools have, but for those whose windows are inputs.
struct Windows {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: String,
}

impl Windows {
    /// Those of the node whose gradient this is.
    fn of(g: &GradientScope<'_>) -> Result<Windows> {
        let attrs = g.attrs();
        Ok(Windows {
            ksize: attrs.required("ksize")?,
            strides: attrs.required("strides")?,
            padding: attrs.required("padding")?,
        })
    }
}

/// The windows, as the function of an op takes them.
macro_rules! required {
    ($windows:ident, $ty:ident) => {
        $ty { ksize: &$windows.ksize, strides: &$windows.strides, padding: &$windows.padding }
    };
}

#[register_gradient(op = AvgPool)]
fn avg_pool_gradient(g: &mut GradientScope<'_>, data_format: String, value: ShapeOf, d_output: Value) -> Result<Value> {
    let (windows, dims) = (Windows::of(g)?, g.dims(&value)?);
    avg_pool_grad(g, dims, d_output, required!(windows, AvgPoolGradRequired)).data_format(&data_format).build()
}

#[register_gradient(op = AvgPoolGrad)]
fn avg_pool_grad_gradient(
    g: &mut GradientScope<'_>,
    data_format: String,
    d_output: Value,
) -> Result<(NoGradient, Value)> {
    let windows = Windows::of(g)?;
    let pooled = avg_pool(g, d_output, required!(windows, AvgPoolRequired)).data_format(&data_format).build()?;
    Ok((NoGradient, pooled))
}

#[register_gradient(op = MaxPool)]
fn max_pool_gradient(
    g: &mut GradientScope<'_>,
    explicit_paddings: Vec<i64>,
    data_format: String,
    input: Value,
    output: Value,
    d_output: Value,
) -> Result<Value> {
    let windows = Windows::of(g)?;
    let flow = max_pool_grad(g, input, output, d_output, required!(windows, MaxPoolGradRequired));
    flow.explicit_paddings(&explicit_paddings[..]).data_format(&data_format).build()
}

/// Which element is chosen does not depend on the elements.
fn zeros(g: &mut GradientScope<'_>, input: Value, output: Value) -> Result<[Value; 2]> {
    Ok([zeros_like(g, input).build()?, zeros_like(g, output).build()?])
}

#[register_gradient(op = MaxPoolGrad)]
fn max_pool_grad_gradient(
    g: &mut GradientScope<'_>,
    data_format: String,
    orig_input: Value,
    orig_output: Value,
    d_output: Value,
) -> Result<(Value, Value, Value)> {
    let (windows, [input, output]) = (Windows::of(g)?, zeros(g, orig_input, orig_output)?);
    let flow = max_pool_grad_grad(g, orig_input, orig_output, d_output, required!(windows, MaxPoolGradGradRequired));
    Ok((input, output, flow.data_format(&data_format).build()?))
}

#[register_gradient(op = MaxPoolGradGrad)]
fn max_pool_grad_grad_gradient(
    g: &mut GradientScope<'_>,
    data_format: String,
    orig_input: Value,
    orig_output: Value,
    d_output: Value,
) -> Result<(Value, Value, Value)> {
    let (windows, [input, output]) = (Windows::of(g)?, zeros(g, orig_input, orig_output)?);
    let flow = max_pool_grad(g, orig_input, orig_output, d_output, required!(windows, MaxPoolGradRequired));
    Ok((input, output, flow.data_format(&data_format).build()?))
}

#[register_gradient(op = AvgPool3D)]
fn avg_pool3d_gradient(g: &mut GradientScope<'_>, input: ShapeOf, d_output: Value) -> Result<Value> {
    let (windows, dims) = (Windows::of(g)?, g.dims(&input)?);
    avg_pool3d_grad(g, dims, d_output, required!(windows, AvgPool3DGradRequired)).build()
}

#[register_gradient(op = AvgPool3DGrad)]
fn avg_pool3d_grad_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<(NoGradient, Value)> {
    let windows = Windows::of(g)?;
    Ok((NoGradient, avg_pool3d(g, d_output, required!(windows, AvgPool3DRequired)).build()?))
}

#[register_gradient(op = MaxPool3D)]
fn max_pool3d_gradient(g: &mut GradientScope<'_>, input: Value, output: Value, d_output: Value) -> Result<Value> {
    let windows = Windows::of(g)?;
    max_pool3d_grad(g, input, output, d_output, required!(windows, MaxPool3DGradRequired)).build()
}

#[register_gradient(op = MaxPool3DGrad)]
fn max_pool3d_grad_gradient(
    g: &mut GradientScope<'_>,
    orig_input: Value,
    orig_output: Value,
    d_output: Value,
) -> Result<(Value, Value, Value)> {
    let (windows, [input, output]) = (Windows::of(g)?, zeros(g, orig_input, orig_output)?);
    let windows = required!(windows, MaxPool3DGradGradRequired);
    Ok((input, output, max_pool3d_grad_grad(g, orig_input, orig_output, d_output, windows).build()?))
}

#[register_gradient(op = MaxPool3DGradGrad)]
fn max_pool3d_grad_grad_gradient(
    g: &mut GradientScope<'_>,
    orig_input: Value,
    orig_output: Value,
    d_output: Value,
) -> Result<(Value, Value, Value)> {
    let (windows, [input, output]) = (Windows::of(g)?, zeros(g, orig_input, orig_output)?);
    let windows = required!(windows, MaxPool3DGradRequired);
    Ok((input, output, max_pool3d_grad(g, orig_input, orig_output, d_output, windows).build()?))
}

#[register_gradient(op = MaxPoolV2)]
fn max_pool_v2_gradient(
    g: &mut GradientScope<'_>,
    padding: String,
    data_format: String,
    input: Value,
    ksize: Value,
    strides: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let flow = max_pool_grad_v2(g, input, output, d_output, ksize, strides, &padding).data_format(&data_format);
    Ok((flow.build()?, NoGradient, NoGradient))
}

#[register_gradient(op = MaxPoolGradV2)]
fn max_pool_grad_v2_gradient(
    g: &mut GradientScope<'_>,
    padding: String,
    data_format: String,
    orig_input: Value,
    orig_output: Value,
    ksize: Value,
    strides: Value,
    d_output: Value,
) -> Result<(Value, Value, Value, NoGradient, NoGradient)> {
    let [input, output] = zeros(g, orig_input, orig_output)?;
    let flow = max_pool_grad_grad_v2(g, orig_input, orig_output, d_output, ksize, strides, &padding);
    Ok((input, output, flow.data_format(&data_format).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = MaxPoolGradGradV2)]
fn max_pool_grad_grad_v2_gradient(
    g: &mut GradientScope<'_>,
    padding: String,
    data_format: String,
    orig_input: Value,
    orig_output: Value,
    ksize: Value,
    strides: Value,
    d_output: Value,
) -> Result<(Value, Value, Value, NoGradient, NoGradient)> {
    let [input, output] = zeros(g, orig_input, orig_output)?;
    let flow = max_pool_grad_v2(g, orig_input, orig_output, d_output, ksize, strides, &padding);
    Ok((input, output, flow.data_format(&data_format).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = MaxPoolWithArgmax)]
fn max_pool_with_argmax_gradient(
    g: &mut GradientScope<'_>,
    include_batch_in_index: bool,
    input: Value,
    argmax: Value,
    d_output: Value,
) -> Result<Value> {
    let windows = Windows::of(g)?;
    let required = required!(windows, MaxPoolGradWithArgmaxRequired);
    let flow = max_pool_grad_with_argmax(g, input, d_output, argmax, required);
    flow.include_batch_in_index(include_batch_in_index).build()
}

/// What was chosen, by its index in all images, or in its own.
#[register_gradient(op = MaxPoolGradWithArgmax)]
fn max_pool_grad_with_argmax_gradient(
    g: &mut GradientScope<'_>,
    include_batch_in_index: bool,
    input: Value,
    argmax: Value,
    d_output: Value,
) -> Result<(Value, Value, NoGradient)> {
    let nothing = zeros_like(g, input).build()?;
    if include_batch_in_index {
        let flat = reshape(g, d_output, &[-1i32][..]).build()?;
        return Ok((nothing, gather_v2(g, flat, argmax, 0).build()?, NoGradient));
    }
    let images = shape_of(g, input);
    let dims = g.dims(&images)?;
    let count = strided_slice(g, dims, &[0i32][..], &[1i32][..], &[1i32][..]).build()?;
    let size = strided_slice(g, dims, &[1i32][..], &[0i32][..], &[1i32][..]).end_mask(1).build()?;
    let size = product_of_all(g, size)?;
    let size = expand_dims(g, size, 0).build()?;
    let rows = concat_v2(g, [count, size], 0).build()?;
    let flat = reshape(g, d_output, rows).build()?;
    Ok((nothing, gather_v2(g, flat, argmax, 1).batch_dims(1).build()?, NoGradient))
}

#[register_gradient(op = FractionalMaxPool)]
fn fractional_max_pool_gradient(
    g: &mut GradientScope<'_>,
    overlapping: bool,
    value: Value,
    output: Value,
    row_pooling_sequence: Value,
    col_pooling_sequence: Value,
    d_output: Value,
) -> Result<Value> {
    let flow = fractional_max_pool_grad(g, value, output, d_output, row_pooling_sequence, col_pooling_sequence);
    flow.overlapping(overlapping).build()
}

#[register_gradient(op = FractionalAvgPool)]
fn fractional_avg_pool_gradient(
    g: &mut GradientScope<'_>,
    overlapping: bool,
    value: ShapeOf,
    row_pooling_sequence: Value,
    col_pooling_sequence: Value,
    d_output: Value,
) -> Result<Value> {
    let dims = g.dims(&value)?;
    let dims = if g.dtype(dims)? == DataType::Int64 { dims } else { cast(g, dims, DataType::Int64).build()? };
    let flow = fractional_avg_pool_grad(g, dims, d_output, row_pooling_sequence, col_pooling_sequence);
    flow.overlapping(overlapping).build()
}
