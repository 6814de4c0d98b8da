//! Decompositions of matrices.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {double, float, half, complex64, complex128}"),
    input("input: T", "Symmetric or Hermitian matrices that are positive definite; what is above the diagonal is not read."),
    output("output: T"),
    shape_fn = shapes::batch_unchanged_square_shape,
)]
pub enum Choleskys {
    /// The lower triangular matrices `L` for which `input = L Lᴴ`.
    Cholesky,
    /// [`Cholesky`] of old graphs.
    #[op(attr("T: {double, float}"), deprecated(13, "Use Cholesky instead."), shape_fn = shapes::unknown_shape)]
    BatchCholesky,
}

#[register_op(
    attr("T: {half, float, double}"),
    input("l: T", "What [`Cholesky`] gave."),
    input("grad: T", "What flows back to it, in its shape."),
    output("output: T"),
    shape_fn = shapes::batch_unchanged_square_shape,
)]
pub enum CholeskyGrads {
    /// The gradient of [`Cholesky`]: symmetric matrices.
    CholeskyGrad,
    /// [`CholeskyGrad`] of old graphs.
    #[op(attr("T: {float, double}"), deprecated(13, "Use CholeskyGrad instead."), shape_fn = shapes::unknown_shape)]
    BatchCholeskyGrad,
}

/// Unitary matrices `q` and upper triangular matrices `r` for which `input = q r`.
///
/// The signs are those of reflections: an element of the diagonal of `r` may be negative.
#[register_op(
    attr("full_matrices: bool = false", "Whether `q` is square; else it has as many columns as `input` has rows or columns, whichever are fewer."),
    attr("T: {double, float, half, complex64, complex128}"),
    input("input: T", "`[…, m, n]`."),
    output("q: T"),
    output("r: T"),
    shape_fn = shapes::qr_shape,
)]
pub struct Qr;

#[register_op(
    attr("compute_uv: bool = true", "Whether to compute `u` and `v`; else they are empty."),
    attr("full_matrices: bool = false", "Whether `u` and `v` are square; else they have as many columns as there are singular values."),
    attr("T: {double, float, half, complex64, complex128}"),
    input("input: T", "`[…, m, n]`."),
    output("s: T", "The singular values, the greatest first."),
    output("u: T", "The left singular vectors, in columns."),
    output("v: T", "The right singular vectors, in columns."),
    shape_fn = shapes::svd_shape,
)]
pub enum Svds {
    /// Singular values and vectors: `input = u diag(s) vᴴ`.
    Svd,
    /// [`Svd`] of old graphs.
    #[op(attr("T: {double, float, complex64, complex128}"), deprecated(13, "Use Svd instead."), shape_fn = shapes::unknown_shape)]
    BatchSvd,
}

/// Triangular matrices and permutations of rows for which `input[p] = L U`.
#[register_op(
    attr("T: {double, float, half, complex64, complex128}"),
    attr("output_idx_type: {int32, int64} = DT_INT32"),
    input("input: T", "Square matrices."),
    output("lu: T", "`U` on and above the diagonal, `L` below it; the diagonal of `L` is 1."),
    output("p: output_idx_type", "For each row of the product, which row of `input` it is."),
    shape_fn = shapes::lu_shape,
)]
pub struct Lu;

#[register_op(
    attr("compute_v: bool = true", "Whether to compute `v`; else it is empty."),
    attr("T: {double, float, half, complex64, complex128}"),
    input("input: T", "Symmetric or Hermitian matrices; what is above the diagonal is not read."),
    output("e: T", "The eigenvalues, the least first."),
    output("v: T", "The eigenvectors, in columns."),
    shape_fn = shapes::eig_shape,
)]
pub enum SelfAdjointEigs {
    /// Eigenvalues and eigenvectors of symmetric and Hermitian matrices: `input v = v diag(e)`.
    SelfAdjointEigV2,
    /// [`SelfAdjointEigV2`] of old graphs.
    #[op(attr("T: {double, float}"), deprecated(13, "Use SelfAdjointEigV2 instead."), shape_fn = shapes::unknown_shape)]
    BatchSelfAdjointEigV2,
}

#[register_op(
    attr("T: {double, float, half}"),
    input("input: T", "Symmetric matrices, `[…, n, n]`; what is above the diagonal is not read."),
    output("output: T", "`[…, n + 1, n]`: the eigenvalues in the first row, the eigenvectors in columns below."),
    shape_fn = shapes::self_adjoint_eig_shape,
)]
pub enum OldSelfAdjointEigs {
    /// Eigenvalues and eigenvectors of symmetric matrices, in one tensor.
    #[op(deprecated(11, "Use SelfAdjointEigV2 instead."))]
    SelfAdjointEig,
    /// [`SelfAdjointEig`] of old graphs.
    #[op(attr("T: {double, float}"), deprecated(11, "Use SelfAdjointEigV2 instead."), shape_fn = shapes::unknown_shape)]
    BatchSelfAdjointEig,
}

/// Eigenvalues and eigenvectors: `input v = v diag(e)`. They are complex, and in no particular order.
#[register_op(
    attr("compute_v: bool = true", "Whether to compute `v`; else it is empty."),
    attr("T: {float, double, complex64, complex128}"),
    attr("Tout: {complex64, complex128}"),
    input("input: T", "Square matrices."),
    output("e: Tout", "The eigenvalues."),
    output("v: Tout", "The eigenvectors, in columns of length 1."),
    shape_fn = shapes::eig_shape,
)]
pub struct Eig;
