//! Taking a tensor apart by number and putting it together again.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// The slices of `data`, sorted into one tensor for each number in `partitions`.
///
/// The shape of `partitions` is how that of `data` begins. Within a partition the slices keep their order.
#[register_op(
    attr("num_partitions: int >= 1"),
    attr("T: type"),
    input("data: T"),
    input("partitions: int32", "For each slice the output that it goes to, from 0 to `num_partitions` − 1."),
    output("outputs: num_partitions * T"),
    shape_fn = dynamic_partition_shape,
)]
pub struct DynamicPartition;

fn dynamic_partition_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (data, partitions) = (c.input(0), c.input(1));
    let Some(rank) = c.rank(partitions) else { return shapes::unknown_shape(c) };
    c.merge_prefix(data, partitions)?;
    let output = c.concatenate(c.vector(-1), c.subshape(data, rank as i64)?)?;
    (0..c.num_outputs()).for_each(|index| c.set_output(index, output));
    Ok(())
}

#[register_op(
    attr("N: int >= 1"),
    attr("T: type"),
    input("indices: N * int32", "For each slice of the tensor in `data` its place in the output."),
    input("data: N * T"),
    output("merged: T"),
    shape_fn = dynamic_stitch_shape,
)]
pub enum Stitching {
    /// Slices of several tensors, each put where its index says; of several for one place the last one stays.
    ///
    /// The shape of each of `indices` is how that of its `data` begins. There are as many places as the greatest index
    /// asks for; those that no index names hold zeros.
    DynamicStitch,
    /// Slices of several tensors, each put where its index says; no index should occur twice.
    ///
    /// This is [`DynamicStitch`], with leave to copy in any order.
    ParallelDynamicStitch,
}

fn dynamic_stitch_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let count = c.num_inputs() / 2;
    let (mut size, mut rest) = (Some(0), c.unknown_shape());
    for i in 0..count {
        match c.input_i64s(i)? {
            Some(indices) => size = size.map(|size| indices.iter().fold(size, |size, &index| size.max(index + 1))),
            None => size = None,
        }
        let Some(rank) = c.rank(c.input(i)) else { continue };
        let data = c.input(count + i);
        c.merge_prefix(data, c.input(i))?;
        rest = c.merge(rest, c.subshape(data, rank as i64)?)?;
    }
    let output = c.concatenate(c.vector(size.unwrap_or(-1)), rest)?;
    shapes::output_shape(c, output)
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn partitions() {
        let op = || infer::<DynamicPartition>().attr("T", DataType::Float).attr("num_partitions", 2i64);
        op().ok("[3,2,5];[3,2]", "[?,d0_2];[?,d0_2]");
        op().ok("?;?", "?;?");
        op().ok("?;[3]", "?;?");
        op().error("must be equal, but are 3 and 4", "[3];[4]");
    }

    #[test]
    fn stitches() {
        let op = || infer::<DynamicStitch>().attr("T", DataType::Float).attr("N", 2i64);
        let both = || op().tensor(0, Tensor::vector(&[1i32, 4]).unwrap()).tensor(1, Tensor::scalar(2i32));
        both().ok("[2];[];[2,7];[7]", "[5,d2_1|d3_0]");
        op().tensor(1, Tensor::scalar(2i32)).ok("[2];[];[2,?];[7]", "[?,d3_0]");
        op().ok("?;?;[2,7];[7]", "?");
        op().error("must be equal, but are 7 and 8", "[2];[];[2,7];[8]");
    }
}
