//! Control flow of TensorFlow 1: values that go one of two ways, and loops.
//!
//! A loop's variable is `Enter` → `Merge` → `Switch` → the body → `NextIteration` → back to the `Merge`, and leaves by
//! an `Exit`. The edge back is the one cycle that a graph may have.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Error, Result};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(attr("T: type"), input("data: T"), shape_fn = switch_shape)]
pub enum Switches {
    /// Hands `data` to `output_true` if `pred` holds and to `output_false` if not; the other output is dead.
    #[op(input("pred: bool", "A scalar."), output("output_false: T"), output("output_true: T"))]
    Switch,
    /// Hands `data` to the output that `output_index` names, the last one if there is none; the others are dead.
    ///
    /// Made when a `Case` is lowered, never written by hand.
    #[op(
        attr("num_outs: int >= 1", "How many outputs there are.", before = "T"),
        input("output_index: int32", "A scalar."),
        output("outputs: num_outs * T")
    )]
    _SwitchN,
    /// As [`Switch`], for a reference.
    #[op(
        input("data: Ref(T)"),
        input("pred: bool", "A scalar."),
        output("output_false: Ref(T)"),
        output("output_true: Ref(T)"),
        allows_uninitialized_input
    )]
    RefSwitch,
}

fn switch_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 0)?;
    for output in 0..c.num_outputs() {
        c.set_output(output, c.input(0));
        c.forward_handle_shapes_and_types(0, output);
    }
    Ok(())
}

#[register_op(
    attr("T: type"),
    attr("N: int >= 1"),
    input("inputs: N * T", "Of which only one is alive."),
    output("output: T"),
    output("value_index: int32", "The position of the input that arrived."),
    shape_fn = merge_shape,
)]
pub enum Merges {
    /// Passes on the first of its inputs that arrives alive, and which one that was.
    Merge,
    /// As [`Merge`], for references.
    #[op(input("inputs: Ref(N * T)"), output("output: Ref(T)"))]
    RefMerge,
}

fn merge_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let mut merged = c.input(0);
    match c.rank(merged) {
        None => merged = c.unknown_shape(),
        Some(rank) => {
            for index in 1..c.num_inputs() {
                let input = c.input(index);
                if c.rank(input) != Some(rank) {
                    merged = c.unknown_shape();
                    break;
                }
                for axis in 0..rank as i64 {
                    if c.value(c.dim(input, axis)) != c.value(c.dim(merged, axis)) {
                        merged = c.replace_dim(merged, axis, c.unknown_dim())?;
                    }
                }
            }
        }
    }
    c.set_output(0, merged);
    c.set_output(1, c.scalar());
    Ok(())
}

/// Passes on the reference that `index` names.
#[register_op(
    attr("T: type"),
    attr("N: int >= 1"),
    input("index: int32", "A scalar."),
    input("inputs: Ref(N * T)"),
    output("output: Ref(T)"),
    shape_fn = ref_select_shape,
)]
pub struct RefSelect;

fn ref_select_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    let first = c.input(1);
    let same = |index: usize| c.fully_defined(c.input(index)) && c.merge(first, c.input(index)).is_ok();
    let all_same = c.fully_defined(first) && (2..c.num_inputs()).all(same);
    shapes::output_shape(c, if all_same { first } else { c.unknown_shape() })
}

#[register_op(
    attr("T: type"),
    attr("frame_name: string", "The loop."),
    attr("is_constant: bool = false", "Whether every iteration sees the value."),
    attr("parallel_iterations: int = 10", "How many iterations may run at a time."),
    input("data: T"),
    output("output: T"),
    shape_fn = enter_shape,
)]
pub enum Enters {
    /// Takes `data` into the loop `frame_name`: into its first iteration or, if it is constant, into each.
    Enter,
    /// As [`Enter`], for a reference.
    #[op(input("data: Ref(T)"), output("output: Ref(T)"), shape_fn = shapes::unchanged_shape)]
    RefEnter,
}

