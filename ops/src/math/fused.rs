//! Several element-wise functions at once.

use kernlink_macros::register_op;

use crate::shapes;

/// The functions of several element-wise ops, one after the other. Kernlink's own, made by the pass `fuse-element-wise`.
///
/// Step `i` is op `ops[i]`, with a result of dtype `types[i]`, of what `operands[3 * i]` and the two numbers after it say: a
/// number below that of the inputs is an input, one above it the result of an earlier step, counted from there, and -1, not
/// in the first place, nothing. The result of the last step is the output.
#[register_op(
    name = "_FusedElementWise",
    attr("Tin: list({half, bfloat16, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, bool}) >= 1"),
    attr("T: {half, bfloat16, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, bool}"),
    attr("ops: list(string) >= 1", "The ops in order."),
    attr("types: list(type) >= 1", "The dtypes of their results."),
    attr("operands: list(int) >= 3", "What they take, three numbers for each."),
    attr("shapes: list(int) >= 1", "For each, which of what it takes has the shape of its result; -1 if they broadcast."),
    attr("parameters: list(float) >= 1", "Their attrs that are arguments of their functions, such as the slope of `LeakyRelu`; 0 where there is none."),
    attr("names: list(string) = []", "The nodes that they were, which errors name."),
    input("inputs: Tin"),
    output("output: T"),
    shape_fn = shapes::fused_element_wise_shape,
)]
pub struct FusedElementWise;

impl<'a> From<&'a FusedElementWiseAttrs> for shapes::ProgramAttrs<'a> {
    fn from(attrs: &'a FusedElementWiseAttrs) -> Self {
        let FusedElementWiseAttrs { ops, types, operands, shapes, parameters, .. } = attrs;
        Self { ops, types, operands, shapes, parameters }
    }
}
