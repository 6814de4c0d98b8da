//! What becomes of a spectrum: energies of the bands of the mel scale, less the noise that stays, with even gain, on a
//! logarithmic scale. All in whole numbers, whose rounding and overflow are those of TensorFlow Lite's microfrontend.

use kernlink::error::Result;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};

use super::transform::Complex;

/// The bits of a number up to its highest.
pub(super) fn width(number: u32) -> u32 {
    32 - number.leading_zeros()
}

/// Bits behind the point of a band's weights.
pub(super) const WEIGHT_BITS: u32 = 12;

/// What a band takes of the frequencies from `first` on.
struct Band {
    first: usize,
    /// For each frequency what goes to this band, and to the next one.
    weights: Vec<[i16; 2]>,
}

/// Bands of the mel scale that overlap by halves.
pub(super) struct Bands {
    bands: Vec<Band>,
}

fn mel(frequency: f32) -> f32 {
    (1127.0 * (f64::from(frequency) / 700.0).ln_1p()) as f32
}

impl Bands {
    /// `count` bands between two frequencies, of a spectrum of this many.
    ///
    /// # Errors
    /// INTERNAL, as in TensorFlow, if the bands reach beyond the spectrum.
    pub(super) fn new(count: usize, lower: f32, upper: f32, sample_rate: i32, frequencies: usize) -> Result<Bands> {
        ensure!(
            lower >= 0.0 && upper > lower,
            InvalidArgument,
            "upper_band_limit must be above lower_band_limit, and that not below zero, but they are {upper} and {lower}"
        );
        let (lowest, highest) = (mel(lower), mel(upper));
        let spacing = (highest - lowest) / (count + 1) as f32;
        let center = |index: usize| lowest + spacing * (index + 1) as f32;
        let hertz = (0.5 * f64::from(sample_rate) / f64::from(frequencies as f32 - 1.0)) as f32;
        // The constant part never counts.
        let mut next = (1.5 + f64::from(lower / hertz)) as usize;
        let mut bands = Vec::with_capacity(count + 1);
        for index in 0..=count {
            let (first, middle) = (next, center(index));
            let before = if index == 0 { lowest } else { center(index - 1) };
            let mut weights = Vec::new();
            loop {
                let here = mel(next as f32 * hertz);
                if here > middle || middle.is_nan() || here.is_nan() {
                    break;
                }
                ensure_within(next + 1, frequencies)?;
                let weight = (middle - here) / (middle - before);
                let fixed = |value: f64| (value + 0.5).floor() as i32 as i16;
                let one = f64::from(1 << WEIGHT_BITS);
                let own = fixed(f64::from(weight * (1 << WEIGHT_BITS) as f32));
                weights.push([own, fixed((1.0 - f64::from(weight)) * one)]);
                next += 1;
            }
            bands.push(Band { first, weights });
        }
        ensure_within(next, frequencies)?;
        Ok(Bands { bands })
    }

    /// The roots of the bands' energies, shifted down as far as the samples were shifted up.
    pub(super) fn energies(&self, spectrum: &[Complex], shift: u32, signal: &mut [u32]) {
        let energy = |number: &Complex| {
            let [re, im] = [i32::from(number.re), i32::from(number.im)];
            // A signed number to what adds it up, so that 2^31 is one below zero.
            (re * re).wrapping_add(im * im) as i64 as u64
        };
        let mut carried = 0u64;
        for (index, band) in self.bands.iter().enumerate() {
            let mut sum = std::mem::take(&mut carried);
            for (number, weights) in spectrum[band.first..].iter().zip(&band.weights) {
                let [own, next] = weights.map(|weight| i64::from(weight) as u64);
                sum = sum.wrapping_add(own.wrapping_mul(energy(number)));
                carried = carried.wrapping_add(next.wrapping_mul(energy(number)));
            }
            // The first has what lies below the lowest band.
            if let Some(place) = index.checked_sub(1) {
                signal[place] = root(sum) >> shift;
            }
        }
    }
}

fn ensure_within(end: usize, frequencies: usize) -> Result<()> {
    ensure!(
        end < frequencies,
        Internal,
        "failed to populate frontend state: the bands reach beyond the {frequencies} frequencies of the spectrum; lower upper_band_limit"
    );
    Ok(())
}

