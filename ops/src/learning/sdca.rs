//! Linear models by stochastic dual coordinate ascent.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr(
        "loss_type: {'logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'}",
        "What is to be small.",
    ),
    attr("num_sparse_features: int >= 0", "How many groups of features are sparse."),
    attr("num_sparse_features_with_values: int >= 0", "How many of these, the first ones, have values; the others count 1."),
    attr("num_dense_features: int >= 0", "How many groups of features are dense."),
    attr("l1: float", "The strength of the L1 regularisation."),
    attr("l2: float", "That of the L2 regularisation, above 0."),
    attr("num_loss_partitions: int >= 1", "Into how many parts the loss is divided, each of which runs such an op."),
    attr("num_inner_iterations: int >= 1", "How often the examples are gone through; the op does it once."),
    input("sparse_example_indices: num_sparse_features * int64", "Of each group the example of each feature, sorted."),
    input("sparse_feature_indices: num_sparse_features * int64", "The features."),
    input("sparse_feature_values: num_sparse_features_with_values * float", "Their values."),
    input("dense_features: num_dense_features * float", "Of each group a row an example."),
    input("example_weights: float", "What each example counts."),
    input("example_labels: float", "What is to be predicted."),
    input("sparse_indices: num_sparse_features * int64", "Of each group which feature each weight is of."),
    input("sparse_weights: num_sparse_features * float"),
    input("dense_weights: num_dense_features * float"),
    input("example_state_data: float", "Of each example the dual variable, primal loss, dual loss and weight."),
    output("out_example_state_data: float"),
    output("out_delta_sparse_weights: num_sparse_features * float", "What is to be added to the weights."),
    output("out_delta_dense_weights: num_dense_features * float", "What is to be added to the weights."),
    shape_fn = optimizer_shape,
)]
pub enum SdcaOptimizers {
    /// One pass over examples that brings a linear model nearer to the least regularised loss: stochastic dual coordinate ascent.
    ///
    /// (S. Shalev-Shwartz and T. Zhang, 2013.) The examples are taken in a random order.
    #[op(attr(
        "adaptative: bool = false",
        "Whether examples that are far from right are taken more often.",
        after = "loss_type"
    ))]
    SdcaOptimizer,
    /// One pass over examples that brings a linear model nearer to the least regularised loss: stochastic dual coordinate ascent.
    ///
    /// (S. Shalev-Shwartz and T. Zhang, 2013.) The examples are taken in a random order.
    #[op(attr(
        "adaptive: bool = false",
        "Whether examples that are far from right are taken more often.",
        after = "loss_type"
    ))]
    SdcaOptimizerV2,
}

fn optimizer_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (sparse, dense) = (c.input_named("sparse_weights")?, c.input_named("dense_weights")?);
    c.set_output_named("out_delta_sparse_weights", &sparse)?;
    c.set_output_named("out_delta_dense_weights", &dense)?;
    c.set_output_named("out_example_state_data", &[c.matrix(-1, 4)])
}

/// Brings weights nearer to 0 by `l1 / l2`, those that are nearer to 0 themselves.
#[register_op(
    attr("num_features: int >= 0", "How many groups of features there are."),
    attr("l1: float", "The strength of the L1 regularisation."),
    attr("l2: float", "That of the L2 regularisation, above 0."),
    input("weights: Ref(num_features * float)", "The weights of each group, which are changed."),
    shape_fn = shapes::unknown,
)]
pub struct SdcaShrinkL1;

/// A fingerprint of 128 bits of each text.
#[register_op(
    input("input: string", "Texts, such as the names of examples."),
    output("output: int64", "Two numbers a text, the first of which is never 0 or 1."),
    shape_fn = |c| {
        let texts = c.with_rank(c.input(0), 1)?;
        shapes::output_shape(c, c.concatenate(texts, c.vector(2))?)
    },
)]
pub struct SdcaFprint;
