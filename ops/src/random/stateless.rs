//! Random numbers that follow from a seed: the same seed gives the same numbers.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use super::stateful::{multinomial_shape, scalar_bounds};
use crate::shapes;

/// Checks that input `index` holds a seed.
pub(super) fn seed(c: &InferenceContext<'_>, index: usize) -> Result<()> {
    let seed = c.with_rank(c.input(index), 1)?;
    c.with_value(c.dim(seed, 0), 2)?;
    Ok(())
}

fn stateless_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    seed(c, 1)?;
    shapes::random_shape(c)
}

#[register_op(
    attr("dtype: {half, bfloat16, float, double} = DT_FLOAT"),
    attr("T: {int32, int64} = DT_INT32"),
    attr("Tseed: {int32, int64} = DT_INT64"),
    input("shape: T", "The shape of the output, a vector."),
    input("seed: Tseed", "Two numbers."),
    output("output: dtype"),
    shape_fn = stateless_shape,
)]
pub enum Distributions {
    /// Random numbers from 0 up to but without 1, all equally likely, which follow from a seed.
    StatelessRandomUniform,
    /// Random numbers of the normal distribution with mean 0 and standard deviation 1, which follow from a seed.
    StatelessRandomNormal,
    /// Random numbers of the normal distribution, those beyond 2 drawn again, which follow from a seed.
    StatelessTruncatedNormal,
    /// Random integers of the whole range of the dtype, which follow from a seed.
    #[op(
        attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64"),
        attr("Tseed: {int32, int64, uint32, uint64} = DT_INT64")
    )]
    StatelessRandomUniformFullInt,
    /// Random integers from `minval` up to but without `maxval`, which follow from a seed.
    #[op(
        attr("dtype: {int32, int64}"),
        attr("T: {int32, int64}"),
        input("minval: dtype", "The least number, a scalar."),
        input("maxval: dtype", "The first number that is too great, a scalar."),
        shape_fn = stateless_random_uniform_int_shape,
    )]
    StatelessRandomUniformInt,
}

fn stateless_random_uniform_int_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    scalar_bounds(c, 2)?;
    stateless_shape(c)
}

/// Random classes, each as likely as its logit says, which follow from a seed.
#[register_op(
    attr("T: realnumbertype"),
    attr("Tseed: {int32, int64} = DT_INT64"),
    attr("output_dtype: {int32, int64} = DT_INT64"),
    input("logits: T", "For each row the logarithms of the probabilities of its classes, up to a constant."),
    input("num_samples: int32", "How many classes to draw for each row, a scalar."),
    input("seed: Tseed", "Two numbers."),
    output("output: output_dtype", "The numbers of the classes, `[rows, num_samples]`."),
    shape_fn = stateless_multinomial_shape,
)]
pub struct StatelessMultinomial;

fn stateless_multinomial_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    seed(c, 2)?;
    multinomial_shape(c)
}

/// Random numbers of binomial distributions, which follow from a seed.
#[register_op(
    attr("S: {int32, int64}"),
    attr("Tseed: {int32, int64} = DT_INT64"),
    attr("T: {half, float, double, int32, int64} = DT_DOUBLE"),
    attr("dtype: {half, float, double, int32, int64} = DT_INT64"),
    input("shape: S", "The shape of the output, which ends as `counts` and `probs` broadcast."),
    input("seed: Tseed", "Two numbers."),
    input("counts: T", "The numbers of trials."),
    input("probs: T", "The probabilities of success."),
    output("output: dtype", "The numbers of successes."),
    shape_fn = stateless_shape,
)]
pub struct StatelessRandomBinomial;

/// Random numbers of normal distributions that are cut off at both ends, which follow from a seed.
#[register_op(
    attr("S: {int32, int64}"),
    attr("Tseed: {int32, int64} = DT_INT64"),
    attr("dtype: {half, float, double}"),
    input("shape: S", "The shape of the output, which ends as the parameters broadcast."),
    input("seed: Tseed", "Two numbers."),
    input("means: dtype", "The means before the ends are cut off."),
    input("stddevs: dtype", "The standard deviations before the ends are cut off, above 0."),
    input("minvals: dtype", "The lower ends; may be -infinity."),
    input("maxvals: dtype", "The upper ends, above the lower ones; infinite only if the lower one is not."),
    output("output: dtype"),
    shape_fn = stateless_parameterized_truncated_normal_shape,
)]
pub struct StatelessParameterizedTruncatedNormal;

