//! KmeansPlusPlusInitialization and KMC2ChainInitialization.

use std::sync::Arc;

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::step::Step;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_geometry::integers::scalar;
use kernlink_kernels_common::outer::{Operand, Run, sum_outer};
use kernlink_kernels_common::tile::COLUMNS;
use kernlink_kernels_common::turn::transpose;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::draw::Draw;

/// Draws in a row that may hit points which are taken already, before one is taken that is not.
const VAIN_DRAWS: usize = 10_000;

/// Points, and those of them that are picked.
struct Sampling<'a> {
    points: &'a [f32],
    count: usize,
    width: usize,
    /// As [`turned`] turns them.
    turned: Vec<f32>,
    half_norms: Vec<f32>,
    picked: Vec<usize>,
    is_picked: Vec<bool>,
    /// Half the squared distance of each point to the nearest that is picked, and the sums of those up to each point.
    distances: Vec<f32>,
    sums: Vec<f32>,
    /// The distances once the best of the points that were drawn is picked, too.
    best_distances: Vec<f32>,
    /// The points that are tried, as [`products`] takes them, and the distances once one of them is picked, as it writes products.
    tried: Vec<f32>,
    tried_distances: Vec<f32>,
}

/// Points of a block: so many products [`sum_outer`] has under way at a time where there is AVX-512.
const BLOCK: usize = 64;

/// The points block by block, of each of which the first coordinates of all points come first, then the second ones.
fn turned(points: &[f32], width: usize) -> Result<Vec<f32>> {
    let mut turned = scratch::zeros(points.len())?;
    let block = (BLOCK * width).max(1);
    for (from, to) in points.chunks(block).zip(turned.chunks_mut(block)) {
        let count = from.len() / width;
        transpose((from, width), (to, count), [count, width]);
    }
    Ok(turned)
}

/// The blocks of points that are turned, and what is written for the points of each.
fn blocks<'a>(
    turned: &'a [f32],
    width: usize,
    target: &'a mut [f32],
) -> impl Iterator<Item = (&'a [f32], &'a mut [f32])> {
    let targets = target.chunks_mut(BLOCK).enumerate();
    targets.map(move |(index, target)| (&turned[index * BLOCK * width..][..target.len() * width], target))
}

/// Writes half the square of the distance to the origin of each of the points that are turned. The sums are made as [`products`]
/// makes them, so that points that are the same are no distance apart.
fn half_squared_norms(turned: &[f32], width: usize, target: &mut [f32]) {
    /// The products of so many with each other are formed, of which the diagonal counts: [`sum_outer`] computes whole lines of them.
    const SOME: usize = COLUMNS;
    for (block, target) in blocks(turned, width, target) {
        let count = target.len();
        for (first, target) in (0..).step_by(SOME).zip(target.chunks_mut(SOME)) {
            let mut squares = [0.0; SOME * SOME];
            let some = Operand { elements: block, step: count, width: target.len() };
            sum_outer(some, some, &[Run { left: first, right: first, count: width }], &mut squares, false);
            let diagonal = squares.iter().step_by(target.len() + 1);
            target.iter_mut().zip(diagonal).for_each(|(half, square)| *half = 0.5 * square);
        }
    }
}

/// Points that are tried at a time, at most.
const TRIED: usize = 4;

/// Writes the scalar products of a few points and each of those that are turned: block by block, those of the first point, of the
/// second, and so on. `few` has their first coordinates, then the second ones.
fn products(few: &[f32], count: usize, turned: &[f32], target: &mut [f32]) {
    let width = few.len() / count;
    let few = Operand { elements: few, step: count, width: count };
    for (index, target) in target.chunks_mut(BLOCK * count).enumerate() {
        let size = target.len() / count;
        let others = Operand { elements: &turned[index * BLOCK * width..], step: size, width: size };
        sum_outer(few, others, &[Run { left: 0, right: 0, count: width }], target, false);
    }
}

/// The parts of what [`products`] writes that belong to the `n`th of so many points.
fn parts(all: &[f32], count: usize, n: usize) -> impl Iterator<Item = &[f32]> {
    all.chunks(BLOCK * count).map(move |block| &block[n * (block.len() / count)..][..block.len() / count])
}

/// Sums that are under way at a time.
const SUMS: usize = 16;

widest! {
    /// `products` are those of `count` points and all others. Replaces those of the `n`th, given half of each point's square, by half the
    /// squared distance of each of the others to it, or to those that are picked if one of these is as near; returns the sum.
    fn replace_by_distances(half_norm: f32, half_norms: &[f32], distances: &[f32], products: &mut [f32], n: usize, count: usize) -> f32 {
        let mut sums = [0.0; SUMS];
        let blocks = half_norms.chunks(BLOCK).zip(distances.chunks(BLOCK)).zip(products.chunks_mut(BLOCK * count));
        for ((half_norms, distances), products) in blocks {
            let products = &mut products[n * half_norms.len()..][..half_norms.len()];
            let others = half_norms.chunks(SUMS).zip(distances.chunks(SUMS)).zip(products.chunks_mut(SUMS));
            for ((half_norms, distances), products) in others {
                for (sum, ((product, &other), &distance)) in sums.iter_mut().zip(products.iter_mut().zip(half_norms).zip(distances)) {
                    let new = (other - *product) + half_norm;
                    *product = if new < distance { new } else { distance };
                    *sum += *product;
                }
            }
        }
        sums.iter().sum()
    }
}

