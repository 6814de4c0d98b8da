//! KmeansPlusPlusInitialization and KMC2ChainInitialization.

use std::sync::Arc;

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::step::Step;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_geometry::integers::scalar;
use kernlink_kernels_common::turn::transpose;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::draw::Draw;
use super::neighbors::{LANES, half_squared_norms, product};

/// Draws in a row that may hit points which are taken already, before one is taken that is not.
const VAIN_DRAWS: usize = 10_000;

/// Points, and those of them that are picked.
struct Sampling<'a> {
    points: &'a [f32],
    count: usize,
    width: usize,
    /// As many points as [`TOGETHER`] says at a time, of which each coordinate is written by itself: `[block][coordinate][point]`.
    turned: Vec<f32>,
    half_norms: Vec<f32>,
    picked: Vec<usize>,
    is_picked: Vec<bool>,
    /// Half the squared distance of each point to the nearest that is picked, and the sums of those up to each point.
    distances: Vec<f32>,
    sums: Vec<f32>,
    /// The distances once the best of the points that were drawn, or the last of them, is picked, too.
    best_distances: Vec<f32>,
    last_distances: Vec<f32>,
}

/// Points that are multiplied at a time: the lanes of a vector.
const TOGETHER: usize = 16;

/// The points but for the last few, as [`products`] reads them.
fn turned(points: &[f32], count: usize, width: usize) -> Result<Vec<f32>> {
    let blocks = count / TOGETHER;
    let mut turned = scratch::zeros(blocks * TOGETHER * width)?;
    if width > 0 {
        let blocks = points.chunks_exact(TOGETHER * width).zip(turned.chunks_exact_mut(TOGETHER * width));
        blocks.for_each(|(from, to)| transpose((from, width), (to, TOGETHER), [TOGETHER, width]));
    }
    Ok(turned)
}

widest! {
    /// Writes the [`product`] of a point with each of those that are turned, by the same additions.
    fn products(point: &[f32], turned: &[f32], target: &mut [f32]) {
        if point.is_empty() {
            return target.fill(0.0);
        }
        let (pieces, rest) = point.as_chunks::<LANES>();
        for (block, target) in turned.chunks_exact(point.len() * TOGETHER).zip(target.as_chunks_mut::<TOGETHER>().0) {
            let coordinates = block.as_chunks::<TOGETHER>().0;
            let mut sums = [[0.0f32; TOGETHER]; LANES];
            for (piece, coordinates) in pieces.iter().zip(coordinates.as_chunks::<LANES>().0) {
                for ((sums, &x), coordinates) in sums.iter_mut().zip(piece).zip(coordinates) {
                    sums.iter_mut().zip(coordinates).for_each(|(sum, y)| *sum += y * x);
                }
            }
            let mut last = [0.0f32; TOGETHER];
            for (&x, coordinates) in rest.iter().zip(&coordinates[pieces.len() * LANES..]) {
                last.iter_mut().zip(coordinates).for_each(|(sum, y)| *sum += y * x);
            }
            let [mut total, others @ ..] = sums;
            for sums in others.iter().chain([&last]) {
                total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            }
            *target = total;
        }
    }
}

impl<'a> Sampling<'a> {
    fn new(points: &'a [f32], count: usize, width: usize) -> Result<Sampling<'a>> {
        Ok(Sampling {
            points,
            count,
            width,
            turned: turned(points, count, width)?,
            half_norms: half_squared_norms(points, count, width)?,
            picked: Vec::new(),
            is_picked: scratch::zeros(count)?,
            distances: scratch::filled(f32::INFINITY, count)?,
            sums: scratch::zeros(count)?,
            best_distances: scratch::zeros(count)?,
            last_distances: scratch::zeros(count)?,
        })
    }

    fn point(&self, n: usize) -> &'a [f32] {
        &self.points[n * self.width..][..self.width]
    }

    /// A point that is not picked.
    fn draw(&self, random: &mut Draw) -> usize {
        if self.picked.is_empty() {
            return random.below(self.count as u64) as usize;
        }
        let total = self.sums[self.count - 1];
        for _ in 0..VAIN_DRAWS {
            let index = if total > 0.0 {
                let drawn = random.float() * total;
                self.sums.partition_point(|&sum| sum <= drawn).min(self.count - 1)
            } else {
                // All are where one is picked, or a distance is no number.
                random.below(self.count as u64) as usize
            };
            if !self.is_picked[index] {
                return index;
            }
        }
        self.is_picked.iter().position(|picked| !picked).unwrap_or(0)
    }

    /// Computes the distances once point `n` is picked, too; returns their sum.
    fn draw_distances(&mut self, n: usize) -> f32 {
        let (point, half_norm) = (self.point(n), self.half_norms[n]);
        products(point, &self.turned, &mut self.last_distances);
        for other in self.count / TOGETHER * TOGETHER..self.count {
            self.last_distances[other] = product(self.point(other), point);
        }
        let mut potential = 0.0;
        let known = self.half_norms.iter().zip(&self.distances);
        for (last, (other_half_norm, &distance)) in self.last_distances.iter_mut().zip(known) {
            let last_distance = (other_half_norm - *last) + half_norm;
            *last = if last_distance < distance { last_distance } else { distance };
            potential += *last;
        }
        potential
    }

