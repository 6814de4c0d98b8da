//! Batch normalisation.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {half, bfloat16, float}"),
    attr("epsilon: float = 0.0001", "Keeps the divisor from zero."),
    attr("exponential_avg_factor: float = 1.0", "The share of this batch in the running mean and variance."),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "Where the channels stand."),
    attr("is_training: bool = true", "Whether mean and variance come from this batch."),
    input("x: T", "Four dimensions, as `data_format` says."),
    input("scale: U"),
    input("offset: U"),
    input(
        "mean: U",
        "In inference the mean of each channel; in training the running mean, if `exponential_avg_factor` is not 1.",
    ),
    input("variance: U", "In inference the variance of each channel; in training the running one, likewise."),
    output("y: T"),
    output("batch_mean: U", "The running mean, updated; in inference `mean`."),
    output("batch_variance: U", "The running variance, updated; in inference `variance`."),
    output("reserve_space_1: U", "For the gradient: this batch's mean."),
    output("reserve_space_2: U", "For the gradient: this batch's variance."),
    shape_fn = shapes::fused_batch_norm_shape,
)]
pub enum BatchNorm {
    /// Each channel of `x` brought to mean 0 and variance 1, then to `scale` and `offset`: `y = (x - mean) /
    /// sqrt(variance + epsilon) * scale + offset`.
    ///
    /// In training, mean and variance are those of this batch, and the running ones are updated; otherwise they are
    /// given.
    #[op(
        attr("T: {float}"),
        input("scale: T"),
        input("offset: T"),
        input("mean: T"),
        input("variance: T"),
        output("batch_mean: T"),
        output("batch_variance: T"),
        output("reserve_space_1: T"),
        output("reserve_space_2: T")
    )]
    FusedBatchNorm,
    /// [`FusedBatchNorm`] in which `x` may be narrower than the statistics, which are `U`.
    #[op(attr("U: {float}", after = "T"))]
    FusedBatchNormV2,
    /// [`FusedBatchNormV2`] for four or five dimensions, with one more output for the gradient.
    #[op(
        attr("U: {bfloat16, float}", after = "T"),
        attr("data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'"),
        input("x: T", "Four or five dimensions, as `data_format` says."),
        output("reserve_space_3: U", "For the gradient on NVIDIA's devices; empty here."),
        shape_fn = shapes::fused_batch_norm_v3_shape,
    )]
    FusedBatchNormV3,
}

/// Each vector of the last dimension of `x` brought to mean 0 and variance 1, then to `scale` and `offset`.
///
/// `y = (x - mean) / sqrt(variance + epsilon) * scale + offset`. Kernlink's own, made by rewrites.
#[register_op(
    name = "_LayerNorm",
    attr("T: {half, bfloat16, float, double}"),
    attr("epsilon: float = 0.001", "Keeps the divisor from zero."),
    input("x: T"),
    input("scale: T", "As long as the last dimension of `x`."),
    input("offset: T", "As long as the last dimension of `x`."),
    output("y: T"),
    shape_fn = shapes::unchanged_shape_with_rank_at_least::<1>,
)]
pub struct LayerNorm;
