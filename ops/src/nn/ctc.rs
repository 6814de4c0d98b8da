//! Connectionist temporal classification: labels of a sequence without their places in time.

use kernlink::shape_inference::{DimHandle, InferenceContext};
use kernlink::{Error, Result};
use kernlink_macros::register_op;

/// The negative logarithm of the probability of each sequence's labels, and its gradient by `inputs`.
///
/// The classes are those of `inputs`, the last of which is the blank. Labels are the rows of a sparse matrix
/// `[batch, labels]`; those that are the blank end a sequence.
#[register_op(
    input("inputs: T", "Logits, `[time, batch, classes]`."),
    input("labels_indices: int64", "Of each label its sequence and its place there, `[labels, 2]`, in order."),
    input("labels_values: int32", "The labels, `[labels]`."),
    input("sequence_length: int32", "How many steps of `inputs` each sequence has, `[batch]`."),
    attr("preprocess_collapse_repeated: bool = false", "Whether repeated labels are taken for one before all else."),
    attr("ctc_merge_repeated: bool = true", "Whether repeated classes without a blank between them are one label."),
    attr(
        "ignore_longer_outputs_than_inputs: bool = false",
        "Whether a sequence with more labels than steps has loss and gradient zero, rather than being an error."
    ),
    output("loss: T", "`[batch]`."),
    output("gradient: T", "That of each loss by its logits, in the shape of `inputs`; zeros beyond a sequence's end."),
    attr("T: {float, double} = DT_FLOAT"),
    shape_fn = ctc_loss_shape,
)]
pub struct CTCLoss;

/// Inputs 0 and `lengths`, and the number of sequences that both have.
fn sequences(c: &InferenceContext<'_>, lengths: usize) -> Result<DimHandle> {
    let inputs = c.with_rank(c.input(0), 3)?;
    let lengths = c.with_rank(c.input(lengths), 1)?;
    c.merge_dim(c.dim(inputs, 1), c.dim(lengths, 0))
}

fn ctc_loss_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let inputs = c.with_rank(c.input(0), 3)?;
    let indices = c.with_rank(c.input(1), 2)?;
    let values = c.with_rank(c.input(2), 1)?;
    c.with_rank(c.input(3), 1)?;
    c.merge_dim(c.dim(indices, 0), c.dim(values, 0))?;
    let batch = sequences(c, 3)?;
    c.set_output(0, c.vector(batch));
    c.set_output(1, c.replace_dim(inputs, 1, batch)?);
    Ok(())
}

/// The labels that follow from each step's best class.
#[register_op(
    input("inputs: T", "Logits, `[time, batch, classes]`."),
    input("sequence_length: int32", "How many steps of `inputs` each sequence has, `[batch]`."),
    attr("merge_repeated: bool = false", "Whether repeated classes without a blank between them are one label."),
    attr("blank_index: int = -1", "The class of the blank; below zero, counted from the last."),
    output("decoded_indices: int64", "Of each label its sequence and its place there, `[labels, 2]`."),
    output("decoded_values: int64", "The labels, `[labels]`."),
    output("decoded_shape: int64", "The number of sequences, and of the labels of the longest."),
    output("log_probability: T", "The negative sum of the best logits of each sequence, `[batch, 1]`."),
    attr("T: {float, double} = DT_FLOAT"),
    shape_fn = greedy_shape,
)]
pub struct CTCGreedyDecoder;

fn greedy_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let batch = sequences(c, 1)?;
    let labels = c.unknown_dim();
    c.set_output(0, c.matrix(labels, 2));
    c.set_output(1, c.vector(labels));
    c.set_output(2, c.vector(2));
    c.set_output(3, c.matrix(batch, 1));
    Ok(())
}

/// The most probable labels of each sequence, found by a search that keeps the best beginnings after each step.
#[register_op(
    input("inputs: T", "Logits, `[time, batch, classes]`; the last class is the blank."),
    input("sequence_length: int32", "How many steps of `inputs` each sequence has, `[batch]`."),
    attr("beam_width: int >= 1", "How many beginnings are kept."),
    attr("top_paths: int >= 1", "How many results there are for each sequence; at most `beam_width`."),
    attr("merge_repeated: bool = true", "Whether repeated labels in a result are written once."),
    output("decoded_indices: top_paths * int64", "Of each label its sequence and its place there, `[labels, 2]`."),
    output("decoded_values: top_paths * int64", "The labels, `[labels]`."),
    output("decoded_shape: top_paths * int64", "The number of sequences, and of the labels of the longest."),
    output("log_probability: T", "The logarithms of the results' probabilities, `[batch, top_paths]`."),
    attr("T: {float, double} = DT_FLOAT"),
    shape_fn = beam_search_shape,
)]
pub struct CTCBeamSearchDecoder;

fn beam_search_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let batch = sequences(c, 1)?;
    let paths: i64 = c.attr("top_paths")?;
    let paths = i32::try_from(paths)
        .map_err(|_| Error::invalid_argument(format!("top_paths {paths} exceeds what an int32 holds")))?
        as usize;
    for path in 0..paths {
        c.set_output(path, c.matrix(c.unknown_dim(), 2));
        c.set_output(paths + path, c.vector(c.unknown_dim()));
        c.set_output(2 * paths + path, c.vector(2));
    }
    c.set_output(3 * paths, c.matrix(batch, paths as i64));
    Ok(())
}
