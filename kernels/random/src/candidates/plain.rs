//! Distributions that follow from the range alone.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink_kernels_common::random_floats::uniform64;
use kernlink_macros::register_kernel;
use kernlink_ops::{AllCandidateSampler, LogUniformCandidateSampler, UniformCandidateSampler};

use super::super::philox::Words;
use super::{Distribution, Draw, below_64};

/// Attr `range_max`.
pub(super) fn range_of(ctx: &RawConstruction<'_>) -> Result<i64> {
    let range: i64 = ctx.attrs.required("range_max")?;
    ensure!(range > 0, InvalidArgument, "range_max must be positive, not {range}");
    Ok(range)
}

/// A sampler, and what it draws from.
struct Sampler<D> {
    draw: Draw,
    distribution: D,
}

impl<D: Distribution + From<i64> + Send + Sync + 'static> KernelState for Sampler<D> {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { draw: Draw::new(ctx)?, distribution: D::from(range_of(ctx)?) })
    }
}

/// All classes are equally likely.
struct Uniform(i64);

impl From<i64> for Uniform {
    fn from(range: i64) -> Uniform {
        Uniform(range)
    }
}

impl Distribution for Uniform {
    fn range(&self) -> i64 {
        self.0
    }

    fn sample(&self, words: &mut Words) -> i64 {
        below_64(words, self.0 as u64) as i64
    }

    fn probability(&self, _: i64) -> f32 {
        (1.0 / self.0 as f64) as f32
    }
}

/// The logarithms of classes are equally likely.
struct LogUniform {
    range: i64,
    log_range: f64,
}

impl From<i64> for LogUniform {
    fn from(range: i64) -> LogUniform {
        LogUniform { range, log_range: (range as f64).ln_1p() }
    }
}

impl Distribution for LogUniform {
    fn range(&self) -> i64 {
        self.range
    }

    fn sample(&self, words: &mut Words) -> i64 {
        let logarithm = uniform64(words.word(), words.word()) * self.log_range;
        // What is rounded up to the range begins anew.
        (logarithm.exp() as i64 - 1) % self.range
    }

    fn probability(&self, class: i64) -> f32 {
        let class = class as f64;
        (((class + 2.0) / (class + 1.0)).ln() / self.log_range) as f32
    }
}

#[register_kernel(device = Cpu, op = UniformCandidateSampler)]
fn uniform(sampler: &Sampler<Uniform>, ctx: &mut RawContext<'_>) -> Result<()> {
    sampler.draw.run(ctx, &sampler.distribution)
}

#[register_kernel(device = Cpu, op = LogUniformCandidateSampler)]
fn log_uniform(sampler: &Sampler<LogUniform>, ctx: &mut RawContext<'_>) -> Result<()> {
    sampler.draw.run(ctx, &sampler.distribution)
}

#[register_kernel(device = Cpu, op = AllCandidateSampler)]
fn all(draw: &Draw, ctx: &mut RawContext<'_>) -> Result<()> {
    let classes = draw.true_classes(ctx, draw.count as i64)?;
    let mut candidates = ctx.allocate_output_at(0, [draw.count])?;
    let mut of_true = ctx.allocate_output_at(1, classes.shape())?;
    let mut of_sampled = ctx.allocate_output_at(2, [draw.count])?;
    for (class, candidate) in (0..).zip(candidates.as_mut_slice::<i64>()?) {
        *candidate = class;
    }
    of_true.as_mut_slice::<f32>()?.fill(1.0);
    of_sampled.as_mut_slice::<f32>()?.fill(1.0);
    ctx.set_output_at(0, candidates)?;
    ctx.set_output_at(1, of_true)?;
    ctx.set_output_at(2, of_sampled)
}
