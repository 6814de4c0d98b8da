//! AudioMicrofrontend: features of speech in whole numbers, as small devices compute them.

mod stages;
mod transform;

use std::marker::PhantomData;

use kernlink::dtype::Element;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::AudioMicrofrontend;

use self::stages::{Bands, GainControl, NoiseReduction, WEIGHT_BITS, bits, logarithm, width};
use self::transform::{Complex, Transform};

/// An element of the features.
trait Feature: Element + Clone {
    fn scaled(value: u16, divisor: i32) -> Self;
}

impl Feature for u16 {
    fn scaled(value: u16, divisor: i32) -> u16 {
        (i32::from(value) / divisor) as u16
    }
}

impl Feature for f32 {
    fn scaled(value: u16, divisor: i32) -> f32 {
        f32::from(value) / divisor as f32
    }
}

/// What is heard within one window.
struct Frontend {
    /// Hann's function, with 12 bits behind the point.
    window: Vec<i16>,
    /// The samples from one window to the next.
    step: usize,
    transform: Transform,
    bands: Bands,
    noise: NoiseReduction,
    gain: Option<GainControl>,
    /// By how much values are shifted up before the logarithm is taken.
    correction_bits: i32,
    /// The power of two times which logarithms are given, if they are.
    log_shift: Option<i32>,
}

/// Which windows stand in a row of the output.
struct Rows {
    left: i64,
    right: i64,
    stride: usize,
    /// Whether zeros stand for windows before the first and after the last, and not these.
    is_padded: bool,
}

struct MicrofrontendKernel<T> {
    frontend: Frontend,
    channels: usize,
    rows: Rows,
    divisor: i32,
    element: PhantomData<T>,
}

/// The longest window, in samples: beyond it places in the spectrum do not fit into the 16 bits of TensorFlow's tables.
const LONGEST: i64 = 1 << 15;
/// The most bands, and the most windows in a row.
const MOST: i64 = 1 << 20;

fn within(value: i64, least: i64, greatest: i64, name: &str) -> Result<i64> {
    ensure!(
        (least..=greatest).contains(&value),
        InvalidArgument,
        "{name} must lie between {least} and {greatest}, not {value}"
    );
    Ok(value)
}

