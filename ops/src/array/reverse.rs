//! Reversed dimensions, whole or in part.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// `tensor` with some dimensions reversed. [`ReverseV2`](crate::ReverseV2) names them by number.
#[register_op(
    attr(
        "T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, half, float, double, complex64, \
         complex128, string}",
    ),
    input("tensor: T", "Of at most 8 dimensions."),
    input("dims: bool", "For each dimension whether it is reversed."),
    output("output: T"),
    shape_fn = reverse_shape,
)]
pub struct Reverse;

fn reverse_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let dims = c.with_rank(c.input(1), 1)?;
    let mut input = c.input(0);
    if let Some(rank) = c.value(c.dim(dims, 0)) {
        input = c.with_rank(input, rank as usize)?;
    }
    let few = c.rank(input).is_none_or(|rank| rank <= 8);
    ensure!(few, InvalidArgument, "reverse does not work on tensors with more than 8 dimensions");
    shapes::output_shape(c, input)
}

/// `input` with the first elements along `seq_dim` reversed, for each index of `batch_dim` another number of them.
#[register_op(
    attr("seq_dim: int", "The dimension that is reversed in part."),
    attr("batch_dim: int = 0", "The dimension along which the number differs."),
    attr("T: type"),
    attr("Tlen: {int32, int64} = DT_INT64"),
    input("input: T"),
    input("seq_lengths: Tlen", "How many elements to reverse, for each index of `batch_dim`."),
    output("output: T"),
    shape_fn = reverse_sequence_shape,
)]
pub struct ReverseSequence;

fn reverse_sequence_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let lengths = c.with_rank(c.input(1), 1)?;
    let input = c.input(0);
    let (seq, batch): (i64, i64) = (c.attr("seq_dim")?, c.attr("batch_dim")?);
    let Some(rank) = c.rank(input) else { return shapes::unknown_shape(c) };
    for (name, dim) in [("batch_dim", batch), ("seq_dim", seq)] {
        ensure!(dim < rank as i64, InvalidArgument, "{name} must be < input rank: {dim} vs. {rank}");
        ensure!(dim >= -(rank as i64), InvalidArgument, "{name} must be a dimension: {dim} of {rank}");
    }
    let size = c.merge_dim(c.dim(input, batch), c.dim(lengths, 0))?;
    shapes::output_shape(c, c.replace_dim(input, batch, size)?)
}