/// The square root, rounded but for what has no room.
fn root(number: u64) -> u32 {
    // Numbers of 32 bits have results of 16.
    let (highest, limit) = match u32::try_from(number) {
        Ok(0) => return 0,
        Ok(narrow) => (width(narrow), u64::from(u16::MAX)),
        Err(_) => (64 - number.leading_zeros(), u64::from(u32::MAX)),
    };
    let (mut rest, mut result) = (number, 0u64);
    let mut bit = 1u64 << ((highest - 1) & !1);
    while bit > 0 {
        if rest >= result + bit {
            rest -= result + bit;
            result = (result >> 1) + bit;
        } else {
            result >>= 1;
        }
        bit >>= 2;
    }
    if rest > result && result != limit {
        result += 1;
    }
    result as u32
}

/// Takes away what stays the same for long.
pub(super) struct NoiseReduction {
    pub(super) smoothing_bits: i32,
    /// How fast estimates follow, of even and odd bands.
    pub(super) smoothing: [u16; 2],
    /// The part of a signal that stays at least.
    pub(super) least: u16,
}

impl NoiseReduction {
    /// Bits behind the point of its fields.
    const BITS: u32 = 14;

    /// A part of one as a field of it.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is none.
    pub(super) fn part(value: f32, name: &str) -> Result<u16> {
        ensure!((0.0..=1.0).contains(&value), InvalidArgument, "{name} must lie between 0 and 1, not {value}");
        Ok((value * (1 << Self::BITS) as f32) as u16)
    }

    pub(super) fn apply(&self, estimates: &mut [u32], signal: &mut [u32]) {
        let shift = self.smoothing_bits as u32;
        for (index, (value, estimate)) in signal.iter_mut().zip(estimates).enumerate() {
            let smoothing = u64::from(self.smoothing[index % 2]);
            let scaled = value.wrapping_shl(shift);
            let kept = (1 << Self::BITS) - smoothing;
            *estimate = ((u64::from(scaled) * smoothing + u64::from(*estimate) * kept) >> Self::BITS) as u32;
            let floor = ((u64::from(*value) * u64::from(self.least)) >> Self::BITS) as u32;
            *value = (scaled - scaled.min(*estimate)).wrapping_shr(shift).max(floor);
        }
    }
}

/// Amplifies what is little louder than its noise more than what is far louder (per-channel amplitude normalization).
pub(super) struct GainControl {
    /// The gain by the noise: four numbers for each power of two, of a parabola.
    table: Vec<i16>,
    shift: i32,
}

impl GainControl {
    const SNR_BITS: u32 = 12;
    const OUTPUT_BITS: u32 = 6;

    /// # Errors
    /// RESOURCE_EXHAUSTED if there is no memory for the table.
    pub(super) fn new(
        strength: f32,
        offset: f32,
        gain_bits: i32,
        smoothing_bits: i32,
        correction_bits: i32,
    ) -> Result<GainControl> {
        let input_bits = i32::from(smoothing_bits as u16) - correction_bits;
        let gain = |noise: u32| {
            let noise = noise as f32 / 1u32.wrapping_shl(input_bits as u32) as f32;
            let gain = 1u32.wrapping_shl(gain_bits as u32) as f32 * (noise + offset).powf(-strength);
            if gain > f32::from(i16::MAX) { i16::MAX } else { (gain + 0.5) as i32 as i16 }
        };
        let mut table = scratch::zeros::<i16>(4 * 32 - 3)?;
        (table[0], table[1]) = (gain(0), gain(1));
        for interval in 2..=32usize {
            let low = 1u32 << (interval - 1);
            let high = if interval == 32 { u32::MAX } else { 2 * low };
            let [start, middle, end] = [low, low + (low >> 1), high].map(|noise| i32::from(gain(noise)));
            let linear = 4 * (middle - start) - (end - start);
            let place = 4 * interval - 6;
            table[place..place + 3].copy_from_slice(&[start as i16, linear as i16, (end - start - linear) as i16]);
        }
        Ok(GainControl { table, shift: gain_bits - correction_bits - Self::SNR_BITS as i32 })
    }

