//! Adadelta and RMSProp: steps scaled by an average of the squared gradients.

use kernlink_macros::register_op;

use super::apply_shape;

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("accum: Ref(T)", "The average of the squared gradients."),
    input("accum_update: Ref(T)", "The average of the squared updates."),
    input("lr: T", "The learning rate, a scalar."),
    input("rho: T", "The share of the old average that the new one keeps, a scalar."),
    input("epsilon: T", "Keeps the divisor from zero, a scalar."),
    input("grad: T", "The gradient, of the variable's shape."),
    shape_fn = apply_shape,
)]
pub enum Adadelta {
    /// A step of Adadelta: the gradient is scaled by the quotient of two averages, that of the squared updates and that
    /// of the squared gradients.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    ApplyAdadelta,
    /// [`ApplyAdadelta`] on resource variables.
    #[op(input("var: resource"), input("accum: resource"), input("accum_update: resource"))]
    ResourceApplyAdadelta,
    /// [`ApplyAdadelta`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`.
    #[op(
        attr("Tindices: {int32, int64}", after = "T"),
        input("grad: T", "The gradient of the rows that `indices` names."),
        input(
            "indices: Tindices",
            "For each row of `grad` a row of the variables; one that occurs twice steps twice."
        ),
        output("out: Ref(T)", "The variable, after the step.")
    )]
    SparseApplyAdadelta,
    /// [`SparseApplyAdadelta`] on resource variables.
    #[op(
        like = ResourceApplyAdadelta,
        attr("Tindices: {int32, int64}", after = "T"),
        input("grad: T", "The gradient of the rows that `indices` names."),
        input("indices: Tindices", "For each row of `grad` a row of the variables; one that occurs twice steps twice."),
    )]
    ResourceSparseApplyAdadelta,
}

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("ms: Ref(T)", "The average of the squared gradients."),
    input("mom: Ref(T)", "The momentum."),
    input("lr: T", "The learning rate, a scalar."),
    input("rho: T", "The share of the old average that the new one keeps, a scalar."),
    input("momentum: T", "The share of the last step that the next one keeps, a scalar."),
    input("epsilon: T", "Keeps the divisor from zero, a scalar."),
    input("grad: T", "The gradient, of the variable's shape."),
    shape_fn = apply_shape,
)]
pub enum RmsProp {
    /// A step of RMSProp.
    ///
    /// `ms += (grad² - ms) * (1 - rho)`, `mom = mom * momentum + lr * grad / sqrt(ms + epsilon)`, `var -= mom`.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    ApplyRMSProp,
    /// A step of RMSProp by the gradients' variance.
    ///
    /// As [`ApplyRMSProp`] with `mg += (grad - mg) * (1 - rho)`, and `ms - mg² + epsilon` under the root.
    #[op(like = ApplyRMSProp, input("mg: Ref(T)", "The average of the gradients.", after = "var"))]
    ApplyCenteredRMSProp,
    /// [`ApplyRMSProp`] on resource variables.
    #[op(input("var: resource"), input("ms: resource"), input("mom: resource"))]
    ResourceApplyRMSProp,
    /// [`ApplyCenteredRMSProp`] on resource variables.
    #[op(like = ResourceApplyRMSProp, input("mg: resource", "The average of the gradients.", after = "var"))]
    ResourceApplyCenteredRMSProp,
}

#[register_op(
    attr("T: numbertype"),
    attr("Tindices: {int32, int64}"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("ms: Ref(T)", "The average of the squared gradients."),
    input("mom: Ref(T)", "The momentum."),
    input("lr: T", "The learning rate, a scalar."),
    input("rho: T", "The share of the old average that the new one keeps, a scalar."),
    input("momentum: T", "The share of the last step that the next one keeps, a scalar."),
    input("epsilon: T", "Keeps the divisor from zero, a scalar."),
    input("grad: T", "The gradient of the rows that `indices` names."),
    input("indices: Tindices", "For each row of `grad` a row of the variables; one that occurs twice steps twice."),
    shape_fn = apply_shape,
)]
pub enum SparseRmsProp {
    /// [`ApplyRMSProp`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    SparseApplyRMSProp,
    /// [`ApplyCenteredRMSProp`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`.
    #[op(like = SparseApplyRMSProp, input("mg: Ref(T)", "The average of the gradients.", after = "var"))]
    SparseApplyCenteredRMSProp,
    /// [`SparseApplyRMSProp`] on resource variables.
    #[op(input("var: resource"), input("ms: resource"), input("mom: resource"))]
    ResourceSparseApplyRMSProp,
    /// [`SparseApplyCenteredRMSProp`] on resource variables.
    #[op(like = ResourceSparseApplyRMSProp, input("mg: resource", "The average of the gradients.", after = "var"))]
    ResourceSparseApplyCenteredRMSProp,
}
