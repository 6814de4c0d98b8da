//! Functions of one argument, element by element.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("x: T"),
    output("y: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub enum Unary {
    /// The absolute value, `|x|`. The least integer has none and stays itself.
    #[op(attr("T: {bfloat16, half, float, double, int8, int16, int32, int64}"))]
    Abs,
    /// The negative, `-x`. Integers wrap.
    #[op(attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"))]
    Neg,
    /// −1, 0 or 1 as `x` is negative, zero or positive; NaN stays NaN. For complex numbers `x / |x|`, and 0 for 0.
    #[op(attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"))]
    Sign,
    /// The square, `x * x`. Integers wrap.
    #[op(attr(
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, \
         complex128}",
    ))]
    Square,
    /// The square root. NaN below zero.
    Sqrt,
    /// The reciprocal of the square root, `1 / sqrt(x)`. Infinite at zero, NaN below.
    Rsqrt,
    /// The reciprocal, `1 / x`.
    #[op(attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"))]
    Reciprocal,
    /// The reciprocal, `1 / x`: the older name of [`Reciprocal`].
    #[op(attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"))]
    Inv,
    /// The exponential, `e^x`.
    Exp,
    /// `e^x - 1`, precise where `x` is near zero.
    Expm1,
    /// The natural logarithm. −∞ at zero, NaN below.
    Log,
    /// `log(1 + x)`, precise where `x` is near zero.
    Log1p,
    /// The sine of `x` in radians.
    Sin,
    /// The cosine of `x` in radians.
    Cos,
    /// The tangent of `x` in radians.
    Tan,
    /// The inverse sine, from −π/2 to π/2. NaN outside of −1 to 1.
    Asin,
    /// The inverse cosine, from 0 to π. NaN outside of −1 to 1.
    Acos,
    /// The inverse tangent, from −π/2 to π/2.
    Atan,
    /// The hyperbolic sine.
    Sinh,
    /// The hyperbolic cosine.
    Cosh,
    /// The hyperbolic tangent.
    Tanh,
    /// The inverse hyperbolic sine.
    Asinh,
    /// The inverse hyperbolic cosine. NaN below 1.
    Acosh,
    /// The inverse hyperbolic tangent. ±∞ at ±1, NaN beyond.
    Atanh,
    /// The logistic function, `1 / (1 + e^-x)`.
    Sigmoid,
    /// The error function.
    #[op(attr("T: {bfloat16, half, float, double}"))]
    Erf,
    /// The complementary error function, `1 - erf(x)`, precise where `erf(x)` is near 1.
    #[op(attr("T: {bfloat16, half, float, double}"))]
    Erfc,
    /// The greatest integer that is not above `x`.
    #[op(attr("T: {bfloat16, half, float, double}"))]
    Floor,
    /// The least integer that is not below `x`.
    #[op(attr("T: {bfloat16, half, float, double}"))]
    Ceil,
    /// The nearest integer; halves go to the even one. Integers stay.
    #[op(attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"))]
    Round,
    /// The nearest integer; halves go to the even one.
    #[op(attr("T: {bfloat16, half, float, double}"))]
    Rint,
    /// Whether `x` is NaN.
    #[op(attr("T: {bfloat16, half, float, double}"), output("y: bool"))]
    IsNan,
    /// Whether `x` is +∞ or −∞.
    #[op(attr("T: {bfloat16, half, float, double}"), output("y: bool"))]
    IsInf,
    /// Whether `x` is neither infinite nor NaN.
    #[op(attr("T: {bfloat16, half, float, double}"), output("y: bool"))]
    IsFinite,
    /// Every bit flipped: `!x` in Rust's terms.
    #[op(attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"))]
    Invert,
    /// How many bits of `x` are 1.
    #[op(attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"), output("y: uint8"))]
    PopulationCount,
}

/// The opposite of a bool.
#[register_op(input("x: bool"), output("y: bool"), shape_fn = shapes::unchanged_shape)]
pub struct LogicalNot;
