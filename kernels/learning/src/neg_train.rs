//! NegTrain.

use kernlink::dtype::DataType;
use kernlink::kernel::place::update;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_geometry::random::philox::Shared;
use kernlink_macros::register_kernel;
use kernlink_ops::NegTrain;

use crate::draw::Draw;

/// Draws numbers by their weights, in constant time. (A. J. Walker, An Efficient Method for Generating Discrete Random
/// Variables with General Distributions, 1977.)
struct Sampler {
    /// For each number the probability that it is taken if it was drawn, and what is taken otherwise.
    places: Vec<(f32, usize)>,
}

impl Sampler {
    fn new(weights: &[f32]) -> Result<Sampler> {
        let count = weights.len() as f32;
        let sum: f64 = weights.iter().copied().map(f64::from).sum();
        let share = |&weight: &f32| f64::from(weight * count) / sum;
        let mut shares: Vec<f64> = scratch::collected(weights.iter().map(share))?;
        let mut places: Vec<(f32, usize)> = scratch::collected((0..weights.len()).map(|number| (1.0, number)))?;
        let (mut low, mut high) = (scratch::room(weights.len())?, scratch::room(weights.len())?);
        for (number, &share) in shares.iter().enumerate() {
            if share < 1.0 { &mut low } else { &mut high }.push(number);
        }
        // What a number lacks it has from one that has more than its share.
        while let (Some(&less), Some(&more)) = (low.last(), high.last()) {
            low.pop();
            high.pop();
            places[less] = (shares[less] as f32, more);
            shares[more] -= 1.0 - shares[less];
            if shares[more] < 1.0 { &mut low } else { &mut high }.push(more);
        }
        // What is left is there by rounding.
        low.iter().chain(&high).for_each(|&number| places[number] = (1.0, number));
        Ok(Sampler { places })
    }

    /// The next number; there is one at least.
    fn sample(&self, draw: &mut Draw) -> usize {
        let fraction = draw.float();
        let number = draw.below32(self.places.len() as u32) as usize;
        let (probability, other) = self.places[number];
        if fraction < probability { number } else { other }
    }
}

