//! Special functions of two elements, of angles and of neighbours.

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink_macros::register_gradient;

use super::{complex_dtype, scalar_like, shape_of, unbroadcast};
use crate::*;

/// Of the function of `a` and `x` that grows from zero to one, times a sign.
fn of_igamma(g: &mut GradientScope<'_>, [a, x]: [Value; 2], flow: Value) -> Result<(Value, Value)> {
    let slope = igamma_grad_a(g, a, x).build()?;
    let of_a = mul(g, flow, slope).build()?;
    // `x^(a-1) e^-x / Γ(a)`, by logarithms.
    let (one, logarithm, gamma) = (scalar_like(g, a, 1.0)?, log(g, x).build()?, lgamma(g, a).build()?);
    let less = sub(g, a, one).build()?;
    let power = mul(g, less, logarithm).build()?;
    let exponent = sub(g, power, x).build()?;
    let exponent = sub(g, exponent, gamma).build()?;
    let slope = exp(g, exponent).build()?;
    let of_x = mul(g, flow, slope).build()?;
    let (a, x) = (shape_of(g, a), shape_of(g, x));
    Ok((unbroadcast(g, of_a, &a)?, unbroadcast(g, of_x, &x)?))
}

#[register_gradient(op = Igamma)]
fn igamma_gradient(g: &mut GradientScope<'_>, a: Value, x: Value, d_z: Value) -> Result<(Value, Value)> {
    of_igamma(g, [a, x], d_z)
}

/// What is left of one.
#[register_gradient(op = Igammac)]
fn igammac_gradient(g: &mut GradientScope<'_>, a: Value, x: Value, d_z: Value) -> Result<(Value, Value)> {
    let negative = neg(g, d_z).build()?;
    of_igamma(g, [a, x], negative)
}

/// To `q` alone.
#[register_gradient(op = Zeta)]
fn zeta_gradient(g: &mut GradientScope<'_>, x: Value, q: Value, d_z: Value) -> Result<(NoGradient, Value)> {
    let (one, negative) = (scalar_like(g, x, 1.0)?, neg(g, x).build()?);
    let next = add_v2(g, x, one).build()?;
    let zeta = zeta(g, next, q).build()?;
    let slope = mul(g, negative, zeta).build()?;
    let flow = mul(g, d_z, slope).build()?;
    let q = shape_of(g, q);
    Ok((NoGradient, unbroadcast(g, flow, &q)?))
}

/// To `x` alone.
#[register_gradient(op = Polygamma)]
fn polygamma_gradient(g: &mut GradientScope<'_>, a: Value, x: Value, d_z: Value) -> Result<(NoGradient, Value)> {
    let one = scalar_like(g, a, 1.0)?;
    let next = add_v2(g, a, one).build()?;
    let slope = polygamma(g, next, x).build()?;
    let flow = mul(g, d_z, slope).build()?;
    let x = shape_of(g, x);
    Ok((NoGradient, unbroadcast(g, flow, &x)?))
}

/// A number and its neighbour differ by what does not depend on it, nor on the side.
#[register_gradient(op = NextAfter)]
fn next_after_gradient(g: &mut GradientScope<'_>, x1: Value, x2: Value, d_output: Value) -> Result<(Value, Value)> {
    let zeros = zeros_like(g, x2).build()?;
    let x1 = shape_of(g, x1);
    Ok((unbroadcast(g, d_output, &x1)?, zeros))
}

/// `-dy / (Im(z) + i Re(z))`
#[register_gradient(op = Angle)]
fn angle_gradient(g: &mut GradientScope<'_>, input: Value, d_output: Value) -> Result<Value> {
    let part = g.dtype(d_output)?;
    let whole = complex_dtype(part);
    let (real_part, imag_part) = (real(g, input).tout(part).build()?, imag(g, input).tout(part).build()?);
    let turned = complex(g, imag_part, real_part).tout(whole).build()?;
    let (negative, zero) = (neg(g, d_output).build()?, scalar_like(g, d_output, 0.0)?);
    let flow = complex(g, negative, zero).tout(whole).build()?;
    real_div(g, flow, turned).build()
}

#[register_gradient(op = Cross)]
fn cross_gradient(g: &mut GradientScope<'_>, a: Value, b: Value, d_product: Value) -> Result<(Value, Value)> {
    Ok((cross(g, b, d_product).build()?, cross(g, d_product, a).build()?))
}
