//! Binomial distributions, by inversion for small means and Hörmann's transformed rejection for others.

use kernlink::dtype::f16;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink_macros::register_kernel;
use kernlink_ops::StatelessRandomBinomial;

use super::drawn::{FromDouble, Pairs, Places, STEPS, at, doubles, draw_each, ensure_ends_with};
use super::fill::shape_of;
use super::philox::Philox;
use super::source::{Seeded, Source};

/// Steps of the generator that a number may take by inversion.
const INVERSION_STEPS: u64 = 42;

/// What a dtype of parameters makes of them before doubles are used.
pub(super) trait Parameter: FromDouble {
    /// Whether the mean is at least 10, and 1 less the probability.
    fn rounded(count: f64, prob: f64) -> (bool, f64);
}

impl Parameter for f64 {
    fn rounded(count: f64, prob: f64) -> (bool, f64) {
        (count * prob >= 10.0, 1.0 - prob)
    }
}

impl Parameter for f32 {
    fn rounded(count: f64, prob: f64) -> (bool, f64) {
        (count as f32 * prob as f32 >= 10.0, f64::from(1.0 - prob as f32))
    }
}

impl Parameter for f16 {
    fn rounded(count: f64, prob: f64) -> (bool, f64) {
        let [count, prob] = [count, prob].map(f16::from_double);
        (count * prob >= f16::from_f32(10.0), f64::from(f16::ONE - prob))
    }
}

/// A distribution: how its numbers are drawn.
enum Binomial {
    /// Always the same.
    Constant(f64),
    /// By inversion; of failures if the flag says so.
    Inversion { count: f64, prob: f64, failures: bool },
    /// By rejection; of failures if the flag says so.
    Rejection { count: f64, prob: f64, failures: bool },
}

impl Binomial {
    fn new<T: Parameter>(count: f64, prob: f64) -> Binomial {
        if count <= 0.0 || prob <= 0.0 {
            return Binomial::Constant(0.0);
        }
        if prob.is_nan() {
            return Binomial::Constant(prob);
        }
        if prob >= 1.0 {
            return Binomial::Constant(count);
        }
        let failures = prob > 0.5;
        let prob = if failures { T::rounded(count, prob).1 } else { prob };
        if T::rounded(count, prob).0 {
            Binomial::Rejection { count, prob, failures }
        } else {
            Binomial::Inversion { count, prob, failures }
        }
    }

    fn draw(&self, generator: Philox, place: u64) -> f64 {
        let (count, drawn, failures) = match *self {
            Binomial::Constant(value) => return value,
            Binomial::Inversion { count, prob, failures } => {
                (count, inversion(count, prob, at(generator, place, INVERSION_STEPS)), failures)
            }
            Binomial::Rejection { count, prob, failures } => {
                (count, rejection(count, prob, at(generator, place, STEPS)), failures)
            }
        };
        if failures { count - drawn } else { drawn }
    }
}

/// How many geometric numbers sum up to `count`.
fn inversion(count: f64, prob: f64, mut generator: Philox) -> f64 {
    let mut uniforms = Pairs::default();
    let (mut sum, mut drawn) = (0.0, 0.0);
    loop {
        sum += (uniforms.uniform(&mut generator).ln() / (-prob).ln_1p()).ceil();
        if sum > count {
            return drawn;
        }
        drawn += 1.0;
    }
}

/// ln k! less what Stirling's formula gives for it.
fn stirling_tail(k: f64) -> f64 {
    const TAILS: [f64; 10] = [
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    ];
    if k <= 9.0 {
        return TAILS[k as usize];
    }
    let square = (k + 1.0) * (k + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)
}

fn rejection(count: f64, prob: f64, mut generator: Philox) -> f64 {
    let deviation = (count * prob * (1.0 - prob)).sqrt();
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * prob;
    let c = count * prob + 0.5;
    let v_r = 0.92 - 4.2 / b;
    let r = prob / (1.0 - prob);
    let alpha = (2.83 + 5.1 / b) * deviation;
    let m = ((count + 1.0) * prob).floor();
    let mut uniforms = Pairs::default();
    loop {
        let u = uniforms.uniform(&mut generator);
        let v = uniforms.uniform(&mut generator);
        let u = u - 0.5;
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + c).floor();
        if us >= 0.07 && v <= v_r {
            return k;
        }
        if k < 0.0 || k > count {
            continue;
        }
        let v = (v * alpha / (a / (us * us) + b)).ln();
        let bound = (m + 0.5) * ((m + 1.0) / (r * (count - m + 1.0))).ln()
            + (count + 1.0) * ((count - m + 1.0) / (count - k + 1.0)).ln()
            + (k + 0.5) * (r * (count - k + 1.0) / (k + 1.0)).ln()
            + stirling_tail(m)
            + stirling_tail(count - m)
            - stirling_tail(k)
            - stirling_tail(count - k);
        if v <= bound {
            return k;
        }
    }
}

/// The numbers of a node with parameters of dtype `T`.
pub(super) fn numbers<S: Source, T: Parameter, U: FromDouble>(source: &S, ctx: &mut RawContext<'_>) -> Result<()> {
    source.check(ctx)?;
    let (counts, probs) = (ctx.input_at(S::PARAMETERS)?, ctx.input_at(S::PARAMETERS + 1)?);
    let places = Places::new([counts.shape(), probs.shape()])?;
    let shape = shape_of(ctx.input_at(S::SHAPE)?)?;
    ensure_ends_with(&shape, places.shape())?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    let numbers = output.as_mut_slice::<U>()?;
    if !numbers.is_empty() || S::ALWAYS {
        let (counts, probs) = (doubles(counts)?, doubles(probs)?);
        ensure!(!counts.iter().any(|count| count.is_nan()), InvalidArgument, "a count is NaN");
        let count = places.shape().num_elements();
        let samples = numbers.len().checked_div(count).unwrap_or(0) as u64;
        let steps = (count as u64).wrapping_mul(200).wrapping_mul(samples.wrapping_add(3)) / 4;
        let generator = source.generator(ctx, steps.wrapping_mul(STEPS))?;
        draw_each(ctx, numbers, count, 150, |binomial, place| {
            let [count, prob] = places.at(binomial);
            U::from_double(Binomial::new::<T>(counts[count], probs[prob]).draw(generator, place))
        });
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(
    device = Cpu,
    op = StatelessRandomBinomial,
    T = [f16, f32, f64],
    dtype = [f16, f32, f64, i32, i64],
    host_memory = ["shape", "seed", "counts", "probs"],
)]
fn stateless<T: Parameter, dtype: FromDouble>(source: &Seeded, ctx: &mut RawContext<'_>) -> Result<()> {
    numbers::<_, T, dtype>(source, ctx)
}
