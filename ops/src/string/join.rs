//! Strings joined and strings taken apart.

use kernlink::dtype::TString;
use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// Strings of several tensors joined, element by element. Scalars serve all elements.
#[register_op(
    attr("N: int >= 0"),
    attr("separator: string = ''", "Stands between the strings."),
    input("inputs: N * string", "All of one shape, scalars apart."),
    output("output: string"),
    shape_fn = string_join_shape,
)]
pub struct StringJoin;

fn string_join_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let inputs: Vec<_> = (0..c.num_inputs()).map(|i| c.input(i)).collect();
    if inputs.iter().all(|&input| c.rank(input) == Some(0)) {
        return shapes::scalar(c);
    }
    let mut output = c.unknown_shape();
    // A shape of unknown rank may turn out to be a scalar's.
    for input in inputs {
        if c.rank(input).is_some_and(|rank| rank != 0) {
            output = c.merge(output, input)?;
        }
    }
    shapes::output_shape(c, output)
}

/// The strings of each slice along some dimensions, joined in row-major order.
#[register_op(
    attr("keep_dims: bool = false", "Whether the joined dimensions stay, with size 1."),
    attr("separator: string = ''", "Stands between the strings."),
    input("inputs: string"),
    input("reduction_indices: int32", "The dimensions to join, in the order in which they are walked."),
    output("output: string"),
    shape_fn = shapes::reduction_shape,
)]
pub struct ReduceJoin;

/// The strings of each segment joined, in their order in `inputs`.
#[register_op(
    attr("separator: string = ''", "Stands between the strings."),
    attr("Tindices: {int32, int64}"),
    attr("Tnumsegments: {int32, int64} = DT_INT32"),
    input("inputs: string"),
    input("segment_ids: Tindices", "The segment of each string, or of each slice: its shape is a prefix of `inputs`'."),
    input("num_segments: Tnumsegments", "The number of segments, a scalar."),
    output("output: string"),
    shape_fn = shapes::segment_reduction_with_num_segments_shape_fn,
)]
pub struct UnsortedSegmentJoin;

/// Each string cut where one of the bytes of `delimiter` stands, as a sparse matrix with a row a string.
#[register_op(
    attr("skip_empty: bool = true", "Whether pieces without a byte are left out."),
    input("input: string", "A vector."),
    input("delimiter: string", "A scalar; each of its bytes is a delimiter. If it is empty, each byte is a piece."),
    output("indices: int64", "Row and column of each piece."),
    output("values: string", "The pieces."),
    output("shape: int64", "The number of strings, and the largest number of pieces of one."),
    shape_fn = string_split_shape,
)]
pub struct StringSplit;

/// Each string cut where the whole of `sep` stands, as Python does it, as a sparse matrix with a row a string.
#[register_op(
    attr("maxsplit: int = -1", "The largest number of cuts in a string; any number if negative."),
    input("input: string", "A vector."),
    input("sep: string", "A scalar. If empty, runs of white space are the separators and are dropped at the ends."),
    output("indices: int64", "Row and column of each piece."),
    output("values: string", "The pieces."),
    output("shape: int64", "The number of strings, and the largest number of pieces of one."),
    shape_fn = string_split_shape,
)]
pub struct StringSplitV2;

fn string_split_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 1)?;
    c.with_rank(c.input(1), 0)?;
    c.set_output(0, c.matrix(c.unknown_dim(), 2));
    c.set_output(1, c.vector(c.unknown_dim()));
    c.set_output(2, c.vector(2));
    Ok(())
}

/// Runs of neighbouring strings joined, for each row of a ragged matrix and each width.
#[register_op(
    attr("separator: string", "Stands between the strings of a run."),
    attr("ngram_widths: list(int) >= 0", "The numbers of strings in a run."),
    attr("left_pad: string", "Stands in for what is missing before a row."),
    attr("right_pad: string", "Stands in for what is missing after a row."),
    attr(
        "pad_width: int",
        "How far runs may reach over the ends of a row, at most their width less one; if negative, just that.",
    ),
    attr("preserve_short_sequences: bool", "Whether a row that is too short for any run becomes one run."),
    attr("Tsplits: {int32, int64} = DT_INT64"),
    input("data: string", "The strings of all rows, a vector."),
    input("data_splits: Tsplits", "Where each row begins, and where the last ends."),
    output("ngrams: string", "The runs of all rows; those of one row by width."),
    output("ngrams_splits: Tsplits", "Where each row's runs begin, and where the last end."),
    shape_fn = string_ngrams_shape,
)]
pub struct StringNGrams;

fn string_ngrams_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.set_output(0, c.unknown_shape_of_rank(1));
    c.with_rank(c.input(0), 1)?;
    c.set_output(1, c.with_rank(c.input(1), 1)?);
    Ok(())
}

/// A template with tensors in place of its placeholders, with the first and last elements of each dimension.
#[register_op(
    attr("T: list(type) >= 0"),
    attr("template: string = '%s'"),
    attr("placeholder: string = '%s'", "What stands for a tensor in the template."),
    attr("summarize: int = 3", "How many elements are shown at each end of a dimension; all if negative."),
    input("inputs: T", "As many tensors as the template has placeholders."),
    output("output: string", "A scalar."),
    shape_fn = string_format_shape,
)]
pub struct StringFormat;

fn string_format_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (template, placeholder): (TString, TString) = (c.attr("template")?, c.attr("placeholder")?);
    let mut rest = template.as_bytes();
    let mut expected = 0;
    if placeholder.is_empty() {
        // An empty one stands between any two bytes.
        expected = rest.len().saturating_sub(1);
    } else {
        while let Some(at) = rest.windows(placeholder.len()).position(|bytes| bytes == placeholder.as_bytes()) {
            expected += 1;
            rest = &rest[at + placeholder.len()..];
        }
    }
    ensure!(
        c.num_inputs() == expected,
        InvalidArgument,
        "num placeholders in template and num inputs must match: {expected} vs. {}",
        c.num_inputs()
    );
    shapes::scalar(c)
}
