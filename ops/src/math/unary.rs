//! Functions of one argument, element by element.

use kernlink::shape_inference::common;
use kernlink_macros::register_op;

/// The absolute value, `|x|`. The least integer has none and stays itself.
#[register_op(
    attr("T: {bfloat16, half, float, double, int8, int16, int32, int64}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Abs;

/// The negative, `-x`. Integers wrap.
#[register_op(
    attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Neg;

/// −1, 0 or 1 as `x` is negative, zero or positive; NaN stays NaN. For complex numbers `x / |x|`, and 0 for 0.
#[register_op(
    attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Sign;

/// The square, `x * x`. Integers wrap.
#[register_op(
    attr(
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, \
         complex128}",
    ),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Square;

/// The square root. NaN below zero.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Sqrt;

/// The reciprocal of the square root, `1 / sqrt(x)`. Infinite at zero, NaN below.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Rsqrt;

/// The reciprocal, `1 / x`.
#[register_op(
    attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Reciprocal;

/// The reciprocal, `1 / x`: the older name of [`Reciprocal`].
#[register_op(
    attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Inv;

/// The exponential, `e^x`.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Exp;

/// `e^x - 1`, precise where `x` is near zero.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Expm1;

/// The natural logarithm. −∞ at zero, NaN below.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Log;

/// `log(1 + x)`, precise where `x` is near zero.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Log1p;

/// The sine of `x` in radians.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Sin;

/// The cosine of `x` in radians.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Cos;

/// The tangent of `x` in radians.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Tan;

/// The inverse sine, from −π/2 to π/2. NaN outside of −1 to 1.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Asin;

/// The inverse cosine, from 0 to π. NaN outside of −1 to 1.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Acos;

/// The inverse tangent, from −π/2 to π/2.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Atan;

/// The hyperbolic sine.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Sinh;

/// The hyperbolic cosine.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Cosh;

/// The hyperbolic tangent.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Tanh;

/// The inverse hyperbolic sine.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Asinh;

/// The inverse hyperbolic cosine. NaN below 1.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Acosh;

/// The inverse hyperbolic tangent. ±∞ at ±1, NaN beyond.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Atanh;

/// The logistic function, `1 / (1 + e^-x)`.
#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Sigmoid;

/// The error function.
#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Erf;

/// The complementary error function, `1 - erf(x)`, precise where `erf(x)` is near 1.
#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Erfc;

/// The greatest integer that is not above `x`.
#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Floor;

/// The least integer that is not below `x`.
#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Ceil;

/// The nearest integer; halves go to the even one. Integers stay.
#[register_op(
    attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Round;

/// The nearest integer; halves go to the even one.
#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Rint;

/// Whether `x` is NaN.
#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    input("x: T"),
    output("y: bool"),
    shape_fn = common::unchanged_shape,
)]
pub struct IsNan;

/// Whether `x` is +∞ or −∞.
#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    input("x: T"),
    output("y: bool"),
    shape_fn = common::unchanged_shape,
)]
pub struct IsInf;

/// Whether `x` is neither infinite nor NaN.
#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    input("x: T"),
    output("y: bool"),
    shape_fn = common::unchanged_shape,
)]
pub struct IsFinite;

/// The opposite of a bool.
#[register_op(
    input("x: bool"),
    output("y: bool"),
    shape_fn = common::unchanged_shape,
)]
pub struct LogicalNot;

/// Every bit flipped: `!x` in Rust's terms.
#[register_op(
    attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"),
    input("x: T"),
    output("y: T"),
    shape_fn = common::unchanged_shape,
)]
pub struct Invert;
