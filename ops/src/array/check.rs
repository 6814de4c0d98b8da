//! What a tensor may not hold.

use kernlink::shape::PartialShape;
use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {bfloat16, half, float, double}"),
    attr("message: string", "Stands before the error's text."),
    input("tensor: T"),
    output("output: T"),
    stateful,
    shape_fn = shapes::unchanged,
)]
pub enum CheckNumericsVersions {
    /// `tensor` itself; fails with INVALID_ARGUMENT if an element is infinite or NaN.
    CheckNumerics,
    /// [`CheckNumerics`] whose error says which infinities there are.
    CheckNumericsV2,
}

/// `input` itself; fails with INVALID_ARGUMENT if its shape is not compatible with `shape`.
#[register_op(
    attr("shape: shape", "What is known of the shape beforehand."),
    attr("T: type"),
    input("input: T"),
    output("output: T"),
    shape_fn = ensured_shape,
)]
pub struct EnsureShape;

fn ensured_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let expected: PartialShape = c.attr("shape")?;
    // TensorFlow takes an unknown rank for the rank -1, which no shape has that is known.
    if let (None, Some(rank)) = (expected.rank(), c.rank(c.input(0))) {
        bail!(InvalidArgument, "Shape must be rank -1 but is rank {rank}");
    }
    let merged = c.merge(c.input(0), c.make_shape_from_partial(&expected))?;
    shapes::output_shape(c, merged)
}
