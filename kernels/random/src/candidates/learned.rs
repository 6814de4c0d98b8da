//! Classes as likely as they were seen.

use std::sync::{Mutex, PoisonError};

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::scratch;
use kernlink_macros::register_kernel;
use kernlink_ops::{LearnedUnigramCandidateSampler, ThreadUnsafeUnigramCandidateSampler};

use super::super::philox::Words;
use super::plain::range_of;
use super::{Distribution, Draw, below_32};

/// How often each class was seen, and once more.
struct Counts {
    range: i32,
    total: i32,
    /// A Fenwick tree of how often each was seen: element `k - 1` is the sum of as many classes up to `k` as `k` is divisible
    /// by as a power of two. Classes that were not seen take no memory, but that of the system's pages of zeros.
    tree: Vec<i32>,
}

impl Counts {
    fn new(range: i32) -> Result<Counts> {
        Ok(Counts { range, total: range, tree: scratch::zeros(range as usize)? })
    }

    /// How often the classes before one were seen.
    fn seen_before(&self, class: usize) -> i32 {
        let (mut end, mut sum) = (class, 0);
        while end > 0 {
            sum += self.tree[end - 1];
            end &= end - 1;
        }
        sum
    }

    fn weight(&self, class: usize) -> i32 {
        1 + self.seen_before(class + 1) - self.seen_before(class)
    }

    fn add(&mut self, class: usize) {
        let mut end = class + 1;
        while end <= self.tree.len() {
            self.tree[end - 1] += 1;
            end += end & end.wrapping_neg();
        }
        self.total += 1;
    }

    /// The class that covers a place, if classes lie side by side, each as wide as its weight.
    fn at(&self, place: u32) -> i64 {
        let (mut class, mut before) = (0usize, 0u32);
        let mut stride = self.tree.len().checked_ilog2().map_or(0, |log| 1usize << log);
        while stride > 0 {
            if class + stride <= self.tree.len() {
                let width = stride as u32 + self.tree[class + stride - 1] as u32;
                if before + width <= place {
                    class += stride;
                    before += width;
                }
            }
            stride /= 2;
        }
        class as i64
    }

    /// Counts classes, as far as their number still fits.
    fn see(&mut self, classes: &[i64]) {
        let room = (i32::MAX - self.total) as usize;
        classes.iter().take(room).for_each(|&class| self.add(class as usize));
    }
}

impl Distribution for Counts {
    fn range(&self) -> i64 {
        self.range.into()
    }

    fn sample(&self, words: &mut Words) -> i64 {
        self.at(below_32(words, self.total as u32))
    }

    fn probability(&self, class: i64) -> f32 {
        self.weight(class as usize) as f32 / self.total as f32
    }
}

/// A sampler that learns.
struct Learned {
    draw: Draw,
    counts: Mutex<Counts>,
}

impl KernelState for Learned {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let range = range_of(ctx)?;
        ensure!(
            range < i64::from(i32::MAX),
            InvalidArgument,
            "range_max {range} must be less than {}, as weights are counted with 32 bits",
            i32::MAX
        );
        Ok(Self { draw: Draw::new(ctx)?, counts: Mutex::new(Counts::new(range as i32)?) })
    }
}

#[register_kernel(device = Cpu, op = LearnedUnigramCandidateSampler)]
#[register_kernel(device = Cpu, op = ThreadUnsafeUnigramCandidateSampler)]
fn learned(sampler: &Learned, ctx: &mut RawContext<'_>) -> Result<()> {
    // Counts are whole whatever panicked.
    let mut counts = sampler.counts.lock().unwrap_or_else(PoisonError::into_inner);
    sampler.draw.run(ctx, &*counts)?;
    counts.see(ctx.input_at(0)?.as_slice()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_covered_as_weights_say() {
        for range in [1, 2, 5, 8, 13] {
            let mut counts = Counts::new(range).unwrap();
            let mut weights = vec![1; range as usize];
            for k in 0..40 {
                let class = (k * k + 3) % range;
                counts.see(&[i64::from(class)]);
                weights[class as usize] += 1;
                assert_eq!(counts.total, weights.iter().sum::<i32>());
                let covered =
                    weights.iter().enumerate().flat_map(|(class, &weight)| vec![class as i64; weight as usize]);
                let found = (0..counts.total as u32).map(|place| counts.at(place));
                assert!(covered.eq(found), "{weights:?}");
                assert!((0..range as usize).all(|class| counts.weight(class) == weights[class]));
            }
        }
    }
}
