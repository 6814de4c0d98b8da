//! FixedUnigramCandidateSampler: classes with weights, by Walker's table of aliases (Knuth, The Art of Computer Programming,
//! volume 2, 3.4.1): of as many columns as there are classes each is shared by two.

use std::fs::File;
use std::io::{BufReader, Read};

use kernlink::error::{Error, Result, shortened, shortened_bytes};
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_kernels_common::random_floats::uniform32;
use kernlink_macros::register_kernel;
use kernlink_ops::FixedUnigramCandidateSampler;

use super::super::philox::Words;
use super::plain::range_of;
use super::{Distribution, Draw, below_32, int32};

/// A column: how much of it belongs to its own class, and which other class has the rest.
#[derive(Clone, Copy)]
struct Column {
    own: f32,
    alias: i32,
}

/// Weights, and the table of aliases.
struct Fixed {
    weights: Vec<f32>,
    total: f32,
    columns: Vec<Column>,
    /// How many classes can be drawn.
    possible: usize,
}

impl Fixed {
    /// Of weights, given the sum as it is to be divided by.
    fn new(weights: Vec<f32>, total: f32) -> Result<Fixed> {
        let count = weights.len();
        let mut columns = scratch::filled(Column { own: 0.0, alias: -1 }, count)?;
        let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
        let mut shares: Vec<f64> = scratch::room(count)?;
        let (mut high, mut low) = (scratch::room(count)?, scratch::room(count)?);
        for (class, &weight) in weights.iter().enumerate() {
            let share = f64::from(weight * count as f32) / sum;
            shares.push(share);
            if share < 1.0 { low.push(class) } else { high.push(class) }
        }
        while let Some((&short, &long)) = low.last().zip(high.last()) {
            low.pop();
            high.pop();
            columns[short].alias = long as i32;
            shares[long] -= 1.0 - shares[short];
            if shares[long] < 1.0 { low.push(long) } else { high.push(long) }
        }
        for (column, share) in columns.iter_mut().zip(&shares) {
            column.own = *share as f32;
        }
        // What is left over is whole but for rounding.
        for class in high.into_iter().chain(low) {
            columns[class] = Column { own: 1.0, alias: class as i32 };
        }
        let mut can = scratch::filled(false, count)?;
        for (class, column) in columns.iter().enumerate() {
            can[class] |= column.own > 0.0;
            // The greatest number that is drawn is below 1 by 2^-23.
            if column.own <= 1.0 - f32::EPSILON
                && let Some(alias) = usize::try_from(column.alias).ok().and_then(|alias| can.get_mut(alias))
            {
                *alias = true;
            }
        }
        let possible = can.into_iter().filter(|&can| can).count();
        Ok(Fixed { weights, total, columns, possible })
    }
}

impl Distribution for Fixed {
    fn range(&self) -> i64 {
        self.weights.len() as i64
    }

    fn possible(&self, enough: usize) -> usize {
        self.possible.min(enough)
    }

    fn sample(&self, words: &mut Words) -> i64 {
        let place = uniform32(words.word());
        let class = below_32(words, self.columns.len() as u32);
        match self.columns.get(class as usize) {
            Some(column) if place >= column.own || column.own.is_nan() => column.alias.into(),
            _ => class.into(),
        }
    }

    fn probability(&self, class: i64) -> f32 {
        let weight = usize::try_from(class).ok().and_then(|class| self.weights.get(class));
        weight.map_or(0.0, |weight| weight / self.total)
    }
}

/// Weights that are collected, those of one shard of many.
struct Collected {
    weights: Vec<f32>,
    total: f32,
    distortion: f32,
    shards: i32,
    shard: i32,
    /// The number of the next class.
    next: i32,
}

impl Collected {
    fn is_own(&self, class: i32) -> bool {
        class % self.shards == self.shard
    }

    /// Adds the next class, whose weight is asked for if it is of this shard.
    fn add(&mut self, weight: impl FnOnce() -> Result<f32>) -> Result<()> {
        if self.is_own(self.next) {
            let weight = weight()?.powf(self.distortion);
            self.total += weight;
            scratch::push(&mut self.weights, weight)?;
        }
        self.next = self.next.wrapping_add(1);
        Ok(())
    }