#[register_kernel(device = Cpu, out_type = [u16, f32])]
impl<out_type: Feature> OpKernel<AudioMicrofrontend> for MicrofrontendKernel<out_type> {
    fn new(ctx: &KernelConstruction<'_, AudioMicrofrontend>) -> Result<Self> {
        let attrs = ctx.attrs();
        let rate = within(attrs.sample_rate, 1, i32::MAX.into(), "sample_rate")?;
        let samples = |milliseconds: i64, name: &str| -> Result<i64> {
            Ok(within(milliseconds, 0, i32::MAX.into(), name)? * rate / 1000)
        };
        let size = within(samples(attrs.window_size, "window_size")?, 0, LONGEST, "the samples of window_size")?;
        ensure!(
            size > 1,
            Internal,
            "failed to populate frontend state: window_size has to be of two samples at least, not of {size}"
        );
        let step = within(samples(attrs.window_step, "window_step")?, 1, size, "the samples of window_step")? as usize;
        let size = size as usize;
        let channels = within(attrs.num_channels, 0, MOST, "num_channels")? as usize;
        let rows = Rows {
            left: within(attrs.left_context, -MOST, MOST, "left_context")?,
            right: within(attrs.right_context, -MOST, MOST, "right_context")?,
            stride: within(attrs.frame_stride, 1, i32::MAX.into(), "frame_stride")? as usize,
            is_padded: attrs.zero_padding,
        };
        ensure!(
            rows.left + rows.right >= -1,
            InvalidArgument,
            "left_context and right_context must not leave less than nothing: they are {} and {}",
            rows.left,
            rows.right
        );
        let divisor = match i32::try_from(attrs.out_scale) {
            Ok(divisor) if divisor != 0 => divisor,
            _ => bail!(InvalidArgument, "out_scale must be an int32 that is not zero, not {}", attrs.out_scale),
        };
        let turn = (std::f64::consts::PI * 2.0 / size as f64) as f32;
        let hann = |index: usize| {
            let value = (0.5 - 0.5 * (f64::from(turn) * (index as f64 + 0.5)).cos()) as f32;
            (f64::from(value * 4096.0) + 0.5).floor() as i16
        };
        let fft_size = size.next_power_of_two();
        let transform = Transform::new(fft_size)?;
        let bands =
            Bands::new(channels, attrs.lower_band_limit, attrs.upper_band_limit, rate as i32, transform.frequencies())?;
        let correction_bits = width(fft_size as u32) as i32 - 1 - (WEIGHT_BITS / 2) as i32;
        let smoothing_bits = bits(attrs.smoothing_bits, "smoothing_bits")?;
        let gain_bits = bits(attrs.gain_bits, "gain_bits")?;
        let gain =
            || GainControl::new(attrs.pcan_strength, attrs.pcan_offset, gain_bits, smoothing_bits, correction_bits);
        Ok(Self {
            frontend: Frontend {
                window: scratch::collected((0..size).map(hann))?,
                step,
                transform,
                bands,
                noise: NoiseReduction {
                    smoothing_bits,
                    smoothing: [
                        NoiseReduction::part(attrs.even_smoothing, "even_smoothing")?,
                        NoiseReduction::part(attrs.odd_smoothing, "odd_smoothing")?,
                    ],
                    least: NoiseReduction::part(attrs.min_signal_remaining, "min_signal_remaining")?,
                },
                gain: attrs.enable_pcan.then(gain).transpose()?,
                correction_bits,
                log_shift: attrs.enable_log.then(|| bits(attrs.scale_shift, "scale_shift")).transpose()?,
            },
            channels,
            rows,
            divisor,
            element: PhantomData,
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, AudioMicrofrontend>) -> Result<()> {
        let input = ctx.input(AudioMicrofrontend::AUDIO)?;
        ensure!(input.rank() == 1, InvalidArgument, "audio must be a vector, not of shape {}", input.shape());
        let audio = input.as_slice::<i16>()?;
        let size = self.frontend.window.len();
        let frames = if audio.len() < size { 0 } else { (audio.len() - size) / self.frontend.step + 1 };
        let sampled = frames.div_ceil(self.rows.stride);
        let together = (self.rows.left + self.rows.right + 1) as usize;
        let mut output = ctx.allocate_output(AudioMicrofrontend::FILTERBANKS, [sampled, self.channels * together])?;
        let mut heard = scratch::zeros::<u16>(frames.saturating_mul(self.channels))?;
        if self.channels > 0 && output.num_elements() > 0 {
            self.frontend.listen(audio, self.channels, |frame, band, value| {
                heard[frame * self.channels + band] = value;
            })?;
            let mut places = output.as_mut_slice::<out_type>()?.chunks_exact_mut(self.channels);
            for anchor in (0..frames as i64).step_by(self.rows.stride) {
                for (frame, place) in (anchor - self.rows.left..=anchor + self.rows.right).zip(&mut places) {
                    let nearest = frame.clamp(0, frames as i64 - 1);
                    if nearest == frame || !self.rows.is_padded {
                        let values = heard[nearest as usize * self.channels..].iter();
                        place
                            .iter_mut()
                            .zip(values)
                            .for_each(|(to, &value)| *to = out_type::scaled(value, self.divisor));
                    } else {
                        place.fill(out_type::scaled(0, self.divisor));
                    }
                }
            }
        }
        ctx.set_output(AudioMicrofrontend::FILTERBANKS, output)
    }
}

impl Frontend {
    /// Gives the value of each band in each window, windows in order: noise is known by those before.
    fn listen(&self, audio: &[i16], channels: usize, mut give: impl FnMut(usize, usize, u16)) -> Result<()> {
        let frequencies = self.transform.frequencies();
        let mut samples = scratch::zeros::<i16>(2 * (frequencies - 1))?;
        let mut work = scratch::filled(Complex::default(), frequencies - 1)?;
        let mut spectrum = scratch::filled(Complex::default(), frequencies)?;
        let mut estimates = scratch::zeros::<u32>(channels)?;
        let mut signal = scratch::zeros::<u32>(channels)?;
        for (frame, heard) in audio.windows(self.window.len()).step_by(self.step).enumerate() {
            let weighted = |(&sample, &weight): (&i16, &i16)| ((i32::from(sample) * i32::from(weight)) >> 12) as i16;
            let mut loudest = 0;
            for (place, pair) in samples.iter_mut().zip(heard.iter().zip(&self.window)) {
                *place = weighted(pair);
                loudest = loudest.max(place.wrapping_abs());
            }
            // As loud as 16 bits allow.
            let shift = 15 - width(loudest as u32);
            samples.iter_mut().for_each(|sample| *sample <<= shift);
            self.transform.run(&samples, &mut work, &mut spectrum);
            self.bands.energies(&spectrum, shift, &mut signal);
            self.noise.apply(&mut estimates, &mut signal);
            if let Some(gain) = &self.gain {
                gain.apply(&estimates, &mut signal);
            }
            for (band, &value) in signal.iter().enumerate() {
                give(frame, band, self.logged(value).min(u16::MAX.into()) as u16);
            }
        }
        Ok(())
    }

    fn logged(&self, value: u32) -> u32 {
        let Some(shift) = self.log_shift else { return value };
        let corrected = match self.correction_bits {
            down @ ..0 => value >> down.unsigned_abs(),
            up => value << up,
        };
        if corrected > 1 { logarithm(corrected, shift) } else { 0 }
    }
}
