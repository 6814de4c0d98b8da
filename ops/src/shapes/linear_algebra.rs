//! Shapes of linear algebra: matrices in the last two dimensions, batches before them.

use kernlink::shape_inference::{DimHandle, InferenceContext, ShapeHandle};
use kernlink::{Result, ensure};

use super::{broadcast_binary_op_output_shape, output_shape};

/// A shape that ends in a square matrix. TensorFlow's `MakeBatchSquareMatrix`.
fn make_batch_square_matrix(c: &InferenceContext<'_>, input: ShapeHandle) -> Result<ShapeHandle> {
    let shape = c.with_rank_at_least(input, 2)?;
    let dim = c.merge_dim(c.dim(shape, -2), c.dim(shape, -1))?;
    c.concatenate(batch(c, shape)?, c.matrix(dim, dim))
}

/// What lies before the matrices.
fn batch(c: &InferenceContext<'_>, shape: ShapeHandle) -> Result<ShapeHandle> {
    c.subshape_range(shape, 0, -2)
}

/// The shape of the first input, whose matrices must be square. TensorFlow's `BatchUnchangedSquareShapeFn`.
///
/// # Errors
/// INVALID_ARGUMENT if they are not.
pub fn batch_unchanged_square_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, make_batch_square_matrix(c, c.input(0))?)
}

/// The batch of square matrices.
fn batch_of_square(c: &InferenceContext<'_>) -> Result<ShapeHandle> {
    let input = c.with_rank_at_least(c.input(0), 2)?;
    c.merge_dim(c.dim(input, -1), c.dim(input, -2))?;
    batch(c, input)
}

/// One number for each square matrix.
///
/// # Errors
/// INVALID_ARGUMENT if the matrices are not square.
pub fn determinant_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, batch_of_square(c)?)
}

/// Two numbers for each square matrix, in two outputs.
///
/// # Errors
/// INVALID_ARGUMENT if the matrices are not square.
pub fn log_determinant_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = batch_of_square(c)?;
    c.set_output(1, shape);
    output_shape(c, shape)
}

/// The rows and columns of the first input, and what lies before them.
fn rows_and_columns(c: &InferenceContext<'_>) -> Result<(ShapeHandle, DimHandle, DimHandle)> {
    let input = c.with_rank_at_least(c.input(0), 2)?;
    Ok((batch(c, input)?, c.dim(input, -2), c.dim(input, -1)))
}

/// The shapes of a unitary matrix and a triangular one. TensorFlow's `QrShapeFn`.
///
/// # Errors
/// INVALID_ARGUMENT if the input is no matrix.
pub fn qr_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (batch, m, n) = rows_and_columns(c)?;
    let least = c.min(m, n)?;
    let inner = if c.attr("full_matrices")? { m } else { least };
    c.set_output(0, c.concatenate(batch, c.matrix(m, inner))?);
    c.set_output(1, c.concatenate(batch, c.matrix(inner, n))?);
    Ok(())
}

/// The shapes of singular values and vectors. TensorFlow's `SvdShapeFn`.
///
/// # Errors
/// INVALID_ARGUMENT if the input is no matrix.
pub fn svd_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (batch, m, n) = rows_and_columns(c)?;
    let least = c.min(m, n)?;
    c.set_output(0, c.concatenate(batch, c.vector(least))?);
    let full = c.attr("full_matrices")?;
    for (index, size) in [(1, m), (2, n)] {
        let vectors = match c.attr("compute_uv")? {
            true => c.concatenate(batch, c.matrix(size, if full { size } else { least }))?,
            false => c.vector(0),
        };
        c.set_output(index, vectors);
    }
    Ok(())
}

/// The shapes of square triangular matrices in one, and of permutations. TensorFlow's `LuShapeFn`.
///
/// # Errors
/// INVALID_ARGUMENT if the matrices are not square.
pub fn lu_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (batch, m, n) = rows_and_columns(c)?;
    let n = c.merge_dim(m, n)?;
    c.set_output(0, c.concatenate(batch, c.matrix(n, n))?);
    c.set_output(1, c.concatenate(batch, c.vector(n))?);
    Ok(())
}

/// The shapes of eigenvalues and eigenvectors of square matrices. TensorFlow's `SelfAdjointEigV2ShapeFn`.
///
/// # Errors
/// INVALID_ARGUMENT if the matrices are not square.
pub fn eig_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = make_batch_square_matrix(c, c.input(0))?;
    let n = c.merge_dim(c.dim(input, -2), c.dim(input, -1))?;
    let batch = batch(c, input)?;
    c.set_output(0, c.concatenate(batch, c.vector(n))?);
    let vectors = if c.attr("compute_v")? { c.concatenate(batch, c.matrix(n, n))? } else { c.vector(0) };
    c.set_output(1, vectors);
    Ok(())
}

