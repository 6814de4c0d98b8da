//! Sparse matrices in rows, as variants: scalars that hold a matrix, or several of one shape.

use kernlink::dtype::DataType;
use kernlink::shape_inference::{InferenceContext, ShapeAndType, ShapeHandle};
use kernlink::{Error, Result, bail, ensure};
use kernlink_macros::register_op;

use crate::shapes::{self, broadcast_binary_op_output_shape};

/// What is known of the matrix in input `index`: its shape, and the dtype of its values.
#[track_caller]
fn held(c: &InferenceContext<'_>, index: usize) -> Result<ShapeAndType> {
    c.with_rank(c.input(index), 0)?;
    match c.input_handle_shapes_and_types(index) {
        Some(&[held]) => Ok(held),
        _ => bail!(InvalidArgument, "Unable to access shape and type info from variant input {index}"),
    }
}

/// The shape of the matrix in input `index`, which has two dimensions, or three with the number of matrices.
#[track_caller]
fn matrix(c: &InferenceContext<'_>, index: usize) -> Result<(ShapeHandle, Option<DataType>)> {
    let held = held(c, index)?;
    let shape = c.with_rank_at_most(c.with_rank_at_least(held.shape, 2)?, 3)?;
    ensure!(c.rank_known(shape), InvalidArgument, "the sparse matrix in input {index} has an unknown rank.");
    Ok((shape, held.dtype))
}

/// As [`matrix`], of which only the greatest rank is checked.
#[track_caller]
fn known(c: &InferenceContext<'_>, index: usize) -> Result<ShapeHandle> {
    let shape = c.with_rank_at_most(held(c, index)?.shape, 3)?;
    ensure!(c.rank_known(shape), InvalidArgument, "sparse_matrix has an unknown rank.");
    Ok(shape)
}

/// Makes output 0 a matrix.
fn set_matrix(c: &InferenceContext<'_>, shape: ShapeHandle, dtype: Option<DataType>) -> Result<()> {
    c.set_output_handle_shapes_and_types(0, &[ShapeAndType { shape, dtype }]);
    shapes::output_shape(c, c.scalar())
}

/// A sparse tensor of two dimensions, or three for several matrices, as a sparse matrix.
#[register_op(
    attr("T: {float, double, complex64, complex128}"),
    input("indices: int64", "One row an element, in row-major order."),
    input("values: T"),
    input("dense_shape: int64", "Two sizes, or three."),
    output("sparse_matrix: variant"),
    shape_fn = from_sparse_tensor_shape,
)]
pub struct SparseTensorToCSRSparseMatrix;

fn from_sparse_tensor_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::validate_sparse_tensor(c, c.input(0), c.input(1), c.input(2))?;
    let mut shape = c.make_shape_from_shape_tensor(2)?;
    match c.value(c.dim(c.input(0), 1)).map(usize::try_from) {
        Some(Ok(rank)) => shape = c.with_rank(shape, rank)?,
        // An unknown rank is none that a known shape has, in TensorFlow.
        _ => ensure!(!c.rank_known(shape), InvalidArgument, "Shape must be rank -1 but is {}", c.debug_string(shape)),
    }
    ensure!(
        matches!(c.rank(shape), Some(2 | 3)),
        InvalidArgument,
        "Invalid rank of {}.  Expected a known rank of either 2 or 3.",
        c.debug_string(shape)
    );
    set_matrix(c, shape, Some(c.attr("T")?))
}

/// A sparse matrix as a sparse tensor.
#[register_op(
    attr("type: {float, double, complex64, complex128}"),
    input("sparse_matrix: variant"),
    output("indices: int64"),
    output("values: type"),
    output("dense_shape: int64"),
    shape_fn = to_sparse_tensor_shape,
)]
pub struct CSRSparseMatrixToSparseTensor;

fn to_sparse_tensor_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = known(c, 0)?;
    let rank = c.rank(shape).unwrap_or(0) as i64;
    c.set_output(0, c.matrix(-1, rank));
    c.set_output(1, c.vector(-1));
    c.set_output(2, c.vector(rank));
    Ok(())
}

