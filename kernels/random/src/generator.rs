//! Generators that are variables: a counter and a key, as `int64`.

use kernlink::dtype::{DataType, Element};
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::resource::Variable;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::{
    NonDeterministicInts, RngReadAndSkip, RngSkip, StatefulRandomBinomial, StatefulStandardNormal,
    StatefulStandardNormalV2, StatefulTruncatedNormal, StatefulUniform, StatefulUniformFullInt, StatefulUniformInt,
};

use super::binomial::{self, Parameter};
use super::drawn::FromDouble;
use super::fill::{Between, Fill, Full, Normal, Truncated, Uniform};
use super::philox::{Philox, entropy};
use super::source::{AUTO_SELECT, PHILOX, Source, THREEFRY};

/// The length of a state.
const STATE: usize = 3;

/// Takes the generator out of the variable that is input 0, and leaves it there `steps` further on; with it the first
/// elements of the state. `algorithm` is what the state is for; `None` if its first element says so.
fn advance(ctx: &RawContext<'_>, algorithm: Option<i64>, steps: u64) -> Result<(Philox, [i64; STATE])> {
    let variable = ctx.resource_at::<Variable>(0)?;
    // No other run may take the same part of the sequence.
    let mut value = variable.lock();
    let Some(tensor) = &*value else { bail!(FailedPrecondition, "the generator's variable was not initialized") };
    ensure!(
        tensor.dtype() == DataType::Int64,
        InvalidArgument,
        "dtype of RNG state variable must be int64, not {}",
        tensor.dtype()
    );
    ensure!(
        tensor.rank() == 1,
        InvalidArgument,
        "RNG state must have one and only one dimension, not {}",
        tensor.rank()
    );
    let mut state = scratch::copied(tensor.as_slice::<i64>()?)?;
    let tag = usize::from(algorithm.is_none());
    ensure!(state.len() >= tag, InvalidArgument, "Size of tensor must be at least {tag}");
    ensure_philox(algorithm.unwrap_or_else(|| state[0]))?;
    ensure!(
        state.len() >= tag + STATE,
        InvalidArgument,
        "For the Philox algorithm, the size of state must be at least {}; got {}",
        tag + STATE,
        state.len()
    );
    let old = [state[tag], state[tag + 1], state[tag + 2]];
    let generator = Philox::new(old[2] as u64, [old[0] as u64, old[1] as u64]);
    let mut next = generator;
    next.skip(steps);
    let [low, high] = next.counter();
    (state[tag], state[tag + 1]) = (low as i64, high as i64);
    *value = Some(Tensor::vector(&state)?);
    Ok((generator, old))
}

#[track_caller]
fn ensure_philox(algorithm: i64) -> Result<()> {
    const THREE: i64 = THREEFRY as i64;
    match algorithm {
        _ if algorithm == i64::from(PHILOX) || algorithm == i64::from(AUTO_SELECT) => Ok(()),
        THREE => bail!(Unimplemented, "the ThreeFry algorithm is only for compiled graphs"),
        _ => bail!(InvalidArgument, "Unsupported algorithm id: {algorithm}"),
    }
}

/// The element of a scalar input.
#[track_caller]
fn scalar<T: Element>(ctx: &RawContext<'_>, index: usize) -> Result<T> {
    let tensor = ctx.input_at(index)?;
    ensure!(tensor.rank() == 0, InvalidArgument, "input {index} must have shape [], not {}", tensor.shape());
    tensor.to_scalar()
}

/// The generator in the variable that is input 0, for the algorithm that is input 1. If `STRICT`, TensorFlow knows
/// nothing of algorithms but Philox.
struct Held<const STRICT: bool>;

impl<const STRICT: bool> KernelState for Held<STRICT> {
    fn new(_: &RawConstruction<'_>) -> Result<Self> {
        Ok(Held)
    }
}

impl<const STRICT: bool> Source for Held<STRICT> {
    const SHAPE: usize = 2;
    const PARAMETERS: usize = 3;
    const CHECKS_ALL: bool = true;
    const ALWAYS: bool = true;

    fn check(&self, ctx: &RawContext<'_>) -> Result<()> {
        scalar::<i64>(ctx, 1).map(|_| ())
    }

    fn generator(&self, ctx: &RawContext<'_>, steps: u64) -> Result<Philox> {
        let algorithm = scalar::<i64>(ctx, 1)?;
        let known = !STRICT || algorithm == i64::from(PHILOX);
        ensure!(known, InvalidArgument, "Unsupported algorithm id: {algorithm}");
        Ok(advance(ctx, Some(algorithm), steps)?.0)
    }
}

