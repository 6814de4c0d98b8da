//! Several element-wise functions at once.

use kernlink_macros::register_op;

use crate::shapes;

/// The functions of several element-wise ops, one after the other. Kernlink's own, made by the pass `fuse-element-wise`.
///
/// Step `i` is op `ops[i]` of what `operands[2 * i]` and `operands[2 * i + 1]` say: a number below `N` is an input, `N + j` the
/// result of step `j`, and -1 in the second place nothing. The result of the last step is the output.
#[register_op(
    name = "_FusedElementWise",
    attr("T: {half, bfloat16, float, double, int32, int64}"),
    attr("N: int >= 1"),
    attr("ops: list(string) >= 1", "The ops in order."),
    attr("operands: list(int) >= 2", "What they take, two numbers for each."),
    attr("parameters: list(float) >= 1", "Their attrs that are arguments of their functions, such as the slope of `LeakyRelu`; 0 where there is none."),
    input("inputs: N * T"),
    output("output: T"),
    shape_fn = shapes::fused_element_wise_shape,
)]
pub struct FusedElementWise;