    /// Picks one more point, the best of several that are drawn.
    ///
    /// # Errors
    /// That of the step, if it is cancelled or its time is up: the number of tries is an input.
    fn pick(&mut self, random: &mut Draw, tries: i64, step: Option<&Step>) -> Result<()> {
        let mut total = 0.0;
        for (sum, &distance) in self.sums.iter_mut().zip(&self.distances) {
            total += distance;
            *sum = total;
        }
        let mut best: Option<(f32, usize)> = None;
        for _ in 0..tries {
            if let Some(step) = step {
                step.check()?;
            }
            let index = self.draw(random);
            let potential = self.draw_distances(index);
            // Infinite potentials are never better; one point is taken in any case.
            if best.is_none_or(|(least, _)| potential < least) {
                best = Some((potential, index));
                std::mem::swap(&mut self.best_distances, &mut self.last_distances);
            }
        }
        if let Some((_, index)) = best {
            std::mem::swap(&mut self.distances, &mut self.best_distances);
            self.is_picked[index] = true;
            scratch::push(&mut self.picked, index)?;
        }
        Ok(())
    }
}

#[register_kernel(device = Cpu)]
fn kmeans_plus_plus(ctx: &mut KernelContext<'_, ops::KmeansPlusPlusInitialization>) -> Result<()> {
    type Op = ops::KmeansPlusPlusInitialization;
    let points = ctx.input(Op::POINTS)?;
    ensure!(points.rank() == 2, InvalidArgument, "Input points should be a matrix.");
    let to_sample = scalar(ctx.input(Op::NUM_TO_SAMPLE)?, "Input num_to_sample")?;
    let seed = scalar(ctx.input(Op::SEED)?, "Input seed")?;
    let retries = scalar(ctx.input(Op::NUM_RETRIES_PER_SAMPLE)?, "Input num_retries_per_sample")?;
    let (count, width) = (points.shape()[0], points.shape()[1]);
    ensure!(count > 0, InvalidArgument, "Expected points.rows() > 0.");
    ensure!(to_sample > 0, InvalidArgument, "Expected num_to_sample > 0.");
    ensure!(
        to_sample <= count as i64,
        InvalidArgument,
        "Expected num_to_sample <= points.rows(). {to_sample} vs {count}."
    );
    let retries = if retries >= 0 { retries } else { 2 + (to_sample as f64).ln() as i64 };
    ensure!(
        retries < i64::from(i32::MAX),
        InvalidArgument,
        "num_retries_per_sample must be below {}, not {retries}",
        i32::MAX
    );
    let mut output = ctx.allocate_output(Op::SAMPLES, [to_sample as usize, width])?;
    let mut sampling = Sampling::new(points.as_slice()?, count, width)?;
    let mut random = Draw::new(seed);
    let step = ctx.step().ok().map(Arc::as_ref);
    for _ in 0..to_sample {
        sampling.pick(&mut random, 1 + retries, step)?;
    }
    if width > 0 {
        for (row, &picked) in output.as_mut_slice::<f32>()?.chunks_exact_mut(width).zip(&sampling.picked) {
            row.copy_from_slice(sampling.point(picked));
        }
    }
    ctx.set_output(Op::SAMPLES, output)
}

#[register_kernel(device = Cpu)]
fn kmc2_chain(ctx: &mut KernelContext<'_, ops::KMC2ChainInitialization>) -> Result<()> {
    type Op = ops::KMC2ChainInitialization;
    let distances = ctx.input(Op::DISTANCES)?;
    ensure!(distances.rank() == 1, InvalidArgument, "Input distances should be a vector.");
    let seed = scalar(ctx.input(Op::SEED)?, "Input seed")?;
    let [first, rest @ ..] = distances.as_slice::<f32>()? else {
        bail!(InvalidArgument, "Expected distances_tensor.size() > 0.");
    };
    let mut random = Draw::new(seed);
    let mut state = (0i64, *first);
    for (index, &distance) in (1..).zip(rest) {
        // The chain moves on with a chance of the distance over that where it stands.
        if distance > random.float() * state.1 {
            state = (index, distance);
        }
    }
    ctx.set_output(Op::INDEX, Tensor::scalar(state.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_many_are_those_of_one() {
        for (count, width) in [(16, 1), (33, 7), (48, 8), (20, 29), (5, 3), (40, 0)] {
            let points: Vec<f32> = (0..count * width).map(|i| (i * 37 % 101) as f32 * 0.013 - 0.6).collect();
            let point = &points[..width];
            let mut found = vec![f32::NAN; count];
            products(point, &turned(&points, count, width).unwrap(), &mut found);
            for n in 0..count / TOGETHER * TOGETHER {
                assert_eq!(found[n], product(&points[n * width..][..width], point), "{n} of {count} x {width}");
            }
        }
    }
}
