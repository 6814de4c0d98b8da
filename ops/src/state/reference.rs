//! Variables as references: those of TensorFlow 1.

use kernlink::Result;
use kernlink::shape::PartialShape;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("shape: shape", "Its shape; a shape of unknown rank counts as a scalar's."),
    attr("dtype: type", "The dtype of its elements."),
    output("ref: Ref(dtype)", "The variable."),
    stateful,
    shape_fn = shapes::explicit_shape,
)]
pub enum Variables {
    /// A variable that other nodes change through references; it lives as long as the session.
    #[op(
        attr("container: string = ''", "The container that keeps it; empty for the default one."),
        attr("shared_name: string = ''", "The name under which other nodes find it; empty for the node's own.")
    )]
    VariableV2,
    /// [`VariableV2`] of older graphs.
    #[op(
        attr(
            "shape: shape",
            "Its shape. That of a scalar says nothing to shape inference: older graphs wrote it for an unknown one.",
        ),
        attr("container: string = ''", "The container that keeps it; empty for the default one."),
        attr("shared_name: string = ''", "The name under which other nodes find it; empty for the node's own."),
        shape_fn = variable_shape,
    )]
    Variable,
    /// A variable that lives until [`DestroyTemporaryVariable`] takes it, or the step ends.
    #[op(attr("var_name: string = ''", "The name under which it is destroyed; empty for the node's own."))]
    TemporaryVariable,
}

/// The last value of a temporary variable, which ends here.
#[register_op(
    attr("T: type"),
    attr("var_name: string", "The name of the temporary variable."),
    input("ref: Ref(T)", "The variable."),
    output("value: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct DestroyTemporaryVariable;

/// Whether a variable has a value.
#[register_op(
    attr("dtype: type"),
    input("ref: Ref(dtype)"),
    output("is_initialized: bool"),
    allows_uninitialized_input,
    shape_fn = shapes::scalar_shape,
)]
pub struct IsVariableInitialized;

#[register_op(
    attr("T: numbertype"),
    attr("use_locking: bool = false", "Whether the variable stays locked meanwhile. Here it always is."),
    input("ref: Ref(T)", "The variable."),
    input("value: T", "What to assign."),
    output("output_ref: Ref(T)", "The variable, afterwards."),
    shape_fn = shapes::merge_both_inputs_shape,
)]
pub enum Assignments {
    /// Gives a variable a value.
    #[op(
        attr("T: type"),
        attr(
            "validate_shape: bool = true",
            "Whether the value must have the variable's shape; if not, the variable takes the value's.",
            after = "T",
        ),
        attr("use_locking: bool = true"),
        allows_uninitialized_input,
        shape_fn = assign_shape,
    )]
    Assign,
    /// Adds to a variable.
    #[op(input("value: T", "What to add, of the variable's shape."))]
    AssignAdd,
    /// Subtracts from a variable.
    #[op(input("value: T", "What to subtract, of the variable's shape."))]
    AssignSub,
}

/// Adds one to a variable and gives its value from before, until that is `limit`: then the error is OUT_OF_RANGE.
#[register_op(
    attr("limit: int", "What the variable never exceeds."),
    attr("T: {int32, int64}"),
    input("ref: Ref(T)", "The variable, a scalar."),
    output("output: T"),
    shape_fn = |c| shapes::output_shape(c, c.with_rank(c.input(0), 0)?),
)]
pub struct CountUpTo;

/// Assigns to a part of a variable: `ref[begin:end:strides, …] = value`, with the masks of
/// `StridedSlice`.
#[register_op(
    attr("T: type"),
    attr("Index: {int32, int64}"),
    attr("begin_mask: int = 0"),
    attr("end_mask: int = 0"),
    attr("ellipsis_mask: int = 0"),
    attr("new_axis_mask: int = 0"),
    attr("shrink_axis_mask: int = 0"),
    input("ref: Ref(T)", "The variable."),
    input("begin: Index", "The first index of each entry."),
    input("end: Index", "The index at which each entry stops."),
    input("strides: Index", "The step of each entry."),
    input("value: T", "What to assign; it is broadcast to the part's shape."),
    output("output_ref: Ref(T)", "The variable, afterwards."),
    shape_fn = shapes::unchanged_shape,
)]
pub struct StridedSliceAssign;

fn variable_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    match c.attr::<PartialShape>("shape")?.rank() {
        None | Some(0) => shapes::unknown_shape(c),
        Some(_) => shapes::explicit_shape(c),
    }
}

fn assign_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    if c.attr("validate_shape")? {
        return shapes::merge_both_inputs_shape(c);
    }
    shapes::output_shape(c, c.input(1))
}
