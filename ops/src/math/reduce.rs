//! Reductions and scans along dimensions.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::infer::integer;
use crate::shapes;

#[register_op(
    attr("keep_dims: bool = false", "Whether they stay, with size 1."),
    attr("Tidx: {int32, int64} = DT_INT32"),
    input("input: T"),
    input("reduction_indices: Tidx", "The dimensions to reduce, each from −rank to rank − 1; none twice."),
    output("output: T"),
    shape_fn = shapes::reduction_shape,
)]
pub enum Reductions {
    /// The sum over some dimensions. Of nothing it is 0. Integers wrap.
    #[op(attr("T: numbertype", after = "keep_dims"))]
    Sum,
    /// The arithmetic mean over some dimensions. Of nothing it is NaN, or 0. That of integers is rounded towards zero.
    #[op(attr("T: numbertype", after = "keep_dims"))]
    Mean,
    /// The product over some dimensions. Of nothing it is 1. Integers wrap.
    #[op(attr("T: numbertype", after = "keep_dims"))]
    Prod,
    /// The Euclidean norm over some dimensions: the root of the sum of the squares. Of nothing it is 0.
    #[op(attr("T: numbertype", after = "keep_dims"))]
    EuclideanNorm,
    /// The greatest element over some dimensions. Of nothing it is the dtype's least value.
    #[op(attr("T: {realnumbertype, quantizedtype}", after = "keep_dims"))]
    Max,
    /// The least element over some dimensions. Of nothing it is the dtype's greatest value.
    #[op(attr("T: {realnumbertype, quantizedtype}", after = "keep_dims"))]
    Min,
    /// Whether all elements over some dimensions are true. Of nothing, yes.
    #[op(input("input: bool"), output("output: bool"))]
    All,
    /// Whether any element over some dimensions is true. Of nothing, no.
    #[op(input("input: bool"), output("output: bool"))]
    Any,
}

#[register_op(
    attr("T: {realnumbertype, quantizedtype, bool}"),
    attr("Tidx: {int16, int32, int64} = DT_INT32"),
    attr("output_type: {int16, uint16, int32, int64} = DT_INT64"),
    input("input: T"),
    input("dimension: Tidx", "The dimension, a scalar from −rank to rank − 1."),
    output("output: output_type"),
    shape_fn = arg_reduction_shape,
)]
pub enum ArgReductions {
    /// The index of the greatest element along one dimension, which falls away. Of equals it is the first.
    ///
    /// A dimension of size 0 is an error unless the output is empty too.
    ArgMax,
    /// The index of the least element along one dimension, which falls away. Of equals it is the first.
    ///
    /// A dimension of size 0 is an error unless the output is empty too.
    #[op(attr("Tidx: {int32, int64} = DT_INT32"), attr("output_type: {int32, int64} = DT_INT64"))]
    ArgMin,
}

fn arg_reduction_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 0)?;
    let input = c.input(0);
    let output = match (c.dims(input), c.input_tensor(1)) {
        (None, _) => c.unknown_shape(),
        (Some(dims), _) if dims.len() <= 1 => c.scalar(),
        (Some(dims), None) => c.unknown_shape_of_rank(dims.len() - 1),
        (Some(mut dims), Some(dimension)) => {
            let (dimension, rank) = (integer(dimension)?, dims.len() as i64);
            ensure!(
                (-rank..rank).contains(&dimension),
                InvalidArgument,
                "Dimension ({dimension}) must be in the range [{}, {rank}), where {rank} is the number of dimensions \
                 in the input.",
                -rank
            );
            dims.remove(dimension.rem_euclid(rank) as usize);
            c.make_shape(dims)
        }
    };
    shapes::output_shape(c, output)
}

/// Half the sum of all squares, `sum(t²) / 2`: a scalar.
#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("t: T"),
    output("output: T"),
    shape_fn = shapes::scalar_shape,
)]
pub struct L2Loss;

#[register_op(
    attr("exclusive: bool = false", "Whether the element itself is left out, so that the first sum is 0."),
    attr("reverse: bool = false", "Whether to go from the end to the start."),
    attr("T: numbertype"),
    attr("Tidx: {int32, int64} = DT_INT32"),
    input("x: T"),
    input("axis: Tidx", "The dimension, a scalar from −rank to rank − 1."),
    output("out: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub enum Cumulative {
    /// Sums of all elements up to each one along a dimension.
    Cumsum,
    /// Products of all elements up to each one along a dimension.
    #[op(attr("exclusive: bool = false", "Whether the element itself is left out, so that the first product is 1."))]
    Cumprod,
    /// Logarithms of the sums of the exponentials of all elements up to each one along a dimension.
    #[op(
        attr("exclusive: bool = false", "Whether the element itself is left out, so that the first result is −∞."),
        attr("T: {bfloat16, half, float, double}")
    )]
    CumulativeLogsumexp,
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn arg_reductions_lose_their_dimension() {
        let op = |dimension: Option<i32>| {
            let op = infer::<ArgMax>().attr("T", DataType::Float);
            match dimension {
                Some(dimension) => op.tensor(1, Tensor::scalar(dimension)),
                None => op,
            }
        };
        op(None).ok("[2];?", "[]");
        op(None).ok("[];?", "[]");
        op(None).ok("?;?", "?");
        op(None).ok("[2,3,4];?", "[?,?]");
        op(Some(0)).ok("[2,3,4];[]", "[d0_1,d0_2]");
        op(Some(-1)).ok("[2,3,4];[]", "[d0_0,d0_1]");
        op(Some(10)).ok("?;[]", "?");
        op(Some(10)).error("must be in the range [-3, 3)", "[2,3,4];[]");
        op(Some(-10)).error("must be in the range [-3, 3)", "[2,3,4];[]");
        op(None).error("must be rank 0", "?;[1]");
    }
}