impl<'a> Sampling<'a> {
    /// At most so many points are tried at a time.
    fn new(points: &'a [f32], count: usize, width: usize, tries: usize) -> Result<Sampling<'a>> {
        let turned = turned(points, width)?;
        let mut half_norms = scratch::zeros(count)?;
        half_squared_norms(&turned, width, &mut half_norms);
        Ok(Sampling {
            points,
            count,
            width,
            turned,
            half_norms,
            picked: Vec::new(),
            is_picked: scratch::zeros(count)?,
            distances: scratch::filled(f32::INFINITY, count)?,
            sums: scratch::zeros(count)?,
            best_distances: scratch::zeros(count)?,
            tried: scratch::zeros(tries * width)?,
            tried_distances: scratch::zeros(tries * count)?,
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

    /// Computes the distances once each of a few points is picked, too; returns their sums.
    fn try_points(&mut self, drawn: &[usize]) -> [f32; TRIED] {
        let count = drawn.len();
        let tried = &mut self.tried[..count * self.width];
        for (k, &n) in drawn.iter().enumerate() {
            let point = &self.points[n * self.width..][..self.width];
            tried.iter_mut().skip(k).step_by(count).zip(point).for_each(|(to, &x)| *to = x);
        }
        let distances = &mut self.tried_distances[..count * self.count];
        products(tried, count, &self.turned, distances);
        let mut potentials = [0.0; TRIED];
        for (k, (potential, &n)) in potentials.iter_mut().zip(drawn).enumerate() {
            let half_norm = self.half_norms[n];
            *potential = replace_by_distances(half_norm, &self.half_norms, &self.distances, distances, k, count);
        }
        potentials
    }

    /// Picks one more point, the best of several that are drawn.
    ///
    /// # Errors
    /// That of the step, if it is cancelled or its time is up: the number of tries is an input.
    fn pick(&mut self, random: &mut Draw, mut tries: usize, step: Option<&Step>) -> Result<()> {
        let mut total = 0.0;
        for (sum, &distance) in self.sums.iter_mut().zip(&self.distances) {
            total += distance;
            *sum = total;
        }
        let mut best: Option<(f32, usize)> = None;
        while tries > 0 {
            if let Some(step) = step {
                step.check()?;
            }
            let count = tries.min(TRIED);
            tries -= count;
            let mut drawn = [0; TRIED];
            drawn[..count].iter_mut().for_each(|index| *index = self.draw(random));
            let potentials = self.try_points(&drawn[..count]);
            let mut better = None;
            for (k, (&potential, &index)) in potentials.iter().zip(&drawn).enumerate().take(count) {
                // Infinite potentials are never better; one point is taken in any case.
                if best.is_none_or(|(least, _)| potential < least) {
                    best = Some((potential, index));
                    better = Some(k);
                }
            }
            if let Some(k) = better {
                let from = parts(&self.tried_distances[..count * self.count], count, k);
                self.best_distances.chunks_mut(BLOCK).zip(from).for_each(|(to, from)| to.copy_from_slice(from));
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
    let tries = 1 + retries as usize;
    let mut sampling = Sampling::new(points.as_slice()?, count, width, tries.min(TRIED))?;
    let mut random = Draw::new(seed);
    let step = ctx.step().ok().map(Arc::as_ref);
    for _ in 0..to_sample {
        sampling.pick(&mut random, tries, step)?;
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
    fn products_and_norms_are_those_of_the_definition_and_of_each_other() {
        for (count, width) in [(1, 1), (16, 1), (33, 7), (64, 8), (65, 29), (200, 3), (40, 0)] {
            let points: Vec<f32> = (0..count * width).map(|i| (i * 37 % 101) as f32 * 0.013 - 0.6).collect();
            let turned = turned(&points, width).unwrap();
            let mut half_norms = vec![f32::NAN; count];
            half_squared_norms(&turned, width, &mut half_norms);
            let point = |n: usize| &points[n * width..][..width];
            for few in [1, 2, 3, TRIED] {
                for first in (0..count).step_by(few) {
                    // The last ones again where there are no more.
                    let some: [usize; TRIED] = std::array::from_fn(|k| (first + k).min(count - 1));
                    let coordinates: Vec<f32> = (0..width * few).map(|i| point(some[i % few])[i / few]).collect();
                    let mut all = vec![f32::NAN; few * count];
                    products(&coordinates, few, &turned, &mut all);
                    for (k, &n) in some[..few].iter().enumerate() {
                        let found: Vec<f32> = parts(&all, few, k).flatten().copied().collect();
                        assert_eq!(found.len(), count);
                        for (m, &found) in found.iter().enumerate() {
                            let expected: f64 =
                                point(n).iter().zip(point(m)).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
                            assert!((f64::from(found) - expected).abs() < 1e-5, "{n} and {m} of {count} x {width}");
                        }
                        assert_eq!(found[n], 2.0 * half_norms[n], "{n} of {count} x {width}");
                    }
                }
            }
        }
    }

    #[test]
    fn distances_are_those_to_the_nearest_and_add_up() {
        for count in [1, 15, 16, 40, 64, 65, 150] {
            for few in 1..=TRIED {
                let (norms, known) = (vec![2.0; count], (0..count).map(|n| n as f32 * 0.25).collect::<Vec<_>>());
                let before: Vec<f32> = (0..few * count).map(|n| (n % 5) as f32).collect();
                for k in 0..few {
                    let mut found = before.clone();
                    let sum = replace_by_distances(1.0, &norms, &known, &mut found, k, few);
                    for n in 0..few {
                        let products = parts(&before, few, n).flatten().zip(&known);
                        let distance = |(x, &known): (&f32, &f32)| if n == k { known.min(2.0 - x + 1.0) } else { *x };
                        let expected: Vec<f32> = products.map(distance).collect();
                        assert_eq!(parts(&found, few, n).flatten().copied().collect::<Vec<_>>(), expected);
                        assert!(n != k || sum == expected.iter().sum());
                    }
                }
            }
        }
    }
}
