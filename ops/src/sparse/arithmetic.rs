//! Arithmetic on sparse tensors.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// The sum of two sparse tensors, whose indices are in row-major order.
///
/// An element that both have and whose sum is smaller than `thresh` is left out.
#[register_op(
    attr("T: numbertype"),
    attr("Treal: realnumbertype"),
    input("a_indices: int64", "One row an element."),
    input("a_values: T"),
    input("a_shape: int64"),
    input("b_indices: int64", "One row an element."),
    input("b_values: T"),
    input("b_shape: int64", "Equal to `a_shape`."),
    input("thresh: Treal", "The least magnitude to keep, a scalar."),
    output("sum_indices: int64"),
    output("sum_values: T"),
    output("sum_shape: int64"),
    shape_fn = sparse_add_shape,
)]
pub struct SparseAdd;

fn sparse_add_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.with_rank(c.input(2), 1)?;
    c.set_output(0, c.matrix(-1, c.dim(shape, 0)));
    c.set_output(1, c.vector(-1));
    c.set_output(2, shape);
    Ok(())
}

/// The gradient of `SparseAdd`.
#[register_op(
    attr("T: numbertype"),
    input("backprop_val_grad: T", "The gradient of `sum_values`."),
    input("a_indices: int64", "Those of the op."),
    input("b_indices: int64", "Those of the op."),
    input("sum_indices: int64", "Those of the op."),
    output("a_val_grad: T", "The gradient of `a_values`."),
    output("b_val_grad: T", "The gradient of `b_values`."),
    shape_fn = sparse_add_grad_shape,
)]
pub struct SparseAddGrad;

fn sparse_add_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for (output, input) in [(0, 1), (1, 2)] {
        let indices = c.with_rank(c.input(input), 2)?;
        c.set_output(output, c.vector(c.dim(indices, 0)));
    }
    Ok(())
}

/// The sum of a sparse tensor and a dense one of the same shape.
#[register_op(
    attr("T: numbertype"),
    attr("Tindices: {int32, int64}"),
    input("a_indices: Tindices", "One row an element."),
    input("a_values: T"),
    input("a_shape: Tindices"),
    input("b: T"),
    output("output: T"),
    shape_fn = shapes::shape_of_input::<3>,
)]
pub struct SparseTensorDenseAdd;

#[register_op(
    attr("T: numbertype"),
    input("sp_indices: int64", "One row an element."),
    input("sp_values: T"),
    input("sp_shape: int64"),
    input("dense: T"),
    output("output: T", "The values of a sparse tensor with the same indices."),
    shape_fn = |c| shapes::output_shape(c, c.vector(c.dim(c.with_rank(c.input(0), 2)?, 0))),
)]
pub enum WithDense {
    /// The elements of a sparse tensor plus those of a dense one in the same places.
    ///
    /// The dense tensor broadcasts to the shape of the sparse one, not the other way round. Elsewhere nothing is added.
    SparseDenseCwiseAdd,
    /// The elements of a sparse tensor times those of a dense one in the same places.
    ///
    /// The dense tensor broadcasts to the shape of the sparse one, not the other way round.
    SparseDenseCwiseMul,
    /// The elements of a sparse tensor divided by those of a dense one in the same places.
    ///
    /// The dense tensor broadcasts to the shape of the sparse one, not the other way round. It is an error to divide by
    /// zero, in floats too.
    SparseDenseCwiseDiv,
}

fn sparse_sparse_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for (input, rank) in [2, 1, 1, 2, 1, 1].into_iter().enumerate() {
        c.with_rank(c.input(input), rank)?;
    }
    c.set_output(0, c.matrix(-1, -1));
    c.set_output(1, c.vector(-1));
    Ok(())
}

#[register_op(
    attr("T: realnumbertype"),
    input("a_indices: int64", "One row an element."),
    input("a_values: T"),
    input("a_shape: int64"),
    input("b_indices: int64", "One row an element."),
    input("b_values: T"),
    input("b_shape: int64", "Equal to `a_shape`."),
    output("output_indices: int64"),
    output("output_values: T"),
    shape_fn = sparse_sparse_shape,
)]
pub enum Extremes {
    /// The greater of two sparse tensors at each place where one has an element.
    ///
    /// The indices of both are in row-major order. What is missing counts as zero.
    SparseSparseMaximum,
    /// The smaller of two sparse tensors at each place where one has an element.
    ///
    /// The indices of both are in row-major order. What is missing counts as zero.
    #[op(attr("T: numbertype"))]
    SparseSparseMinimum,
}

/// The softmax of the elements in each row of a sparse tensor.
///
/// A row is what has equal indices but for the last. What is missing counts as minus infinity.
#[register_op(
    attr("T: {half, float, double}"),
    input("sp_indices: int64", "One row an element."),
    input("sp_values: T"),
    input("sp_shape: int64", "At least two sizes."),
    output("output: T", "One value an element, in row-major order."),
    shape_fn = sparse_softmax_shape,
)]
pub struct SparseSoftmax;

fn sparse_softmax_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 2)?;
    let values = c.with_rank(c.input(1), 1)?;
    c.with_rank(c.input(2), 1)?;
    shapes::output_shape(c, values)
}

/// The product of two matrices that hold many zeros.
///
/// The matrices are dense tensors; the result does not depend on what the attrs say of their zeros.
#[register_op(
    attr("transpose_a: bool = false"),
    attr("transpose_b: bool = false"),
    attr("a_is_sparse: bool = false", "Whether most of `a` is zero."),
    attr("b_is_sparse: bool = false", "Whether most of `b` is zero."),
    attr("Ta: {float, bfloat16} = DT_FLOAT"),
    attr("Tb: {float, bfloat16} = DT_FLOAT"),
    input("a: Ta"),
    input("b: Tb"),
    output("product: float"),
    shape_fn = shapes::mat_mul_shape,
)]
pub struct SparseMatMul;