fn stateless_parameterized_truncated_normal_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    seed(c, 1)?;
    let mut together = c.input(2);
    for parameter in 3..6 {
        together = shapes::broadcast_binary_op_output_shape(c, c.input(parameter), together, true)?;
    }
    shapes::random_shape(c)
}

#[register_op(
    attr("dtype: {half, float, double}"),
    attr("T: {int32, int64}"),
    attr("Tseed: {int32, int64} = DT_INT64"),
    input("shape: T", "The shape of the output, which ends as that of `alpha`."),
    input("seed: Tseed", "Two numbers."),
    output("output: dtype"),
    shape_fn = stateless_shape,
)]
pub enum Parameterized {
    /// Random numbers of gamma distributions, which follow from a seed.
    #[op(input("alpha: dtype", "The shape parameters of the distributions; their scale is 1."))]
    StatelessRandomGammaV2,
    /// Random numbers of Poisson distributions, which follow from a seed.
    #[op(
        attr("Rtype: {half, float, double, int32, int64}", before = "dtype"),
        attr("dtype: {half, float, double, int32, int64}"),
        input("shape: T", "The shape of the output, which ends as that of `lam`."),
        input("lam: Rtype", "The means of the distributions.")
    )]
    StatelessRandomPoisson,
}

/// Where `index` lands when the numbers from 0 to `max_index` are shuffled, without shuffling them.
///
/// All inputs may have a first dimension more, for several answers at once.
#[register_op(
    attr("rounds: int = 4", "How thoroughly to shuffle; even, at least 4."),
    attr("dtype: {int32, uint32, int64, uint64}"),
    attr("Tseed: {int32, uint32, int64, uint64}"),
    input("index: dtype", "From 0 to `max_index`, a scalar."),
    input("seed: Tseed", "Three numbers, from which the order follows."),
    input("max_index: dtype", "The greatest number that is shuffled, a scalar."),
    output("output: dtype"),
    shape_fn = random_index_shuffle_shape,
)]
pub struct RandomIndexShuffle;

fn random_index_shuffle_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let index = c.with_rank_at_most(c.input(0), 1)?;
    c.with_rank_at_least(c.input(1), 1)?;
    let seed = c.with_rank_at_most(c.input(1), 2)?;
    let max_index = c.with_rank_at_most(c.input(2), 1)?;
    let ranks = [c.rank(index), c.rank(seed), c.rank(max_index)];
    if let Some(rank @ (1 | 2)) = ranks[1] {
        ensure!(
            c.value(c.dim(seed, rank as i64 - 1)) == Some(3),
            InvalidArgument,
            "Seed must have shape [3] or [n, 3] but got {}.",
            c.debug_string(seed)
        );
    }
    if ranks == [Some(0), Some(1), Some(0)] {
        return shapes::output_shape(c, c.scalar());
    }
    let vectors = [(index, ranks[0] == Some(1)), (seed, ranks[1] == Some(2)), (max_index, ranks[2] == Some(1))];
    if vectors.iter().all(|(_, several)| !several) {
        return shapes::output_shape(c, c.unknown_shape());
    }
    let mut outputs = None;
    for (shape, _) in vectors.into_iter().filter(|(_, several)| *several) {
        let count = c.value(c.dim(shape, 0));
        match (outputs, count) {
            (None, _) => outputs = count,
            (Some(outputs), Some(count)) => ensure!(
                outputs <= 1 || count <= 1 || outputs == count,
                InvalidArgument,
                "{} has {count} rows but must have {outputs}.",
                c.debug_string(shape)
            ),
            (Some(_), None) => {}
        }
    }
    shapes::output_shape(c, c.vector(outputs.unwrap_or(-1)))
}
