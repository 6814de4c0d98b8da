//! Random numbers that follow from a key and a counter, and the making of those.
//!
//! `alg` says which algorithm draws: 1 is Philox, 2 is ThreeFry, 3 is what suits the device, which here is Philox.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use super::stateful::scalar_bounds;
use super::stateless::seed;
use crate::shapes;

/// Checks that inputs `first` and the next two hold a key, a counter and an algorithm.
fn key_counter_alg(c: &InferenceContext<'_>, first: usize) -> Result<()> {
    let key = c.with_rank(c.input(first), 1)?;
    c.with_rank(c.input(first + 1), 1)?;
    c.with_rank(c.input(first + 2), 0)?;
    c.with_value(c.dim(key, 0), 1)?;
    Ok(())
}

fn keyed_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    key_counter_alg(c, 1)?;
    shapes::random_shape(c)
}

#[register_op(
    attr("dtype: {half, bfloat16, float, double} = DT_FLOAT"),
    attr("Tshape: {int32, int64} = DT_INT32"),
    input("shape: Tshape", "The shape of the output, a vector."),
    input("key: uint64", "One number."),
    input("counter: uint64", "Two numbers for Philox, one for ThreeFry; more are ignored."),
    input("alg: int32", "The algorithm, a scalar."),
    output("output: dtype"),
    shape_fn = keyed_shape,
)]
pub enum Distributions {
    /// Random numbers from 0 up to but without 1, all equally likely, which follow from a key and a counter.
    StatelessRandomUniformV2,
    /// Random numbers of the normal distribution with mean 0 and standard deviation 1, from a key and a counter.
    StatelessRandomNormalV2,
    /// Random numbers of the normal distribution, those beyond 2 drawn again, from a key and a counter.
    StatelessTruncatedNormalV2,
    /// Random integers of the whole range of the dtype, from a key and a counter.
    #[op(attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64"))]
    StatelessRandomUniformFullIntV2,
    /// Random integers from `minval` up to but without `maxval`, from a key and a counter.
    #[op(
        attr("dtype: {int32, int64, uint32, uint64}"),
        input("minval: dtype", "The least number, a scalar."),
        input("maxval: dtype", "The first number that is too great, a scalar."),
        shape_fn = stateless_random_uniform_int_v2_shape,
    )]
    StatelessRandomUniformIntV2,
}

fn stateless_random_uniform_int_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    scalar_bounds(c, 4)?;
    keyed_shape(c)
}

/// Random numbers of gamma distributions, from a key and a counter.
#[register_op(
    attr("dtype: {half, float, double}"),
    attr("shape_dtype: {int32, int64} = DT_INT32"),
    input("shape: shape_dtype", "The shape of the output, which ends as that of `alpha`."),
    input("key: uint64", "One number."),
    input("counter: uint64", "Two numbers for Philox, one for ThreeFry; more are ignored."),
    input("alg: int32", "The algorithm, a scalar."),
    input("alpha: dtype", "The shape parameters of the distributions; their scale is 1."),
    output("output: dtype"),
    shape_fn = keyed_shape,
)]
pub struct StatelessRandomGammaV3;

/// The rows of `value` in an order that follows from a key and a counter.
#[register_op(
    attr("T: type"),
    input("value: T"),
    input("key: uint64", "One number."),
    input("counter: uint64", "Two numbers for Philox, one for ThreeFry; more are ignored."),
    input("alg: int32", "The algorithm, a scalar."),
    output("output: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct StatelessShuffle;

fn key_counter_alg_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    key_counter_shape(c)?;
    c.set_output(2, c.scalar());
    Ok(())
}

#[register_op(
    attr("Tseed: {int32, int64} = DT_INT64"),
    input("seed: Tseed", "Two numbers."),
    output("key: uint64", "One number."),
    output("counter: uint64", "Two numbers."),
    shape_fn = key_counter_shape,
)]
pub enum Keys {
    /// The key and the counter that follow from a seed.
    StatelessRandomGetKeyCounter,
    /// The key and the counter that follow from a seed, and the algorithm for them.
    #[op(output("alg: int32", "The algorithm, a scalar."), shape_fn = key_counter_alg_shape)]
    StatelessRandomGetKeyCounterAlg,
}

fn key_counter_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    ensure!(c.num_inputs() == 1, Internal, "a seed is the only input");
    seed(c, 0)?;
    c.set_output(0, c.vector(1));
    c.set_output(1, c.vector(2));
    Ok(())
}

/// The algorithm that suits the device, a scalar.
#[register_op(output("alg: int32"), stateful, shape_fn = shapes::scalar_shape)]
pub struct StatelessRandomGetAlg;

/// Numbers rounded up or down at random, the nearer the likelier, to integers; what is beyond these is cut, NaN becomes 0.
#[register_op(
    attr("Tin: {half, bfloat16, float, double}"),
    attr("Tout: {int8, int16, int32}"),
    input("input: Tin"),
    input("key: uint64", "One number."),
    input("counter: uint64", "Two numbers for Philox; more are ignored."),
    input("alg: int32", "The algorithm, a scalar."),
    output("output: Tout"),
    shape_fn = |c| {
        key_counter_alg(c, 1)?;
        shapes::unchanged_shape(c)
    },
)]
pub struct StochasticCastToInt;
