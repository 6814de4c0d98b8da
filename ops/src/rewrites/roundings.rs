//! Arithmetic that takes less to do, and rounds elsewhere. All but the exact ones run only where that is asked for.
//!
//! What comes out differs in the last bits, and not for what overflows on the way: constants are merged only where that is of
//! no consequence.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::Rewrite;
use kernlink::tensor::Tensor;
use kernlink_macros::register_rewrite;

use crate::*;

/// A product of a product, both with scalars, is a product with the product of these.
#[register_rewrite(
    name = "merge-scales",
    pattern = Mul { x: Mul { x, y: const inner }, y: const outer },
    creates = [Mul],
    inexact,
)]
fn merge_scales(m: &mut Rewrite<'_, '_>, x: Output, inner: Output, outer: Output) -> Result<Option<Output>> {
    let (Some(a), Some(b)) = (m.scalar(inner), m.scalar(outer)) else { return Ok(None) };
    // What overflows or vanishes by one alone does so by both.
    let is_one_way = (a.abs() >= 1.0) == (b.abs() >= 1.0);
    match rounded(m, x, a * b).filter(|_| is_one_way) {
        Some(scale) => mul(m, x, scale).build().map(Some),
        None => Ok(None),
    }
}

/// A sum of a sum, both with scalars, is a sum with the sum of these.
#[register_rewrite(
    name = "merge-offsets",
    pattern = Add | AddV2 { x: Add | AddV2 { x, y: const inner }, y: const outer },
    creates = [AddV2],
    inexact,
)]
fn merge_offsets(m: &mut Rewrite<'_, '_>, x: Output, inner: Output, outer: Output) -> Result<Option<Output>> {
    let (Some(a), Some(b)) = (m.scalar(inner), m.scalar(outer)) else { return Ok(None) };
    // Those of two signs would cancel where the first sum has rounded, and a sum that is rounded loses what remains where the other
    // side cancels it.
    let is_one_way = a.is_sign_positive() == b.is_sign_positive();
    let is_exact = (a + b) - a == b && (a + b) - b == a && (m.dtype(x) != Some(DataType::Float) || is_single(a + b));
    match rounded(m, x, a + b).filter(|_| is_one_way && is_exact) {
        Some(offset) => add_v2(m, x, offset).build().map(Some),
        None => Ok(None),
    }
}

/// A quotient by a scalar that is a power of two is the product with its inverse, which is exact.
#[register_rewrite(
    name = "divide-by-power-of-two",
    pattern = RealDiv { x, const y },
    creates = [Mul],
    benefit = 0,
)]
fn divide_by_power_of_two(m: &mut Rewrite<'_, '_>, x: Output, y: Output) -> Result<Option<Output>> {
    let Some(divisor) = m.scalar(y).filter(|&divisor| is_power_of_two(divisor) && divisor != 1.0) else {
        return Ok(None);
    };
    match rounded(m, x, divisor.recip()) {
        Some(inverse) => mul(m, x, inverse).build().map(Some),
        None => Ok(None),
    }
}

/// A quotient by a scalar is the product with its inverse.
#[register_rewrite(
    name = "multiply-by-inverse",
    pattern = RealDiv { x, const y },
    creates = [Mul],
    benefit = 0,
    inexact,
)]
fn multiply_by_inverse(m: &mut Rewrite<'_, '_>, x: Output, y: Output) -> Result<Option<Output>> {
    let Some(divisor) = m.scalar(y).filter(|&divisor| !is_power_of_two(divisor)) else { return Ok(None) };
    match rounded(m, x, divisor.recip()) {
        Some(inverse) => mul(m, x, inverse).build().map(Some),
        None => Ok(None),
    }
}

/// A quotient by a square root is the product with its inverse, which is computed at once.
#[register_rewrite(
    name = "divide-by-root",
    pattern = RealDiv { x, y: Sqrt { x: radicand } },
    creates = [Mul, Rsqrt],
    inexact,
)]
fn divide_by_root(m: &mut Rewrite<'_, '_>, x: Output, radicand: Output) -> Result<Option<Output>> {
    if !is_wide(m, x) {
        return Ok(None);
    }
    let inverse = rsqrt(m, radicand).build()?;
    mul(m, x, inverse).build().map(Some)
}

/// The inverse of a square root is computed at once.
#[register_rewrite(
    name = "invert-root",
    pattern = Reciprocal | Inv { x: Sqrt { x } },
    creates = [Rsqrt],
    inexact,
)]
fn invert_root(m: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    if is_wide(m, x) { rsqrt(m, x).build().map(Some) } else { Ok(None) }
}

/// The second power of floats is their square.
#[register_rewrite(name = "square-power", pattern = Pow { x, const y }, creates = [Square], inexact)]
fn square_power(m: &mut Rewrite<'_, '_>, x: Output, y: Output) -> Result<Option<Output>> {
    if is_wide(m, x) && m.scalar(y) == Some(2.0) { square(m, x).build().map(Some) } else { Ok(None) }
}

/// The second power of integers is their square, which wraps as it does.
#[register_rewrite(name = "square-integer-power", pattern = Pow { x, const y }, creates = [Square])]
fn square_integer_power(m: &mut Rewrite<'_, '_>, x: Output, y: Output) -> Result<Option<Output>> {
    let fits = matches!(m.dtype(x), Some(DataType::Int32 | DataType::Int64)) && m.scalar(y) == Some(2.0);
    if fits { square(m, x).build().map(Some) } else { Ok(None) }
}

/// Whether a number is one of single precision.
fn is_single(value: f64) -> bool {
    f64::from(value as f32) == value
}

/// Whether a dtype is not rounded after each op on the way.
fn is_wide(m: &Rewrite<'_, '_>, x: Output) -> bool {
    matches!(m.dtype(x), Some(DataType::Float | DataType::Double))
}

/// A number as a scalar of a float's dtype, if it is a normal one.
fn rounded(m: &Rewrite<'_, '_>, like: Output, value: f64) -> Option<Tensor> {
    match m.dtype(like)? {
        DataType::Float => Some(value as f32).filter(|value| value.is_normal()).map(Tensor::scalar),
        DataType::Double => Some(value).filter(|value| value.is_normal()).map(Tensor::scalar),
        _ => None,
    }
}

fn is_power_of_two(value: f64) -> bool {
    const MANTISSA: u64 = (1 << 52) - 1;
    value.is_normal() && value.to_bits() & MANTISSA == 0
}