/// The shape of eigenvalues above eigenvectors, `[…, n + 1, n]`.
///
/// # Errors
/// INVALID_ARGUMENT if the matrices are not square.
pub fn self_adjoint_eig_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = make_batch_square_matrix(c, c.input(0))?;
    let n = c.dim(input, -1);
    let rows = c.add(n, 1)?;
    output_shape(c, c.concatenate(batch(c, input)?, c.matrix(rows, n))?)
}

/// The shape of solutions of equations with the matrices `lhs`. TensorFlow's `MatrixSolveShapeFn`.
fn solutions(c: &InferenceContext<'_>, lhs: ShapeHandle, square: bool) -> Result<()> {
    let rhs = c.with_rank_at_least(c.input(1), 2)?;
    let batch = c.merge(batch(c, lhs)?, batch(c, rhs)?)?;
    let m = c.merge_dim(c.dim(lhs, -2), c.dim(rhs, -2))?;
    let n = if square { c.merge_dim(m, c.dim(lhs, -1))? } else { c.dim(lhs, -1) };
    output_shape(c, c.concatenate(batch, c.matrix(n, c.dim(rhs, -1)))?)
}

/// `[…, m, m]` and `[…, m, k]` give `[…, m, k]`; the batches must be equal.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes do not fit.
pub fn matrix_solve_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let lhs = make_batch_square_matrix(c, c.input(0))?;
    solutions(c, lhs, true)
}

/// `[…, m, n]`, `[…, m, k]` and a scalar give `[…, n, k]`; the batches must be equal.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes do not fit.
pub fn matrix_solve_ls_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(2), 0)?;
    let lhs = c.with_rank_at_least(c.input(0), 2)?;
    solutions(c, lhs, false)
}

/// `[…, m, m]` and `[…, m, k]` give `[…, m, k]`; the batches broadcast. TensorFlow's `MatrixTriangularSolveShapeFn`.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes do not fit.
pub fn matrix_triangular_solve_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let lhs = make_batch_square_matrix(c, c.input(0))?;
    let rhs = c.with_rank_at_least(c.input(1), 2)?;
    let batch = broadcast_binary_op_output_shape(c, batch(c, lhs)?, batch(c, rhs)?, true)?;
    let m = c.merge_dim(c.dim(lhs, -1), c.dim(rhs, -2))?;
    output_shape(c, c.concatenate(batch, c.matrix(m, c.dim(rhs, -1)))?)
}

/// `[…, k, m]` and `[…, m, n]` give `[…, m, n]`; the batches broadcast. TensorFlow's `BandedTriangularSolveShapeFn`.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes do not fit, or there are no bands or more than `m`.
pub fn banded_triangular_solve_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let lhs = c.with_rank_at_least(c.input(0), 2)?;
    let rhs = c.with_rank_at_least(c.input(1), 2)?;
    let (bands, m) = (c.dim(lhs, -2), c.dim(lhs, -1));
    if let Some(bands) = c.value(bands) {
        ensure!(bands > 0, InvalidArgument, "Number of bands must be positive, but is {bands}");
        if let Some(m) = c.value(m) {
            ensure!(bands <= m, InvalidArgument, "Number of bands {bands} cannot exceed the size of the matrix {m}");
        }
    }
    let batch = broadcast_binary_op_output_shape(c, batch(c, lhs)?, batch(c, rhs)?, true)?;
    let m = c.merge_dim(m, c.dim(rhs, -2))?;
    output_shape(c, c.concatenate(batch, c.matrix(m, c.dim(rhs, -1)))?)
}

/// `[…, 3, m]` and `[…, m, k]` give the second. TensorFlow's `TridiagonalSolveShapeFn`.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes do not fit.
pub fn tridiagonal_solve_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let lhs = c.with_rank_at_least(c.input(0), 2)?;
    let rhs = c.with_rank_at_least(c.input(1), 2)?;
    c.merge(batch(c, lhs)?, batch(c, rhs)?)?;
    c.merge_dim(c.dim(lhs, -1), c.dim(rhs, -2))?;
    c.with_value(c.dim(lhs, -2), 3)?;
    output_shape(c, rhs)
}

/// Three times `[…, 1, m]` and `[…, m, n]` give the last. TensorFlow's `TridiagonalMatMulShapeFn`.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes do not fit.
pub fn tridiagonal_mat_mul_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let rhs = c.with_rank_at_least(c.input(3), 2)?;
    let mut diagonals = Vec::new();
    for index in 0..3 {
        diagonals.push(c.with_rank_at_least(c.input(index), 2)?);
    }
    let (mut batches, mut m) = (batch(c, rhs)?, c.dim(rhs, -2));
    for &diagonal in &diagonals {
        batches = c.merge(batches, batch(c, diagonal)?)?;
        m = c.merge_dim(m, c.dim(diagonal, -1))?;
        c.with_value(c.dim(diagonal, -2), 1)?;
    }
    output_shape(c, rhs)
}
