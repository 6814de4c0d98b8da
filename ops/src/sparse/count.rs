//! How often numbers occur, as sparse tensors.

use kernlink::Result;
use kernlink::shape_inference::{DimHandle, InferenceContext};
use kernlink_macros::register_op;

#[register_op(
    attr("T: {int32, int64}"),
    attr("minlength: int >= -1 = -1", "The least size of the result's last dimension."),
    attr("maxlength: int >= -1 = -1", "If not negative, that size; values that are not below it are left out."),
    attr("binary_output: bool", "Whether a value occurs, in place of how often."),
    attr("output_type: {int32, int64, float, double}"),
    input("values: T", "Numbers; none may be negative."),
    input("weights: output_type", "What each value counts, of their shape, or empty."),
    output("output_indices: int64", "One row a value that occurs, sorted."),
    output("output_values: output_type"),
    output("output_dense_shape: int64"),
    shape_fn = dense_count_shape,
)]
pub enum Counts {
    /// How often each value occurs in a vector, or in each row of a matrix.
    #[op(input("values: T", "A vector or a matrix of numbers; none may be negative."))]
    DenseCountSparseOutput,
    /// How often each value occurs in a sparse tensor: in all of it if it has one dimension, or else in each part that a first
    /// index names.
    #[op(
        input("indices: int64", "One row an element.", before = "values"),
        input("dense_shape: int64", after = "values"),
        shape_fn = sparse_count_shape,
    )]
    SparseCountSparseOutput,
    /// How often each value occurs in each row of a ragged matrix.
    #[op(
        input("splits: int64", "Where the rows begin and end.", before = "values"),
        shape_fn = ragged_count_shape,
    )]
    RaggedCountSparseOutput,
}

/// Of rows and columns; TensorFlow promises more where the input has more dimensions, and gives two.
fn set_counts(c: &InferenceContext<'_>, rank: DimHandle) {
    let rank = if c.value(rank).is_some_and(|rank| rank > 2) { c.unknown_dim() } else { rank };
    c.set_output(0, c.matrix(-1, rank));
    c.set_output(1, c.vector(-1));
    c.set_output(2, c.vector(rank));
}

fn dense_count_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (values, weights) = (c.input(0), c.input(1));
    let counted = if c.value(c.num_elements(weights)) == Some(0) { values } else { c.merge(weights, values)? };
    set_counts(c, c.rank(counted).map_or_else(|| c.unknown_dim(), |rank| c.make_dim(rank as i64)));
    Ok(())
}

fn sparse_count_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let indices = c.with_rank(c.input(0), 2)?;
    set_counts(c, c.dim(indices, 1));
    Ok(())
}

fn ragged_count_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    set_counts(c, c.rank(c.input(1)).map_or_else(|| c.unknown_dim(), |rank| c.make_dim(rank as i64 + 1)));
    Ok(())
}
