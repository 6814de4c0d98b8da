//! Adagrad and its kin: rates that shrink with the gradients seen.

use kernlink_macros::register_op;

use super::{apply_shape, apply_to_handles_shape};

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    attr("update_slots: bool = true", "Whether the accumulator takes the gradient in."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("accum: Ref(T)", "The sum of the squared gradients so far."),
    input("lr: T", "The learning rate, a scalar."),
    input("grad: T", "The gradient, of the variable's shape."),
    shape_fn = apply_shape,
)]
pub enum Adagrad {
    /// A step of Adagrad: `accum += grad²`, `var -= lr * grad / sqrt(accum)`.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    ApplyAdagrad,
    /// A step of Adagrad with an epsilon: `accum += grad²`, `var -= lr * grad / (sqrt(accum) + epsilon)`.
    #[op(like = ApplyAdagrad, input("epsilon: T", "Keeps the divisor from zero, a scalar.", after = "lr"))]
    ApplyAdagradV2,
    /// [`ApplyAdagrad`] on resource variables.
    #[op(input("var: resource"), input("accum: resource"))]
    ResourceApplyAdagrad,
    /// [`ApplyAdagradV2`] on resource variables.
    #[op(like = ResourceApplyAdagrad, input("epsilon: T", "Keeps the divisor from zero, a scalar.", after = "lr"))]
    ResourceApplyAdagradV2,
}

#[register_op(
    attr("T: numbertype"),
    attr("Tindices: {int32, int64}"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    attr("update_slots: bool = true", "Whether the accumulator takes the gradient in."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("accum: Ref(T)", "The sum of the squared gradients so far."),
    input("lr: T", "The learning rate, a scalar."),
    input("grad: T", "The gradient of the rows that `indices` names."),
    input("indices: Tindices", "For each row of `grad` a row of the variables; one that occurs twice steps twice."),
    shape_fn = apply_shape,
)]
pub enum SparseAdagrad {
    /// [`ApplyAdagrad`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    SparseApplyAdagrad,
    /// [`ApplyAdagradV2`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`.
    #[op(like = SparseApplyAdagrad, input("epsilon: T", "Keeps the divisor from zero, a scalar.", after = "lr"))]
    SparseApplyAdagradV2,
    /// [`SparseApplyAdagrad`] on resource variables.
    #[op(input("var: resource"), input("accum: resource"))]
    ResourceSparseApplyAdagrad,
    /// [`SparseApplyAdagradV2`] on resource variables.
    #[op(
        input("var: resource"),
        input("accum: resource"),
        input("epsilon: T", "Keeps the divisor from zero, a scalar.", after = "lr")
    )]
    ResourceSparseApplyAdagradV2,
}

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("gradient_accumulator: Ref(T)", "The sum of the gradients so far."),
    input("gradient_squared_accumulator: Ref(T)", "The sum of the squared gradients so far."),
    input("grad: T", "The gradient, of the variable's shape."),
    input("lr: T", "The learning rate, a scalar."),
    input("l1: T", "The strength of L1 regularisation, a scalar."),
    input("l2: T", "The strength of L2 regularisation, a scalar."),
    input("global_step: int64", "The number of steps so far, a scalar; not 0."),
    shape_fn = apply_shape,
)]
pub enum AdagradDA {
    /// A step of Adagrad by dual averaging: what follows from all gradients so far, not from the variable's last value.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    ApplyAdagradDA,
    /// [`ApplyAdagradDA`] on resource variables.
    #[op(
        input("var: resource"),
        input("gradient_accumulator: resource"),
        input("gradient_squared_accumulator: resource")
    )]
    ResourceApplyAdagradDA,
    /// [`ApplyAdagradDA`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`.
    #[op(
        attr("Tindices: {int32, int64}", after = "T"),
        input("grad: T", "The gradient of the rows that `indices` names."),
        input(
            "indices: Tindices",
            "For each row of `grad` a row of the variables; one that occurs twice steps twice.",
            after = "grad",
        ),
        output("out: Ref(T)", "The variable, after the step.")
    )]
    SparseApplyAdagradDA,
    /// [`SparseApplyAdagradDA`] on resource variables.
    #[op(
        like = ResourceApplyAdagradDA,
        attr("Tindices: {int32, int64}", after = "T"),
        input("grad: T", "The gradient of the rows that `indices` names."),
        input(
            "indices: Tindices",
            "For each row of `grad` a row of the variables; one that occurs twice steps twice.",
            after = "grad",
        ),
    )]
    ResourceSparseApplyAdagradDA,
}

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("accum: Ref(T)", "The sum of the squared gradients so far."),
    input("lr: T", "The learning rate, a scalar."),
    input("l1: T", "The strength of L1 regularisation, a scalar."),
    input("l2: T", "The strength of L2 regularisation, a scalar."),
    input("grad: T", "The gradient, of the variable's shape."),
    shape_fn = apply_shape,
)]
pub enum ProximalAdagrad {
    /// A step of Adagrad, then towards zero (FOBOS).
    ///
    /// `accum += grad²`, `rate = lr / sqrt(accum)`, `v = var - rate * grad`, `var = sign(v) / (1 + rate * l2) *
    /// max(|v| - rate * l1, 0)`.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    ApplyProximalAdagrad,
    /// [`ApplyProximalAdagrad`] on resource variables.
    #[op(input("var: resource"), input("accum: resource"), shape_fn = apply_to_handles_shape)]
    ResourceApplyProximalAdagrad,
    /// [`ApplyProximalAdagrad`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`.
    #[op(
        attr("Tindices: {int32, int64}", after = "T"),
        input("grad: T", "The gradient of the rows that `indices` names."),
        input(
            "indices: Tindices",
            "For each row of `grad` a row of the variables; one that occurs twice steps twice."
        ),
        output("out: Ref(T)", "The variable, after the step.")
    )]
    SparseApplyProximalAdagrad,
    /// [`SparseApplyProximalAdagrad`] on resource variables.
    #[op(
        attr("Tindices: {int32, int64}", after = "T"),
        input("var: resource"),
        input("accum: resource"),
        input("grad: T", "The gradient of the rows that `indices` names."),
        input(
            "indices: Tindices",
            "For each row of `grad` a row of the variables; one that occurs twice steps twice."
        )
    )]
    ResourceSparseApplyProximalAdagrad,
}
