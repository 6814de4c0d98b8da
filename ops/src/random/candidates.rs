//! Candidates for losses over few of many classes.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

#[register_op(
    input("true_classes: int64", "`[batch, num_true]`."),
    output("sampled_candidates: int64", "`[num_sampled]`."),
    output("true_expected_count: float", "How often each of `true_classes` is expected among the candidates."),
    output("sampled_expected_count: float", "How often each candidate is."),
    attr("num_true: int >= 1", "How many classes each row has."),
    attr("num_sampled: int >= 1", "How many candidates to draw."),
    attr("unique: bool", "Whether no candidate is drawn twice, and the counts are probabilities of being drawn."),
    attr("range_max: int >= 1", "The first class that is too great."),
    attr("seed: int = 0", "Where the sequence starts; with `seed2` also 0, somewhere else each time."),
    attr("seed2: int = 0", "A second seed."),
    stateful,
    shape_fn = candidate_sampler_shape,
)]
pub enum CandidateSamplers {
    /// Candidates that are all equally likely.
    UniformCandidateSampler,
    /// Candidates of which small numbers are more likely: `P(class) = ln((class + 2) / (class + 1)) / ln(range_max + 1)`.
    LogUniformCandidateSampler,
    /// Candidates as likely as they were among the true classes of earlier runs, each counted once more than it was there.
    LearnedUnigramCandidateSampler,
    /// [`LearnedUnigramCandidateSampler`], which in TensorFlow is not safe with several threads; here it is.
    ThreadUnsafeUnigramCandidateSampler,
    /// Candidates of given likelihood, from a file or a list.
    ///
    /// Of several shards each has the classes whose number, divided by `num_shards`, leaves `shard`; `range_max` is how many
    /// these are.
    #[op(
        attr(
            "vocab_file: string = ''",
            "A file in whose lines what follows the last comma is a class's weight. It is read when the node is made.",
            before = "seed"
        ),
        attr("distortion: float = 1.0", "The power to which weights are raised.", before = "seed"),
        attr(
            "num_reserved_ids: int = 0",
            "How many classes that are never drawn come before the others.",
            before = "seed"
        ),
        attr("num_shards: int >= 1 = 1", "How many shards there are.", before = "seed"),
        attr("shard: int >= 0 = 0", "Which one this is.", before = "seed"),
        attr("unigrams: list(float) = []", "The weights, if there is no file.", before = "seed")
    )]
    FixedUnigramCandidateSampler,
}

/// All classes, of which there are `num_sampled`, each once.
#[register_op(
    input("true_classes: int64", "`[batch, num_true]`."),
    output("sampled_candidates: int64", "`[num_sampled]`."),
    output("true_expected_count: float", "Ones."),
    output("sampled_expected_count: float", "Ones."),
    attr("num_true: int >= 1", "How many classes each row has."),
    attr("num_sampled: int >= 1", "How many classes there are."),
    attr("unique: bool", "Without effect."),
    attr("seed: int = 0", "Without effect."),
    attr("seed2: int = 0", "Without effect."),
    stateful,
    shape_fn = candidate_sampler_shape,
)]
pub struct AllCandidateSampler;

fn candidate_sampler_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (sampled, columns): (i64, i64) = (c.attr("num_sampled")?, c.attr("num_true")?);
    let classes = c.with_rank(c.input(0), 2)?;
    c.set_output(0, c.vector(sampled));
    c.set_output(1, c.matrix(c.dim(classes, 0), columns));
    c.set_output(2, c.vector(sampled));
    Ok(())
}

/// Where candidates are true classes of a row: triples of the row, the candidate's place and a great negative weight.
#[register_op(
    input("true_classes: int64", "`[batch, num_true]`."),
    input("sampled_candidates: int64", "What a sampler gave, a vector."),
    output("indices: int32", "The rows."),
    output("ids: int64", "The candidates' places."),
    output("weights: float", "The least number for each, which makes a logit as good as absent."),
    attr("num_true: int", "How many classes each row has."),
    attr("seed: int = 0", "Without effect."),
    attr("seed2: int = 0", "Without effect."),
    shape_fn = accidental_hits_shape,
)]
pub struct ComputeAccidentalHits;

fn accidental_hits_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let columns: i64 = c.attr("num_true")?;
    let classes = c.with_rank(c.input(0), 2)?;
    c.with_value(c.dim(classes, 1), columns)?;
    c.with_rank(c.input(1), 1)?;
    let hits = c.vector(c.unknown_dim());
    (0..3).for_each(|output| c.set_output(output, hits));
    Ok(())
}