/// A variable may change its shape, so only constants have the one that they come with.
fn enter_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let is_constant: bool = c.attr("is_constant")?;
    c.set_output(0, if is_constant { c.input(0) } else { c.unknown_shape() });
    c.forward_handle_shapes_and_types(0, 0);
    Ok(())
}

/// Takes `data` out of the loop.
#[register_op(attr("T: type"), input("data: T"), output("output: T"), shape_fn = shapes::unchanged_shape)]
pub struct Exit;

/// As [`Exit`], for a reference.
#[register_op(attr("T: type"), input("data: Ref(T)"), output("output: Ref(T)"), shape_fn = shapes::unchanged_shape)]
pub struct RefExit;

/// Takes `data` into the loop's next iteration.
#[register_op(attr("T: type"), input("data: T"), output("output: T"), shape_fn = shapes::unchanged_shape)]
pub struct NextIteration;

/// As [`NextIteration`], for a reference.
#[register_op(attr("T: type"), input("data: Ref(T)"), output("output: Ref(T)"), shape_fn = shapes::unchanged_shape)]
pub struct RefNextIteration;

/// Passes on whether the loop goes on.
#[register_op(
    input("input: bool", "A scalar."),
    output("output: bool"),
    shape_fn = shapes::unchanged_shape_with_rank::<0>,
)]
pub struct LoopCond;

/// Does nothing, even where its control inputs are dead.
#[register_op(shape_fn = shapes::no_outputs)]
pub struct ControlTrigger;

/// The shapes in the attr `output_shapes`, if it has any.
pub(crate) fn output_shapes_attr(c: &InferenceContext<'_>) -> Result<bool> {
    let shapes: Vec<kernlink::shape::PartialShape> = c.attr("output_shapes")?;
    if shapes.is_empty() {
        return Ok(false);
    }
    if shapes.len() != c.num_outputs() {
        return Err(Error::invalid_argument(format!(
            "`output_shapes` must be the same length as num outputs ({} vs. {})",
            shapes.len(),
            c.num_outputs()
        )));
    }
    for (index, shape) in shapes.iter().enumerate() {
        c.set_output(index, c.make_shape_from_partial(shape));
    }
    c.set_outputs_are_promised();
    Ok(true)
}

#[cfg(test)]
mod tests {
    use kernlink::dtype::DataType;

    use super::*;
    use crate::testing::infer;

    #[test]
    fn values_that_go_one_way() {
        infer::<Switch>().ok("[2,?];[]", "in0;in0");
        infer::<Switch>().error("Shape must be rank 0", "[2];[1]");
        infer::<_SwitchN>().attr("num_outs", 3i64).ok("[2];?", "in0;in0;in0");
        infer::<Merge>().ok("[2,3];[2,3]", "in0;[]");
        infer::<Merge>().ok("[2,3];[4,3]", "[?,d0_1];[]");
        infer::<Merge>().ok("[2,?];[2,3]", "[d0_0,?];[]");
        infer::<Merge>().ok("[2,3];[2]", "?;[]");
        infer::<Merge>().ok("?;[2]", "?;[]");
        infer::<RefSelect>().ok("[];[2];[2]", "in1");
        infer::<RefSelect>().ok("[];[2];[3]", "?");
        infer::<RefSelect>().ok("[];[2];[?]", "?");
    }

    #[test]
    fn loops() {
        let enter = || infer::<Enter>().attr("frame_name", "loop").attr("T", DataType::Float);
        enter().ok("[1,2]", "?");
        enter().attr("is_constant", true).ok("[1,2]", "in0");
        infer::<NextIteration>().ok("[1]", "in0");
        infer::<Exit>().ok("[1]", "in0");
        infer::<LoopCond>().ok("?", "[]");
        infer::<LoopCond>().error("Shape must be rank 0", "[1]");
    }
}
