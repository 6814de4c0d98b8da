//! Functions of two elements, whose tensors broadcast.

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::{conjugate, real_dtype, real_flow, scalar_like, shape_of, times, unbroadcast};
use crate::*;

#[register_gradient(op = [Add, AddV2])]
fn add_gradient(g: &mut GradientScope<'_>, x: ShapeOf, y: ShapeOf, d_z: Value) -> Result<(Value, Value)> {
    Ok((unbroadcast(g, d_z, &x)?, unbroadcast(g, d_z, &y)?))
}

#[register_gradient(op = Sub)]
fn sub_gradient(g: &mut GradientScope<'_>, x: ShapeOf, y: ShapeOf, d_z: Value) -> Result<(Value, Value)> {
    let negative = neg(g, d_z).build()?;
    Ok((unbroadcast(g, d_z, &x)?, unbroadcast(g, negative, &y)?))
}

#[register_gradient(op = Mul)]
fn mul_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Option<Value>, Option<Value>)> {
    let mut side = |argument: usize, own: Value, other: Value| {
        if !g.is_wanted(argument) {
            return Ok(None);
        }
        let flow = times(g, d_z, other)?;
        let own = shape_of(g, own);
        unbroadcast(g, flow, &own).map(Some)
    };
    Ok((side(0, x, y)?, side(1, y, x)?))
}

#[register_gradient(op = MulNoNan)]
fn mul_no_nan_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> {
    let (x_shape, y_shape) = (shape_of(g, x), shape_of(g, y));
    let (x, y) = (conjugate(g, x)?, conjugate(g, y)?);
    let (of_x, of_y) = (mul_no_nan(g, d_z, y).build()?, mul_no_nan(g, x, d_z).build()?);
    Ok((unbroadcast(g, of_x, &x_shape)?, unbroadcast(g, of_y, &y_shape)?))
}

#[register_gradient(op = [RealDiv, Div])]
fn real_div_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> {
    let (x_shape, y_shape) = (shape_of(g, x), shape_of(g, y));
    let (x, y) = (conjugate(g, x)?, conjugate(g, y)?);
    let of_x = real_div(g, d_z, y).build()?;
    // Two divisions where a square might overflow.
    let negative = neg(g, x).build()?;
    let quotient = real_div(g, negative, y).build()?;
    let slope = real_div(g, quotient, y).build()?;
    let of_y = mul(g, d_z, slope).build()?;
    Ok((unbroadcast(g, of_x, &x_shape)?, unbroadcast(g, of_y, &y_shape)?))
}

#[register_gradient(op = DivNoNan)]
fn div_no_nan_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> {
    let (x_shape, y_shape) = (shape_of(g, x), shape_of(g, y));
    let (x, y) = (conjugate(g, x)?, conjugate(g, y)?);
    let of_x = div_no_nan(g, d_z, y).build()?;
    let negative = neg(g, x).build()?;
    let quotient = div_no_nan(g, negative, y).build()?;
    let slope = div_no_nan(g, quotient, y).build()?;
    let of_y = mul(g, d_z, slope).build()?;
    Ok((unbroadcast(g, of_x, &x_shape)?, unbroadcast(g, of_y, &y_shape)?))
}

#[register_gradient(op = [FloorDiv, TruncateDiv])]
fn floor_div_gradient(_: &mut GradientScope<'_>) -> Result<[NoGradient; 2]> {
    Ok([NoGradient; 2])
}

#[register_gradient(op = FloorMod)]
fn floor_mod_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> {
    let floor = floor_div(g, x, y).build()?;
    let slope = neg(g, floor).build()?;
    let of_y = mul(g, d_z, slope).build()?;
    let (x, y) = (shape_of(g, x), shape_of(g, y));
    Ok((unbroadcast(g, d_z, &x)?, unbroadcast(g, of_y, &y)?))
}

#[register_gradient(op = SquaredDifference)]
fn squared_difference_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> {
    // Of complex numbers it is the square of the magnitude.
    let (two, difference, flow) = (scalar_like(g, d_z, 2.0)?, sub(g, x, y).build()?, real_flow(g, d_z)?);
    let flow = mul(g, two, flow).build()?;
    let flow = mul(g, flow, difference).build()?;
    let negative = neg(g, flow).build()?;
    let (x, y) = (shape_of(g, x), shape_of(g, y));
    Ok((unbroadcast(g, flow, &x)?, unbroadcast(g, negative, &y)?))
}

