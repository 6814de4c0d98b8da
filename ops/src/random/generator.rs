//! Random numbers from a generator that is a variable: its counter followed by its key, as `int64`.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// Output 0 has the shape that input 2 holds, and the algorithm is a scalar.
fn generated_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 0)?;
    shapes::output_shape(c, c.make_shape_from_shape_tensor(2)?)
}

#[register_op(
    attr("dtype: type = DT_FLOAT"),
    attr("shape_dtype: type = DT_INT64"),
    input("resource: resource", "The variable that holds the generator's counter and key."),
    input("algorithm: int64", "The algorithm, a scalar: 1 is Philox."),
    input("shape: shape_dtype", "The shape of the output, a vector."),
    output("output: dtype"),
    stateful,
    shape_fn = generated_shape,
)]
pub enum Distributions {
    /// Random numbers from 0 up to but without 1, all equally likely, from a variable's generator.
    StatefulUniform,
    /// Random numbers of the normal distribution with mean 0 and standard deviation 1, from a variable's generator.
    StatefulStandardNormalV2,
    /// Random numbers of the normal distribution, those beyond 2 drawn again, from a variable's generator.
    StatefulTruncatedNormal,
    /// Random integers of the whole range of the dtype, from a variable's generator.
    #[op(attr("dtype: type = DT_UINT64"))]
    StatefulUniformFullInt,
    /// Random integers from `minval` up to but without `maxval`, from a variable's generator.
    #[op(
        attr("dtype: type = DT_INT64"),
        input("minval: dtype", "The least number, a scalar."),
        input("maxval: dtype", "The first number that is too great, a scalar."),
        shape_fn = stateful_uniform_int_shape,
    )]
    StatefulUniformInt,
}

fn stateful_uniform_int_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(3), 0)?;
    c.with_rank(c.input(4), 0)?;
    generated_shape(c)
}

/// Random numbers of binomial distributions, from a variable's generator.
#[register_op(
    attr("S: {int32, int64}"),
    attr("T: {half, float, double, int32, int64} = DT_DOUBLE"),
    attr("dtype: {half, float, double, int32, int64} = DT_INT64"),
    input("resource: resource", "The variable that holds the generator's counter and key."),
    input("algorithm: int64", "The algorithm, a scalar: 1 is Philox."),
    input("shape: S", "The shape of the output, which ends as `counts` and `probs` broadcast."),
    input("counts: T", "The numbers of trials."),
    input("probs: T", "The probabilities of success."),
    output("output: dtype", "The numbers of successes."),
    stateful,
    shape_fn = shapes::shape_in_input::<2>,
)]
pub struct StatefulRandomBinomial;

/// Random numbers of the normal distribution, from a variable's generator that names its algorithm itself.
#[register_op(
    attr("dtype: type = DT_FLOAT"),
    attr("shape_dtype: type = DT_INT64"),
    input("resource: resource", "The variable that holds the algorithm, the generator's counter and key."),
    input("shape: shape_dtype", "The shape of the output, a vector."),
    output("output: dtype"),
    stateful,
    deprecated(29, "Use StatefulStandardNormalV2 instead"),
    shape_fn = shapes::shape_in_input::<1>,
)]
pub struct StatefulStandardNormal;

/// Moves a variable's generator on, as drawing `delta` numbers would.
#[register_op(
    input("resource: resource", "The variable that holds the generator's counter and key."),
    input("algorithm: int64", "The algorithm, a scalar: 1 is Philox."),
    input("delta: int64", "How many numbers to leave out, a scalar."),
    stateful,
    shape_fn = rng_skip_shape,
)]
pub struct RngSkip;

fn rng_skip_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 0)?;
    c.with_rank(c.input(2), 0)?;
    Ok(())
}

/// The state of a variable's generator, which then moves on, as drawing `delta` numbers would.
#[register_op(
    input("resource: resource", "The variable that holds the generator's counter and key."),
    input("alg: int32", "The algorithm, a scalar: 1 is Philox, 2 is ThreeFry, 3 is what suits the device."),
    input("delta: uint64", "How many numbers to leave out, a scalar."),
    output("value: int64", "The state before, in the form that the longest of all algorithms has."),
    stateful,
    shape_fn = rng_read_and_skip_shape,
)]
pub struct RngReadAndSkip;

fn rng_read_and_skip_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    rng_skip_shape(c)?;
    shapes::output_shape(c, c.vector(3))
}

/// Random integers of the whole range of the dtype, different ones each time.
#[register_op(
    attr("dtype: type = DT_INT64"),
    attr("shape_dtype: type = DT_INT64"),
    input("shape: shape_dtype", "The shape of the output, a vector."),
    output("output: dtype"),
    stateful,
    shape_fn = shapes::random_shape,
)]
pub struct NonDeterministicInts;
