//! Calls of functions: as they are, by condition, and in loops.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::control_flow::output_shapes_attr;
use crate::shapes;

#[register_op(
    attr("Tin: list(type) >= 0"),
    attr("Tout: list(type) >= 0"),
    attr("f: func", "What is called."),
    attr("config: string = ''"),
    attr("config_proto: string = ''"),
    attr("executor_type: string = ''"),
    input("args: Tin"),
    output("output: Tout"),
    shape_fn = shapes::unknown_shape,
)]
pub enum Calls {
    /// Calls `f` with `args`.
    ///
    /// The shapes of its results are those that its body has with these arguments.
    PartitionedCall,
    /// Calls `f`, which has effects, with `args`.
    ///
    /// The shapes of its results are those that its body has with these arguments.
    #[op(stateful, distributed_communication)]
    StatefulPartitionedCall,
}

/// Calls `f` with `args` on another device.
///
/// Functions run on the host, so that of all devices only the host's own may be named.
#[register_op(
    input("target: string", "The device; what the name leaves open is this one's."),
    input("args: Tin"),
    output("output: Tout"),
    attr("Tin: list(type)"),
    attr("Tout: list(type)"),
    attr("f: func", "What is called."),
    stateful,
    shape_fn = shapes::unknown_shape,
)]
pub struct RemoteCall;

#[register_op(
    attr("Tin: list(type) >= 0"),
    attr("Tout: list(type) >= 0"),
    attr("output_shapes: list(shape) = []", "What is known of the outputs; empty for what both branches tell."),
    input("input: Tin"),
    output("output: Tout"),
    shape_fn = branch_shape,
)]
pub enum Branches {
    /// Calls `then_branch` with `input` if `cond` holds, and `else_branch` if not; both are free of effects.
    ///
    /// A number holds if it is not zero, a string or any other tensor if it is not empty.
    #[op(
        attr("Tcond: type", before = "Tin"),
        attr("then_branch: func", after = "Tout"),
        attr("else_branch: func", after = "then_branch"),
        input("cond: Tcond", before = "input")
    )]
    StatelessIf,
    /// Calls `then_branch` with `input` if `cond` holds, and `else_branch` if not.
    ///
    /// A number holds if it is not zero, a string or any other tensor if it is not empty.
    #[op(like = StatelessIf, stateful)]
    If,
    /// Calls the branch that `branch_index` names with `input`, the last one if there is none; all are free of effects.
    #[op(
        attr("branches: list(func) >= 1", after = "Tout"),
        attr("output_shapes: list(shape) = []", "What is known of the outputs; empty for what all branches tell."),
        input("branch_index: int32", before = "input")
    )]
    StatelessCase,
    /// Calls the branch that `branch_index` names with `input`, the last one if there is none.
    #[op(like = StatelessCase, stateful)]
    Case,
}

fn branch_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    if output_shapes_attr(c)? { Ok(()) } else { shapes::unknown_shape(c) }
}

#[register_op(
    attr("T: list(type) >= 0"),
    attr("cond: func"),
    attr("body: func"),
    attr("output_shapes: list(shape) = []", "What is known of the outputs; empty for what `body` tells."),
    attr("parallel_iterations: int = 10"),
    input("input: T"),
    output("output: T"),
    shape_fn = while_shape,
)]
pub enum Loops {
    /// Calls `body` with its own results, first with `input`, for as long as `cond` holds of them; both are free of
    /// effects.
    StatelessWhile,
    /// Calls `body` with its own results, first with `input`, for as long as `cond` holds of them.
    #[op(stateful)]
    While,
}

/// Calls `body` with each number from `start` to `limit`, without it, in steps of `delta`, and with what it gave
/// before.
#[register_op(
    attr("T: list(type) >= 0"),
    attr("body: func", "Takes the number and the values, and gives the values."),
    input("start: int32", "A scalar."),
    input("limit: int32", "A scalar."),
    input("delta: int32", "A scalar."),
    input("input: T"),
    output("output: T"),
    shape_fn = shapes::unknown_shape,
)]
pub struct For;

/// The gradient of a function, or of an op of that name, which is derived when the node is first prepared to run.
///
/// It is the function that the graph's library says is the gradient of `f`, or else one that is made of the gradients of the ops in
/// its body. Where nothing flows on to an argument, it gives zeros.
#[register_op(
    attr("Tin: list(type)"),
    attr("Tout: list(type)"),
    attr("f: func", "What is derived."),
    input("input: Tin", "The function's arguments, and the gradients of its results."),
    output("output: Tout", "The gradients of its arguments."),
    shape_fn = gradient_shape,
)]
pub struct SymbolicGradient;

/// A gradient has the shape of what it is the gradient of.
fn gradient_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    ensure!(c.num_inputs() >= c.num_outputs(), InvalidArgument, "len(inputs) < len(outputs)");
    for output in 0..c.num_outputs() {
        c.set_output(output, c.input(output));
    }
    Ok(())
}

fn while_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    if !output_shapes_attr(c)? {
        (0..c.num_outputs()).for_each(|index| c.set_output(index, c.input(index)));
    }
    Ok(())
}

/// A result that a function must have but that is never used.
#[register_op(
    attr("dtype: type"),
    attr("shape: shape", "What others may think of the value's shape."),
    output("output: dtype"),
    shape_fn = shapes::explicit_shape,
)]
pub struct FakeParam;

/// Whether `input` holds: a number that is not zero, a string or any other tensor that is not empty.
#[register_op(attr("T: type"), input("input: T"), output("output: bool"), shape_fn = shapes::scalar_shape)]
pub struct ToBool;

#[cfg(test)]
mod tests {
    use kernlink::attr::{AttrValue, FunctionRef};
    use kernlink::dtype::DataType;
    use kernlink::shape::PartialShape;

    use super::*;
    use crate::testing::infer;

    #[test]
    fn shapes_are_told_by_attr() {
        let function = || AttrValue::Func(FunctionRef::default());
        let floats = || vec![DataType::Float; 2];
        let shapes =
            |dims: &[&[i64]]| dims.iter().map(|dims| PartialShape::from_dims(dims).unwrap()).collect::<Vec<_>>();
        let branch = || {
            let node = infer::<If>().attr("Tcond", DataType::Bool).attr("Tin", floats()).attr("Tout", floats());
            node.attr("then_branch", function()).attr("else_branch", function())
        };
        branch().ok("[];[1];[2]", "?;?");
        branch().attr("output_shapes", shapes(&[&[1, -1], &[]])).ok("[];[1];[2]", "[1,?];[]");
        branch()
            .attr("output_shapes", shapes(&[&[1]]))
            .error("must be the same length as num outputs (1 vs. 2)", "?;?;?");
        let again = || infer::<While>().attr("T", floats()).attr("cond", function()).attr("body", function());
        again().ok("[1];?", "in0;in1");
        again().attr("output_shapes", shapes(&[&[-1], &[2]])).ok("[1];?", "[?];[2]");
        infer::<ToBool>().ok("?", "[]");
    }
}