/// All of it where a condition holds, and the rest: where `x` is chosen, and where `y` is.
fn chosen(g: &mut GradientScope<'_>, is_x: Value, flow: Value, x: &ShapeOf, y: &ShapeOf) -> Result<(Value, Value)> {
    let zeros = zeros_like(g, flow).build()?;
    let (of_x, of_y) = (select_v2(g, is_x, flow, zeros).build()?, select_v2(g, is_x, zeros, flow).build()?);
    Ok((unbroadcast(g, of_x, x)?, unbroadcast(g, of_y, y)?))
}

#[register_gradient(op = Maximum)]
fn maximum_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> {
    let is_x = greater_equal(g, x, y).build()?;
    let (x, y) = (shape_of(g, x), shape_of(g, y));
    chosen(g, is_x, d_z, &x, &y)
}

#[register_gradient(op = Minimum)]
fn minimum_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> {
    let is_x = less_equal(g, x, y).build()?;
    let (x, y) = (shape_of(g, x), shape_of(g, y));
    chosen(g, is_x, d_z, &x, &y)
}

#[register_gradient(op = SelectV2)]
fn select_v2_gradient(
    g: &mut GradientScope<'_>,
    condition: Value,
    t: ShapeOf,
    e: ShapeOf,
    d_output: Value,
) -> Result<(NoGradient, Value, Value)> {
    let (of_t, of_e) = chosen(g, condition, d_output, &t, &e)?;
    Ok((NoGradient, of_t, of_e))
}

#[register_gradient(op = Select)]
fn select_gradient(g: &mut GradientScope<'_>, condition: Value, d_output: Value) -> Result<(NoGradient, Value, Value)> {
    let zeros = zeros_like(g, d_output).build()?;
    let of_t = select(g, condition, d_output, zeros).build()?;
    Ok((NoGradient, of_t, select(g, condition, zeros, d_output).build()?))
}

/// The logarithm of a base, and zero where that means nothing: the gradient of the exponent is zero there.
#[register_gradient(op = Pow)]
fn pow_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, z: Value, d_z: Value) -> Result<(Value, Value)> {
    let (x_shape, y_shape) = (shape_of(g, x), shape_of(g, y));
    let is_complex = g.dtype(x)?.is_complex();
    let (x, y, z) = (conjugate(g, x)?, conjugate(g, y)?, conjugate(g, z)?);
    let one = scalar_like(g, y, 1.0)?;
    let less = sub(g, y, one).build()?;
    let power = pow(g, x, less).build()?;
    let flow = mul(g, d_z, y).build()?;
    let of_x = mul(g, flow, power).build()?;
    let zero = scalar_like(g, x, 0.0)?;
    let has_log = if is_complex { not_equal(g, x, zero).build()? } else { greater(g, x, zero).build()? };
    let ones = ones_like(g, x).build()?;
    let safe = select(g, has_log, x, ones).build()?;
    let (log_of_safe, zeros) = (log(g, safe).build()?, zeros_like(g, x).build()?);
    let logarithm = select(g, has_log, log_of_safe, zeros).build()?;
    let flow = mul(g, d_z, z).build()?;
    let of_y = mul(g, flow, logarithm).build()?;
    Ok((unbroadcast(g, of_x, &x_shape)?, unbroadcast(g, of_y, &y_shape)?))
}

#[register_gradient(op = Atan2)]
fn atan2_gradient(g: &mut GradientScope<'_>, y: Value, x: Value, d_z: Value) -> Result<(Value, Value)> {
    let (squares, of_y) = (square(g, x).build()?, square(g, y).build()?);
    let norm = add_v2(g, squares, of_y).build()?;
    let inverse = real_div(g, d_z, norm).build()?;
    let flow_y = mul(g, x, inverse).build()?;
    let negative = neg(g, y).build()?;
    let flow_x = mul(g, negative, inverse).build()?;
    let (y, x) = (shape_of(g, y), shape_of(g, x));
    Ok((unbroadcast(g, flow_y, &y)?, unbroadcast(g, flow_x, &x)?))
}

