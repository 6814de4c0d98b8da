//! Sparse matrices in rows. What flows to one is a sparse matrix with the same elements.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink::{bail, ensure};
use kernlink_macros::{not_differentiable, register_gradient};

use super::conjugate;
use crate::*;

not_differentiable!(SparseMatrixNNZ);

#[register_gradient(op = DenseToCSRSparseMatrix)]
fn from_dense_gradient(g: &mut GradientScope<'_>, T: DataType, d_sparse_output: Value) -> Result<(Value, NoGradient)> {
    Ok((csr_sparse_matrix_to_dense(g, d_sparse_output, T).build()?, NoGradient))
}

#[register_gradient(op = CSRSparseMatrixToDense)]
fn to_dense_gradient(
    g: &mut GradientScope<'_>,
    r#type: DataType,
    sparse_input: Value,
    d_dense_output: Value,
) -> Result<Value> {
    let parts = csr_sparse_matrix_to_sparse_tensor(g, sparse_input, r#type).build()?;
    let values = gather_nd(g, d_dense_output, parts.indices).build()?;
    sparse_tensor_to_csr_sparse_matrix(g, parts.indices, values, parts.dense_shape).build()
}

#[register_gradient(op = SparseTensorToCSRSparseMatrix)]
fn from_sparse_tensor_gradient(
    g: &mut GradientScope<'_>,
    T: DataType,
    d_sparse_matrix: Value,
) -> Result<(NoGradient, Value, NoGradient)> {
    Ok((NoGradient, csr_sparse_matrix_to_sparse_tensor(g, d_sparse_matrix, T).build()?.values, NoGradient))
}

#[register_gradient(op = CSRSparseMatrixToSparseTensor)]
fn to_sparse_tensor_gradient(
    g: &mut GradientScope<'_>,
    indices: Value,
    dense_shape: Value,
    d_values: Value,
) -> Result<Value> {
    sparse_tensor_to_csr_sparse_matrix(g, indices, d_values, dense_shape).build()
}

#[register_gradient(op = SparseMatrixTranspose)]
fn transpose_gradient(g: &mut GradientScope<'_>, conjugate: bool, r#type: DataType, d_output: Value) -> Result<Value> {
    sparse_matrix_transpose(g, d_output, r#type).conjugate(conjugate).build()
}

/// The parts `from..to` of each index.
fn columns(g: &mut GradientScope<'_>, indices: Value, from: i32, to: i32) -> Result<Value> {
    strided_slice(g, indices, &[0, from][..], &[i32::MAX, to][..], &[1i32, 1][..]).build()
}

/// The transposes of the matrices in a tensor of this rank.
fn turned(g: &mut GradientScope<'_>, x: Value, rank: usize) -> Result<Value> {
    let order: &[i32] = if rank == 3 { &[0, 2, 1] } else { &[1, 0] };
    transpose(g, x, order).build()
}

/// With `P = X Y`, what flows to `X` is `G Yᴴ`, of which only the elements that `a` has are computed, and to `Y` it is `Xᴴ G`.
#[register_gradient(op = SparseMatrixMatMul)]
fn mat_mul_gradient(
    g: &mut GradientScope<'_>,
    T: DataType,
    transpose_a: bool,
    transpose_b: bool,
    adjoint_a: bool,
    adjoint_b: bool,
    transpose_output: bool,
    conjugate_output: bool,
    a: Value,
    b: Value,
    d_output: Value,
) -> Result<(Value, Value)> {
    let Some(rank @ (2 | 3)) = g.known_shape(b).rank() else {
        bail!(InvalidArgument, "the gradient of SparseMatrixMatMul needs to know the rank of `b`");
    };
    let flow = if conjugate_output { conjugate(g, d_output)? } else { d_output };
    let turns_b = transpose_b || adjoint_b;
    // Xᴴ of the transpose of `a` is its conjugate: that of the product with the conjugate of what flows is the same.
    let by_conjugate = transpose_a && T.is_complex();
    let factor = if by_conjugate { conjugate(g, flow)? } else { flow };
    let of_b = sparse_matrix_mat_mul(g, a, factor)
        .adjoint_a(!(transpose_a || adjoint_a))
        .transpose_b(transpose_output)
        .transpose_output(turns_b)
        .conjugate_output(by_conjugate != adjoint_b)
        .build()?;

    let flow = if transpose_output { turned(g, flow, rank)? } else { flow };
    let y = if turns_b { turned(g, b, rank)? } else { b };
    // The conjugate of Y.
    let y = if adjoint_b { y } else { conjugate(g, y)? };
    let parts = csr_sparse_matrix_to_sparse_tensor(g, a, T).build()?;
    let rows = columns(g, parts.indices, 0, -1)?;
    let (batches, last) = (columns(g, parts.indices, 0, -2)?, columns(g, parts.indices, -1, i32::MAX)?);
    let last = concat_v2(g, [batches, last], 1).build()?;
    let (of_flow, of_y) = if transpose_a || adjoint_a { (last, rows) } else { (rows, last) };
    let (flow, y) = (gather_nd(g, flow, of_flow).build()?, gather_nd(g, y, of_y).build()?);
    let products = mul(g, flow, y).build()?;
    let values = sum(g, products, 1).build()?;
    let values = if adjoint_a { conjugate(g, values)? } else { values };
    Ok((sparse_tensor_to_csr_sparse_matrix(g, parts.indices, values, parts.dense_shape).build()?, of_b))
}

/// The elements of `matrix` where `pattern` has some; 0 where `matrix` has none there.
fn pruned(g: &mut GradientScope<'_>, matrix: Value, pattern: Value, dtype: DataType) -> Result<Value> {
    let parts = csr_sparse_matrix_to_sparse_tensor(g, matrix, dtype).build()?;
    let wanted = csr_sparse_matrix_to_sparse_tensor(g, pattern, dtype).build()?;
    let mut numbers = |indices: Value, shape: Value| -> Result<Value> {
        let flat = sparse_reshape(g, indices, shape, &[-1i64][..]).build()?.output_indices;
        reshape(g, flat, &[1i32, -1][..]).build()
    };
    let (own, others) = (numbers(wanted.indices, wanted.dense_shape)?, numbers(parts.indices, parts.dense_shape)?);
    let places = lower_bound(g, others, own).build()?;
    let places = reshape(g, places, &[-1i32][..]).build()?;
    let (own, others) = (reshape(g, own, &[-1i32][..]).build()?, reshape(g, others, &[-1i32][..]).build()?);
    // What comes after the last is not there.
    let (nowhere, nothing) = (g.constant(&[-1i64][..])?, g.scalar(dtype, 0.0)?);
    let others = concat_v2(g, [others, nowhere], 0).build()?;
    let nothing = reshape(g, nothing, &[1i32][..]).build()?;
    let values = concat_v2(g, [parts.values, nothing], 0).build()?;
    let found = gather_v2(g, others, places, 0).build()?;
    let is_there = equal(g, found, own).build()?;
    let values = gather_v2(g, values, places, 0).build()?;
    let values = select_v2(g, is_there, values, nothing).build()?;
    sparse_tensor_to_csr_sparse_matrix(g, wanted.indices, values, wanted.dense_shape).build()
}

/// A factor of a product: a matrix, and whether its conjugate transpose is taken.
struct Factor {
    matrix: Value,
    adjoint: bool,
}

/// The conjugate transpose of a matrix that is transposed, or conjugated and transposed.
fn adjoint_of(
    g: &mut GradientScope<'_>,
    matrix: Value,
    transposed: bool,
    adjoint: bool,
    dtype: DataType,
) -> Result<Factor> {
    if !transposed || !dtype.is_complex() {
        return Ok(Factor { matrix, adjoint: !(transposed || adjoint) });
    }
    let turned = sparse_matrix_transpose(g, matrix, dtype).conjugate(true).build()?;
    Ok(Factor { matrix: sparse_matrix_transpose(g, turned, dtype).build()?, adjoint: false })
}

#[register_gradient(op = SparseMatrixSparseMatMul)]
fn sparse_mat_mul_gradient(
    g: &mut GradientScope<'_>,
    r#type: DataType,
    transpose_a: bool,
    transpose_b: bool,
    adjoint_a: bool,
    adjoint_b: bool,
    a: Value,
    b: Value,
    d_c: Value,
) -> Result<(Value, Value)> {
    ensure!(!(transpose_a && adjoint_a), InvalidArgument, "Only one of adjoint_a and transpose_a may be true.");
    let dtype = r#type;
    let x = adjoint_of(g, a, transpose_a, adjoint_a, dtype)?;
    let y = adjoint_of(g, b, transpose_b, adjoint_b, dtype)?;
    let mut of_a = sparse_matrix_sparse_mat_mul(g, d_c, y.matrix, dtype).adjoint_b(y.adjoint).build()?;
    let mut of_b = sparse_matrix_sparse_mat_mul(g, x.matrix, d_c, dtype).adjoint_a(x.adjoint).build()?;
    for (flow, transposed, adjoint) in [(&mut of_a, transpose_a, adjoint_a), (&mut of_b, transpose_b, adjoint_b)] {
        if transposed || adjoint {
            *flow = sparse_matrix_transpose(g, *flow, dtype).conjugate(adjoint).build()?;
        }
    }
    Ok((pruned(g, of_a, a, dtype)?, pruned(g, of_b, b, dtype)?))
}