/// The elements of a dense matrix, or of several, that indices name, as a sparse matrix.
#[register_op(
    attr("T: {float, double, complex64, complex128}"),
    input("dense_input: T", "A matrix, or several along the first dimension."),
    input("indices: int64", "One row an element, in row-major order."),
    output("sparse_output: variant"),
    shape_fn = from_dense_shape,
)]
pub struct DenseToCSRSparseMatrix;

fn from_dense_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (dense, indices) = (c.input(0), c.input(1));
    let Some(rank @ (2 | 3)) = c.rank(dense) else {
        bail!(
            InvalidArgument,
            "Invalid rank of dense: {}.  Expected a known rank of either 2 or 3.",
            c.debug_string(dense)
        );
    };
    ensure!(
        c.rank(indices) == Some(2),
        InvalidArgument,
        "indices must be a matrix; but its shape is {}",
        c.debug_string(indices)
    );
    ensure!(
        c.value(c.dim(indices, 1)) == Some(rank as i64),
        InvalidArgument,
        "indices.shape[1] must match rank of dense; saw: {} vs. {rank}",
        c.debug_string(indices)
    );
    set_matrix(c, dense, Some(c.attr("T")?))
}

/// A sparse matrix as a dense one.
#[register_op(
    attr("type: {float, double, complex64, complex128}"),
    input("sparse_input: variant"),
    output("dense_output: type"),
    shape_fn = |c| shapes::output_shape(c, known(c, 0)?),
)]
pub struct CSRSparseMatrixToDense;

/// The arrays of one of the matrices in a sparse matrix.
#[register_op(
    attr("type: {float, double, complex64, complex128}"),
    input("csr_sparse_matrix: variant"),
    input("index: int32", "Which matrix, a scalar."),
    output("row_ptrs: int32", "Where each row begins among the elements, and where the last ends."),
    output("col_inds: int32", "The column of each element."),
    output("values: type"),
    shape_fn = components_shape,
)]
pub struct CSRSparseMatrixComponents;

fn components_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (shape, _) = matrix(c, 0)?;
    ensure!(c.rank(c.input(1)) == Some(0), InvalidArgument, "index must be a scalar.");
    c.set_output(0, c.vector(c.add(c.dim(shape, -2), 1)?));
    c.set_output(1, c.vector(-1));
    c.set_output(2, c.vector(-1));
    Ok(())
}

/// The number of elements of a sparse matrix, or of each of several.
#[register_op(input("sparse_matrix: variant"), output("nnz: int32"), shape_fn = nnz_shape)]
pub struct SparseMatrixNNZ;

fn nnz_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (shape, _) = matrix(c, 0)?;
    shapes::output_shape(c, if c.rank(shape) == Some(3) { c.vector(c.dim(shape, 0)) } else { c.scalar() })
}

/// The product of a sparse matrix and a dense one.
///
/// The factors may be transposed, or conjugated, too; so may the product.
#[register_op(
    attr("T: type"),
    attr("transpose_a: bool = false"),
    attr("transpose_b: bool = false"),
    attr("adjoint_a: bool = false"),
    attr("adjoint_b: bool = false"),
    attr("transpose_output: bool = false"),
    attr("conjugate_output: bool = false"),
    input("a: variant"),
    input("b: T", "A matrix, or as many as `a` has."),
    output("output: T"),
    shape_fn = mat_mul_shape,
)]
pub struct SparseMatrixMatMul;

/// Whether each factor is transposed.
fn transposes(c: &InferenceContext<'_>) -> Result<[bool; 2]> {
    let of = |transpose: &str, adjoint: &str| -> Result<bool> {
        let (is_transposed, is_adjoint): (bool, bool) = (c.attr(transpose)?, c.attr(adjoint)?);
        ensure!(!(is_transposed && is_adjoint), InvalidArgument, "Only one of {adjoint} and {transpose} may be true.");
        Ok(is_transposed || is_adjoint)
    };
    Ok([of("transpose_a", "adjoint_a")?, of("transpose_b", "adjoint_b")?])
}

