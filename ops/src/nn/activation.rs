//! Activations.

use kernlink_macros::register_op;

use crate::shapes;

/// The positive part, `max(features, 0)`. NaN stays NaN.
#[register_op(
    attr("T: {realnumbertype, qint8}"),
    input("features: T"),
    output("activations: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct Relu;

/// The positive part up to 6, `min(max(features, 0), 6)`.
#[register_op(
    attr("T: realnumbertype"),
    input("features: T"),
    output("activations: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct Relu6;

/// `features` where positive, `alpha * features` elsewhere.
#[register_op(
    attr("alpha: float = 0.2", "The slope below zero."),
    attr("T: {half, bfloat16, float, double} = DT_FLOAT"),
    input("features: T"),
    output("activations: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct LeakyRelu;

/// `features` where positive, `exp(features) - 1` elsewhere.
#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("features: T"),
    output("activations: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct Elu;

/// `scale * features` where positive, `scale * alpha * (exp(features) - 1)` elsewhere, with the scale 1.0507… and the
/// alpha 1.6733… that keep mean and variance.
#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("features: T"),
    output("activations: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct Selu;

/// `log(1 + exp(features))`.
#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("features: T"),
    output("activations: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct Softplus;

/// `features / (1 + |features|)`.
#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("features: T"),
    output("activations: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct Softsign;

/// Probabilities along the last dimension: `exp(logits)`, scaled to a sum of 1. The rank is at least 1.
#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("logits: T"),
    output("softmax: T"),
    shape_fn = shapes::unchanged_shape_with_rank_at_least::<1>,
)]
pub struct Softmax;

/// The logarithms of what [`Softmax`] gives, computed without going through it. The rank is at least 1.
#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("logits: T"),
    output("logsoftmax: T"),
    shape_fn = shapes::unchanged_shape_with_rank_at_least::<1>,
)]
pub struct LogSoftmax;
