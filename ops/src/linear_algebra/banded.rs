//! Matrices of which only a few diagonals are not zero.

use kernlink_macros::register_op;

use crate::shapes;

/// The solutions of `matrix x = rhs` for triangular matrices of `k` diagonals.
#[register_op(
    attr("lower: bool = true", "Whether the diagonals are the main one and those below it, and not those above it."),
    attr("adjoint: bool = false", "Whether the conjugate transpose of `matrix` takes its place."),
    attr("T: {double, float, half, complex64, complex128}"),
    input("matrix: T", "`[…, k, m]`: each diagonal in a row, the uppermost first; element `i` of it is that of row `i`."),
    input("rhs: T", "Right-hand sides in columns, `[…, m, n]`."),
    output("output: T", "Solutions in columns, `[…, m, n]`; the outer dimensions broadcast."),
    shape_fn = shapes::banded_triangular_solve_shape,
)]
pub struct BandedTriangularSolve;

/// The solutions of equations with tridiagonal matrices.
#[register_op(
    attr("partial_pivoting: bool = true", "Whether rows change places, which takes longer and loses fewer digits."),
    attr("perturb_singular: bool = false", "Whether a pivot that is zero is made a little greater, so that there is a solution; with `partial_pivoting` alone."),
    attr("T: {double, float, complex64, complex128}"),
    input("diagonals: T", "`[…, 3, m]`: the diagonals above, on and below the main one; the last element of the first and the first of the last are not read."),
    input("rhs: T", "Right-hand sides in columns, `[…, m, k]`."),
    output("output: T", "Solutions in columns, `[…, m, k]`."),
    shape_fn = shapes::tridiagonal_solve_shape,
)]
pub struct TridiagonalSolve;

/// The products of tridiagonal matrices and others.
#[register_op(
    attr("T: {double, float, complex64, complex128}"),
    input("superdiag: T", "`[…, 1, m]`: the diagonal above the main one; its last element is not read."),
    input("maindiag: T", "`[…, 1, m]`: the main diagonal."),
    input("subdiag: T", "`[…, 1, m]`: the diagonal below the main one; its first element is not read."),
    input("rhs: T", "`[…, m, n]`."),
    output("output: T", "`[…, m, n]`."),
    shape_fn = shapes::tridiagonal_mat_mul_shape,
)]
pub struct TridiagonalMatMul;
