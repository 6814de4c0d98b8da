//! Random numbers from a generator inside the kernel.
//!
//! With `seed` and `seed2` both zero the generator starts somewhere else each time; otherwise a session gives the same
//! sequence of numbers each time that it is made.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("seed: int = 0", "Where the sequence starts; with `seed2` also 0, somewhere else each time."),
    attr("seed2: int = 0", "A second seed."),
    attr("T: {int32, int64}"),
    input("shape: T", "The shape of the output, a vector."),
    output("output: dtype"),
    stateful,
    shape_fn = shapes::random_shape,
)]
pub enum Distributions {
    /// Random numbers from 0 up to but without 1, all equally likely.
    #[op(attr("dtype: {half, bfloat16, float, double}", after = "seed2"))]
    RandomUniform,
    /// Random numbers of the normal distribution with mean 0 and standard deviation 1.
    #[op(attr("dtype: {half, bfloat16, float, double}", after = "seed2"))]
    RandomStandardNormal,
    /// Random numbers of the normal distribution with mean 0 and standard deviation 1, those beyond 2 drawn again.
    #[op(attr("dtype: {half, bfloat16, float, double}", after = "seed2"))]
    TruncatedNormal,
    /// Random numbers of normal distributions that are cut off at both ends.
    ///
    /// Each parameter is a scalar or a vector with a value for each row of the output.
    #[op(
        attr("dtype: {half, bfloat16, float, double}", after = "seed2"),
        input("shape: T", "The shape of the output, a vector of at least one element."),
        input("means: dtype", "The means before the ends are cut off."),
        input("stdevs: dtype", "The standard deviations before the ends are cut off, above 0."),
        input("minvals: dtype", "The lower ends; may be -infinity."),
        input("maxvals: dtype", "The upper ends, above the lower ones; infinite only if the lower one is not."),
        shape_fn = parameterized_truncated_normal_shape,
    )]
    ParameterizedTruncatedNormal,
    /// Random integers from `minval` up to but without `maxval`.
    ///
    /// They are the remainders of random numbers of the dtype's width, so some are a little likelier than others unless
    /// `maxval - minval` is a power of two.
    #[op(
        attr("Tout: {int32, int64}", after = "seed2"),
        input("minval: Tout", "The least number, a scalar."),
        input("maxval: Tout", "The first number that is too great, a scalar."),
        output("output: Tout"),
        shape_fn = random_uniform_int_shape,
    )]
    RandomUniformInt,
    /// Random numbers of gamma distributions.
    #[op(
        attr("S: {int32, int64}", after = "seed2"),
        attr("T: {half, float, double}"),
        input("shape: S", "The shape of what is drawn for each element of `alpha`, a vector."),
        input("alpha: T", "The shape parameters of the distributions; their scale is 1."),
        output("output: T", "Of shape `shape + alpha.shape`."),
        shape_fn = |c| shapes::output_shape(c, c.concatenate(c.make_shape_from_shape_tensor(0)?, c.input(1))?),
    )]
    RandomGamma,
}

fn random_uniform_int_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    scalar_bounds(c, 1)?;
    shapes::random_shape(c)
}

/// Checks that inputs `first` and the next, the bounds of random integers, are scalars.
pub(super) fn scalar_bounds(c: &InferenceContext<'_>, first: usize) -> Result<()> {
    for (input, name) in (first..).zip(["minval", "maxval"]) {
        let shape = c.input(input);
        let known = c.debug_string(shape);
        ensure!(
            c.with_rank(shape, 0).is_ok(),
            InvalidArgument,
            "{name} must be a scalar; got a tensor of shape {known}"
        );
    }
    Ok(())
}

fn parameterized_truncated_normal_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for parameter in 1..5 {
        c.with_rank_at_most(c.input(parameter), 1)?;
    }
    shapes::random_shape(c)
}

/// The rows of `value` in a random order.
#[register_op(
    attr("seed: int = 0", "Where the sequence starts; with `seed2` also 0, somewhere else each time."),
    attr("seed2: int = 0", "A second seed."),
    attr("T: type"),
    input("value: T"),
    output("output: T"),
    stateful,
    shape_fn = shapes::unchanged_shape,
)]
pub struct RandomShuffle;

/// Random classes, each as likely as its logit says.
#[register_op(
    attr("seed: int = 0", "Where the sequence starts; with `seed2` also 0, somewhere else each time."),
    attr("seed2: int = 0", "A second seed."),
    attr("T: realnumbertype"),
    attr("output_dtype: {int32, int64} = DT_INT64"),
    input("logits: T", "For each row the logarithms of the probabilities of its classes, up to a constant."),
    input("num_samples: int32", "How many classes to draw for each row, a scalar."),
    output("output: output_dtype", "The numbers of the classes, `[rows, num_samples]`."),
    stateful,
    shape_fn = multinomial_shape,
)]
pub struct Multinomial;

pub(super) fn multinomial_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let logits = c.with_rank(c.input(0), 2)?;
    c.with_rank(c.input(1), 0)?;
    let samples = c.make_dim_for_scalar_input(1)?;
    shapes::output_shape(c, c.matrix(c.dim(logits, 0), samples))
}

#[register_op(
    attr("seed: int = 0", "Where the sequence starts; with `seed2` also 0, somewhere else each time."),
    attr("seed2: int = 0", "A second seed."),
    attr("S: {int32, int64}"),
    attr("dtype: {half, float, double}"),
    input("shape: S", "The shape of what is drawn for each element of `rate`, a vector."),
    input("rate: dtype", "The means of the distributions."),
    output("output: dtype", "Of shape `shape + rate.shape`."),
    stateful,
    shape_fn = |c| shapes::output_shape(c, c.concatenate(c.make_shape_from_shape_tensor(0)?, c.input(1))?),
)]
pub enum Poisson {
    /// Random numbers of Poisson distributions.
    #[op(deprecated(25, "Replaced by RandomPoissonV2"))]
    RandomPoisson,
    /// Random numbers of Poisson distributions, in a dtype of their own.
    #[op(
        attr("R: {half, float, double, int32, int64} = DT_DOUBLE", after = "S"),
        attr("dtype: {half, float, double, int32, int64} = DT_INT64"),
        input("rate: R")
    )]
    RandomPoissonV2,
}
