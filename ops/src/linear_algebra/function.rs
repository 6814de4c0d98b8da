//! Functions of square matrices.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("adjoint: bool = false", "Whether to take the inverses of the conjugate transposes."),
    attr("T: {double, float, half, complex64, complex128}"),
    input("input: T", "Square matrices."),
    output("output: T"),
    shape_fn = shapes::batch_unchanged_square_shape,
)]
pub enum Inverses {
    /// The inverses of matrices.
    MatrixInverse,
    /// [`MatrixInverse`] of old graphs.
    #[op(attr("T: {double, float}"), deprecated(13, "Use MatrixInverse instead."), shape_fn = shapes::unknown_shape)]
    BatchMatrixInverse,
}

#[register_op(
    attr("T: {half, float, double, complex64, complex128}"),
    input("input: T", "Square matrices."),
    output("output: T"),
    shape_fn = shapes::determinant_shape,
)]
pub enum Determinants {
    /// The determinants of matrices.
    MatrixDeterminant,
    /// [`MatrixDeterminant`] of old graphs.
    #[op(
        attr("T: {float, double, complex64, complex128}"),
        deprecated(13, "Use MatrixDeterminant instead."),
        shape_fn = shapes::unknown_shape,
    )]
    BatchMatrixDeterminant,
}

/// The determinants of matrices as signs and logarithms: `det(input) = sign * exp(log_abs_determinant)`.
#[register_op(
    attr("T: {half, float, double, complex64, complex128}"),
    input("input: T", "Square matrices."),
    output("sign: T", "Numbers of absolute value 1; 0 of a matrix that is singular."),
    output("log_abs_determinant: T"),
    shape_fn = shapes::log_determinant_shape,
)]
pub struct LogMatrixDeterminant;

#[register_op(
    attr("T: {double, float, half, complex64, complex128}"),
    input("input: T", "Square matrices."),
    output("output: T"),
    shape_fn = shapes::batch_unchanged_square_shape,
)]
pub enum MatrixFunctions {
    /// The principal square roots of matrices, whose eigenvalues are to the right of zero.
    MatrixSquareRoot,
    /// The exponentials of matrices: `I + A + A² / 2 + …`.
    #[op(deprecated(27, "Use Python implementation tf.linalg.matrix_exponential instead."))]
    MatrixExponential,
    /// The principal logarithms of matrices, whose exponentials they are.
    #[op(attr("T: {complex64, complex128}"))]
    MatrixLogarithm,
}
