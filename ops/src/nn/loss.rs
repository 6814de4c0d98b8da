//! Losses, and how good a prediction is.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The cross entropy of each row of `labels` and the softmax of `features`, and its gradient.
///
/// `loss[i] = -Σ labels[i, j] * log_softmax(features)[i, j]`. The two inputs broadcast.
#[register_op(
    input("features: T", "Logits, `[batch, classes]`."),
    input("labels: T", "Probabilities, `[batch, classes]`; each row should add up to 1."),
    output("loss: T", "One number a row."),
    output("backprop: T", "The gradient of the loss with respect to `features`: `softmax(features) - labels`."),
    attr("T: {half, bfloat16, float, double}"),
    shape_fn = cross_entropy_shape,
)]
pub struct SoftmaxCrossEntropyWithLogits;

fn cross_entropy_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let same = c.with_rank(c.input(0), 2).and_then(|features| c.merge(features, c.input(1)));
    if let Ok(shape) = same {
        c.set_output(0, c.vector(c.dim(shape, 0)));
        c.set_output(1, shape);
        return Ok(());
    }
    shapes::broadcast_binary_op_output_shape_fn(c, 1)?;
    let shape = c.output(1);
    match c.rank(shape) {
        Some(2) => c.set_output(0, c.vector(c.dim(shape, 0))),
        Some(rank) => bail!(InvalidArgument, "Shape must be broadcasted with rank 2, but is rank {rank}"),
        None => bail!(InvalidArgument, "Shape must be broadcasted with rank 2, but is rank is unknown."),
    }
    Ok(())
}

/// [`SoftmaxCrossEntropyWithLogits`] for labels that are the number of one class in each row.
#[register_op(
    input("features: T", "Logits, `[batch, classes]`."),
    input("labels: Tlabels", "For each row a class, from 0 to the number of classes, exclusive."),
    output("loss: T", "One number a row."),
    output("backprop: T", "The gradient of the loss with respect to `features`."),
    attr("T: {half, bfloat16, float, double}"),
    attr("Tlabels: {int32, int64} = DT_INT64"),
    shape_fn = sparse_cross_entropy_shape,
)]
pub struct SparseSoftmaxCrossEntropyWithLogits;

fn sparse_cross_entropy_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let features = c.with_rank(c.input(0), 2)?;
    let labels = c.with_rank(c.input(1), 1)?;
    let batch = c.merge_dim(c.dim(features, 0), c.dim(labels, 0))?;
    c.set_output(0, c.vector(batch));
    c.set_output(1, c.replace_dim(features, 0, batch)?);
    Ok(())
}

#[register_op(
    attr("T: {int32, int64} = DT_INT32"),
    input("predictions: float", "`[batch, classes]`."),
    input("targets: T", "For each row a class."),
    output("precision: bool"),
    shape_fn = in_top_k_shape,
)]
pub enum TopK {
    /// For each row, whether the target's prediction is among the `k` greatest.
    ///
    /// Predictions as great as the last of the `k` count as among them; a target out of range or with a prediction that
    /// is not finite does not.
    #[op(attr("k: int", "How many of the greatest predictions count.", before = "T"))]
    InTopK,
    /// [`InTopK`] with `k` as an input.
    #[op(input("k: T", "How many of the greatest predictions count, a scalar."))]
    InTopKV2,
}

fn in_top_k_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let predictions = c.with_rank(c.input(0), 2)?;
    let targets = c.with_rank(c.input(1), 1)?;
    let batch = c.merge_dim(c.dim(predictions, 0), c.dim(targets, 0))?;
    shapes::output_shape(c, c.vector(batch))
}

/// The element of each row (the last dimension) that would be number `n` if the row were sorted.
#[register_op(
    input("input: T"),
    input("n: int32", "From 0 to the size of a row, exclusive; a scalar."),
    output("values: T"),
    attr("reverse: bool = false", "Whether the order is descending."),
    attr("T: realnumbertype"),
    shape_fn = nth_element_shape,
)]
pub struct NthElement;

fn nth_element_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank_at_least(c.input(0), 1)?;
    let n = c.make_dim_for_scalar_input(1)?;
    if let (Some(last), Some(n)) = (c.value(c.dim(input, -1)), c.value(n)) {
        ensure!(last > n, InvalidArgument, "Input must have last dimension > n = {n} but is {last}");
    }
    shapes::output_shape(c, c.subshape_range(input, 0, -1)?)
}