fn mat_mul_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (a, _) = matrix(c, 0)?;
    let b = c.with_rank_at_most(c.with_rank_at_least(c.input(1), 2)?, 3)?;
    let [transpose_a, transpose_b] = transposes(c)?;
    let last = |transposed: bool| if transposed { -1 } else { -2 };
    let (mut rows, mut columns) = (c.dim(a, last(transpose_a)), c.dim(b, last(!transpose_b)));
    if c.attr("transpose_output")? {
        std::mem::swap(&mut rows, &mut columns);
    }
    let batch = c.merge(c.subshape_range(a, 0, -2)?, c.subshape_range(b, 0, -2)?)?;
    c.merge_dim(c.dim(a, last(!transpose_a)), c.dim(b, last(transpose_b)))?;
    shapes::output_shape(c, c.concatenate(batch, c.matrix(rows, columns))?)
}

/// The product of two sparse matrices.
///
/// Sums that turn out to be zero are elements, too.
#[register_op(
    attr("type: {float, double, complex64, complex128}"),
    attr("transpose_a: bool = false"),
    attr("transpose_b: bool = false"),
    attr("adjoint_a: bool = false"),
    attr("adjoint_b: bool = false"),
    input("a: variant"),
    input("b: variant"),
    output("c: variant"),
    shape_fn = sparse_mat_mul_shape,
)]
pub struct SparseMatrixSparseMatMul;

fn sparse_mat_mul_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let ((a, _), (b, dtype)) = (matrix(c, 0)?, matrix(c, 1)?);
    let [transpose_a, transpose_b] = transposes(c)?;
    let last = |transposed: bool| if transposed { -1 } else { -2 };
    let (rows, columns) = (c.dim(a, last(transpose_a)), c.dim(b, last(!transpose_b)));
    let batch = broadcast_binary_op_output_shape(c, c.subshape_range(a, 0, -2)?, c.subshape_range(b, 0, -2)?, true)?;
    c.merge_dim(c.dim(a, last(!transpose_a)), c.dim(b, last(transpose_b)))?;
    set_matrix(c, c.concatenate(batch, c.matrix(rows, columns))?, dtype)
}

/// The transpose of a sparse matrix.
#[register_op(
    attr("conjugate: bool = false"),
    attr("type: {float, double, complex64, complex128}"),
    input("input: variant"),
    output("output: variant"),
    shape_fn = transpose_shape,
)]
pub struct SparseMatrixTranspose;

fn transpose_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (shape, dtype) = matrix(c, 0)?;
    let batch = c.subshape_range(shape, 0, -2)?;
    set_matrix(c, c.concatenate(batch, c.matrix(c.dim(shape, -1), c.dim(shape, -2)))?, dtype)
}

/// The shape of the square matrix in input 0.
#[track_caller]
fn square(c: &InferenceContext<'_>) -> Result<(ShapeHandle, Option<DataType>)> {
    let (shape, dtype) = matrix(c, 0)?;
    c.merge_dim(c.dim(shape, -2), c.dim(shape, -1))?;
    Ok((shape, dtype))
}

/// An order of the rows and columns of a sparse matrix in which its Cholesky factor has few elements: that of approximate
/// minimum degrees.
///
/// The matrix is symmetric; only the lower triangle is looked at.
#[register_op(input("input: variant"), output("output: int32", "A permutation for each matrix."), shape_fn = ordering_shape)]
pub struct SparseMatrixOrderingAMD;

fn ordering_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (shape, _) = square(c)?;
    shapes::output_shape(c, c.subshape_range(shape, 0, -1)?)
}

/// The lower triangular Cholesky factor of a sparse matrix whose rows and columns are permuted.
///
/// The matrix is symmetric, or Hermitian, and positive definite; only the lower triangle is looked at.
#[register_op(
    attr("type: {float, double, complex64, complex128}"),
    input("input: variant"),
    input("permutation: int32", "Of each matrix the rows in order, such as `SparseMatrixOrderingAMD` finds."),
    output("output: variant"),
    shape_fn = cholesky_shape,
)]
pub struct SparseMatrixSparseCholesky;

fn cholesky_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (shape, dtype) = square(c)?;
    let permutation = c.with_rank_at_most(c.with_rank_at_least(c.input(1), 1)?, 2)?;
    if !c.rank_known(permutation) {
        return Err(Error::invalid_argument("permutation has an unknown rank."));
    }
    c.merge_dim(c.dim(shape, -2), c.dim(permutation, -1))?;
    set_matrix(c, shape, dtype)
}
