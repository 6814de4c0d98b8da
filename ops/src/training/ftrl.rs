//! FTRL: steps that follow the regularised leader.

use kernlink_macros::register_op;

use super::apply_shape;

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    attr("multiply_linear_by_lr: bool = false", "Whether `linear` holds its values times the learning rate."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("accum: Ref(T)", "The sum of the squared gradients so far."),
    input("linear: Ref(T)", "The linear term so far."),
    input("grad: T", "The gradient, of the variable's shape."),
    input("lr: T", "The learning rate, a scalar."),
    input("l1: T", "The strength of L1 regularisation, a scalar."),
    input("l2: T", "The strength of L2 regularisation, a scalar."),
    input("lr_power: T", "To which power the rate falls with the gradients, a scalar; −0.5 as a rule."),
    shape_fn = apply_shape,
)]
pub enum Ftrl {
    /// A step of FTRL-proximal.
    ///
    /// `new = accum + grad²`, `linear += grad - (new^-lr_power - accum^-lr_power) / lr * var`, `var = (sign(linear) *
    /// l1 - linear) / (new^-lr_power / lr + 2 * l2)`, or 0 if `|linear| <= l1`; `accum = new`.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    ApplyFtrl,
    /// [`ApplyFtrl`] on resource variables.
    #[op(input("var: resource"), input("accum: resource"), input("linear: resource"))]
    ResourceApplyFtrl,
    /// A step of FTRL-proximal with shrinkage: [`ApplyFtrl`] with `grad + 2 * l2_shrinkage * var` in the place of the
    /// gradient that `linear` takes in.
    #[op(
        input("l2_shrinkage: T", "How much of the variable the gradient gets added, twice; a scalar.", after = "l2"),
        output("out: Ref(T)", "The variable, after the step.")
    )]
    ApplyFtrlV2,
    /// [`ApplyFtrlV2`] on resource variables.
    #[op(
        like = ResourceApplyFtrl,
        input("l2_shrinkage: T", "How much of the variable the gradient gets added, twice; a scalar.", after = "l2"),
    )]
    ResourceApplyFtrlV2,
}

#[register_op(
    attr("T: numbertype"),
    attr("Tindices: {int32, int64}"),
    attr("use_locking: bool = false", "Whether the variables stay locked for the whole step. Here they always are."),
    attr("multiply_linear_by_lr: bool = false", "Whether `linear` holds its values times the learning rate."),
    input("var: Ref(T)", "The variable that the step improves."),
    input("accum: Ref(T)", "The sum of the squared gradients so far."),
    input("linear: Ref(T)", "The linear term so far."),
    input("grad: T", "The gradient of the rows that `indices` names."),
    input("indices: Tindices", "For each row of `grad` a row of the variables; one that occurs twice steps twice."),
    input("lr: T", "The learning rate, a scalar."),
    input("l1: T", "The strength of L1 regularisation, a scalar."),
    input("l2: T", "The strength of L2 regularisation, a scalar."),
    input("lr_power: T", "To which power the rate falls with the gradients, a scalar; −0.5 as a rule."),
    shape_fn = apply_shape,
)]
pub enum SparseFtrl {
    /// [`ApplyFtrl`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`.
    #[op(output("out: Ref(T)", "The variable, after the step."))]
    SparseApplyFtrl,
    /// [`SparseApplyFtrl`] on resource variables.
    #[op(input("var: resource"), input("accum: resource"), input("linear: resource"))]
    ResourceSparseApplyFtrl,
    /// [`ApplyFtrlV2`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`.
    #[op(
        input("l2_shrinkage: T", "How much of the variable the gradient gets added, twice; a scalar.", after = "l2"),
        output("out: Ref(T)", "The variable, after the step.")
    )]
    SparseApplyFtrlV2,
    /// [`SparseApplyFtrlV2`] on resource variables.
    #[op(
        like = ResourceSparseApplyFtrl,
        input("l2_shrinkage: T", "How much of the variable the gradient gets added, twice; a scalar.", after = "l2"),
    )]
    ResourceSparseApplyFtrlV2,
}
