//! Where a run's generator comes from.

use kernlink::attr::AttrMap;
use kernlink::error::Result;
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

use super::philox::{Philox, Shared};

/// Where a run's generator comes from.
pub trait Source: KernelState {
    /// The input that holds the output's shape.
    const SHAPE: usize;
    /// The first of the inputs that are parameters of the distribution.
    const PARAMETERS: usize;
    /// Whether the parameters are checked even if the output is empty.
    const CHECKS_ALL: bool = false;
    /// Whether a generator is taken even if the output is empty.
    const ALWAYS: bool = false;
    /// Checks the inputs, even if the output is empty.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if their shapes are wrong.
    fn check(&self, _: &RawContext<'_>) -> Result<()> {
        Ok(())
    }
    /// The generator of a run, of whose sequence the run takes at most `steps`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the inputs say none.
    fn generator(&self, ctx: &RawContext<'_>, steps: u64) -> Result<Philox>;
}

/// The generator in the kernel.
pub struct Stateful(Shared);

impl Stateful {
    /// That of attrs `seed` and `seed2`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they are missing.
    pub fn from_attrs(attrs: &AttrMap) -> Result<Stateful> {
        Ok(Stateful(Shared::new(attrs.required("seed")?, attrs.required("seed2")?)))
    }

    /// The generator of a run that takes at most `steps` steps.
    pub fn reserve(&self, steps: u64) -> Philox {
        self.0.reserve(steps)
    }
}

impl KernelState for Stateful {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Stateful::from_attrs(ctx.attrs)
    }
}

impl Source for Stateful {
    const SHAPE: usize = 0;
    const PARAMETERS: usize = 1;
    const CHECKS_ALL: bool = true;

    fn generator(&self, _: &RawContext<'_>, steps: u64) -> Result<Philox> {
        Ok(self.reserve(steps))
    }
}

/// The generator that follows from a seed, input 1.
pub struct Seeded;

impl KernelState for Seeded {
    fn new(_: &RawConstruction<'_>) -> Result<Self> {
        Ok(Seeded)
    }
}

impl Source for Seeded {
    const SHAPE: usize = 0;
    const PARAMETERS: usize = 2;

    fn check(&self, ctx: &RawContext<'_>) -> Result<()> {
        check_seed(ctx.input_at(1)?)
    }

    fn generator(&self, ctx: &RawContext<'_>, _: u64) -> Result<Philox> {
        seeded(ctx.input_at(1)?)
    }
}

#[track_caller]
#[inline(never)]
fn check_seed(seed: &Tensor) -> Result<()> {
    ensure!(
        seed.rank() == 1 && seed.num_elements() == 2,
        InvalidArgument,
        "seed must have shape [2], not {}",
        seed.shape()
    );
    Ok(())
}

/// The generator that follows from a seed.
///
/// # Errors
/// INVALID_ARGUMENT unless it has two elements.
#[track_caller]
#[inline(never)]
pub fn seeded(seed: &Tensor) -> Result<Philox> {
    check_seed(seed)?;
    let parts = seed.to_i64_vec()?;
    Ok(Philox::scrambled([parts[0] as u64, parts[1] as u64]))
}

/// The generator of a key, a counter and an algorithm, inputs 1 to 3.
pub struct Keyed;

impl KernelState for Keyed {
    fn new(_: &RawConstruction<'_>) -> Result<Self> {
        Ok(Keyed)
    }
}

impl Source for Keyed {
    const SHAPE: usize = 0;
    const PARAMETERS: usize = 4;

    fn check(&self, ctx: &RawContext<'_>) -> Result<()> {
        algorithm(ctx).map(|_| ())
    }

    fn generator(&self, ctx: &RawContext<'_>, _: u64) -> Result<Philox> {
        keyed(ctx)
    }
}

/// The number of the algorithm Philox.
pub const PHILOX: i32 = 1;
/// That of ThreeFry, which TensorFlow has for compiled graphs alone.
pub const THREEFRY: i32 = 2;
/// That which leaves the choice to the kernel: Philox.
pub const AUTO_SELECT: i32 = 3;

/// Input 3, after a look at the shapes of inputs 1 and 2.
#[track_caller]
fn algorithm(ctx: &RawContext<'_>) -> Result<i32> {
    let (key, counter, algorithm) = (ctx.input_at(1)?, ctx.input_at(2)?, ctx.input_at(3)?);
    ensure!(algorithm.rank() == 0, InvalidArgument, "alg must be a scalar, not of shape {}", algorithm.shape());
    let algorithm = match algorithm.to_scalar::<i32>()? {
        AUTO_SELECT => PHILOX,
        algorithm => algorithm,
    };
    ensure!(
        key.rank() == 1 && key.num_elements() == 1,
        InvalidArgument,
        "key must have shape [1], not {}",
        key.shape()
    );
    // TensorFlow takes the algorithm's number for the counter's size.
    ensure!(
        counter.rank() == 1 && counter.num_elements() as i64 >= i64::from(algorithm),
        InvalidArgument,
        "counter must be a vector with length at least {algorithm}, not of shape {}",
        counter.shape()
    );
    Ok(algorithm)
}

/// The generator of inputs 1 to 3.
///
/// # Errors
/// INVALID_ARGUMENT if their shapes are wrong, or for another algorithm than Philox.
#[track_caller]
#[inline(never)]
pub fn keyed(ctx: &RawContext<'_>) -> Result<Philox> {
    let algorithm = algorithm(ctx)?;
    ensure!(algorithm == PHILOX, InvalidArgument, "Unsupported algorithm id: {algorithm}");
    let key = ctx.input_at(1)?.as_slice::<u64>()?;
    match *ctx.input_at(2)?.as_slice::<u64>()? {
        [low, high, ..] => Ok(Philox::new(key[0], [low, high])),
        // TensorFlow reads on behind the tensor.
        _ => bail!(InvalidArgument, "the counter of Philox must have at least 2 elements"),
    }
}
