//! Ragged tensors as elements of tensors.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// A ragged tensor as a variant, or its rows as a vector of variants.
#[register_op(
    attr("RAGGED_RANK: int >= 0", "The number of ragged dimensions."),
    attr("Tvalues: type"),
    attr("Tsplits: {int32, int64} = DT_INT64"),
    attr("batched_input: bool", "Whether each row becomes a variant of its own."),
    input("rt_nested_splits: RAGGED_RANK * Tsplits", "The splits of each ragged dimension."),
    input("rt_dense_values: Tvalues"),
    output("encoded_ragged: variant", "A scalar, or a vector if `batched_input`."),
    shape_fn = ragged_tensor_to_variant_shape,
)]
pub struct RaggedTensorToVariant;

fn ragged_tensor_to_variant_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let splits = c.num_inputs() - 1;
    c.with_rank_at_least(c.input(splits), 1)?;
    for input in 0..splits {
        c.with_rank(c.input(input), 1)?;
    }
    if !c.attr::<bool>("batched_input")? {
        return shapes::output_shape(c, c.scalar());
    }
    ensure!(splits > 0, InvalidArgument, "ragged_rank=0 is not currently supported when batched_input=true.");
    let rows = c.subtract(c.dim(c.input(0), 0), 1)?;
    shapes::output_shape(c, c.vector(rows))
}

/// The ragged tensor of the ragged tensors in a tensor of variants, whose dimensions come first.
#[register_op(
    attr("input_ragged_rank: int >= -1", "The number of ragged dimensions of each variant, or −1 for what is left."),
    attr("output_ragged_rank: int >= 0", "The same and the rank of `encoded_ragged`."),
    attr("Tvalues: type"),
    attr("Tsplits: {int32, int64} = DT_INT64"),
    input("encoded_ragged: variant"),
    output("output_nested_splits: output_ragged_rank * Tsplits"),
    output("output_dense_values: Tvalues"),
    shape_fn = ragged_tensor_from_variant_shape,
)]
pub struct RaggedTensorFromVariant;

fn ragged_tensor_from_variant_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (input_rank, output_rank): (i64, i64) = (c.attr("input_ragged_rank")?, c.attr("output_ragged_rank")?);
    if c.rank_known(c.input(0)) && input_rank >= 0 {
        match usize::try_from(output_rank.saturating_sub(input_rank)) {
            Ok(rank) => _ = c.with_rank(c.input(0), rank)?,
            Err(_) => {
                bail!(InvalidArgument, "output_ragged_rank {output_rank} is below input_ragged_rank {input_rank}")
            }
        }
    }
    let values = c.num_outputs() - 1;
    for output in 0..values {
        c.set_output(output, c.unknown_shape_of_rank(1));
    }
    c.set_output(values, c.unknown_shape());
    Ok(())
}

/// The gradient of `RaggedTensorToVariant`.
#[register_op(
    attr("Tvalues: type"),
    attr("Tsplits: {int32, int64} = DT_INT64"),
    input("encoded_ragged_grad: variant", "The gradient of `encoded_ragged`."),
    input("row_splits: Tsplits", "The outermost splits of the op."),
    input("dense_values_shape: int32", "The shape of the op's `rt_dense_values`."),
    output("dense_values_grad: Tvalues", "The gradient of `rt_dense_values`."),
    shape_fn = |c| shapes::output_shape(c, c.make_shape_from_shape_tensor(2)?),
)]
pub struct RaggedTensorToVariantGradient;