    /// Adds the classes of a file.
    fn read(&mut self, name: &str, range: i64) -> Result<()> {
        let cannot_read = |error| Error::from_io(format!("cannot read {}", shortened(name)), &error);
        let about = std::fs::metadata(name).map_err(cannot_read)?;
        // A directory has no lines, as in TensorFlow.
        ensure!(
            about.is_file() || about.is_dir(),
            InvalidArgument,
            "cannot read {}: it is no regular file",
            shortened(name)
        );
        if about.is_dir() {
            return Ok(());
        }
        let mut bytes = BufReader::new(File::open(name).map_err(cannot_read)?).bytes();
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut is_over = true;
            for byte in bytes.by_ref() {
                is_over = false;
                match byte.map_err(cannot_read)? {
                    b'\n' => break,
                    b'\r' => {}
                    byte => scratch::push(&mut line, byte)?,
                }
            }
            if is_over {
                return Ok(());
            }
            if line.is_empty() {
                continue;
            }
            self.add(|| weight_of(&line))?;
            // No more are of use, and a file may be endless.
            ensure!(
                self.weights.len() as i64 <= range,
                InvalidArgument,
                "range_max is {range}, but {} has more classes of this shard",
                shortened(name)
            );
        }
    }
}

/// What follows the last comma of a line.
fn weight_of(line: &[u8]) -> Result<f32> {
    let last = line.rsplit(|&byte| byte == b',').next().unwrap_or(line);
    let number = std::str::from_utf8(last).ok().and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| {
        Error::invalid_argument(format!(
            "a line of the vocabulary does not end with a comma and a number: {}",
            shortened_bytes(line)
        ))
    })
}

/// A sampler with given weights.
struct Sampler {
    draw: Draw,
    distribution: Fixed,
}

impl KernelState for Sampler {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let (draw, range) = (Draw::new(ctx)?, range_of(ctx)?);
        let (file, unigrams): (String, Vec<f32>) = (ctx.attrs.required("vocab_file")?, ctx.attrs.required("unigrams")?);
        match (file.is_empty(), unigrams.is_empty()) {
            (true, true) => bail!(InvalidArgument, "there must be a vocab_file or unigrams"),
            (false, false) => bail!(InvalidArgument, "there must be one of vocab_file and unigrams, not both"),
            _ => {}
        }
        let (shards, shard) = (int32(ctx, "num_shards")?.max(1), int32(ctx, "shard")?);
        let reserved = int32(ctx, "num_reserved_ids")?;
        let distortion = ctx.attrs.required("distortion")?;
        let mut collected = Collected { weights: Vec::new(), total: 0.0, distortion, shards, shard, next: 0 };
        let own = if shard < shards {
            (i64::from(reserved) - i64::from(shard) + i64::from(shards) - 1) / i64::from(shards)
        } else {
            0
        };
        let own = own.max(0);
        ensure!(own <= range, InvalidArgument, "range_max is {range}, but {own} reserved classes are of this shard");
        collected.weights = scratch::zeros(own as usize)?;
        // Classes are counted on from the reserved ones of this shard, as TensorFlow does.
        collected.next = own as i32;
        if file.is_empty() {
            unigrams.iter().try_for_each(|&weight| collected.add(|| Ok(weight)))?;
        } else {
            collected.read(&file, range)?;
        }
        ensure!(
            collected.weights.len() as i64 == range,
            InvalidArgument,
            "range_max is {range}, but there are weights for {} classes of this shard",
            collected.weights.len()
        );
        Ok(Self { draw, distribution: Fixed::new(collected.weights, collected.total)? })
    }
}

#[register_kernel(device = Cpu, op = FixedUnigramCandidateSampler)]
fn fixed(sampler: &Sampler, ctx: &mut RawContext<'_>) -> Result<()> {
    sampler.draw.run(ctx, &sampler.distribution)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::philox::Philox;

    #[test]
    fn classes_come_as_often_as_their_weights_say() {
        let weights = vec![1.0, 0.0, 3.0, 4.0, 8.0];
        let fixed = Fixed::new(weights.clone(), 16.0).unwrap();
        let mut words = Words::new(Philox::new(3, [1, 0]));
        let mut counts = [0u32; 5];
        (0..16_000).for_each(|_| counts[fixed.sample(&mut words) as usize] += 1);
        for (count, weight) in counts.iter().zip(&weights) {
            assert!((*count as f32 - 1000.0 * weight).abs() < 300.0, "{counts:?}");
        }
        assert_eq!((counts[1], fixed.possible(5), fixed.probability(3)), (0, 4, 0.25));
    }

    #[test]
    fn weights_stand_at_the_ends_of_lines() {
        for (line, weight) in [("a,1", 1.0), ("2.5", 2.5), ("a,b, 1e3 ", 1000.0)] {
            assert_eq!(weight_of(line.as_bytes()).unwrap(), weight);
        }
        for line in ["a,", "a", "a,1,", "1,b"] {
            assert!(weight_of(line.as_bytes()).is_err());
        }
    }
}
