//! WAV files.

use kernlink::shape_inference::{DimHandle, InferenceContext};
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The samples of a WAV file of 16 bits.
#[register_op(
    attr("desired_channels: int = -1", "How many channels are wanted: the last one stands for those that miss; -1 for all."),
    attr("desired_samples: int = -1", "How many samples are wanted: zeros stand for those that miss; -1 for all."),
    input("contents: string", "The file, a scalar."),
    output("audio: float", "`[samples, channels]`, from -1 to 1."),
    output("sample_rate: int32", "Samples in a second, a scalar."),
    shape_fn = decode_wav_shape,
)]
pub struct DecodeWav;

/// The number that the attr of this name asks for; unknown if that is -1.
fn desired(c: &InferenceContext<'_>, name: &str, what: &str) -> Result<DimHandle> {
    let number: i64 = c.attr(name)?;
    ensure!(number >= -1, InvalidArgument, "{what} must be non-negative, got {number}");
    Ok(if number == -1 { c.unknown_dim() } else { c.make_dim(number) })
}

fn decode_wav_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    let channels = desired(c, "desired_channels", "channels")?;
    let samples = desired(c, "desired_samples", "samples")?;
    c.set_output(0, c.make_shape([samples, channels]));
    c.set_output(1, c.scalar());
    Ok(())
}

/// A WAV file of 16 bits.
#[register_op(
    input("audio: float", "`[samples, channels]`; what is beyond -1 and 1 is cut."),
    input("sample_rate: int32", "Samples in a second, a scalar."),
    output("contents: string", "The file, a scalar."),
    shape_fn = |c| {
        c.with_rank(c.input(0), 2)?;
        c.with_rank(c.input(1), 0)?;
        shapes::output_shape(c, c.scalar())
    },
)]
pub struct EncodeWav;