#[register_gradient(op = Complex)]
fn complex_gradient(g: &mut GradientScope<'_>, real: ShapeOf, imag: ShapeOf, d_out: Value) -> Result<(Value, Value)> {
    let part = real_dtype(g.dtype(d_out)?);
    let (of_real, of_imag) = (crate::real(g, d_out).tout(part).build()?, crate::imag(g, d_out).tout(part).build()?);
    Ok((unbroadcast(g, of_real, &real)?, unbroadcast(g, of_imag, &imag)?))
}

#[register_gradient(op = Xlogy)]
fn xlogy_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> {
    let zero = scalar_like(g, x, 0.0)?;
    let is_there = not_equal(g, x, zero).build()?;
    let dtype = g.dtype(x)?;
    let there = cast(g, is_there, dtype).build()?;
    let logarithm = xlogy(g, there, y).build()?;
    let of_x = times(g, d_z, logarithm)?;
    let quotient = xdivy(g, x, y).build()?;
    let of_y = times(g, d_z, quotient)?;
    let (x, y) = (shape_of(g, x), shape_of(g, y));
    Ok((unbroadcast(g, of_x, &x)?, unbroadcast(g, of_y, &y)?))
}

#[register_gradient(op = Xlog1py)]
fn xlog1py_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> {
    let zero = scalar_like(g, x, 0.0)?;
    let is_there = not_equal(g, x, zero).build()?;
    let dtype = g.dtype(x)?;
    let there = cast(g, is_there, dtype).build()?;
    let logarithm = xlog1py(g, there, y).build()?;
    let of_x = times(g, d_z, logarithm)?;
    let one = scalar_like(g, y, 1.0)?;
    let sum = add_v2(g, y, one).build()?;
    let quotient = xdivy(g, x, sum).build()?;
    let of_y = times(g, d_z, quotient)?;
    let (x, y) = (shape_of(g, x), shape_of(g, y));
    Ok((unbroadcast(g, of_x, &x)?, unbroadcast(g, of_y, &y)?))
}

#[register_gradient(op = Xdivy)]
fn xdivy_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<(Value, Value)> {
    let zero = scalar_like(g, x, 0.0)?;
    let is_there = not_equal(g, x, zero).build()?;
    let dtype = g.dtype(x)?;
    let there = cast(g, is_there, dtype).build()?;
    let slope = xdivy(g, there, y).build()?;
    let of_x = times(g, d_z, slope)?;
    let (negative, square) = (neg(g, x).build()?, square(g, y).build()?);
    let slope = xdivy(g, negative, square).build()?;
    let of_y = times(g, d_z, slope)?;
    let (x, y) = (shape_of(g, x), shape_of(g, y));
    Ok((unbroadcast(g, of_x, &x)?, unbroadcast(g, of_y, &y)?))
}

/// To what is outside of the limits nothing flows, but to these; limits that are met belong to what is clipped.
#[register_gradient(op = ClipByValue)]
fn clip_by_value_gradient(
    g: &mut GradientScope<'_>,
    t: Value,
    clip_value_min: Value,
    clip_value_max: Value,
    d_output: Value,
) -> Result<(Value, Value, Value)> {
    let zeros = zeros_like(g, d_output).build()?;
    let (below, above) = (less(g, t, clip_value_min).build()?, greater(g, t, clip_value_max).build()?);
    let outside = logical_or(g, below, above).build()?;
    let of_t = select_v2(g, outside, zeros, d_output).build()?;
    let of_min = select_v2(g, below, d_output, zeros).build()?;
    let of_max = select_v2(g, above, d_output, zeros).build()?;
    let shapes = [t, clip_value_min, clip_value_max].map(|value| shape_of(g, value));
    Ok((unbroadcast(g, of_t, &shapes[0])?, unbroadcast(g, of_min, &shapes[1])?, unbroadcast(g, of_max, &shapes[2])?))
}

#[register_gradient(op = AddN)]
fn add_n_gradient(_: &mut GradientScope<'_>, inputs: Vec<ShapeOf>, d_sum: Value) -> Result<Vec<Value>> {
    Ok(vec![d_sum; inputs.len()])
}

#[register_gradient(op = AccumulateNV2)]
fn accumulate_nv2_gradient(_: &mut GradientScope<'_>, inputs: Vec<ShapeOf>, d_sum: Value) -> Result<Vec<Value>> {
    Ok(vec![d_sum; inputs.len()])
}
