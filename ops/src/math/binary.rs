//! Arithmetic of two arguments, element by element, with broadcasting.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr(
        "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, \
         complex128}",
    ),
    input("x: T"),
    input("y: T"),
    output("z: T"),
    shape_fn = shapes::broadcast_binary_op,
)]
pub enum Binary {
    /// The sum, `x + y`; strings are joined. Integers wrap. The shapes broadcast.
    ///
    /// [`AddV2`] is the same without strings, and with the flags that let an optimizer reorder it.
    #[op(attr("T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, string}"))]
    Add,
    /// The sum, `x + y`. Integers wrap. The shapes broadcast.
    #[op(
        attr(
            "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, complex64, \
             complex128}",
        ),
        commutative,
        aggregate
    )]
    AddV2,
    /// The difference, `x - y`. Integers wrap. The shapes broadcast.
    #[op(attr(
        "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, complex64, complex128, \
         uint32, uint64}",
    ))]
    Sub,
    /// The product, `x * y`. Integers wrap. The shapes broadcast.
    #[op(commutative)]
    Mul,
    /// The product, `x * y`, but 0 wherever `y` is 0, even if `x` is infinite or NaN. The shapes broadcast.
    #[op(attr("T: {bfloat16, half, float, double, complex64, complex128}"))]
    MulNoNan,
    /// The quotient, `x / y`. Integers round towards zero, and dividing them by zero is an error. The shapes broadcast.
    Div,
    /// The quotient of floats or complex numbers, `x / y`. The shapes broadcast.
    RealDiv,
    /// The quotient rounded down, `floor(x / y)`. Dividing integers by zero is an error. The shapes broadcast.
    FloorDiv,
    /// The quotient rounded towards zero. Dividing integers by zero is an error. The shapes broadcast.
    TruncateDiv,
    /// The quotient, `x / y`, but 0 wherever `y` is 0. The shapes broadcast.
    #[op(attr("T: {half, float, bfloat16, double, complex64, complex128}"))]
    DivNoNan,
    /// What [`FloorDiv`] leaves: `x - floor(x / y) * y`, with the sign of `y`. For integers a zero `y` is an error. The
    /// shapes broadcast.
    #[op(attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}"))]
    FloorMod,
    /// What [`TruncateDiv`] leaves, with the sign of `x`: C's `%` and `fmod`. For integers a zero `y` is an error. The
    /// shapes broadcast.
    #[op(attr("T: {int32, int64, float16, half, bfloat16, float, double}"))]
    Mod,
    /// What [`TruncateDiv`] leaves, with the sign of `x`: C's `%` and `fmod`. For integers a zero `y` is an error. The
    /// shapes broadcast.
    #[op(attr("T: {int32, int64, bfloat16, half, float, double}"))]
    TruncateMod,
    /// `x` to the power of `y`. A negative power of an integer is an error. The shapes broadcast.
    #[op(attr("T: {bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}"))]
    Pow,
    /// The greater of `x` and `y`; NaN if either is NaN. The shapes broadcast.
    #[op(attr("T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}"))]
    Maximum,
    /// The lesser of `x` and `y`; NaN if either is NaN. The shapes broadcast.
    #[op(attr("T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}"))]
    Minimum,
    /// `(x - y)²`; for complex numbers `conj(x - y) * (x - y)`. The shapes broadcast.
    #[op(attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"), commutative)]
    SquaredDifference,
    /// `x * log(y)`, but 0 wherever `x` is 0, whatever `y` is. The shapes broadcast.
    #[op(attr("T: {half, bfloat16, float, double, complex64, complex128}"))]
    Xlogy,
    /// `x * log(1 + y)`, precise where `y` is near zero, but 0 wherever `x` is 0, whatever `y` is. The shapes broadcast.
    #[op(attr("T: {half, bfloat16, float, double, complex64, complex128}"))]
    Xlog1py,
    /// `x / y`, but 0 wherever `x` is 0, whatever `y` is. The shapes broadcast.
    #[op(attr("T: {half, bfloat16, float, double, complex64, complex128}"))]
    Xdivy,
}

/// The angle of the point (`x`, `y`), from −π to π. The shapes broadcast.
#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    input("y: T", "The ordinate; it comes first."),
    input("x: T", "The abscissa."),
    output("z: T"),
    shape_fn = shapes::broadcast_binary_op,
)]
pub struct Atan2;
