//! Gradients of moves, and moves into a part of a tensor.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The gradient of `Tile`: the sum of all tiles.
#[register_op(
    attr("T: type"),
    input("input: T"),
    input("multiples: int32", "How many tiles there are along each dimension."),
    output("output: T", "Of the shape of a tile."),
    shape_fn = shapes::unknown_shape,
    deprecated(3, "TileGrad has been replaced with reduce_sum"),
)]
pub struct TileGrad;

/// The gradient of [`MirrorPad`](crate::MirrorPad): what was padded is cut off and added to what it mirrored.
#[register_op(
    attr("T: type"),
    attr("Tpaddings: {int32, int64} = DT_INT32"),
    attr("mode: {'REFLECT', 'SYMMETRIC'}", "`SYMMETRIC` repeats the element at the border, `REFLECT` does not."),
    input("input: T"),
    input("paddings: Tpaddings", "A row `[before, after]` for each dimension."),
    output("output: T"),
    shape_fn = mirror_pad_grad_shape,
)]
pub struct MirrorPadGrad;

fn mirror_pad_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let paddings = c.with_rank(c.input(1), 2)?;
    let Some(rank) = c.value(c.dim(paddings, 0)) else { return shapes::unknown_shape(c) };
    let input = c.with_rank(c.input(0), rank as usize)?;
    c.merge(paddings, c.matrix(rank, 2))?;
    let Some(values) = c.input_i64s(1)? else {
        return shapes::output_shape(c, c.unknown_shape_of_rank(rank as usize));
    };
    let mut dims = Vec::new();
    for (i, pair) in values.chunks_exact(2).enumerate() {
        let [before, after] = [pair[0], pair[1]];
        ensure!(before >= 0 && after >= 0, InvalidArgument, "Paddings must be non-negative");
        dims.push(c.subtract(c.subtract(c.dim(input, i as i64), before)?, after)?);
    }
    shapes::output_shape(c, c.make_shape(dims))
}

#[register_op(
    attr("T: type"),
    attr("Index: {int32, int64}"),
    attr("begin_mask: int = 0"),
    attr("end_mask: int = 0"),
    attr("ellipsis_mask: int = 0"),
    attr("new_axis_mask: int = 0"),
    attr("shrink_axis_mask: int = 0"),
    input("begin: Index"),
    input("end: Index"),
    input("strides: Index"),
    output("output: T"),
    shape_fn = shapes::shape_in_input::<0>,
)]
pub enum StridedSliceUpdates {
    /// The gradient of [`StridedSlice`](crate::StridedSlice): zeros, with `dy` where the slice was taken.
    #[op(
        input("shape: Index", "The shape of the tensor that was sliced.", before = "begin"),
        input("dy: T", "The gradient of the slice, in its shape.")
    )]
    StridedSliceGrad,
    /// `input` with the part that [`StridedSlice`](crate::StridedSlice) would take replaced by `value`.
    #[op(
        input("input: T", before = "begin"),
        input("value: T", "In the shape of the slice."),
        shape_fn = shapes::unchanged_shape,
    )]
    TensorStridedSliceUpdate,
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn mirrors_are_folded() {
        let op = || infer::<MirrorPadGrad>().attr("T", DataType::Float).attr("mode", "REFLECT");
        let by = |paddings: &[i32]| op().tensor(1, Tensor::from_elements([paddings.len() / 2, 2], paddings).unwrap());
        op().ok("?;?", "?");
        op().ok("?;[3,2]", "[?,?,?]");
        by(&[1, 2, 0, 0]).ok("[10,?];[2,2]", "[7,d0_1]");
        by(&[-1, 2]).error("must be non-negative", "[10];[1,2]");
        by(&[6, 5]).error("Negative dimension size", "[10];[1,2]");
        op().error("must be rank 3 but is rank 2", "[10,10];[3,2]");
    }
}