/// The sum of the products, in the order in which TensorFlow's vectors of eight add them, four at a time.
fn product(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    const LEAF: usize = 1024 * LANES;
    if a.len() > LEAF {
        let half = a.len().div_ceil(2).next_multiple_of(LANES).min(a.len());
        return product(&a[..half], &b[..half]) + product(&a[half..], &b[half..]);
    }
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let add = |sums: &mut [f32; LANES], a: &[f32; LANES], b: &[f32; LANES]| {
        (0..LANES).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    };
    let ((a, a_single), (b, b_single)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut fours = [[0.0f32; LANES]; 4];
    for (a, b) in a.iter().zip(b) {
        fours.iter_mut().zip(a.iter().zip(b)).for_each(|(sums, (a, b))| add(sums, a, b));
    }
    let [w, x, y, z] = fours;
    let mut sums: [f32; LANES] = std::array::from_fn(|lane| w[lane] + x[lane] + y[lane] + z[lane]);
    a_single.iter().zip(b_single).for_each(|(a, b)| add(&mut sums, a, b));
    let halves: [f32; 4] = std::array::from_fn(|lane| sums[lane] + sums[lane + 4]);
    let whole = (halves[0] + halves[2]) + (halves[1] + halves[3]);
    a_rest.iter().zip(b_rest).map(|(a, b)| a * b).fold(0.0, |sum, product| sum + product) + whole
}

struct NegTrainKernel {
    samples: usize,
    sampler: Sampler,
    generator: Shared,
}

#[register_kernel(device = Cpu)]
impl OpKernel<NegTrain> for NegTrainKernel {
    fn new(ctx: &KernelConstruction<'_, NegTrain>) -> Result<Self> {
        let attrs = ctx.attrs();
        let int32 = |value: i64, name: &str| match i32::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => bail!(InvalidArgument, "Attr {name} has value {value} out of range for an int32"),
        };
        let samples = int32(attrs.num_negative_samples, "num_negative_samples")?;
        let weight = |&count: &i64| Ok::<_, Error>((int32(count, "vocab_count")? as f32).powf(0.75));
        let sampler = Sampler::new(&scratch::collected_ok(attrs.vocab_count.iter().map(weight))?)?;
        Ok(Self { samples: usize::try_from(samples).unwrap_or(0), sampler, generator: Shared::new(0, 0) })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, NegTrain>) -> Result<()> {
        update(ctx, DataType::Float, |ctx, [inner, outer]| {
            let [examples, labels, rate] = [ctx.input_at(2)?, ctx.input_at(3)?, ctx.input_at(4)?];
            ensure!(inner.rank() == 2, InvalidArgument, "Must be a matrix");
            ensure!(inner.shape() == outer.shape(), InvalidArgument, "w_in.shape == w_out.shape");
            ensure!(examples.rank() == 1, InvalidArgument, "Must be a vector");
            ensure!(examples.shape() == labels.shape(), InvalidArgument, "examples.shape == labels.shape");
            ensure!(rate.rank() == 0, InvalidArgument, "Must be a scalar");
            let (words, size) = (inner.shape()[0], inner.shape()[1]);
            ensure!(
                words == self.sampler.places.len(),
                InvalidArgument,
                "vocab_size mismatches: {words} vs. {}",
                self.sampler.places.len()
            );
            let (examples, labels, rate) =
                (examples.as_slice::<i32>()?, labels.as_slice::<i32>()?, rate.to_scalar::<f32>()?);
            for &id in examples.iter().chain(labels) {
                ensure!(
                    usize::try_from(id).is_ok_and(|id| id < words),
                    InvalidArgument,
                    "word {id} is not in [0, {words})"
                );
            }
            self.train([inner, outer], size, [examples, labels], rate, &|| ctx.step()?.check())
        })
    }
}

impl NegTrainKernel {
    /// Learns from pairs of words that are there.
    fn train(
        &self,
        [inner, outer]: [&mut Tensor; 2],
        size: usize,
        [examples, labels]: [&[i32]; 2],
        rate: f32,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        /// How many words are drawn before somebody looks whether the run goes on.
        const PATIENCE: usize = 1 << 12;
        inner.make_unique()?;
        outer.make_unique()?;
        let (inner, outer) = (inner.as_mut_slice::<f32>()?, outer.as_mut_slice::<f32>()?);
        // As many words of a generator as TensorFlow sets aside.
        let steps = (examples.len() as u64).saturating_mul(self.samples as u64).saturating_mul(2);
        let mut draw = Draw::of(self.generator.reserve(steps));
        let mut change = scratch::zeros::<f32>(size)?;
        for (&example, &label) in examples.iter().zip(labels) {
            let (example, label) = (example as usize, label as usize);
            let vector = &mut inner[example * size..][..size];
            let other = &mut outer[label * size..][..size];
            let slope = 1.0 / (product(vector, other).exp() + 1.0) * rate;
            for ((change, other), x) in change.iter_mut().zip(other).zip(&*vector) {
                *change = *other * slope;
                *other += x * slope;
            }
            for sample in 0..self.samples {
                if sample % PATIENCE == 0 {
                    check()?;
                }
                let sample = self.sampler.sample(&mut draw);
                if sample == label {
                    continue;
                }
                let other = &mut outer[sample * size..][..size];
                let slope = -(1.0 / ((-product(vector, other)).exp() + 1.0)) * rate;
                for ((change, other), x) in change.iter_mut().zip(other).zip(&*vector) {
                    *change += *other * slope;
                    *other += x * slope;
                }
            }
            vector.iter_mut().zip(&change).for_each(|(x, change)| *x += change);
        }
        Ok(())
    }
}
