//! Steps along the gradient, with and without a proximal term.

use kernlink_macros::register_op;

use super::{apply_shape, apply_with_gradient_shape};

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("alpha: T", "The learning rate, a scalar."),
    input("delta: T", "The gradient, of the variable's shape."),
    shape_fn = apply_shape,
)]
pub enum GradientDescent {
    /// A step against the gradient: `var -= alpha * delta`.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    ApplyGradientDescent,
    /// [`ApplyGradientDescent`] on resource variables.
    #[op(input("var: resource"), shape_fn = apply_with_gradient_shape)]
    ResourceApplyGradientDescent,
}

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("alpha: T", "The learning rate, a scalar."),
    input("l1: T", "The strength of L1 regularisation, a scalar."),
    input("l2: T", "The strength of L2 regularisation, a scalar."),
    shape_fn = apply_shape,
)]
pub enum Proximal {
    /// A step against the gradient, then towards zero (FOBOS).
    ///
    /// `v = var - alpha * delta`, `var = sign(v) / (1 + alpha * l2) * max(|v| - alpha * l1, 0)`.
    #[op(
        input("delta: T", "The gradient, of the variable's shape."),
        output("out: Ref(T)", "The variable, after the step.")
    )]
    ApplyProximalGradientDescent,
    /// [`ApplyProximalGradientDescent`] on resource variables.
    #[op(input("var: resource"), input("delta: T", "The gradient, of the variable's shape."))]
    ResourceApplyProximalGradientDescent,
    /// [`ApplyProximalGradientDescent`] for some rows of the variables: row `indices[i]` takes a step by row `i` of
    /// `grad`.
    #[op(
        attr("Tindices: {int32, int64}", after = "T"),
        input("grad: T", "The gradient of the rows that `indices` names."),
        input(
            "indices: Tindices",
            "For each row of `grad` a row of the variables; one that occurs twice steps twice."
        ),
        output("out: Ref(T)", "The variable, after the step.")
    )]
    SparseApplyProximalGradientDescent,
    /// [`SparseApplyProximalGradientDescent`] on resource variables.
    #[op(
        attr("Tindices: {int32, int64}", after = "T"),
        input("var: resource"),
        input("grad: T", "The gradient of the rows that `indices` names."),
        input(
            "indices: Tindices",
            "For each row of `grad` a row of the variables; one that occurs twice steps twice."
        )
    )]
    ResourceSparseApplyProximalGradientDescent,
}
