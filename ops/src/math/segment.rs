//! Reductions of rows that belong together: segments.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

fn segment_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let data = c.with_rank_at_least(c.input(0), 1)?;
    c.with_rank(c.input(1), 1)?;
    shapes::output_shape(c, c.concatenate(c.vector(-1), c.subshape(data, 1)?)?)
}

#[register_op(
    attr("T: numbertype"),
    attr("Tindices: {int32, int64}"),
    input("data: T"),
    input("segment_ids: Tindices", "For each row its segment: a vector that never falls."),
    output("output: T", "As many rows as the last segment's number asks for."),
    shape_fn = segment_shape,
)]
pub enum Segments {
    /// The sum of the rows in each segment, a run of rows with one number. Of no rows it is 0.
    SegmentSum,
    /// The mean of the rows in each segment, a run of rows with one number. Of no rows it is 0; that of integers is
    /// rounded towards zero.
    SegmentMean,
    /// The product of the rows in each segment, a run of rows with one number. Of no rows it is 1.
    SegmentProd,
    /// The greatest element of the rows in each segment, a run of rows with one number. Of no rows it is 0.
    #[op(attr("T: realnumbertype"))]
    SegmentMax,
    /// The least element of the rows in each segment, a run of rows with one number. Of no rows it is 0.
    #[op(attr("T: realnumbertype"))]
    SegmentMin,
}

#[register_op(
    attr("T: numbertype"),
    attr("Tindices: {int32, int64}"),
    attr("Tnumsegments: {int32, int64} = DT_INT32"),
    input("data: T"),
    input(
        "segment_ids: Tindices",
        "The segment of each row or slice; its shape is how that of `data` begins. Negative ones are left out.",
    ),
    input("num_segments: Tnumsegments", "How many segments there are, a scalar."),
    output("output: T"),
    shape_fn = shapes::segment_reduction_with_num_segments_shape_fn,
)]
pub enum UnsortedSegments {
    /// The sum of the rows in each of `num_segments` segments, in any order. Of no rows it is 0.
    #[op(attr("Tindices: {int16, int32, int64}"))]
    UnsortedSegmentSum,
    /// The greatest element of the rows in each of `num_segments` segments, in any order. Of no rows it is the least
    /// finite value.
    #[op(attr("T: realnumbertype"))]
    UnsortedSegmentMax,
    /// The least element of the rows in each of `num_segments` segments, in any order. Of no rows it is the greatest
    /// finite value.
    #[op(attr("T: realnumbertype"))]
    UnsortedSegmentMin,
    /// The product of the rows in each of `num_segments` segments, in any order. Of no rows it is 1.
    UnsortedSegmentProd,
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn segments() {
        infer::<SegmentSum>().attr("T", DataType::Float).ok("[4,?];[4]", "[?,d0_1]");
        infer::<SegmentSum>().attr("T", DataType::Float).error("at least rank 1", "[];[4]");
        let op = || infer::<UnsortedSegmentSum>().attr("T", DataType::Float);
        op().tensor(2, Tensor::scalar(7i32)).ok("[4,5,?];[4,5];[]", "[7,d0_2]");
        op().error("must be equal, but are 4 and 5", "[4,5];[5];[]");
    }
}
