//! Steps that grow where the gradient agrees with its average.

use kernlink_macros::register_op;

use super::apply_shape;

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("m: Ref(T)", "The average of the gradients."),
    input("lr: T", "The learning rate, a scalar."),
    input("sign_decay: T", "How much the signs count, a scalar."),
    input("beta: T", "The share of the old average in `m`, a scalar."),
    input("grad: T", "The gradient, of the variable's shape."),
    shape_fn = apply_shape,
)]
pub enum Signs {
    /// A step of AddSign: `m = m * beta + grad * (1 - beta)`, `var -= lr * (alpha + sign_decay * sign(grad) *
    /// sign(m)) * grad`.
    #[op(
        input("alpha: T", "What the scale is apart from the signs, a scalar.", after = "lr"),
        output("out: Ref(T)", "The variable, after the step.")
    )]
    ApplyAddSign,
    /// [`ApplyAddSign`] on resource variables.
    #[op(
        input("var: resource"),
        input("m: resource"),
        input("alpha: T", "What the scale is apart from the signs, a scalar.", after = "lr")
    )]
    ResourceApplyAddSign,
    /// A step of PowerSign: `m = m * beta + grad * (1 - beta)`, `var -= lr * exp(logbase * sign_decay * sign(grad) *
    /// sign(m)) * grad`.
    #[op(
        input("logbase: T", "The logarithm of the base, a scalar.", after = "lr"),
        output("out: Ref(T)", "The variable, after the step.")
    )]
    ApplyPowerSign,
    /// [`ApplyPowerSign`] on resource variables.
    #[op(
        input("var: resource"),
        input("m: resource"),
        input("logbase: T", "The logarithm of the base, a scalar.", after = "lr")
    )]
    ResourceApplyPowerSign,
}
