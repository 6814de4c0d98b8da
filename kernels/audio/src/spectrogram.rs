//! AudioSpectrogram.

use std::sync::Arc;

use kernlink::bail;
use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::scratch;
use kernlink_macros::register_kernel;
use kernlink_ops::AudioSpectrogram;
use realfft::{RealFftPlanner, RealToComplex};

struct SpectrogramKernel {
    /// Hann's function.
    window: Vec<f64>,
    stride: usize,
    is_squared: bool,
    transform: Arc<dyn RealToComplex<f64>>,
}

/// The longest window: transforms of more samples would take more memory than their plans are worth.
const LONGEST: i64 = 1 << 24;

#[register_kernel(device = Cpu)]
impl OpKernel<AudioSpectrogram> for SpectrogramKernel {
    fn new(ctx: &KernelConstruction<'_, AudioSpectrogram>) -> Result<Self> {
        let attrs = ctx.attrs();
        let size = attrs.window_size;
        ensure!(
            (2..=i64::from(i32::MAX)).contains(&size),
            InvalidArgument,
            "window_size must be > 1 and an int32, got {size}"
        );
        ensure!(
            (1..=i64::from(i32::MAX)).contains(&attrs.stride),
            InvalidArgument,
            "stride must be > 0 and an int32, got {}",
            attrs.stride
        );
        ensure!(
            size <= LONGEST,
            ResourceExhausted,
            "a window of {size} samples is too long: at most {LONGEST} are taken"
        );
        let size = size as usize;
        let hann = |index: usize| 0.5 - 0.5 * (2.0 * std::f64::consts::PI * index as f64 / size as f64).cos();
        Ok(Self {
            window: scratch::collected((0..size).map(hann))?,
            stride: attrs.stride as usize,
            is_squared: attrs.magnitude_squared,
            transform: RealFftPlanner::new().plan_fft_forward(size.next_power_of_two()),
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, AudioSpectrogram>) -> Result<()> {
        let input = ctx.input(AudioSpectrogram::INPUT)?;
        let &[samples, channels] = input.shape().dims() else {
            bail!(InvalidArgument, "input must be 2-dimensional, not {}", input.shape());
        };
        let size = self.window.len();
        let windows = if samples < size { 0 } else { 1 + (samples - size) / self.stride };
        let frequencies = 1 + size.next_power_of_two() / 2;
        let mut output = ctx.allocate_output(AudioSpectrogram::SPECTROGRAM, [channels, windows, frequencies])?;
        let audio = input.as_slice::<f32>()?;
        let length = self.transform.len();
        // The nanoseconds that a strength takes.
        const COST: usize = 40;
        ctx.try_parallel_chunks(output.as_mut_slice::<f32>()?, frequencies, COST, |first, piece| {
            let mut samples = scratch::zeros::<f64>(length)?;
            let mut spectrum = scratch::filled(Default::default(), frequencies)?;
            let mut room = scratch::filled(Default::default(), self.transform.get_scratch_len())?;
            for (index, row) in piece.chunks_exact_mut(frequencies).enumerate() {
                let row_index = first / frequencies + index;
                let (channel, start) = (row_index / windows, row_index % windows * self.stride);
                let values = audio[start * channels + channel..].iter().step_by(channels);
                let weighted = samples.iter_mut().zip(values.zip(&self.window));
                weighted.for_each(|(place, (&value, weight))| *place = f64::from(value) * weight);
                // The transform leaves other values here.
                samples[size..].fill(0.0);
                self.transform
                    .process_with_scratch(&mut samples, &mut spectrum, &mut room)
                    .map_err(|error| Error::internal(error.to_string()))?;
                for (place, value) in row.iter_mut().zip(&spectrum) {
                    let squared = (value.re * value.re + value.im * value.im) as f32;
                    *place = if self.is_squared { squared } else { squared.sqrt() };
                }
            }
            Ok(())
        })?;
        ctx.set_output(AudioSpectrogram::SPECTROGRAM, output)
    }
}
