//! Complex numbers: their parts, and those made of two.

use kernlink_macros::register_op;

use crate::shapes;

/// The complex number `real + i * imag`. The shapes broadcast.
#[register_op(
    attr("T: {float, double} = DT_FLOAT"),
    attr("Tout: {complex64, complex128} = DT_COMPLEX64"),
    input("real: T"),
    input("imag: T"),
    output("out: Tout"),
    shape_fn = shapes::broadcast_binary_op,
)]
pub struct Complex;

#[register_op(
    attr("T: {complex64, complex128} = DT_COMPLEX64"),
    attr("Tout: {float, double} = DT_FLOAT"),
    shape_fn = shapes::unchanged_shape,
)]
pub enum ComplexParts {
    /// The real part.
    #[op(input("input: T"), output("output: Tout"))]
    Real,
    /// The imaginary part.
    #[op(input("input: T"), output("output: Tout"))]
    Imag,
    /// The argument in radians, from −π to π.
    #[op(input("input: T"), output("output: Tout"))]
    Angle,
    /// The absolute value.
    #[op(input("x: T"), output("y: Tout"))]
    ComplexAbs,
}

/// The complex conjugate.
#[register_op(
    attr("T: {complex64, complex128, variant} = DT_COMPLEX64"),
    input("input: T"),
    output("output: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct Conj;
