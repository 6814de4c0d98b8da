//! The gradients of batch normalisation, and normalisation across channels.

use kernlink::Result;
use kernlink::shape_inference::{DimHandle, InferenceContext};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {half, bfloat16, float}"),
    attr("epsilon: float = 0.0001", "That of the normalisation."),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "Where the channels stand; in inference last alone."),
    attr("is_training: bool = true", "Whether mean and variance came from the batch."),
    input("y_backprop: T", "What flows back into the normalisation."),
    input("x: T", "What was normalised."),
    input("scale: float"),
    input("reserve_space_1: U", "In training the batch's mean; in inference the given mean."),
    input("reserve_space_2: U", "In training the batch's variance; in inference the given variance."),
    output("x_backprop: T"),
    output("scale_backprop: U"),
    output("offset_backprop: U"),
    output("reserve_space_4: U", "Empty."),
    shape_fn = shapes::fused_batch_norm_grad_shape,
)]
pub enum BatchNormGradients {
    /// The gradient of `FusedBatchNorm`.
    #[op(
        attr("T: {float}"),
        input("scale: T"),
        input("reserve_space_1: T"),
        input("reserve_space_2: T"),
        output("scale_backprop: T"),
        output("offset_backprop: T"),
        output("reserve_space_3: T", "Empty.", after = "offset_backprop"),
        output("reserve_space_4: T")
    )]
    FusedBatchNormGrad,
    /// The gradient of `FusedBatchNormV2`.
    #[op(attr("U: {float}", after = "T"), output("reserve_space_3: U", "Empty.", after = "offset_backprop"))]
    FusedBatchNormGradV2,
    /// The gradient of `FusedBatchNormV3`.
    #[op(
        attr("U: {float}", after = "T"),
        attr("data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'"),
        input("reserve_space_3: U", "For NVIDIA's devices; without effect here."),
        output("reserve_space_5: U", "Empty.")
    )]
    FusedBatchNormGradV3,
}

/// Batch normalisation with given mean and variance: `(t - m) / sqrt(v + variance_epsilon) * gamma + beta`.
#[register_op(
    deprecated(9, "Use tf.nn.batch_normalization()"),
    input("t: T", "`[batch, rows, columns, channels]`."),
    input("m: T", "The mean of each channel."),
    input("v: T", "The variance of each channel."),
    input("beta: T", "What is added to each channel at the end."),
    input("gamma: T", "What each channel is multiplied with, if `scale_after_normalization` is true."),
    output("result: T"),
    attr("T: numbertype"),
    attr("variance_epsilon: float", "Keeps the divisor from zero."),
    attr("scale_after_normalization: bool", "Whether `gamma` counts."),
    shape_fn = global_normalization_shape,
)]
pub struct BatchNormWithGlobalNormalization;

/// The gradient of [`BatchNormWithGlobalNormalization`].
#[register_op(
    deprecated(9, "Use tf.nn.batch_normalization()"),
    input("t: T", "`[batch, rows, columns, channels]`."),
    input("m: T", "The mean of each channel."),
    input("v: T", "The variance of each channel."),
    input("gamma: T", "What each channel is multiplied with, if `scale_after_normalization` is true."),
    input("backprop: T", "What flows back into the normalisation."),
    output("dx: T"),
    output("dm: T"),
    output("dv: T"),
    output("db: T"),
    output("dg: T"),
    attr("T: numbertype"),
    attr("variance_epsilon: float", "Keeps the divisor from zero."),
    attr("scale_after_normalization: bool", "Whether `gamma` counts."),
    shape_fn = global_normalization_grad_shape,
)]
pub struct BatchNormWithGlobalNormalizationGrad;

fn global_normalization_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 4)?;
    let input = c.merge(input, c.input(4))?;
    let channels = (1..4).try_fold(c.dim(input, 3), |channels: DimHandle, index| {
        let vector = c.with_rank(c.input(index), 1)?;
        c.merge_dim(channels, c.dim(vector, 0))
    })?;
    let of_input = c.replace_dim(input, 3, channels)?;
    c.set_output(0, of_input);
    let vector = c.vector(channels);
    (1..5).for_each(|output| c.set_output(output, vector));
    Ok(())
}

fn global_normalization_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 4)?;
    let channels = (1..5).try_fold(c.dim(input, 3), |channels: DimHandle, index| {
        let vector = c.with_rank(c.input(index), 1)?;
        c.merge_dim(channels, c.dim(vector, 0))
    })?;
    shapes::output_shape(c, c.replace_dim(input, 3, channels)?)
}

#[register_op(
    attr("depth_radius: int = 5", "How many channels on either side count."),
    attr("bias: float = 1.0", "Keeps the divisor from zero."),
    attr("alpha: float = 1.0", "The weight of the squares."),
    attr("beta: float = 0.5", "The power."),
    attr("T: {half, bfloat16, float} = DT_FLOAT"),
    output("output: T"),
    shape_fn = shapes::unchanged_shape_with_rank::<4>,
)]
pub enum LocalResponses {
    /// Local response normalisation: each element divided by a power of the sum of squares in its neighbouring channels.
    ///
    /// `output = input / (bias + alpha * Σ input²)^beta`, where the sum is over the channels at most `depth_radius` away.
    #[op(input("input: T", "`[batch, rows, columns, channels]`."))]
    LRN,
    /// The gradient of [`LRN`].
    #[op(
        input("input_grads: T", "What flows back into the normalisation."),
        input("input_image: T", "What was normalised."),
        input("output_image: T", "What the normalisation gave."),
        shape_fn = lrn_grad_shape,
    )]
    LRNGrad,
}

fn lrn_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.with_rank(c.input(0), 4)?;
    let shape = c.merge(shape, c.input(1))?;
    shapes::output_shape(c, c.merge(shape, c.input(2))?)
}
