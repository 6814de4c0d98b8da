//! Parts of sparse tensors, and sparse tensors of parts.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// The elements of a sparse tensor in row-major order of their indices.
#[register_op(
    attr("T: type"),
    input("input_indices: int64", "One row an element."),
    input("input_values: T"),
    input("input_shape: int64"),
    output("output_indices: int64"),
    output("output_values: T"),
    shape_fn = sparse_reorder_shape,
)]
pub struct SparseReorder;

fn sparse_reorder_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let indices = c.with_rank(c.input(0), 2)?;
    let values = c.with_rank(c.input(1), 1)?;
    c.with_rank(c.input(2), 1)?;
    c.set_output(0, indices);
    c.set_output(1, values);
    Ok(())
}

/// The block of a sparse tensor that begins at `start` and has the given size.
///
/// What of the block lies beyond the tensor is left out.
#[register_op(
    attr("T: type"),
    input("indices: int64", "One row an element."),
    input("values: T"),
    input("shape: int64"),
    input("start: int64", "The first index in each dimension."),
    input("size: int64", "The block's size in each dimension."),
    output("output_indices: int64", "The indices within the block."),
    output("output_values: T"),
    output("output_shape: int64"),
    shape_fn = sparse_slice_shape,
)]
pub struct SparseSlice;

fn sparse_slice_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.input(2);
    c.set_output(0, c.matrix(-1, c.num_elements(shape)));
    c.set_output(1, c.vector(-1));
    c.set_output(2, shape);
    Ok(())
}

/// The gradient of `SparseSlice`.
#[register_op(
    attr("T: numbertype"),
    input("backprop_val_grad: T", "The gradient of `output_values`."),
    input("input_indices: int64", "The `indices` of the op."),
    input("input_start: int64", "The `start` of the op."),
    input("output_indices: int64", "Those of the op."),
    output("val_grad: T", "The gradient of `values`."),
    shape_fn = |c| shapes::output_shape(c, c.vector(c.dim(c.with_rank(c.input(1), 2)?, 0))),
)]
pub struct SparseSliceGrad;

/// Sparse tensors joined along a dimension.
///
/// Their other dimensions have equal sizes. The elements come out in row-major order.
#[register_op(
    attr("concat_dim: int", "The dimension, counted from the end if negative."),
    attr("N: int >= 2"),
    attr("T: type"),
    input("indices: N * int64", "One row an element."),
    input("values: N * T"),
    input("shapes: N * int64"),
    output("output_indices: int64"),
    output("output_values: T"),
    output("output_shape: int64"),
    shape_fn = sparse_concat_shape,
)]
pub struct SparseConcat;

fn sparse_concat_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let count = c.num_inputs() / 3;
    let (mut rows, mut columns, mut shape) = (c.make_dim(0), c.unknown_dim(), c.unknown_shape());
    for i in 0..count {
        let indices = c.with_rank(c.input(i), 2)?;
        let values = c.with_rank(c.input(i + count), 1)?;
        let own = c.with_rank(c.input(i + 2 * count), 1)?;
        let elements = c.merge_dim(c.dim(indices, 0), c.dim(values, 0))?;
        rows = c.add(rows, elements)?;
        columns = c.merge_dim(columns, c.dim(indices, 1))?;
        shape = c.merge(shape, own)?;
    }
    c.set_output(0, c.matrix(rows, columns));
    c.set_output(1, c.vector(rows));
    c.set_output(2, shape);
    Ok(())
}

/// A sparse tensor cut along a dimension into `num_split` parts.
///
/// Where the size does not divide evenly, the first parts are longer by one.
#[register_op(
    attr("num_split: int >= 1", "The number of parts, at most the size of the dimension."),
    attr("T: type"),
    input("split_dim: int64", "The dimension, a scalar, counted from the end if negative."),
    input("indices: int64", "One row an element."),
    input("values: T"),
    input("shape: int64"),
    output("output_indices: num_split * int64"),
    output("output_values: num_split * T"),
    output("output_shape: num_split * int64"),
    shape_fn = sparse_split_shape,
)]
pub struct SparseSplit;

fn sparse_split_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.input(3);
    let indices = c.matrix(-1, c.num_elements(shape));
    let values = c.vector(-1);
    let parts = c.num_outputs() / 3;
    for i in 0..parts {
        c.set_output(i, indices);
        c.set_output(i + parts, values);
        c.set_output(i + 2 * parts, shape);
    }
    Ok(())
}
