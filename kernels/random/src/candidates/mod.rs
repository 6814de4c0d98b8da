//! Candidates for losses over few of many classes, and how often each is expected.

mod fixed;
mod hits;
mod learned;
mod plain;

use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::MakeRoom;
use kernlink::{bail, ensure};
use kernlink_kernels_common::hash::Set;

use super::philox::Words;
use super::source::Stateful;

/// A distribution over the classes from 0 on.
trait Distribution {
    /// The first class that is too great.
    fn range(&self) -> i64;
    /// How many classes may be drawn at all; no more are counted than `enough`.
    fn possible(&self, enough: usize) -> usize {
        usize::try_from(self.range()).map_or(enough, |range| range.min(enough))
    }
    /// A class.
    fn sample(&self, words: &mut Words) -> i64;
    /// How likely a class is, which is one of the range.
    fn probability(&self, class: i64) -> f32;
}

/// A number below `n`, all equally likely, by rejection.
fn below_32(words: &mut Words, n: u32) -> u32 {
    if n.is_power_of_two() {
        return words.word() & (n - 1);
    }
    let Some(rest) = u32::MAX.checked_rem(n) else { return words.word() * n };
    loop {
        let word = words.word();
        if word > rest {
            return word % n;
        }
    }
}

/// As [`below_32`], of 64 bits, the lower half drawn first.
fn below_64(words: &mut Words, n: u64) -> u64 {
    let mut next = || u64::from(words.word()) | u64::from(words.word()) << 32;
    if n.is_power_of_two() {
        return next() & (n - 1);
    }
    let Some(rest) = u64::MAX.checked_rem(n) else { return 0 };
    loop {
        let word = next();
        if word > rest {
            return word % n;
        }
    }
}

/// The attrs of all samplers, and the generator.
struct Draw {
    columns: usize,
    count: usize,
    is_unique: bool,
    source: Stateful,
}

/// An attr that TensorFlow reads as an int32.
fn int32(ctx: &RawConstruction<'_>, name: &str) -> Result<i32> {
    let value: i64 = ctx.attrs.required(name)?;
    i32::try_from(value)
        .map_err(|_| Error::invalid_argument(format!("attr {name} has value {value}, out of range for an int32")))
}

impl KernelState for Draw {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let size = |name: &str| int32(ctx, name).map(|size| usize::try_from(size).unwrap_or(0));
        Ok(Self {
            columns: size("num_true")?,
            count: size("num_sampled")?,
            is_unique: ctx.attrs.required("unique")?,
            source: Stateful::from_attrs(ctx.attrs)?,
        })
    }
}

impl Draw {
    /// The true classes, all of the range.
    fn true_classes<'c>(&self, ctx: &'c RawContext<'_>, range: i64) -> Result<&'c Tensor> {
        let classes = ctx.input_at(0)?;
        ensure!(
            classes.rank() == 2,
            InvalidArgument,
            "true_classes must be a matrix, not of shape {}",
            classes.shape()
        );
        ensure!(
            classes.shape()[1] == self.columns,
            InvalidArgument,
            "true_classes must have num_true = {} columns, not {}",
            self.columns,
            classes.shape()[1]
        );
        ensure!(
            !self.is_unique || self.count as i64 <= range,
            InvalidArgument,
            "{} different candidates are asked for, but there are only {range} classes",
            self.count
        );
        if let Some(class) = classes.as_slice::<i64>()?.iter().find(|class| !(0..range).contains(class)) {
            bail!(InvalidArgument, "a true class is {class}, which is not from 0 up to {range}");
        }
        Ok(classes)
    }

    /// Sets the outputs to candidates and expected counts.
    fn run(&self, ctx: &mut RawContext<'_>, distribution: &impl Distribution) -> Result<()> {
        let classes = self.true_classes(ctx, distribution.range())?;
        let mut candidates = ctx.allocate_output_at(0, [self.count])?;
        let mut of_true = ctx.allocate_output_at(1, classes.shape())?;
        let mut of_sampled = ctx.allocate_output_at(2, [self.count])?;
        // As many steps as TensorFlow reserves, which counts 32-bit numbers in 32 bits.
        let numbers = i64::from((self.count as i32).wrapping_mul(2048));
        let mut words = Words::new(self.source.reserve(((numbers + 3) / 4) as u64));
        let drawn = candidates.as_mut_slice::<i64>()?;
        let tries = if self.is_unique {
            self.draw_unique(ctx, distribution, &mut words, drawn)?
        } else {
            drawn.fill_with(|| distribution.sample(&mut words));
            self.count
        };
        let expected = |class: i64| {
            let probability = distribution.probability(class);
            if tries == self.count {
                return probability * self.count as f32;
            }
            // 1 - (1 - p)^tries, as if there were as many tries for each batch.
            -(tries as f32 * (-probability).ln_1p()).exp_m1()
        };
        let counts = of_sampled.as_mut_slice::<f32>()?.iter_mut().zip(&*drawn);
        counts.for_each(|(count, &class)| *count = expected(class));
        let counts = of_true.as_mut_slice::<f32>()?.iter_mut().zip(classes.as_slice::<i64>()?);
        counts.for_each(|(count, &class)| *count = expected(class));
        for (index, output) in [candidates, of_true, of_sampled].into_iter().enumerate() {
            ctx.set_output_at(index, output)?;
        }
        Ok(())
    }

    /// Draws until all candidates differ; how many tries that took.
    fn draw_unique(
        &self,
        ctx: &RawContext<'_>,
        distribution: &impl Distribution,
        words: &mut Words,
        target: &mut [i64],
    ) -> Result<usize> {
        /// Tries between two looks at whether somebody still waits.
        const LOOK: usize = 1 << 16;
        let possible = distribution.possible(self.count);
        ensure!(
            possible >= self.count,
            InvalidArgument,
            "{} different candidates are asked for, but only {possible} classes can be drawn: the others have no weight",
            self.count
        );
        let mut used = Set::default();
        used.make_room(self.count)?;
        let (mut picked, mut tries) = (0, 0);
        while picked < target.len() {
            tries += 1;
            if tries % LOOK == 0 {
                ensure!(
                    tries < i32::MAX as usize,
                    ResourceExhausted,
                    "{tries} tries gave only {picked} of {} different candidates: some are too unlikely",
                    self.count
                );
                if let Ok(step) = ctx.step() {
                    step.check()?;
                }
            }
            let class = distribution.sample(words);
            if used.insert(class) {
                target[picked] = class;
                picked += 1;
            }
        }
        Ok(tries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::philox::Philox;

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut words = Words::new(Philox::new(7, [1, 2]));
        for n in [1, 2, 3, 7, 64, 1000, u32::MAX] {
            for _ in 0..100 {
                assert!(below_32(&mut words, n) < n);
                assert!(below_64(&mut words, u64::from(n) << 20) < u64::from(n) << 20);
            }
        }
        assert_eq!((below_32(&mut words, 0), below_64(&mut words, 0)), (0, 0));
    }
}