/// The generator in the variable that is input 0, which holds the algorithm, too.
struct Tagged;

impl KernelState for Tagged {
    fn new(_: &RawConstruction<'_>) -> Result<Self> {
        Ok(Tagged)
    }
}

impl Source for Tagged {
    const SHAPE: usize = 1;
    const PARAMETERS: usize = 2;
    const ALWAYS: bool = true;

    fn generator(&self, ctx: &RawContext<'_>, steps: u64) -> Result<Philox> {
        Ok(advance(ctx, None, steps)?.0)
    }
}

/// Another generator each time.
struct Entropy;

impl KernelState for Entropy {
    fn new(_: &RawConstruction<'_>) -> Result<Self> {
        Ok(Entropy)
    }
}

impl Source for Entropy {
    const SHAPE: usize = 0;
    const PARAMETERS: usize = 1;

    fn generator(&self, _: &RawContext<'_>, _: u64) -> Result<Philox> {
        Ok(Philox::new(entropy(), [entropy(), entropy()]))
    }
}

#[register_kernel(device = Cpu, op = StatefulUniform, dtype = [f16, bf16, f32, f64], host_memory = ["resource", "algorithm", "shape"])]
type StatefulUniformKernel<dtype> = Fill<Held<false>, Uniform<dtype>>;

#[register_kernel(device = Cpu, op = StatefulUniformFullInt, dtype = [i32, i64, u32, u64], host_memory = ["resource", "algorithm", "shape"])]
type StatefulUniformFullIntKernel<dtype> = Fill<Held<false>, Full<dtype>>;

#[register_kernel(device = Cpu, op = StatefulStandardNormalV2, dtype = [f16, bf16, f32, f64], host_memory = ["resource", "algorithm", "shape"])]
type StatefulStandardNormalV2Kernel<dtype> = Fill<Held<false>, Normal<dtype>>;

#[register_kernel(device = Cpu, op = StatefulTruncatedNormal, dtype = [f16, bf16, f32, f64], host_memory = ["resource", "algorithm", "shape"])]
type StatefulTruncatedNormalKernel<dtype> = Fill<Held<false>, Truncated<dtype>>;

#[register_kernel(device = Cpu, op = StatefulUniformInt, dtype = [i32, i64], host_memory = ["resource", "algorithm", "shape", "minval", "maxval"])]
type StatefulUniformIntKernel<dtype> = Fill<Held<false>, Between<dtype>>;

#[register_kernel(device = Cpu, op = StatefulStandardNormal, dtype = [f16, bf16, f32, f64], host_memory = ["resource", "shape"])]
type StatefulStandardNormalKernel<dtype> = Fill<Tagged, Normal<dtype>>;

#[register_kernel(device = Cpu, op = NonDeterministicInts, dtype = [i32, i64, u32, u64], host_memory = ["shape"])]
type NonDeterministicIntsKernel<dtype> = Fill<Entropy, Full<dtype>>;

#[register_kernel(
    device = Cpu,
    op = StatefulRandomBinomial,
    T = [f16, f32, f64],
    dtype = [f16, f32, f64, i32, i64],
    host_memory = ["resource", "algorithm", "shape", "counts", "probs"],
)]
fn stateful_binomial<T: Parameter, dtype: FromDouble>(source: &Held<true>, ctx: &mut RawContext<'_>) -> Result<()> {
    binomial::numbers::<_, T, dtype>(source, ctx)
}

/// The steps for which `delta` numbers stand.
fn steps(delta: u64) -> u64 {
    delta.wrapping_mul(256)
}

#[register_kernel(device = Cpu, host_memory = ["resource", "algorithm", "delta"])]
fn rng_skip(ctx: &mut KernelContext<'_, RngSkip>) -> Result<()> {
    let (algorithm, delta) = (scalar::<i64>(ctx, 1)?, scalar::<i64>(ctx, 2)?);
    advance(ctx, Some(algorithm), steps(delta as u64)).map(|_| ())
}

#[register_kernel(device = Cpu, host_memory = ["resource", "alg", "delta"])]
fn rng_read_and_skip(ctx: &mut KernelContext<'_, RngReadAndSkip>) -> Result<()> {
    let (algorithm, delta) = (scalar::<i32>(ctx, 1)?, scalar::<u64>(ctx, 2)?);
    let (_, state) = advance(ctx, Some(algorithm.into()), steps(delta))?;
    ctx.set_output(RngReadAndSkip::VALUE, Tensor::vector(&state)?)
}
