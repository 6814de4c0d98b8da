//! Sums and means of rows that are picked by index.

use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The shape of `data`, input 0, with another first dimension, after checks of the indices and segment numbers.
fn replaced_rows(c: &InferenceContext<'_>, rows: ShapeHandle) -> Result<ShapeHandle> {
    let data = c.with_rank_at_least(c.input(0), 1)?;
    let indices = c.with_rank(c.input(1), 1)?;
    let segments = c.with_rank(c.input(2), 1)?;
    c.merge(indices, segments)?;
    c.concatenate(rows, c.subshape(data, 1)?)
}

/// `[n]` for the scalar input 3, if it is known.
fn rows_of_scalar(c: &InferenceContext<'_>) -> Result<ShapeHandle> {
    c.with_rank(c.input(3), 0)?;
    let rows = c.input_i64s(3)?.and_then(|values| values.first().copied());
    ensure!(rows.is_none_or(|rows| rows >= 0), InvalidArgument, "the number of rows cannot be negative");
    Ok(c.vector(rows.unwrap_or(-1)))
}

fn sparse_segment_grad_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(3), 0)?;
    let output = replaced_rows(c, c.vector(-1))?;
    c.set_output(0, output);
    c.set_output(1, c.vector(-1));
    Ok(())
}

#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    attr("Tidx: {int32, int64} = DT_INT32"),
    attr("Tsegmentids: {int32, int64} = DT_INT32"),
    attr("sparse_gradient: bool = false", "Whether the gradient is to be made of the rows picked only."),
    input("data: T"),
    input("indices: Tidx", "The rows to take."),
    input("segment_ids: Tsegmentids", "For each of `indices` the segment to which the row belongs."),
    output("output: T", "One row a segment."),
    shape_fn = |c| shapes::output_shape(c, replaced_rows(c, c.vector(-1))?),
)]
pub enum Segments {
    /// The sum of the rows `data[indices[i]]` of each segment.
    ///
    /// Segment numbers are sorted; a number that is left out gives a row of zeros.
    #[op(attr("T: realnumbertype"))]
    SparseSegmentSum,
    /// The mean of the rows `data[indices[i]]` of each segment.
    ///
    /// Segment numbers are sorted; a number that is left out gives a row of zeros.
    SparseSegmentMean,
    /// The sum, divided by the square root of the number of rows, of the rows `data[indices[i]]` of each segment.
    ///
    /// Segment numbers are sorted; a number that is left out gives a row of zeros.
    SparseSegmentSqrtN,
    /// As `SparseSegmentMean`, with the number of segments given.
    #[op(
        attr("Tnumsegments: {int32, int64} = DT_INT32", after = "Tidx"),
        input("num_segments: Tnumsegments", "The number of rows of the output, a scalar."),
        output("output: T", "One row a segment; zeros for those without rows."),
        shape_fn = |c| shapes::output_shape(c, replaced_rows(c, rows_of_scalar(c)?)?),
    )]
    SparseSegmentMeanWithNumSegments,
    /// As `SparseSegmentSum`, with the number of segments given.
    #[op(like = SparseSegmentMeanWithNumSegments, attr("T: realnumbertype"))]
    SparseSegmentSumWithNumSegments,
    /// As `SparseSegmentSqrtN`, with the number of segments given.
    #[op(like = SparseSegmentSumWithNumSegments, attr("T: {bfloat16, half, float, double}"))]
    SparseSegmentSqrtNWithNumSegments,
}

#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    attr("Tidx: {int32, int64} = DT_INT32"),
    attr("Tsegmentids: {int32, int64} = DT_INT32"),
    input("grad: T", "The gradient of the output."),
    input("indices: Tidx", "Those of the op."),
    input("segment_ids: Tsegmentids", "Those of the op."),
    output("output: T", "The gradient of `data`."),
    shape_fn = |c| shapes::output_shape(c, replaced_rows(c, rows_of_scalar(c)?)?),
)]
pub enum SegmentGradients {
    /// The gradient of `SparseSegmentSum`, as a dense tensor.
    #[op(input("output_dim0: int32", "The number of rows of `data`, a scalar."))]
    SparseSegmentSumGrad,
    /// The gradient of `SparseSegmentMean`, as a dense tensor.
    #[op(input("output_dim0: int32", "The number of rows of `data`, a scalar."))]
    SparseSegmentMeanGrad,
    /// The gradient of `SparseSegmentSqrtN`, as a dense tensor.
    #[op(input("output_dim0: int32", "The number of rows of `data`, a scalar."))]
    SparseSegmentSqrtNGrad,
    /// The gradient of `SparseSegmentSum`, only those rows that were picked.
    #[op(
        input("dense_output_dim0: int32", "The number of rows of `data`, a scalar."),
        output("output: T", "The rows of the gradient of `data` that may differ from zero."),
        output("sorted_unique_indices: Tidx", "Which rows those are."),
        shape_fn = sparse_segment_grad_v2_shape,
    )]
    SparseSegmentSumGradV2,
    /// The gradient of `SparseSegmentMean`, only those rows that were picked.
    #[op(like = SparseSegmentSumGradV2)]
    SparseSegmentMeanGradV2,
    /// The gradient of `SparseSegmentSqrtN`, only those rows that were picked.
    #[op(like = SparseSegmentSumGradV2)]
    SparseSegmentSqrtNGradV2,
}
