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

fn is_same_op(m: &Rewrite<'_, '_>, a: &MatchedNode, b: &MatchedNode) -> bool {
    std::ptr::eq(m.node(a.id).op, m.node(b.id).op)
}
