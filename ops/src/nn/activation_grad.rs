//! The gradients of activations.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: realnumbertype"),
    input("gradients: T", "What flows back into the activation."),
    input("features: T", "What the activation was given."),
    output("backprops: T"),
    shape_fn = shapes::merge_both_inputs_shape,
)]
pub enum ActivationGradients {
    /// The gradient of `Relu`: `gradients` where `features` is positive, 0 elsewhere.
    #[op(input("features: T", "What the activation was given, or what it gave: either will do."))]
    ReluGrad,
    /// The gradient of `Relu6`: `gradients` where `features` lies between 0 and 6, 0 elsewhere.
    #[op(input("features: T", "What the activation was given, or what it gave: either will do."))]
    Relu6Grad,
    /// The gradient of `LeakyRelu`: `gradients` where `features` is positive, `alpha * gradients` elsewhere.
    #[op(
        attr("alpha: float = 0.2", "The slope below zero.", before = "T"),
        attr("T: {half, bfloat16, float, double} = DT_FLOAT")
    )]
    LeakyReluGrad,
    /// The gradient of `Softplus`: `gradients / (1 + exp(-features))`.
    #[op(attr("T: {half, bfloat16, float, double}"))]
    SoftplusGrad,
    /// The gradient of `Softsign`: `gradients / (1 + |features|)²`.
    #[op(attr("T: {half, bfloat16, float, double}"))]
    SoftsignGrad,
}

#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("gradients: T", "What flows back into the activation."),
    input("outputs: T", "What the activation gave."),
    output("backprops: T"),
    shape_fn = shapes::merge_both_inputs_shape,
)]
pub enum ExponentialGradients {
    /// The gradient of `Elu`: `gradients * (outputs + 1)` where `outputs` is negative, `gradients` elsewhere.
    EluGrad,
    /// The gradient of `Selu`: `gradients * (outputs + scale * alpha)` where `outputs` is negative, `scale * gradients`
    /// elsewhere.
    SeluGrad,
}
