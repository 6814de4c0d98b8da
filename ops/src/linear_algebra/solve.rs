//! Linear equations.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("adjoint: bool = false", "Whether the conjugate transpose of `matrix` takes its place."),
    attr("T: {double, float, half, complex64, complex128}"),
    input("matrix: T", "Square matrices, `[…, m, m]`."),
    input("rhs: T", "Right-hand sides in columns, `[…, m, k]`."),
    output("output: T", "Solutions in columns, `[…, m, k]`."),
    shape_fn = shapes::matrix_solve_shape,
)]
pub enum MatrixSolves {
    /// The solutions of `matrix x = rhs`.
    MatrixSolve,
    /// [`MatrixSolve`] of old graphs.
    #[op(attr("T: {double, float}"), deprecated(13, "Use MatrixSolve instead."), shape_fn = shapes::unknown_shape)]
    BatchMatrixSolve,
}

#[register_op(
    attr("T: {double, float, half, complex64, complex128}"),
    attr("fast: bool = true", "Whether to solve normal equations, by which half of the digits are lost; else a complete orthogonal decomposition takes place, which ignores `l2_regularizer`."),
    input("matrix: T", "`[…, m, n]`."),
    input("rhs: T", "Right-hand sides in columns, `[…, m, k]`."),
    input("l2_regularizer: double", "A scalar, the weight of the squares of `x`."),
    output("output: T", "Solutions in columns, `[…, n, k]`."),
    shape_fn = shapes::matrix_solve_ls_shape,
)]
pub enum MatrixSolveLss {
    /// The solutions of `matrix x = rhs` by least squares; where there are many, the shortest.
    MatrixSolveLs,
    /// [`MatrixSolveLs`] of old graphs.
    #[op(attr("T: {double, float}"), deprecated(13, "Use MatrixSolveLs instead."), shape_fn = shapes::unknown_shape)]
    BatchMatrixSolveLs,
}

#[register_op(
    attr("lower: bool = true", "Whether the lower triangles of `matrix` count, and not the upper ones."),
    attr("adjoint: bool = false", "Whether the conjugate transpose of `matrix` takes its place."),
    attr("T: {bfloat16, double, float, half, complex64, complex128}"),
    input("matrix: T", "`[…, m, m]`; the other triangle is not read."),
    input("rhs: T", "Right-hand sides in columns, `[…, m, k]`."),
    output("output: T", "Solutions in columns, `[…, m, k]`; the outer dimensions broadcast."),
    shape_fn = shapes::matrix_triangular_solve_shape,
)]
pub enum TriangularSolves {
    /// The solutions of `matrix x = rhs` for triangular matrices.
    MatrixTriangularSolve,
    /// [`MatrixTriangularSolve`] of old graphs.
    #[op(attr("T: {double, float}"), deprecated(13, "Use MatrixTriangularSolve instead."), shape_fn = shapes::unknown_shape)]
    BatchMatrixTriangularSolve,
}
