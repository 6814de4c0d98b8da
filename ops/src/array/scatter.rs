//! Updates at indices: index vectors name elements or slices of a tensor.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// A tensor of zeros (or empty strings) with `updates` added at `indices`.
///
/// The last dimension of `indices` holds indices for the first dimensions of the output. Where an index occurs several
/// times its updates are summed; of bools, any one sets the element, and strings are joined.
#[register_op(
    attr("T: type"),
    attr("Tindices: {int16, int32, int64}"),
    attr("bad_indices_policy: string = ''", "For bad indices: `\"ERROR\"` or empty fails, `\"IGNORE\"` skips them."),
    input("indices: Tindices"),
    input("updates: T", "An element or slice for each index vector."),
    input("shape: Tindices", "The output's shape, a vector."),
    output("output: T"),
    shape_fn = scatter_nd_shape,
)]
pub struct ScatterNd;

fn scatter_nd_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let indices = c.with_rank_at_least(c.input(0), 1)?;
    let updates = c.with_rank_at_least(c.input(1), 1)?;
    let output = c.make_shape_from_shape_tensor(2)?;
    shapes::scatter_nd_shape_helper(c, indices, updates, output)
}

fn scatter_tensor_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let output = c.with_rank_at_least(c.input(0), 1)?;
    let indices = c.with_rank_at_least(c.input(1), 1)?;
    shapes::scatter_nd_shape_helper(c, indices, c.input(2), output)
}

#[register_op(
    attr("T: type"),
    attr("Tindices: {int32, int64}"),
    attr("bad_indices_policy: string = ''", "For bad indices: `\"ERROR\"` or empty fails, `\"IGNORE\"` skips them."),
    input("indices: Tindices"),
    input("updates: T", "An element or slice for each index vector."),
    output("output: T"),
    shape_fn = scatter_tensor_shape,
)]
pub enum ScatteredTensors {
    /// `input` with `updates` added at `indices`; `input` itself may be overwritten if nothing else uses it.
    ///
    /// The last dimension of `indices` holds indices for the first dimensions of `input`.
    #[op(attr("T: {numbertype, bool}"), input("input: T", before = "indices"))]
    ScatterNdNonAliasingAdd,
    /// `tensor` with the elements or slices at `indices` replaced by `updates`; of several for one place the last one
    /// stays.
    ///
    /// The last dimension of `indices` holds indices for the first dimensions of `tensor`.
    #[op(attr("Tindices: {int16, int32, int64, uint16}"), input("tensor: T", before = "indices"))]
    TensorScatterUpdate,
    /// `tensor` with `updates` added to the elements or slices at `indices`.
    ///
    /// The last dimension of `indices` holds indices for the first dimensions of `tensor`.
    #[op(input("tensor: T", before = "indices"))]
    TensorScatterAdd,
    /// `tensor` with `updates` subtracted from the elements or slices at `indices`.
    ///
    /// The last dimension of `indices` holds indices for the first dimensions of `tensor`.
    #[op(input("tensor: T", before = "indices"))]
    TensorScatterSub,
    /// `tensor` with the elements or slices at `indices` replaced by `updates` where those are greater.
    ///
    /// The last dimension of `indices` holds indices for the first dimensions of `tensor`.
    #[op(input("tensor: T", before = "indices"))]
    TensorScatterMax,
    /// `tensor` with the elements or slices at `indices` replaced by `updates` where those are less.
    ///
    /// The last dimension of `indices` holds indices for the first dimensions of `tensor`.
    #[op(input("tensor: T", before = "indices"))]
    TensorScatterMin,
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn updates_fit() {
        let op = || infer::<ScatterNd>().attr("T", DataType::Float).attr("Tindices", DataType::Int32);
        op().tensor(2, Tensor::vector(&[4i32, 5]).unwrap()).ok("[3,1];[3,5];[2]", "[4,5]");
        op().ok("?;?;[2]", "[?,?]");
        op().error("at least rank 1", "[];[3];[1]");

        let op = || infer::<TensorScatterAdd>().attr("T", DataType::Float).attr("Tindices", DataType::Int32);
        op().ok("[4,5];[3,1];[3,5]", "in0");
        op().error("must match", "[4,5];[3,1];[2,5]");
        op().error("at least rank 1", "[];[3,1];[2,5]");
    }
}
