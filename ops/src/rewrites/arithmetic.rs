//! Arithmetic that changes nothing: neutral elements, and functions that undo themselves or do nothing a second time.
//!
//! A neutral element must be a scalar: a tensor of ones may have a shape to which the other side is broadcast.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::{MatchedNode, Rewrite};
use kernlink_macros::register_rewrite;

use crate::*;

/// A product or quotient with the scalar one is its other side. Complex numbers are left alone: infinities times one have
/// parts that are NaN.
#[register_rewrite(name = "multiply-by-one", pattern = Mul { x, const y })]
fn multiply_by_one(m: &mut Rewrite<'_, '_>, x: Output, y: Output) -> Result<Option<Output>> {
    Ok((m.scalar(y) == Some(1.0)).then_some(x))
}

/// A quotient by the scalar one is what is divided.
#[register_rewrite(name = "divide-by-one", pattern = RealDiv | Div | DivNoNan { x, const y })]
fn divide_by_one(m: &mut Rewrite<'_, '_>, x: Output, y: Output) -> Result<Option<Output>> {
    Ok((m.scalar(y) == Some(1.0)).then_some(x))
}

/// A sum with the scalar zero is its other side; of floats with the negative zero only, as `-0 + 0` is `0`.
#[register_rewrite(name = "add-zero", pattern = Add | AddV2 { x, const y })]
fn add_zero(m: &mut Rewrite<'_, '_>, x: Output, y: Output) -> Result<Option<Output>> {
    let is_float = m.dtype(y).is_some_and(DataType::is_floating);
    let is_neutral = |zero: f64| zero == 0.0 && (!is_float || zero.is_sign_negative());
    Ok(m.scalar(y).is_some_and(is_neutral).then_some(x))
}

/// A difference with the scalar zero is what is subtracted from; of floats with the positive zero only, as `-0 - -0` is `0`.
#[register_rewrite(name = "subtract-zero", pattern = Sub { x, const y })]
fn subtract_zero(m: &mut Rewrite<'_, '_>, x: Output, y: Output) -> Result<Option<Output>> {
    let is_neutral = |zero: f64| zero == 0.0 && zero.is_sign_positive();
    Ok(m.scalar(y).is_some_and(is_neutral).then_some(x))
}

/// What is raised to the power of the scalar one stays what it is.
#[register_rewrite(name = "power-of-one", pattern = Pow { x, const y })]
fn power_of_one(m: &mut Rewrite<'_, '_>, x: Output, y: Output) -> Result<Option<Output>> {
    Ok((m.scalar(y) == Some(1.0)).then_some(x))
}

/// A function that undoes itself, done twice, is left out.
#[register_rewrite(
    name = "undo-twice",
    pattern = outer @ Neg | LogicalNot | Invert { x: inner @ Neg | LogicalNot | Invert { x } },
    shared,
)]
fn undo_twice(m: &mut Rewrite<'_, '_>, outer: &MatchedNode, inner: &MatchedNode, x: Output) -> Result<Option<Output>> {
    Ok(is_same_op(m, outer, inner).then_some(x))
}

/// A function that changes nothing when it is done again is done once.
#[register_rewrite(
    name = "repeat-once",
    pattern = outer @ Abs | Sign | Floor | Ceil | Round | Rint {
        x: inner @ Abs | Sign | Floor | Ceil | Round | Rint { .. }
    },
    shared,
)]
fn repeat_once(m: &mut Rewrite<'_, '_>, outer: &MatchedNode, inner: &MatchedNode) -> Result<Option<Output>> {
    Ok(is_same_op(m, outer, inner).then(|| inner.output(0)))
}

/// The greater or lesser, the conjunction or disjunction of something and itself is that itself.
#[register_rewrite(
    name = "same-operands",
    pattern = Maximum | Minimum | LogicalAnd | LogicalOr | BitwiseAnd | BitwiseOr { x, y: x },
)]
fn same_operands(_: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    Ok(Some(x))
}

/// A difference with a negative is a sum.
#[register_rewrite(name = "subtract-negative", pattern = Sub { x, y: Neg { x: negated } }, creates = [AddV2])]
fn subtract_negative(m: &mut Rewrite<'_, '_>, x: Output, negated: Output) -> Result<Option<Output>> {
    add_v2(m, x, negated).build().map(Some)
}

/// A sum with a negative is a difference.
#[register_rewrite(name = "add-negative", pattern = Add | AddV2 { x, y: Neg { x: negated } }, creates = [Sub])]
fn add_negative(m: &mut Rewrite<'_, '_>, x: Output, negated: Output) -> Result<Option<Output>> {
    sub(m, x, negated).build().map(Some)
}

/// The square or the absolute value of what has only the other sign is that of what it was. Complex numbers are left alone:
/// their zeros have signs.
#[register_rewrite(
    name = "drop-sign",
    pattern = outer @ Square | Abs { x: inner @ Neg | Abs { x } },
    creates = [Square for Square, Abs for Abs],
    shared,
)]
fn drop_sign(m: &mut Rewrite<'_, '_>, outer: &MatchedNode, inner: &MatchedNode, x: Output) -> Result<Option<Output>> {
    let is_real = m.dtype(x).is_some_and(|dtype| dtype.is_floating() || dtype.is_integer());
    if !is_real || is_same_op(m, outer, inner) {
        return Ok(None);
    }
    match &*m.node(outer.id).op.def.name {
        "Square" => square(m, x).build().map(Some),
        _ => abs(m, x).build().map(Some),
    }
}

/// That things are not equal is one comparison, and so is that they are not unequal.
#[register_rewrite(
    name = "negate-equality",
    pattern = LogicalNot { x: compared @ Equal | NotEqual { x, y } },
    creates = [NotEqual for Equal, Equal for NotEqual],
)]
fn negate_equality(m: &mut Rewrite<'_, '_>, compared: &MatchedNode, x: Output, y: Output) -> Result<Option<Output>> {
    let strict: bool = m.attr(compared.id, "incompatible_shape_error")?;
    match &*m.node(compared.id).op.def.name {
        "Equal" => not_equal(m, x, y).incompatible_shape_error(strict).build().map(Some),
        _ => equal(m, x, y).incompatible_shape_error(strict).build().map(Some),
    }
}

/// An order of integers that does not hold is the opposite one. Of floats none holds with NaN.
#[register_rewrite(
    name = "negate-order",
    pattern = LogicalNot { x: compared @ Less | LessEqual | Greater | GreaterEqual { x, y } },
    creates = [GreaterEqual for Less, Greater for LessEqual, LessEqual for Greater, Less for GreaterEqual],
)]
fn negate_order(m: &mut Rewrite<'_, '_>, compared: &MatchedNode, x: Output, y: Output) -> Result<Option<Output>> {
    if !m.dtype(x).is_some_and(DataType::is_integer) {
        return Ok(None);
    }
    match &*m.node(compared.id).op.def.name {
        "Less" => greater_equal(m, x, y).build().map(Some),
        "LessEqual" => greater(m, x, y).build().map(Some),
        "Greater" => less_equal(m, x, y).build().map(Some),
        _ => less(m, x, y).build().map(Some),
    }
}

fn is_same_op(m: &Rewrite<'_, '_>, a: &MatchedNode, b: &MatchedNode) -> bool {
    std::ptr::eq(m.node(a.id).op, m.node(b.id).op)
}
