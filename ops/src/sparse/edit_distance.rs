//! How far sequences are from one another.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The Levenshtein distances between the sequences along the last dimension of two sparse tensors.
///
/// A sequence is what has equal indices but for the last. With `normalize`, a distance is divided by the length of the
/// true sequence: it is infinite where that is empty and the other is not.
#[register_op(
    attr("normalize: bool = true", "Divide by the length of the true sequence."),
    attr("T: type"),
    input("hypothesis_indices: int64", "One row an element, in row-major order."),
    input("hypothesis_values: T"),
    input("hypothesis_shape: int64"),
    input("truth_indices: int64", "One row an element, in row-major order."),
    input("truth_values: T"),
    input("truth_shape: int64", "As many sizes as `hypothesis_shape`."),
    output("output: float", "Dense, without the last dimension; the sizes are the greater of both."),
    shape_fn = edit_distance_shape,
)]
pub struct EditDistance;

fn edit_distance_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::validate_sparse_tensor(c, c.input(0), c.input(1), c.input(2))?;
    shapes::validate_sparse_tensor(c, c.input(3), c.input(4), c.input(5))?;
    c.request_input_tensor(2);
    c.request_input_tensor(5);
    let (Some(hypothesis), Some(truth)) = (c.input_i64s(2)?, c.input_i64s(5)?) else {
        return shapes::unknown_shape(c);
    };
    ensure!(
        hypothesis.len() == truth.len(),
        InvalidArgument,
        "Num elements of hypothesis_shape does not match truth_shape: {} vs. {}",
        hypothesis.len(),
        truth.len()
    );
    let sizes = hypothesis.iter().zip(&truth).map(|(&a, &b)| a.max(b));
    let groups =
        sizes.take(hypothesis.len().saturating_sub(1)).map(|size| c.make_dim(size.max(-1))).collect::<Vec<_>>();
    shapes::output_shape(c, c.make_shape(groups))
}
