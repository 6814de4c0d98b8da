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

/// The loudness of the bands of speech, in whole numbers, as small devices compute it.
///
/// Windows are weighted by Hann's function; their spectra, of 16 bits, are summed in bands of the mel scale. Of that is
/// taken what stays the same for long, the noise; a gain that evens out loudness and a logarithm follow, if they are
/// wanted.
#[register_op(
    attr("sample_rate: int = 16000", "Samples in a second."),
    attr("window_size: int = 25", "The milliseconds of a window."),
    attr("window_step: int = 10", "How many milliseconds windows are apart."),
    attr("num_channels: int = 32", "The bands of the mel scale."),
    attr("upper_band_limit: float = 7500.0", "The highest frequency of a band, in hertz."),
    attr("lower_band_limit: float = 125.0", "The lowest frequency of a band, in hertz."),
    attr("smoothing_bits: int = 10", "Bits behind the point while noise is taken away."),
    attr("even_smoothing: float = 0.025", "How fast the noise of bands with even numbers is learned, from 0 to 1."),
    attr("odd_smoothing: float = 0.06", "How fast the noise of bands with odd numbers is learned, from 0 to 1."),
    attr("min_signal_remaining: float = 0.05", "The part of a band that is left at least."),
    attr("enable_pcan: bool = false", "Whether the gain of each band is evened out."),
    attr("pcan_strength: float = 0.95", "The power of the noise by which the gain falls."),
    attr("pcan_offset: float = 80.0", "What is added to the noise before."),
    attr("gain_bits: int = 21", "Bits behind the point of the gain."),
    attr("enable_log: bool = true", "Whether logarithms are given."),
    attr("scale_shift: int = 6", "The power of two times which logarithms are given."),
    attr("left_context: int = 0", "How many windows before its own a row has."),
    attr("right_context: int = 0", "How many windows after its own a row has."),
    attr("frame_stride: int = 1", "Every how manieth window has a row."),
    attr("zero_padding: bool = false", "Whether zeros stand for windows that there are not, and not the nearest ones."),
    attr("out_scale: int = 1", "What all values are divided by."),
    attr("out_type: {uint16, float} = DT_UINT16"),
    input("audio: int16", "Samples, a vector."),
    output("filterbanks: out_type", "`[rows, windows in a row * num_channels]`"),
    shape_fn = microfrontend_shape,
)]
pub struct AudioMicrofrontend;

fn microfrontend_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 1)?;
    let number = |name: &str| c.attr::<i64>(name);
    let thousands = number("sample_rate")? / 1000;
    let (size, step) = (number("window_size")? * thousands, number("window_step")? * thousands);
    let frames = match c.value(c.dim(input, 0)) {
        // TensorFlow takes an unknown number of samples for too few.
        None => c.make_dim(0),
        Some(samples) if samples < size => c.make_dim(0),
        Some(_) => {
            let beyond = c.subtract(c.dim(input, 0), size)?;
            let steps = c.divide(beyond, step, false)?;
            c.add(c.divide(steps, number("frame_stride")?, false)?, 1)?
        }
    };
    let together = 1 + number("left_context")? + number("right_context")?;
    let features = c.multiply(c.make_dim(number("num_channels")?), together)?;
    shapes::output_shape(c, c.make_shape([frames, features]))
}
