//! Values that are quantized and turned back at once, so that what is lost shows.

use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// Values that are quantized and turned back, in a range that attrs say or that of the values.
#[register_op(
    input("input: T", "Any shape."),
    output("output: T"),
    attr("signed_input: bool = true", "Whether numbers below zero are among those kept."),
    attr("num_bits: int = 8", "How many bits a number has."),
    attr("range_given: bool = false", "Whether the range is that of the attrs, and not that of the values."),
    attr("input_min: float = 0", "The lower end of the range."),
    attr("input_max: float = 0", "The upper end of the range."),
    attr("T: {bfloat16, half, float, double}"),
    deprecated(22, "Replaced by QuantizeAndDequantizeV2"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct QuantizeAndDequantize;

/// Values that are quantized and turned back, in a range that inputs say or that of the values.
///
/// Zero stays zero: the end of the range that asks for the larger steps says how long they are.
#[register_op(
    input("input: T", "Any shape."),
    input("input_min: T", "The lower end of the range, a scalar."),
    input("input_max: T", "The upper end of the range, likewise."),
    output("output: T"),
    attr("signed_input: bool = true", "Whether numbers below zero are among those kept."),
    attr("num_bits: int = 8", "How many bits a number has."),
    attr("range_given: bool = false", "Whether the range is that of the inputs, and not that of the values."),
    attr("T: {bfloat16, half, float, double}"),
    attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'", "What becomes of a half."),
    attr("narrow_range: bool = false", "Whether the lowest number is left out, so that there are as many below zero as above."),
    attr("axis: int = -1", "The dimension along which each slice has a range of its own, or -1 for one range, which alone may be given."),
    shape_fn = ranged_shape,
)]
pub struct QuantizeAndDequantizeV2;

/// [`QuantizeAndDequantizeV2`] whose number of bits is an input; a half becomes the even number.
#[register_op(
    input("input: T", "Any shape."),
    input("input_min: T", "The lower end of the range, a scalar, or with `axis` one for each slice."),
    input("input_max: T", "The upper end of the range, likewise."),
    input("num_bits: int32", "How many bits a number has, a scalar."),
    output("output: T"),
    attr("signed_input: bool = true", "Whether numbers below zero are among those kept."),
    attr("range_given: bool = true", "Whether the range is that of the inputs, and not that of the values."),
    attr("T: {bfloat16, half, float, double}"),
    attr("narrow_range: bool = false", "Whether the lowest number is left out, so that there are as many below zero as above."),
    attr("axis: int = -1", "The dimension along which each slice has a range of its own, or -1 for one range."),
    shape_fn = ranged_with_bits_shape,
)]
pub struct QuantizeAndDequantizeV3;

/// [`QuantizeAndDequantizeV2`] whose gradient stops outside of the range.
#[register_op(
    input("input: T", "Any shape."),
    input("input_min: T", "The lower end of the range, a scalar."),
    input("input_max: T", "The upper end of the range, likewise."),
    output("output: T"),
    attr("signed_input: bool = true", "Whether numbers below zero are among those kept."),
    attr("num_bits: int = 8", "How many bits a number has."),
    attr("range_given: bool = false", "Whether the range is that of the inputs, and not that of the values."),
    attr("T: {bfloat16, half, float, double}"),
    attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'", "What becomes of a half."),
    attr("narrow_range: bool = false", "Whether the lowest number is left out, so that there are as many below zero as above."),
    attr("axis: int = -1", "The dimension along which each slice has a range of its own, or -1 for one range, which alone may be given."),
    shape_fn = ranged_shape,
)]
pub struct QuantizeAndDequantizeV4;

/// The gradient of [`QuantizeAndDequantizeV4`].
#[register_op(
    input("gradients: T", "What flows to the output."),
    input("input: T", "The input of `QuantizeAndDequantizeV4`."),
    input("input_min: T", "As there."),
    input("input_max: T", "As there."),
    output("input_backprop: T", "What flows where the values lie in the range."),
    output("input_min_backprop: T", "Zero."),
    output("input_max_backprop: T", "Zero."),
    attr("T: {bfloat16, half, float, double}"),
    attr("axis: int = -1", "As there."),
    shape_fn = ranged_gradient_shape,
)]
pub struct QuantizeAndDequantizeV4Grad;

/// The ends of the range, which are two inputs: scalars or, with an axis, as long as that dimension of input `data`.
fn range_of(c: &InferenceContext<'_>, data: usize, ends: [usize; 2]) -> Result<ShapeHandle> {
    let axis: i64 = c.attr("axis")?;
    let least = c.with_rank(c.input(ends[0]), usize::from(axis != -1))?;
    let range = c.merge(c.input(ends[1]), least)?;
    ensure!(axis >= -1, InvalidArgument, "axis should be at least -1, got {axis}");
    if axis != -1 {
        let rank = usize::try_from(axis.saturating_add(1)).unwrap_or(usize::MAX);
        let data = c.with_rank_at_least(c.input(data), rank)?;
        c.merge_dim(c.dim(range, 0), c.dim(data, axis))?;
    }
    Ok(range)
}

fn ranged_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    range_of(c, 0, [1, 2])?;
    shapes::unchanged_shape(c)
}

fn ranged_with_bits_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    range_of(c, 0, [1, 2])?;
    c.with_rank(c.input(3), 0)?;
    shapes::unchanged_shape(c)
}

fn ranged_gradient_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let range = range_of(c, 0, [2, 3])?;
    let inputs = c.merge(c.input(0), c.input(1))?;
    c.set_output(0, inputs);
    (1..3).for_each(|index| c.set_output(index, range));
    Ok(())
}
