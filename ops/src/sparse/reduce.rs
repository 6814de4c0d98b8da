//! Sums, greatest elements and counts.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::infer::integer;
use crate::shapes;

#[register_op(
    attr("keep_dims: bool = false", "Keep the reduced dimensions, with size 1."),
    attr("T: numbertype"),
    input("input_indices: int64", "One row an element."),
    input("input_values: T"),
    input("input_shape: int64"),
    input("reduction_axes: int32", "The dimensions, counted from the end if negative."),
    shape_fn = shapes::sparse_reduce_shape_fn,
)]
pub enum Reductions {
    /// The sums of the elements of a sparse tensor along some dimensions, as a dense tensor.
    #[op(output("output: T"))]
    SparseReduceSum,
    /// The sums of the elements of a sparse tensor along some dimensions, as a sparse tensor.
    #[op(
        output("output_indices: int64"),
        output("output_values: T"),
        output("output_shape: int64"),
        shape_fn = shapes::unknown,
    )]
    SparseReduceSumSparse,
    /// The greatest elements of a sparse tensor along some dimensions, as a dense tensor.
    ///
    /// Only elements that are there count; where there are none, the result is zero.
    #[op(attr("T: realnumbertype"), output("output: T"))]
    SparseReduceMax,
    /// The greatest elements of a sparse tensor along some dimensions, as a sparse tensor.
    #[op(like = SparseReduceSumSparse, attr("T: realnumbertype"))]
    SparseReduceMaxSparse,
}

/// How often each of `0..size` occurs in a sparse vector, or in each row of a sparse matrix.
///
/// Values from `size` on are left out.
#[register_op(
    attr("Tidx: {int32, int64}"),
    attr("T: {int32, int64, float, double}"),
    attr("binary_output: bool = false", "Say only whether a value occurs: 1 or 0."),
    input("indices: int64", "One row an element."),
    input("values: Tidx"),
    input("dense_shape: int64", "One size or two."),
    input("size: Tidx", "The number of bins, a scalar."),
    input("weights: T", "What each value counts; empty for 1."),
    output("output: T"),
    shape_fn = sparse_bincount_shape,
)]
pub struct SparseBincount;

fn sparse_bincount_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let output = match (c.input_tensor(3), c.input_tensor(2)) {
        (None, _) => c.unknown_shape(),
        (Some(size), shape) => {
            ensure!(size.rank() == 0, InvalidArgument, "Shape must be rank 0 but is rank {}", size.rank());
            let size = integer(size)?;
            ensure!(size >= 0, InvalidArgument, "size ({size}) must be non-negative");
            match shape.map(|shape| shape.to_i64_vec()).transpose()?.as_deref() {
                None => c.unknown_shape(),
                Some([_]) => c.vector(size),
                Some(&[rows, _]) => c.matrix(rows, size),
                Some(_) => bail!(InvalidArgument, "Input must be less than rank 2"),
            }
        }
    };
    shapes::output_shape(c, output)
}

/// How often each of `0..size` occurs in each row of a ragged matrix.
///
/// Values from `size` on are left out.
#[register_op(
    attr("Tidx: {int32, int64}"),
    attr("T: {int32, int64, float, double}"),
    attr("binary_output: bool = false", "Say only whether a value occurs: 1 or 0."),
    input("splits: int64", "Where each row begins in `values`, and where the last one ends."),
    input("values: Tidx"),
    input("size: Tidx", "The number of bins, a scalar."),
    input("weights: T", "What each value counts; empty for 1."),
    output("output: T"),
    shape_fn = shapes::unknown,
)]
pub struct RaggedBincount;
