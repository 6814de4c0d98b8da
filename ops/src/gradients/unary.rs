//! Functions of each element.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink_macros::register_gradient;

use super::{complex_dtype, conjugate, real_dtype, scalar_like, shape_of, times};
use crate::*;

#[register_gradient(op = Neg)]
fn neg_gradient(g: &mut GradientScope<'_>, d_y: Value) -> Result<Value> {
    neg(g, d_y).build()
}

#[register_gradient(op = Conj)]
fn conj_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    conj(g, d_output).build()
}

#[register_gradient(op = Abs)]
fn abs_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let sign = sign(g, x).build()?;
    mul(g, d_y, sign).build()
}

/// `g sign(z)`, where the sign of zero is zero.
#[register_gradient(op = ComplexAbs)]
fn complex_abs_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let zeros = zeros_like(g, d_y).build()?;
    let whole = g.dtype(x)?;
    let (flow, sign) = (complex(g, d_y, zeros).tout(whole).build()?, sign(g, x).build()?);
    mul(g, flow, sign).build()
}

#[register_gradient(op = Real)]
fn real_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    let zero = scalar_like(g, d_output, 0.0)?;
    let whole = complex_dtype(g.dtype(d_output)?);
    complex(g, d_output, zero).tout(whole).build()
}

#[register_gradient(op = Imag)]
fn imag_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    let zero = scalar_like(g, d_output, 0.0)?;
    let whole = complex_dtype(g.dtype(d_output)?);
    complex(g, zero, d_output).tout(whole).build()
}

#[register_gradient(op = [Reciprocal, Inv])]
fn reciprocal_gradient(g: &mut GradientScope<'_>, y: Value, d_y: Value) -> Result<Value> {
    reciprocal_grad(g, y, d_y).build()
}

#[register_gradient(op = Square)]
fn square_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let two = scalar_like(g, x, 2.0)?;
    let conjugate = conjugate(g, x)?;
    let slope = mul(g, conjugate, two).build()?;
    mul(g, d_y, slope).build()
}

#[register_gradient(op = Sqrt)]
fn sqrt_gradient(g: &mut GradientScope<'_>, y: Value, d_y: Value) -> Result<Value> {
    sqrt_grad(g, y, d_y).build()
}

#[register_gradient(op = Rsqrt)]
fn rsqrt_gradient(g: &mut GradientScope<'_>, y: Value, d_y: Value) -> Result<Value> {
    rsqrt_grad(g, y, d_y).build()
}

#[register_gradient(op = Exp)]
fn exp_gradient(g: &mut GradientScope<'_>, y: Value, d_y: Value) -> Result<Value> {
    times(g, d_y, y)
}

#[register_gradient(op = Expm1)]
fn expm1_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let slope = exp(g, x).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = Log)]
fn log_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let slope = reciprocal(g, x).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = Log1p)]
fn log1p_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let one = scalar_like(g, x, 1.0)?;
    let sum = add_v2(g, one, x).build()?;
    let slope = reciprocal(g, sum).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = Sinh)]
fn sinh_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let slope = cosh(g, x).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = Cosh)]
fn cosh_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let slope = sinh(g, x).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = Tanh)]
fn tanh_gradient(g: &mut GradientScope<'_>, y: Value, d_y: Value) -> Result<Value> {
    let y = conjugate(g, y)?;
    tanh_grad(g, y, d_y).build()
}

#[register_gradient(op = Asinh)]
fn asinh_gradient(g: &mut GradientScope<'_>, y: Value, d_y: Value) -> Result<Value> {
    let y = conjugate(g, y)?;
    let slope = cosh(g, y).build()?;
    real_div(g, d_y, slope).build()
}

#[register_gradient(op = Acosh)]
fn acosh_gradient(g: &mut GradientScope<'_>, y: Value, d_y: Value) -> Result<Value> {
    let y = conjugate(g, y)?;
    let slope = sinh(g, y).build()?;
    real_div(g, d_y, slope).build()
}

/// `1 - x²`, or `1 + x²`.
fn one_and_square(g: &mut GradientScope<'_>, x: Value, is_sum: bool) -> Result<Value> {
    let (one, square) = (scalar_like(g, x, 1.0)?, square(g, x).build()?);
    match is_sum {
        true => add_v2(g, one, square).build(),
        false => sub(g, one, square).build(),
    }
}

#[register_gradient(op = Atanh)]
fn atanh_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let difference = one_and_square(g, x, false)?;
    let slope = reciprocal(g, difference).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = Sin)]
fn sin_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let slope = cos(g, x).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = Cos)]
fn cos_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let sin = sin(g, x).build()?;
    let flow = times(g, d_y, sin)?;
    neg(g, flow).build()
}