    fn gain(&self, noise: u32) -> i16 {
        if noise <= 2 {
            return self.table[noise as usize];
        }
        let interval = width(noise);
        let table = &self.table[4 * interval as usize - 6..];
        let moved = if interval < 11 { noise << (11 - interval) } else { noise >> (interval - 11) };
        let fraction = (moved & 0x3FF) as i32;
        let slope = ((i32::from(table[2]) * fraction) >> 5).wrapping_add(i32::from(table[1]) << 5);
        let rise = slope.wrapping_mul(fraction).wrapping_add(1 << 14) >> 15;
        rise.wrapping_add(i32::from(table[0])) as i16
    }

    pub(super) fn apply(&self, estimates: &[u32], signal: &mut [u32]) {
        for (value, &noise) in signal.iter_mut().zip(estimates) {
            let gain = i32::from(self.gain(noise)) as u32;
            let ratio = (u64::from(*value) * u64::from(gain)).wrapping_shr(self.shift as u32) as u32;
            *value = if ratio < 2 << Self::SNR_BITS {
                ratio.wrapping_mul(ratio) >> (2 + 2 * Self::SNR_BITS - Self::OUTPUT_BITS)
            } else {
                (ratio >> (Self::SNR_BITS - Self::OUTPUT_BITS)) - (1 << Self::OUTPUT_BITS)
            };
        }
    }
}

/// Bits behind the point of logarithms.
const LOG_BITS: u32 = 16;
/// The logarithm of two.
const LN_2: u64 = 45426;
/// By how much `log2(1 + x)` is above `x`, for 128 parts of the way from 0 to 1.
const ABOVE: [u16; 130] = [
    0, 224, 442, 654, 861, 1063, 1259, 1450, 1636, 1817, 1992, 2163, 2329, 2490, 2646, 2797, 2944, 3087, 3224, 3358,
    3487, 3611, 3732, 3848, 3960, 4068, 4172, 4272, 4368, 4460, 4549, 4633, 4714, 4791, 4864, 4934, 5001, 5063, 5123,
    5178, 5231, 5280, 5326, 5368, 5408, 5444, 5477, 5507, 5533, 5557, 5578, 5595, 5610, 5622, 5631, 5637, 5640, 5641,
    5638, 5633, 5626, 5615, 5602, 5586, 5568, 5547, 5524, 5498, 5470, 5439, 5406, 5370, 5332, 5291, 5249, 5203, 5156,
    5106, 5054, 5000, 4944, 4885, 4825, 4762, 4697, 4630, 4561, 4490, 4416, 4341, 4264, 4184, 4103, 4020, 3935, 3848,
    3759, 3668, 3575, 3481, 3384, 3286, 3186, 3084, 2981, 2875, 2768, 2659, 2549, 2437, 2323, 2207, 2090, 1971, 1851,
    1729, 1605, 1480, 1353, 1224, 1094, 963, 830, 695, 559, 421, 282, 142, 0, 0,
];

/// The natural logarithm of a number above one, times a power of two.
pub(super) fn logarithm(number: u32, scale_shift: i32) -> u32 {
    let whole = width(number) - 1;
    let rest = number - (1 << whole);
    let fraction = if whole < LOG_BITS { rest << (LOG_BITS - whole) } else { rest >> (whole - LOG_BITS) };
    let segment = fraction >> (LOG_BITS - 7);
    let [low, high] = [0, 1].map(|next| i32::from(ABOVE[segment as usize + next]));
    let within = (fraction - (segment << (LOG_BITS - 7))) as i32;
    let above = low + (((high - low) * within) >> LOG_BITS);
    let log2 = (whole << LOG_BITS) + fraction.wrapping_add_signed(above);
    let half = 1 << (LOG_BITS - 1);
    let natural = ((LN_2 * u64::from(log2) + half) >> LOG_BITS) as u32;
    natural.wrapping_shl(scale_shift as u32).wrapping_add(half as u32) >> LOG_BITS
}

/// Refuses a number of bits by which nothing can be shifted.
pub(super) fn bits(number: i64, name: &str) -> Result<i32> {
    match i32::try_from(number) {
        Ok(bits @ 0..=31) => Ok(bits),
        _ => bail!(InvalidArgument, "{name} must lie between 0 and 31, not {number}"),
    }
}
