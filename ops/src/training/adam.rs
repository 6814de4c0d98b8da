//! Adam and its kin: steps by averages of the gradients and of their squares.

use kernlink_macros::register_op;

use super::apply_shape;

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    input("var: resource", "The variable that the step improves."),
    input("m: resource", "The average of the gradients."),
    input("v: resource", "The average of the squared gradients."),
    input("beta1_power: T", "`beta1` to the power of the number of steps, a scalar."),
    input("beta2_power: T", "`beta2` to the power of the number of steps, a scalar."),
    input("lr: T", "The learning rate, a scalar."),
    input("beta1: T", "The share of the old average in `m`, a scalar."),
    input("beta2: T", "The share of the old average in `v`, a scalar."),
    input("epsilon: T", "Keeps the divisor from zero, a scalar."),
    input("grad: T", "The gradient, of the variable's shape."),
    shape_fn = apply_shape,
)]
pub enum Adam {
    /// A step of Adam.
    ///
    /// `m += (grad - m) * (1 - beta1)`, `v += (grad² - v) * (1 - beta2)`, `var -= rate * m / (sqrt(v) + epsilon)`. The
    /// rate is `lr * sqrt(1 - beta2_power) / (1 - beta1_power)`.
    #[op(
        attr("use_nesterov: bool = false", "Whether the step looks ahead by the momentum."),
        input("var: Ref(T)"),
        input("m: Ref(T)"),
        input("v: Ref(T)"),
        output("out: Ref(T)", "The variable, after the step.")
    )]
    ApplyAdam,
    /// [`ApplyAdam`] on resource variables.
    #[op(attr("use_nesterov: bool = false", "Whether the step looks ahead by the momentum."))]
    ResourceApplyAdam,
    /// A step of Adam that divides by the greatest average so far: [`ResourceApplyAdam`] with `vhat = max(vhat, v)` in
    /// the place of `v`.
    #[op(input("vhat: resource", "The greatest `v` so far.", after = "v"))]
    ResourceApplyAdamWithAmsgrad,
}

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("m: Ref(T)", "The average of the gradients."),
    input("v: Ref(T)", "The greatest gradient, fading."),
    input("beta1_power: T", "`beta1` to the power of the number of steps, a scalar."),
    input("lr: T", "The learning rate, a scalar."),
    input("beta1: T", "The share of the old average in `m`, a scalar."),
    input("beta2: T", "How fast `v` fades, a scalar."),
    input("epsilon: T", "Keeps the divisor from zero, a scalar."),
    input("grad: T", "The gradient, of the variable's shape."),
    shape_fn = apply_shape,
)]
pub enum AdaMax {
    /// A step of AdaMax: `m += (grad - m) * (1 - beta1)`, `v = max(beta2 * v, |grad|)`, `var -= lr / (1 -
    /// beta1_power) * m / (v + epsilon)`.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    ApplyAdaMax,
    /// [`ApplyAdaMax`] on resource variables.
    #[op(input("var: resource"), input("m: resource"), input("v: resource"))]
    ResourceApplyAdaMax,
}