#[register_gradient(op = Tan)]
fn tan_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let cos = cos(g, x).build()?;
    let secant = reciprocal(g, cos).build()?;
    let slope = square(g, secant).build()?;
    times(g, d_y, slope)
}

/// The slope of Asin: `1 / √(1 - x²)`.
fn slope_of_asin(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    let difference = one_and_square(g, x, false)?;
    let root = sqrt(g, difference).build()?;
    reciprocal(g, root).build()
}

#[register_gradient(op = Asin)]
fn asin_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let slope = slope_of_asin(g, x)?;
    times(g, d_y, slope)
}

#[register_gradient(op = Acos)]
fn acos_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let slope = slope_of_asin(g, x)?;
    let flow = times(g, d_y, slope)?;
    neg(g, flow).build()
}

#[register_gradient(op = Atan)]
fn atan_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let sum = one_and_square(g, x, true)?;
    let slope = reciprocal(g, sum).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = Sigmoid)]
fn sigmoid_gradient(g: &mut GradientScope<'_>, y: Value, d_y: Value) -> Result<Value> {
    let y = conjugate(g, y)?;
    sigmoid_grad(g, y, d_y).build()
}

/// `factor exp(-x²)`
fn bell(g: &mut GradientScope<'_>, x: Value, d_y: Value, factor: f64) -> Result<Value> {
    let (factor, square) = (scalar_like(g, x, factor)?, square(g, x).build()?);
    let exponent = neg(g, square).build()?;
    let bell = exp(g, exponent).build()?;
    let flow = mul(g, d_y, factor).build()?;
    mul(g, flow, bell).build()
}

#[register_gradient(op = Erf)]
fn erf_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    bell(g, x, d_y, FRAC_2_SQRT_PI)
}

#[register_gradient(op = Erfc)]
fn erfc_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    bell(g, x, d_y, -FRAC_2_SQRT_PI)
}

#[register_gradient(op = Erfinv)]
fn erfinv_gradient(g: &mut GradientScope<'_>, y: Value, d_y: Value) -> Result<Value> {
    let (factor, square) = (scalar_like(g, y, PI.sqrt() / 2.0)?, square(g, y).build()?);
    let growth = exp(g, square).build()?;
    let slope = mul(g, factor, growth).build()?;
    mul(g, d_y, slope).build()
}

#[register_gradient(op = Ndtri)]
fn ndtri_gradient(g: &mut GradientScope<'_>, y: Value, d_y: Value) -> Result<Value> {
    let (factor, half) = (scalar_like(g, y, (2.0 * PI).sqrt())?, scalar_like(g, y, 0.5)?);
    let square = square(g, y).build()?;
    let exponent = mul(g, square, half).build()?;
    let growth = exp(g, exponent).build()?;
    let slope = mul(g, factor, growth).build()?;
    mul(g, d_y, slope).build()
}

#[register_gradient(op = Lgamma)]
fn lgamma_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let slope = digamma(g, x).build()?;
    mul(g, d_y, slope).build()
}

#[register_gradient(op = Digamma)]
fn digamma_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let one = scalar_like(g, x, 1.0)?;
    let slope = polygamma(g, one, x).build()?;
    mul(g, d_y, slope).build()
}

/// Of complex numbers `(dy - conj(dy) y²) / 2|x|`, which is the part of `dy / |x|` along the circle of all signs.
#[register_gradient(op = Sign)]
fn sign_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let dtype = g.dtype(d_y)?;
    if !dtype.is_complex() {
        let x = shape_of(g, x);
        return g.zeros(dtype, &x);
    }
    let sign = sign(g, x).build()?;
    let (square, flow) = (square(g, sign).build()?, conj(g, d_y).build()?);
    let outwards = mul(g, flow, square).build()?;
    let around = sub(g, d_y, outwards).build()?;
    let magnitude = complex_abs(g, x).tout(real_dtype(dtype)).build()?;
    let (width, two) = (cast(g, magnitude, dtype).build()?, scalar_like(g, x, 2.0)?);
    let width = mul(g, width, two).build()?;
    div_no_nan(g, around, width).build()
}

#[register_gradient(op = [Floor, Ceil, Round, Rint])]
fn step_gradient(_: &mut GradientScope<'_>) -> Result<NoGradient> {
    Ok(NoGradient)
}

/// Of floats and complex numbers alone, back in the dtype that they came from.
#[register_gradient(op = Cast)]
fn cast_gradient(g: &mut GradientScope<'_>, SrcT: DataType, DstT: DataType, d_y: Value) -> Result<Option<Value>> {
    let flows = |dtype: DataType| dtype.is_floating() || dtype.is_complex();
    if !flows(SrcT) || !flows(DstT) {
        return Ok(None);
    }
    cast(g, d_y, SrcT).build().map(Some)
}
