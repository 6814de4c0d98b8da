//! Steps with momentum.

use kernlink_macros::register_op;

use super::apply_shape;

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    attr("use_nesterov: bool = false", "Whether the step looks ahead by the momentum."),
    input("var: resource", "The variable that the step improves."),
    input("accum: resource", "The momentum so far."),
    input("lr: T", "The learning rate, a scalar."),
    input("grad: T", "The gradient, of the variable's shape."),
    input("momentum: T", "The share of the last step that the next one keeps, a scalar."),
    shape_fn = apply_shape,
)]
pub enum Momentum {
    /// A step with momentum: `accum = accum * momentum + grad`, `var -= lr * accum`.
    #[op(input("var: Ref(T)"), input("accum: Ref(T)"), output("out: Ref(T)", "The variable, after the step."))]
    ApplyMomentum,
    /// [`ApplyMomentum`] on resource variables.
    ResourceApplyMomentum,
    /// A step with momentum that holds the learning rate: `accum = accum * momentum - lr * grad`, `var += accum`.
    ResourceApplyKerasMomentum,
    /// [`SparseApplyMomentum`] on resource variables.
    #[op(
        attr("Tindices: {int32, int64}", after = "T"),
        input("grad: T", "The gradient of the rows that `indices` names."),
        input(
            "indices: Tindices",
            "For each row of `grad` a row of the variables; one that occurs twice steps twice.",
            after = "grad",
        )
    )]
    ResourceSparseApplyMomentum,
    /// [`ApplyMomentum`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`.
    #[op(
        like = ResourceSparseApplyMomentum,
        input("var: Ref(T)"),
        input("accum: Ref(T)"),
        output("out: Ref(T)", "The variable, after the step."),
    )]
    SparseApplyMomentum,
    /// [`ResourceApplyKerasMomentum`] for some rows of the variables: row `indices[i]` takes a step by row `i` of
    /// `grad`.
    #[op(like = ResourceSparseApplyMomentum)]
    ResourceSparseApplyKerasMomentum,
}
