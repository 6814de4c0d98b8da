//! Shapes of Fourier transforms.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;

use super::output_shape;

/// The shape of a transform of real numbers over the last `RANK` dimensions, or of its inverse: they have the sizes that the
/// second input says, but the last of a forward transform has half of them and one more. TensorFlow's `RFFTShape`.
///
/// # Errors
/// INVALID_ARGUMENT if the input has fewer dimensions or the sizes are no vector of `RANK` elements.
pub fn rfft_shape<const RANK: usize, const FORWARD: bool>(c: &mut InferenceContext<'_>) -> Result<()> {
    let mut out = c.with_rank_at_least(c.input(0), RANK)?;
    let lengths = c.with_rank(c.input(1), 1)?;
    c.with_value(c.dim(lengths, 0), RANK as i64)?;
    let lengths = c.input_i64s(1)?;
    for i in 0..RANK {
        let dim = match lengths.as_ref().and_then(|lengths| lengths.get(i)) {
            Some(&length) if FORWARD && i == RANK - 1 && length != 0 => c.make_dim(length / 2 + 1),
            Some(&length) => c.make_dim(length),
            None => c.unknown_dim(),
        };
        out = c.replace_dim(out, i as i64 - RANK as i64, dim)?;
    }
    output_shape(c, out)
}
