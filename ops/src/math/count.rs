//! Counting: how often numbers occur, and between which bounds they lie.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::infer::integer;
use crate::shapes;

/// How often each number from 0 to `size` − 1 occurs, or the sum of the weights of its occurrences.
#[register_op(
    attr("T: {int32, int64, float, double}"),
    input("arr: int32", "The numbers. Those of `size` and more are not counted, negative ones are an error."),
    input("size: int32", "A scalar."),
    input("weights: T", "One for each number, or none at all: then each counts as 1."),
    output("bins: T"),
    shape_fn = |c| shapes::output_shape(c, c.vector(size(c, 1)?.unwrap_or(-1))),
)]
pub struct Bincount;

/// The value of scalar input `index`, which must not be negative, if it is known.
fn size(c: &InferenceContext<'_>, index: usize) -> Result<Option<i64>> {
    c.with_rank(c.input(index), 0)?;
    let Some(tensor) = c.input_tensor(index) else { return Ok(None) };
    let size = integer(tensor)?;
    ensure!(size >= 0, InvalidArgument, "size ({size}) must be non-negative");
    Ok(Some(size))
}

/// How often each number from 0 to `size` − 1 occurs in a vector, or in each row of a matrix; or the sum of the weights
/// of its occurrences.
#[register_op(
    attr("Tidx: {int32, int64}"),
    attr("T: {int32, int64, float, double}"),
    attr("binary_output: bool = false", "Whether to say only if a number occurs: 1 or 0."),
    input("input: Tidx", "The numbers. Those of `size` and more are not counted, negative ones are an error."),
    input("size: Tidx", "A scalar."),
    input("weights: T", "One for each number, or none at all: then each counts as 1."),
    output("output: T"),
    shape_fn = dense_bincount_shape,
)]
pub struct DenseBincount;

fn dense_bincount_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank_at_most(c.input(0), 2)?;
    let size = size(c, 1)?;
    let output = match (c.rank(input), size) {
        (Some(0 | 1), Some(size)) => c.vector(size),
        (Some(2), Some(size)) => c.matrix(c.dim(input, 0), size),
        (Some(rank), None) => c.unknown_shape_of_rank(rank),
        _ => c.unknown_shape(),
    };
    shapes::output_shape(c, output)
}

/// How many values lie in each of `nbins` parts of equal width between two bounds; those beyond a bound count in the
/// part next to it.
#[register_op(
    attr("T: {int32, int64, float, double}"),
    attr("dtype: {int32, int64} = DT_INT32"),
    input("values: T"),
    input("value_range: T", "The two bounds, a vector; the first must be below the second."),
    input("nbins: int32", "A scalar."),
    output("out: dtype"),
    shape_fn = histogram_shape,
)]
pub struct HistogramFixedWidth;

fn histogram_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let range = c.with_rank(c.input(1), 1)?;
    c.with_value(c.dim(range, 0), 2)?;
    c.with_rank(c.input(2), 0)?;
    let bins = match c.input_tensor(2) {
        None => -1,
        Some(tensor) => {
            let bins = integer(tensor)?;
            ensure!(bins > 0, InvalidArgument, "Requires nbins > 0: {bins}");
            bins
        }
    };
    shapes::output_shape(c, c.vector(bins))
}

/// For each value the number of `boundaries` that are not above it.
#[register_op(
    attr("T: {int32, int64, float, double}"),
    attr("boundaries: list(float)", "They must not fall."),
    input("input: T"),
    output("output: int32"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct Bucketize;

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn sizes() {
        let op = || infer::<Bincount>().attr("T", DataType::Float);
        op().ok("?;?;?", "[?]");
        op().tensor(1, Tensor::scalar(7i32)).ok("[3];[];?", "[7]");
        op().tensor(1, Tensor::scalar(-7i32)).error("must be non-negative", "[3];[];?");
        let op = || infer::<DenseBincount>().attr("T", DataType::Float).attr("Tidx", DataType::Int64);
        op().tensor(1, Tensor::scalar(7i64)).ok("[3,?];[];?", "[d0_0,7]");
        op().ok("[3];[];?", "[?]");
        let op = || infer::<HistogramFixedWidth>().attr("T", DataType::Float);
        op().tensor(2, Tensor::scalar(7i32)).ok("?;[2];[]", "[7]");
        op().tensor(2, Tensor::scalar(0i32)).error("Requires nbins > 0", "?;[2];[]");
        op().error("must be 2 but is 3", "?;[3];[]");
    }
}
