//! Slices with strides, and what is written through them.

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::unbroadcast;
use crate::*;

/// The attrs that ops of strided slices have in common.
struct Masks {
    begin: i64,
    end: i64,
    ellipsis: i64,
    new_axis: i64,
    shrink_axis: i64,
}

/// The attrs of the node whose gradient this is.
fn masks(g: &GradientScope<'_>) -> Result<Masks> {
    let attrs = g.attrs();
    Ok(Masks {
        begin: attrs.required("begin_mask")?,
        end: attrs.required("end_mask")?,
        ellipsis: attrs.required("ellipsis_mask")?,
        new_axis: attrs.required("new_axis_mask")?,
        shrink_axis: attrs.required("shrink_axis_mask")?,
    })
}

/// Where a slice lies: its begin, its end and its strides.
type Place = [Value; 3];

/// Cuts out.
fn cut(g: &mut GradientScope<'_>, whole: Value, [begin, end, strides]: Place) -> Result<Value> {
    let masks = masks(g)?;
    let slice = strided_slice(g, whole, begin, end, strides).begin_mask(masks.begin).end_mask(masks.end);
    let slice = slice.ellipsis_mask(masks.ellipsis).new_axis_mask(masks.new_axis);
    slice.shrink_axis_mask(masks.shrink_axis).build()
}

#[register_gradient(op = StridedSlice)]
fn strided_slice_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    begin: Value,
    end: Value,
    strides: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient, NoGradient)> {
    let (dtype, masks) = (g.dtype(begin)?, masks(g)?);
    let dims = g.dims(&input)?;
    let dims = cast(g, dims, dtype).build()?;
    let whole = strided_slice_grad(g, dims, begin, end, strides, d_output).begin_mask(masks.begin);
    let whole = whole.end_mask(masks.end).ellipsis_mask(masks.ellipsis).new_axis_mask(masks.new_axis);
    Ok((whole.shrink_axis_mask(masks.shrink_axis).build()?, NoGradient, NoGradient, NoGradient))
}

#[register_gradient(op = StridedSliceGrad)]
fn strided_slice_grad_gradient(
    g: &mut GradientScope<'_>,
    begin: Value,
    end: Value,
    strides: Value,
    d_output: Value,
) -> Result<(NoGradient, NoGradient, NoGradient, NoGradient, Value)> {
    Ok((NoGradient, NoGradient, NoGradient, NoGradient, cut(g, d_output, [begin, end, strides])?))
}

/// To what was written over nothing flows; what was written may have been broadcast.
#[register_gradient(op = TensorStridedSliceUpdate)]
fn tensor_strided_slice_update_gradient(
    g: &mut GradientScope<'_>,
    begin: Value,
    end: Value,
    strides: Value,
    value: ShapeOf,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient, NoGradient, Value)> {
    let (written, masks) = (cut(g, d_output, [begin, end, strides])?, masks(g)?);
    let zeros = zeros_like(g, written).build()?;
    let rest = tensor_strided_slice_update(g, d_output, begin, end, strides, zeros).begin_mask(masks.begin);
    let rest = rest.end_mask(masks.end).ellipsis_mask(masks.ellipsis).new_axis_mask(masks.new_axis);
    let rest = rest.shrink_axis_mask(masks.shrink_axis).build()?;
    Ok((rest, NoGradient, NoGradient, NoGradient, unbroadcast(g, written, &value)?))
}
