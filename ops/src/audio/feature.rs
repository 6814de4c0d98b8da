//! What is heard, as numbers.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The strength of each frequency in windows of audio.
///
/// Windows are weighted by Hann's function and filled up to a power of two for the transform.
#[register_op(
    attr("window_size: int", "The samples of a window."),
    attr("stride: int", "How many samples windows are apart."),
    attr("magnitude_squared: bool = false", "Whether the squares of the magnitudes are wanted."),
    input("input: float", "`[samples, channels]`"),
    output("spectrogram: float", "`[channels, windows, frequencies]`"),
    shape_fn = spectrogram_shape,
)]
pub struct AudioSpectrogram;

fn spectrogram_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 2)?;
    let (window, stride): (i64, i64) = (c.attr("window_size")?, c.attr("stride")?);
    let most = i64::from(i32::MAX);
    ensure!((2..=most).contains(&window), InvalidArgument, "window_size must be > 1 and an int32, got {window}");
    ensure!((1..=most).contains(&stride), InvalidArgument, "stride must be > 0 and an int32, got {stride}");
    let windows = match c.value(c.dim(input, 0)) {
        Some(samples) if samples < window => c.make_dim(0),
        Some(samples) => c.make_dim(1 + (samples - window) / stride),
        None => c.unknown_dim(),
    };
    let frequencies = c.make_dim(1 + (window as u64).next_power_of_two() as i64 / 2);
    shapes::output_shape(c, c.make_shape([c.dim(input, 1), windows, frequencies]))
}

/// The mel-frequency cepstrum of spectrograms.
#[register_op(
    attr("upper_frequency_limit: float = 4000", "The highest frequency that counts."),
    attr("lower_frequency_limit: float = 20", "The lowest frequency that counts."),
    attr("filterbank_channel_count: int = 40", "The bands of the mel scale."),
    attr("dct_coefficient_count: int = 13", "The coefficients of the cosine transform that are wanted."),
    input("spectrogram: float", "`[channels, windows, frequencies]`, squares of magnitudes."),
    input("sample_rate: int32", "Samples in a second, a scalar."),
    output("output: float", "`[channels, windows, coefficients]`"),
    shape_fn = |c| {
        let spectrogram = c.with_rank(c.input(0), 3)?;
        c.with_rank(c.input(1), 0)?;
        let coefficients = c.make_dim(c.attr::<i64>("dct_coefficient_count")?);
        shapes::output_shape(c, c.make_shape([c.dim(spectrogram, 0), c.dim(spectrogram, 1), coefficients]))
    },
)]
pub struct Mfcc;
