//! Normal distributions that are cut off at both ends.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::{ParameterizedTruncatedNormal as Plain, StatelessParameterizedTruncatedNormal as Stateless};

use super::drawn::{Places, ensure_ends_with};
use super::fill::shape_of;
use super::philox::Philox;
use super::real::Computed;
use super::source::{Stateful, seeded};

/// Draws in vain after which TensorFlow gives up.
const TRIES: usize = 1000;

/// The parameters of a distribution: mean, standard deviation, least and greatest number.
type Parameters<T> = [T; 4];

/// Draws `count` numbers, which `store` takes by their index.
fn draw<T: Computed>(
    generator: &mut Philox,
    [mean, deviation, least, greatest]: Parameters<T>,
    count: usize,
    mut store: impl FnMut(usize, T),
) -> Result<()> {
    let (zero, two, four) = (T::of(0.0), T::of(2.0), T::of(4.0));
    let valid = deviation > zero && least < greatest && (least.is_finite() || greatest.is_finite());
    ensure!(valid, InvalidArgument, "Invalid parameters: {mean:?}, {deviation:?}, {least:?}, {greatest:?}");
    // The lower end is made the finite one, or both are made positive.
    let turned = (least.is_infinite() && least < zero) || greatest < mean;
    let (least, greatest, deviation) =
        if turned { (greatest, least, -deviation) } else { (least, greatest, deviation) };
    let (low, high) = ((least - mean) / deviation, (greatest - mean) / deviation);
    let root = (low * low + four).sqrt();
    let cutoff = two * (T::of(0.5) + (low * (low - root)) / four).exp() / (low + root);
    let range = high - low;
    let inside = T::of(1.3);

    let (mut drawn, mut tries) = (0, 0);
    // Takes a candidate that is good or not; whether all are there.
    let mut take = |good: bool, number: T, limit: usize| -> Result<bool> {
        if good {
            store(drawn, number * deviation + mean);
            drawn += 1;
            tries = 0;
        } else {
            tries += 1;
            if tries >= limit {
                bail!(Internal, "no number of a truncated normal distribution was accepted in {TRIES} tries");
            }
        }
        Ok(drawn == count)
    };
    if count == 0 {
        return Ok(());
    }
    if (low < -inside && high >= zero) || (high > inside && low <= zero) {
        // Most normal numbers are good.
        loop {
            for number in T::normal(generator.step()).into_iter().take(T::GROUP) {
                if take(number >= low && number <= high, number, TRIES + 1)? {
                    return Ok(());
                }
            }
        }
    }
    if range < cutoff {
        // From uniform numbers.
        let plus = if low < zero { zero } else { low * low };
        loop {
            let candidates = T::uniform(generator.step()).map(|number| number * range + low);
            let chances = T::uniform(generator.step());
            for (number, chance) in candidates.into_iter().zip(chances).take(T::GROUP) {
                let good = chance <= ((plus - number * number) / two).exp();
                if take(good, number, TRIES)? {
                    return Ok(());
                }
            }
        }
    }
    // From exponential numbers above the lower end.
    let alpha = (low + (low * low + four).sqrt()) / two;
    loop {
        let numbers = T::uniform(generator.step());
        for pair in numbers[..T::GROUP].chunks_exact(2) {
            let number = -pair[0].ln() / alpha + low;
            let x = if low < alpha { alpha - number } else { low - alpha };
            let good = pair[1] <= (-x * x / two).exp() && number < high;
            if take(good, number, TRIES)? {
                return Ok(());
            }
        }
    }
}

/// Numbers of one batch where all have the same parameters.
const BATCH: usize = 100;

#[register_kernel(device = Cpu, dtype = [f16, f32, f64], state = |ctx| Stateful::from_attrs(ctx.attrs))]
fn plain<dtype: Computed>(source: &Stateful, ctx: &mut KernelContext<'_, Plain>) -> Result<()> {
    let shape = shape_of(ctx.input(Plain::SHAPE)?)?;
    ensure!(shape.rank() > 0, InvalidArgument, "the shape must not be empty");
    let mut output = ctx.allocate_output(Plain::OUTPUT, shape.clone())?;
    let names = [Plain::MEANS, Plain::STDEVS, Plain::MINVALS, Plain::MAXVALS];
    let mut parameters = [&[][..]; 4];
    let mut ranks = [0; 4];
    for (i, name) in names.into_iter().enumerate() {
        let tensor = ctx.input(name)?;
        ensure!(
            tensor.rank() <= 1,
            InvalidArgument,
            "parameters must be scalars or vectors, not of shape {}",
            tensor.shape()
        );
        (parameters[i], ranks[i]) = (tensor.as_slice::<dtype>()?, tensor.rank());
    }
    let numbers = output.as_mut_slice::<dtype>()?;
    let mut batches = shape[0];
    let mut samples = shape[1..].iter().product::<usize>();
    if parameters[0].len() == 1 && parameters[1].len() == 1 && ranks[2] == 0 && ranks[3] == 0 {
        (batches, samples) = (numbers.len().div_ceil(BATCH), BATCH);
    } else {
        let fits = parameters.iter().all(|values| values.len() == 1 || values.len() == batches);
        ensure!(fits, InvalidArgument, "parameters must have length 1 or {batches}, as the shape {shape} begins");
    }
    // TensorFlow computes this with 32 bits.
    let steps = (batches as i32).wrapping_mul(2 * TRIES as i32).wrapping_mul((samples as i32).wrapping_add(3)) / 4;
    let mut generator = source.reserve(i64::from(steps) as u64);
    for batch in 0..batches {
        let own = parameters.map(|values| values[if values.len() == 1 { 0 } else { batch }]);
        let first = batch * samples;
        let count = samples.min(numbers.len() - first);
        draw(&mut generator, own, count, |i, number| numbers[first + i] = number)?;
    }
    ctx.set_output(Plain::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    op = Stateless, dtype = [f16, f32, f64],
    host_memory = ["shape", "seed", "means", "stddevs", "minvals", "maxvals"]
)]
fn stateless<dtype: Computed>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let mut generator = seeded(ctx.input(O::SEED)?)?;
    let tensors = [ctx.input(O::MEANS)?, ctx.input(O::STDDEVS)?, ctx.input(O::MINVALS)?, ctx.input(O::MAXVALS)?];
    let places = Places::new(tensors.map(|tensor| tensor.shape()))?;
    let shape = shape_of(ctx.input(O::SHAPE)?)?;
    ensure_ends_with(&shape, places.shape())?;
    let mut output = ctx.allocate_output(O::OUTPUT, shape)?;
    let mut parameters = [&[][..]; 4];
    for (values, tensor) in parameters.iter_mut().zip(tensors) {
        *values = tensor.as_slice::<dtype>()?;
    }
    let numbers = output.as_mut_slice::<dtype>()?;
    if !numbers.is_empty() {
        let batches = places.shape().num_elements();
        for batch in 0..batches {
            let places = places.at(batch);
            let own = std::array::from_fn(|i| parameters[i][places[i]]);
            draw(&mut generator, own, numbers.len() / batches, |i, number| numbers[i * batches + batch] = number)?;
        }
    }
    ctx.set_output(O::OUTPUT, output)
}
