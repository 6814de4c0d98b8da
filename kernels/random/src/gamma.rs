//! Gamma distributions, by Marsaglia and Tsang's method.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink_macros::register_kernel;
use kernlink_ops::{RandomGamma, StatelessRandomGammaV2, StatelessRandomGammaV3};

use super::drawn::{FromDouble, Pairs, STEPS, at, doubles, draw_each, ensure_ends_with, joined};
use super::fill::shape_of;
use super::philox::Philox;
use super::source::{Keyed, Seeded, Source, Stateful};

/// A distribution, with what can be computed once.
struct Gamma {
    alpha: f64,
    d: f64,
    c: f64,
}

impl Gamma {
    fn new(alpha: f64) -> Gamma {
        let d = alpha + if alpha < 1.0 { 2.0 / 3.0 } else { -1.0 / 3.0 };
        Gamma { alpha, d, c: 1.0 / 3.0 / d.sqrt() }
    }

    fn draw(&self, mut generator: Philox) -> f64 {
        let (mut uniforms, mut normals) = (Pairs::default(), Pairs::default());
        if self.alpha == 1.0 {
            return -(-uniforms.uniform(&mut generator)).ln_1p();
        }
        loop {
            let x = normals.normal(&mut generator);
            let v = 1.0 + self.c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let u = uniforms.uniform(&mut generator);
            // The first condition is implied by the second nearly always, and spares the logarithms.
            if u < 1.0 - 0.0331 * (x * x) * (x * x) || u.ln() < 0.5 * x * x + self.d * (1.0 - v + v.ln()) {
                let result = self.d * v;
                if self.alpha < 1.0 {
                    return result * uniforms.uniform(&mut generator).powf(1.0 / self.alpha);
                }
                return result;
            }
        }
    }
}

/// Gamma numbers. `APPEND` says that the shape is that of the numbers for each alpha, else it is the output's.
fn numbers<S: Source, T: FromDouble, const APPEND: bool>(source: &S, ctx: &mut RawContext<'_>) -> Result<()> {
    source.check(ctx)?;
    let alpha = ctx.input_at(S::PARAMETERS)?;
    let mut shape = shape_of(ctx.input_at(S::SHAPE)?)?;
    if APPEND {
        shape = joined(&shape, alpha.shape())?;
    }
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    let numbers = output.as_mut_slice::<T>()?;
    if !numbers.is_empty() {
        ensure_ends_with(&shape, alpha.shape())?;
        let gammas = scratch::collected(doubles(alpha)?.into_iter().map(Gamma::new))?;
        let generator = source.generator(ctx, (numbers.len() as u64).wrapping_mul(STEPS))?;
        draw_each(ctx, numbers, gammas.len(), 80, |gamma, place| {
            T::from_double(gammas[gamma].draw(at(generator, place, STEPS)))
        });
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, op = RandomGamma, T = [f16, f32, f64])]
fn random_gamma<T: FromDouble>(source: &Stateful, ctx: &mut RawContext<'_>) -> Result<()> {
    numbers::<_, T, true>(source, ctx)
}

#[register_kernel(device = Cpu, op = StatelessRandomGammaV2, dtype = [f16, f32, f64], host_memory = ["shape", "seed"])]
fn stateless_random_gamma_v2<dtype: FromDouble>(source: &Seeded, ctx: &mut RawContext<'_>) -> Result<()> {
    numbers::<_, dtype, false>(source, ctx)
}

#[register_kernel(device = Cpu, op = StatelessRandomGammaV3, dtype = [f16, f32, f64], host_memory = ["shape", "alg"])]
fn stateless_random_gamma_v3<dtype: FromDouble>(source: &Keyed, ctx: &mut RawContext<'_>) -> Result<()> {
    numbers::<_, dtype, false>(source, ctx)
}
