//! Bessel functions and integrals of one argument, and the incomplete beta function.

use std::f64::consts::FRAC_PI_2;

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink_macros::register_gradient;

use super::{scalar_like, shape_of, times, unbroadcast};
use crate::*;

#[register_gradient(op = BesselI0)]
fn bessel_i0_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let slope = bessel_i1(g, x).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = BesselI0e)]
fn bessel_i0e_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_y: Value) -> Result<Value> {
    let (next, sign) = (bessel_i1e(g, x).build()?, sign(g, x).build()?);
    let fall = mul(g, sign, y).build()?;
    let slope = sub(g, next, fall).build()?;
    times(g, d_y, slope)
}

/// `slope`, but where `x` is zero, where it divides by zero, `at_zero`.
fn but_at_zero(g: &mut GradientScope<'_>, x: Value, slope: Value, at_zero: f64) -> Result<Value> {
    let (zero, at_zero) = (scalar_like(g, x, 0.0)?, scalar_like(g, x, at_zero)?);
    let is_zero = equal(g, x, zero).build()?;
    select_v2(g, is_zero, at_zero, slope).build()
}

/// `value - y / x`
fn less_quotient(g: &mut GradientScope<'_>, value: Value, y: Value, x: Value) -> Result<Value> {
    let quotient = div(g, y, x).build()?;
    sub(g, value, quotient).build()
}

#[register_gradient(op = BesselI1)]
fn bessel_i1_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_y: Value) -> Result<Value> {
    let before = bessel_i0(g, x).build()?;
    let slope = less_quotient(g, before, y, x)?;
    // TensorFlow takes 1 at zero, twice the slope there.
    let slope = but_at_zero(g, x, slope, 1.0)?;
    times(g, d_y, slope)
}

#[register_gradient(op = BesselI1e)]
fn bessel_i1e_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_y: Value) -> Result<Value> {
    let (before, sign, inverse) = (bessel_i0e(g, x).build()?, sign(g, x).build()?, reciprocal(g, x).build()?);
    let factor = add_v2(g, sign, inverse).build()?;
    let fall = mul(g, y, factor).build()?;
    let slope = sub(g, before, fall).build()?;
    let slope = but_at_zero(g, x, slope, 0.5)?;
    times(g, d_y, slope)
}

#[register_gradient(op = BesselK0)]
fn bessel_k0_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let next = bessel_k1(g, x).build()?;
    let slope = neg(g, next).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = BesselK0e)]
fn bessel_k0e_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_y: Value) -> Result<Value> {
    let next = bessel_k1e(g, x).build()?;
    let slope = sub(g, y, next).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = BesselK1)]
fn bessel_k1_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_y: Value) -> Result<Value> {
    let before = bessel_k0(g, x).build()?;
    let negative = neg(g, before).build()?;
    let slope = less_quotient(g, negative, y, x)?;
    times(g, d_y, slope)
}

#[register_gradient(op = BesselK1e)]
fn bessel_k1e_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_y: Value) -> Result<Value> {
    let (before, inverse, one) = (bessel_k0e(g, x).build()?, reciprocal(g, x).build()?, scalar_like(g, x, 1.0)?);
    let factor = sub(g, one, inverse).build()?;
    let growth = mul(g, y, factor).build()?;
    let slope = sub(g, growth, before).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = BesselJ0)]
fn bessel_j0_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let next = bessel_j1(g, x).build()?;
    let slope = neg(g, next).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = BesselJ1)]
fn bessel_j1_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_y: Value) -> Result<Value> {
    let before = bessel_j0(g, x).build()?;
    let slope = less_quotient(g, before, y, x)?;
    let slope = but_at_zero(g, x, slope, 0.5)?;
    times(g, d_y, slope)
}

#[register_gradient(op = BesselY0)]
fn bessel_y0_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let next = bessel_y1(g, x).build()?;
    let slope = neg(g, next).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = BesselY1)]
fn bessel_y1_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_y: Value) -> Result<Value> {
    let before = bessel_y0(g, x).build()?;
    let slope = less_quotient(g, before, y, x)?;
    times(g, d_y, slope)
}

/// `1 - 2xy`
#[register_gradient(op = Dawsn)]
fn dawsn_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_y: Value) -> Result<Value> {
    let (one, two) = (scalar_like(g, x, 1.0)?, scalar_like(g, x, 2.0)?);
    let twice = mul(g, two, x).build()?;
    let fall = mul(g, twice, y).build()?;
    let slope = sub(g, one, fall).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = Expint)]
fn expint_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let growth = exp(g, x).build()?;
    let flow = times(g, d_y, growth)?;
    real_div(g, flow, x).build()
}

/// `πx²/2`
fn fresnel_angle(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    let (factor, square) = (scalar_like(g, x, FRAC_PI_2)?, square(g, x).build()?);
    mul(g, factor, square).build()
}

#[register_gradient(op = FresnelCos)]
fn fresnel_cos_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let angle = fresnel_angle(g, x)?;
    let slope = cos(g, angle).build()?;
    times(g, d_y, slope)
}

#[register_gradient(op = FresnelSin)]
fn fresnel_sin_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let angle = fresnel_angle(g, x)?;
    let slope = sin(g, angle).build()?;
    times(g, d_y, slope)
}

/// `ln(x) / (1 - x)`, which is -1 at 1.
#[register_gradient(op = Spence)]
fn spence_gradient(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value> {
    let (one, negative, logarithm) = (scalar_like(g, x, 1.0)?, scalar_like(g, x, -1.0)?, log(g, x).build()?);
    let (rest, is_one) = (sub(g, one, x).build()?, equal(g, x, one).build()?);
    let quotient = real_div(g, logarithm, rest).build()?;
    let slope = select_v2(g, is_one, negative, quotient).build()?;
    times(g, d_y, slope)
}

/// To `x` alone: `x^(a-1) (1-x)^(b-1) / B(a, b)`, by logarithms.
#[register_gradient(op = Betainc)]
fn betainc_gradient(
    g: &mut GradientScope<'_>,
    a: Value,
    b: Value,
    x: Value,
    d_z: Value,
) -> Result<(NoGradient, NoGradient, Value)> {
    let (one, sum) = (scalar_like(g, a, 1.0)?, add_v2(g, a, b).build()?);
    let (of_a, of_b, of_sum) = (lgamma(g, a).build()?, lgamma(g, b).build()?, lgamma(g, sum).build()?);
    let both = add_v2(g, of_a, of_b).build()?;
    let beta = sub(g, both, of_sum).build()?;
    let (less_a, less_b, negative) = (sub(g, a, one).build()?, sub(g, b, one).build()?, neg(g, x).build()?);
    // These are zero where `a` or `b` is 1, wherever `x` is.
    let (beyond, below) = (xlog1py(g, less_b, negative).build()?, xlogy(g, less_a, x).build()?);
    let power = add_v2(g, beyond, below).build()?;
    let exponent = sub(g, power, beta).build()?;
    let slope = exp(g, exponent).build()?;
    let flow = mul(g, slope, d_z).build()?;
    let x = shape_of(g, x);
    Ok((NoGradient, NoGradient, unbroadcast(g, flow, &x)?))
}
