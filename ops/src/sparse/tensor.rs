//! Sparse tensors as a whole: to dense ones, times dense ones, into other shapes.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// Gives the elements of a sparse tensor the indices that they have in another dense shape.
///
/// The elements keep their order, and so do their values.
#[register_op(
    input("input_indices: int64", "One row an element."),
    input("input_shape: int64"),
    input("new_shape: int64", "As many elements as `input_shape`; one size may be −1, whatever remains."),
    output("output_indices: int64", "One row an element."),
    output("output_shape: int64", "`new_shape` without −1."),
    shape_fn = sparse_reshape_shape,
)]
pub struct SparseReshape;

fn sparse_reshape_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let indices = c.with_rank(c.input(0), 2)?;
    c.with_rank(c.input(1), 1)?;
    let new_shape = c.with_rank(c.input(2), 1)?;
    c.set_output(0, c.matrix(c.dim(indices, 0), c.dim(new_shape, 0)));
    c.set_output(1, new_shape);
    Ok(())
}

/// The dense tensor with the given elements and a default elsewhere.
#[register_op(
    attr("validate_indices: bool = true", "Refuse indices that are repeated or not in row-major order."),
    attr("T: type"),
    attr("Tindices: {int32, int64}"),
    input("sparse_indices: Tindices", "A row an element; a vector or a scalar for a dense vector."),
    input("output_shape: Tindices"),
    input("sparse_values: T", "One value an index, or a scalar for all."),
    input("default_value: T", "A scalar."),
    output("dense: T"),
    shape_fn = shapes::shape_in_input::<1>,
)]
pub struct SparseToDense;

/// The product of a sparse matrix and a dense one.
///
/// Elements with the same index add up. It is fastest if the indices are in row-major order, or in column-major order
/// with `adjoint_a`.
#[register_op(
    attr("T: type"),
    attr("Tindices: {int32, int64} = DT_INT64"),
    attr("adjoint_a: bool = false", "Take the conjugate transpose of the sparse matrix."),
    attr("adjoint_b: bool = false", "Take the conjugate transpose of `b`."),
    input("a_indices: Tindices", "One row an element."),
    input("a_values: T"),
    input("a_shape: int64", "Two sizes."),
    input("b: T"),
    output("product: T"),
    shape_fn = sparse_tensor_dense_mat_mul_shape,
)]
pub struct SparseTensorDenseMatMul;

fn sparse_tensor_dense_mat_mul_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 2)?;
    c.with_rank(c.input(1), 1)?;
    let a = c.make_shape_from_shape_tensor(2)?;
    let a = c.with_rank(a, 2)?;
    let b = c.with_rank(c.input(3), 2)?;
    let (adjoint_a, adjoint_b) = (i64::from(c.attr::<bool>("adjoint_a")?), i64::from(c.attr::<bool>("adjoint_b")?));
    c.merge_dim(c.dim(a, 1 - adjoint_a), c.dim(b, adjoint_b))?;
    shapes::output_shape(c, c.matrix(c.dim(a, adjoint_a), c.dim(b, 1 - adjoint_b)))
}
