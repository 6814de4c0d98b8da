//! Poisson distributions, by Knuth's method for small rates and Hörmann's transformed rejection for others.

use std::sync::atomic::{AtomicBool, Ordering};

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink_macros::register_kernel;
use kernlink_ops::{RandomPoisson, RandomPoissonV2, StatelessRandomPoisson};

use super::drawn::{FromDouble, Pairs, STEPS, at, doubles, draw_each, ensure_ends_with, joined};
use super::fill::shape_of;
use super::philox::Philox;
use super::source::{Seeded, Source, Stateful};

/// Draws in vain before a rate is given up on. TensorFlow never gives up.
const TRIES: usize = 100_000;

/// A distribution, with what can be computed once.
struct Poisson {
    rate: f64,
    exp: f64,
    ln: f64,
    a: f64,
    b: f64,
    inverse_alpha: f64,
}

impl Poisson {
    fn new(rate: f64) -> Poisson {
        let b = 0.931 + 2.53 * rate.sqrt();
        Poisson {
            rate,
            exp: (-rate).exp(),
            ln: rate.ln(),
            a: -0.059 + 0.02483 * b,
            b,
            inverse_alpha: 1.1239 + 1.1328 / (b - 3.4),
        }
    }

    /// A number up to `greatest`, unless there seems to be none.
    fn draw(&self, mut generator: Philox, greatest: f64) -> Option<f64> {
        let mut uniforms = Pairs::default();
        if self.rate < 10.0 {
            let (mut product, mut count) = (1.0, 0.0);
            loop {
                product *= uniforms.uniform(&mut generator);
                if product <= self.exp {
                    return Some(count);
                }
                count += 1.0;
            }
        }
        let (rate, a, b) = (self.rate, self.a, self.b);
        for _ in 0..TRIES {
            let u = uniforms.uniform(&mut generator) - 0.5;
            let v = uniforms.uniform(&mut generator);
            let us = 0.5 - u.abs();
            let k = ((2.0 * a / us + b) * u + rate + 0.43).floor();
            if k > greatest {
                continue;
            }
            if us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2.0) {
                return Some(k);
            }
            if k < 0.0 || us < 0.013 && v > us {
                continue;
            }
            if (v * self.inverse_alpha / (a / (us * us) + b)).ln() <= -rate + k * self.ln - libm::lgamma(k + 1.0) {
                return Some(k);
            }
        }
        None
    }
}

/// Poisson numbers. `APPEND` says that the shape is that of the numbers for each rate, else it is the output's.
fn numbers<S: Source, U: FromDouble, const APPEND: bool>(source: &S, ctx: &mut RawContext<'_>) -> Result<()> {
    source.check(ctx)?;
    let rates = ctx.input_at(S::PARAMETERS)?;
    let mut shape = shape_of(ctx.input_at(S::SHAPE)?)?;
    if APPEND {
        shape = joined(&shape, rates.shape())?;
    }
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    let numbers = output.as_mut_slice::<U>()?;
    if !numbers.is_empty() {
        ensure_ends_with(&shape, rates.shape())?;
        let rates = doubles(rates)?;
        ensure!(!rates.iter().any(|rate| rate.is_nan()), InvalidArgument, "a rate is NaN");
        let poissons = scratch::collected(rates.into_iter().map(Poisson::new))?;
        let generator = source.generator(ctx, (numbers.len() as u64).wrapping_mul(STEPS))?;
        let failed = AtomicBool::new(false);
        draw_each(ctx, numbers, poissons.len(), 100, |poisson, place| {
            let poisson = &poissons[poisson];
            if poisson.rate == f64::INFINITY {
                return U::INFINITY;
            }
            // One failure is enough.
            let drawn = (!failed.load(Ordering::Relaxed))
                .then(|| poisson.draw(at(generator, place, STEPS), U::GREATEST))
                .flatten();
            drawn.map_or_else(
                || {
                    failed.store(true, Ordering::Relaxed);
                    U::INFINITY
                },
                U::from_double,
            )
        });
        ensure!(!failed.into_inner(), InvalidArgument, "a rate is too great for {}", U::DTYPE);
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, op = RandomPoisson, dtype = [f16, f32, f64])]
// The rate's dtype does not matter to the loop; TensorFlow has a kernel for each pair of dtypes.
#[register_kernel(
    device = Cpu, op = RandomPoissonV2, R = [half, float, double, int32, int64], dtype = [f16, f32, f64, i32, i64]
)]
fn random_poisson<dtype: FromDouble>(source: &Stateful, ctx: &mut RawContext<'_>) -> Result<()> {
    numbers::<_, dtype, true>(source, ctx)
}

#[register_kernel(
    device = Cpu, op = StatelessRandomPoisson, Rtype = [half, float, double, int32, int64],
        dtype = [f16, f32, f64, i32, i64], host_memory = ["shape", "seed", "lam"]
)]
fn stateless_random_poisson<dtype: FromDouble>(source: &Seeded, ctx: &mut RawContext<'_>) -> Result<()> {
    numbers::<_, dtype, false>(source, ctx)
}
