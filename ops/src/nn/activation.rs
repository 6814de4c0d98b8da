//! Activations.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("features: T"),
    output("activations: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub enum Activations {
    /// The positive part, `max(features, 0)`. NaN stays NaN.
    #[op(attr("T: {realnumbertype, qint8}"))]
    Relu,
    /// The positive part up to 6, `min(max(features, 0), 6)`.
    #[op(attr("T: realnumbertype"))]
    Relu6,
    /// `features` where positive, `alpha * features` elsewhere.
    #[op(
        attr("alpha: float = 0.2", "The slope below zero.", before = "T"),
        attr("T: {half, bfloat16, float, double} = DT_FLOAT")
    )]
    LeakyRelu,
    /// `features` where positive, `exp(features) - 1` elsewhere.
    Elu,
    /// `scale * features` where positive, `scale * alpha * (exp(features) - 1)` elsewhere, with the scale 1.0507… and
    /// the alpha 1.6733… that keep mean and variance.
    Selu,
    /// `log(1 + exp(features))`.
    Softplus,
    /// `features / (1 + |features|)`.
    Softsign,
}

/// Activations that TensorFlow's graphs write with several nodes. Kernlink's own, made by rewrites.
#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("features: T"),
    output("activations: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub enum ComposedActivations {
    /// `features * sigmoid(features)`.
    #[op(name = "_Swish")]
    Swish,
    /// `features * relu6(features + 3) / 6`.
    #[op(name = "_HardSwish")]
    HardSwish,
    /// `0.5 * features * erfc(-features / sqrt(2))`.
    #[op(name = "_GeluExact")]
    GeluExact,
    /// `0.5 * features * (1 + tanh(sqrt(2 / pi) * (features + 0.044715 * features^3)))`.
    #[op(name = "_GeluApproximate")]
    GeluApproximate,
}

/// `softmax(logits * scale + mask)` along the last dimension, as attention takes it. Kernlink's own, made by rewrites.
#[register_op(
    name = "_ScaledMaskedSoftmax",
    attr("T: {float}"),
    attr("num_masks: int >= 0 = 0", "0 or 1."),
    attr("scale: float = 1.0"),
    input("logits: T"),
    input("mask: num_masks * T", "Added to the scaled logits; they broadcast to each other."),
    output("softmax: T"),
    shape_fn = shapes::scaled_masked_softmax_shape,
)]
pub struct ScaledMaskedSoftmax;

#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("logits: T"),
    shape_fn = shapes::unchanged_shape_with_rank_at_least::<1>,
)]
pub enum Softmaxes {
    /// Probabilities along the last dimension: `exp(logits)`, scaled to a sum of 1. The rank is at least 1.
    #[op(output("softmax: T"))]
    Softmax,
    /// The logarithms of what [`Softmax`] gives, computed without going through it. The rank is at least 1.
    #[op(output("logsoftmax: T"))]
    LogSoftmax,
}
