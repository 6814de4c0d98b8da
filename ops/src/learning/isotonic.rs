//! Isotonic regression.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

/// The sequences that do not rise and whose squared distances to those along the last dimension are least.
///
/// Each is constant in segments, where it has the mean.
#[register_op(
    attr("T: realnumbertype"),
    attr("output_dtype: {half, bfloat16, float, double} = DT_FLOAT"),
    input("input: T"),
    output("output: output_dtype"),
    output("segments: int32", "The number of the segment that each element is in."),
    shape_fn = isotonic_regression_shape,
)]
pub struct IsotonicRegression;

fn isotonic_regression_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.set_output(0, c.input(0));
    c.set_output(1, c.input(0));
    Ok(())
}
