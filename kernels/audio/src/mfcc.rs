//! Mfcc: the mel-frequency cepstrum, as the Hidden Markov Model Toolkit computes it.

use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::Mfcc;

/// The least strength of a band, of which there is a logarithm.
const FLOOR: f64 = 1e-12;

/// A frequency on the mel scale.
fn mel(frequency: f64) -> f64 {
    1127.0 * (frequency / 700.0).ln_1p()
}

/// Bands of the mel scale: triangles, each of which begins and ends where its neighbours are highest.
struct Bands {
    count: usize,
    is_short: bool,
    /// The first frequency that counts, and behind it, for each, the band on whose falling side it is, or none for those
    /// below the first band's top, and its weight there. The rest of it belongs to the next band.
    first: usize,
    weights: Vec<(Option<usize>, f64)>,
}

impl Bands {
    /// `None` if there are none for these limits.
    fn new(frequencies: usize, sample_rate: f64, count: usize, lower: f64, upper: f64) -> Result<Option<Bands>> {
        if count < 1 || sample_rate <= 0.0 || frequencies < 2 || lower < 0.0 || upper <= lower {
            return Ok(None);
        }
        let low = mel(lower);
        let spacing = (mel(upper) - low) / (count + 1) as f64;
        let top = |band: usize| low + spacing * (band + 1) as f64;
        let width = 0.5 * sample_rate / (frequencies - 1) as f64;
        // The constant part never counts.
        let first = (1.5 + lower / width) as usize;
        let last = (upper / width) as usize;
        // As in TensorFlow, spectra that do not reach up to the limit have no strengths at all.
        let is_short = last >= frequencies;
        let mut band = 0;
        let weights = (first..if is_short { first } else { (last + 1).max(first) }).map(|index| {
            let at = mel(index as f64 * width);
            while band < count && top(band) < at {
                band += 1;
            }
            match band.checked_sub(1) {
                // Behind the last top there is one more, where the last triangle ends.
                Some(falling) => (Some(falling), (top(falling + 1) - at) / (top(falling + 1) - top(falling))),
                None => (None, (top(0) - at) / (top(0) - low)),
            }
        });
        Ok(Some(Bands { count, is_short, first, weights: scratch::collected(weights)? }))
    }

    /// The strengths of the bands, of squares of magnitudes.
    fn strengths(&self, squares: &[f32], bands: &mut [f64]) {
        bands.fill(0.0);
        for (&square, &(falling, weight)) in squares[self.first.min(squares.len())..].iter().zip(&self.weights) {
            let strength = f64::from(square).sqrt();
            let weighted = strength * weight;
            if let Some(band) = falling {
                bands[band] += weighted;
            }
            let rising = falling.map_or(0, |band| band + 1);
            if rising < self.count {
                bands[rising] += strength - weighted;
            }
        }
    }
}

/// The most cosines: more would take longer to compute than any spectrogram.
const MOST_COSINES: i64 = 1 << 27;

struct MfccKernel {
    upper: f64,
    lower: f64,
    bands: usize,
    /// A row of cosines for each coefficient.
    cosines: Vec<f64>,
    coefficients: usize,
}

#[register_kernel(device = Cpu)]
impl OpKernel<Mfcc> for MfccKernel {
    fn new(ctx: &KernelConstruction<'_, Mfcc>) -> Result<Self> {
        let attrs = ctx.attrs();
        let (bands, coefficients) = (attrs.filterbank_channel_count, attrs.dct_coefficient_count);
        ensure!(
            (1..=i64::from(i32::MAX)).contains(&bands) && (1..=bands).contains(&coefficients),
            InvalidArgument,
            "Mfcc needs at least one band and one coefficient, and no more coefficients than bands: there are \
             {coefficients} for {bands}"
        );
        ensure!(
            bands.saturating_mul(coefficients) <= MOST_COSINES,
            ResourceExhausted,
            "{coefficients} coefficients of {bands} bands are too many: their product is at most {MOST_COSINES}"
        );
        let (bands, coefficients) = (bands as usize, coefficients as usize);
        let (norm, step) = ((2.0 / bands as f64).sqrt(), std::f64::consts::PI / bands as f64);
        let cosine = |index: usize| {
            let (row, column) = (index / bands, index % bands);
            norm * (row as f64 * step * (column as f64 + 0.5)).cos()
        };
        Ok(Self {
            upper: attrs.upper_frequency_limit.into(),
            lower: attrs.lower_frequency_limit.into(),
            bands,
            cosines: scratch::collected((0..bands * coefficients).map(cosine))?,
            coefficients,
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Mfcc>) -> Result<()> {
        let (spectrogram, rate) = (ctx.input(Mfcc::SPECTROGRAM)?, ctx.input(Mfcc::SAMPLE_RATE)?);
        let &[channels, windows, frequencies] = spectrogram.shape().dims() else {
            bail!(InvalidArgument, "spectrogram must be 3-dimensional, not {}", spectrogram.shape());
        };
        ensure!(
            rate.rank() == 0,
            InvalidArgument,
            "Input sample_rate should be a scalar tensor, got {} instead.",
            rate.shape()
        );
        let rate = rate.to_scalar::<i32>()?;
        let bands = Bands::new(frequencies, rate.into(), self.bands, self.lower, self.upper)?;
        let Some(bands) = bands else {
            bail!(
                InvalidArgument,
                "Mfcc initialization failed for channel count {frequencies}, sample rate {rate}, lower_frequency_limit {} \
                 and upper_frequency_limit {}: limits must be in order and not negative",
                self.lower,
                self.upper
            );
        };
        let mut output = ctx.allocate_output(Mfcc::OUTPUT, [channels, windows, self.coefficients])?;
        let squares = spectrogram.as_slice::<f32>()?;
        let cost = (frequencies * 4 + self.bands * 10 + self.cosines.len()) / self.coefficients + 1;
        ctx.try_parallel_chunks(output.as_mut_slice::<f32>()?, self.coefficients, cost, |first, piece| {
            let mut strengths = scratch::zeros::<f64>(self.bands)?;
            for (index, row) in piece.chunks_exact_mut(self.coefficients).enumerate() {
                let window = first / self.coefficients + index;
                bands.strengths(&squares[window * frequencies..(window + 1) * frequencies], &mut strengths);
                // A strength that is no number stays.
                let logarithm = |strength: &mut f64| *strength = if *strength < FLOOR { FLOOR } else { *strength }.ln();
                strengths.iter_mut().for_each(logarithm);
                if bands.is_short {
                    row.fill(0.0);
                    continue;
                }
                for (place, cosines) in row.iter_mut().zip(self.cosines.chunks_exact(self.bands)) {
                    *place =
                        cosines.iter().zip(&strengths).map(|(cosine, strength)| cosine * strength).sum::<f64>() as f32;
                }
            }
            Ok(())
        })?;
        ctx.set_output(Mfcc::OUTPUT, output)
    }
}
