//! Values that are rounded as if they were quantized to a few bits, for training that knows of it.

use kernlink::Result;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink_macros::register_op;

use crate::shapes;

/// Values that are rounded to those that a few bits tell apart, in a range that attrs say.
///
/// The range is moved so that zero is one of them; what lies outside becomes its nearest end.
#[register_op(
    input("inputs: float", "Any shape."),
    output("outputs: float"),
    attr("min: float = -6", "The lower end of the range, below `max`."),
    attr("max: float = 6", "The upper end of the range."),
    attr("num_bits: int = 8", "How many bits a number has: from 2 to 16."),
    attr("narrow_range: bool = false", "Whether the lowest number is left out, so that there are as many below zero as above."),
    shape_fn = shapes::unchanged_shape,
)]
pub struct FakeQuantWithMinMaxArgs;

/// The gradient of [`FakeQuantWithMinMaxArgs`]: what flows where the values lie in the range.
#[register_op(
    input("gradients: float", "What flows to the outputs."),
    input("inputs: float", "The inputs of `FakeQuantWithMinMaxArgs`."),
    output("backprops: float"),
    attr("min: float = -6", "As there."),
    attr("max: float = 6", "As there."),
    attr("num_bits: int = 8", "As there."),
    attr("narrow_range: bool = false", "As there."),
    shape_fn = shapes::unchanged_shape,
)]
pub struct FakeQuantWithMinMaxArgsGradient;

/// Values that are rounded to those that a few bits tell apart, in a range that inputs say.
///
/// The range is moved so that zero is one of them; what lies outside becomes its nearest end.
#[register_op(
    input("inputs: float", "Any shape."),
    input("min: float", "The lower end of the range, a scalar."),
    input("max: float", "The upper end of the range, a scalar."),
    output("outputs: float"),
    attr("num_bits: int = 8", "How many bits a number has: from 2 to 16."),
    attr("narrow_range: bool = false", "Whether the lowest number is left out, so that there are as many below zero as above."),
    shape_fn = one_range_shape,
)]
pub struct FakeQuantWithMinMaxVars;

/// The gradient of [`FakeQuantWithMinMaxVars`].
#[register_op(
    input("gradients: float", "What flows to the outputs."),
    input("inputs: float", "The inputs of `FakeQuantWithMinMaxVars`."),
    input("min: float", "As there."),
    input("max: float", "As there."),
    output("backprops_wrt_input: float", "What flows where the values lie in the range."),
    output("backprop_wrt_min: float", "The sum of what flows where they lie below."),
    output("backprop_wrt_max: float", "The sum of what flows where they lie above."),
    attr("num_bits: int = 8", "As there."),
    attr("narrow_range: bool = false", "As there."),
    shape_fn = one_range_gradient_shape,
)]
pub struct FakeQuantWithMinMaxVarsGradient;

/// [`FakeQuantWithMinMaxVars`] with a range for each channel, which is the last dimension.
#[register_op(
    input("inputs: float", "`[..., channels]`."),
    input("min: float", "The lower ends of the ranges, `[channels]`."),
    input("max: float", "The upper ends of the ranges, `[channels]`."),
    output("outputs: float"),
    attr("num_bits: int = 8", "How many bits a number has: from 2 to 16."),
    attr("narrow_range: bool = false", "Whether the lowest number is left out, so that there are as many below zero as above."),
    shape_fn = range_per_channel_shape,
)]
pub struct FakeQuantWithMinMaxVarsPerChannel;

/// The gradient of [`FakeQuantWithMinMaxVarsPerChannel`].
#[register_op(
    input("gradients: float", "What flows to the outputs."),
    input("inputs: float", "The inputs of `FakeQuantWithMinMaxVarsPerChannel`."),
    input("min: float", "As there."),
    input("max: float", "As there."),
    output("backprops_wrt_input: float", "What flows where the values lie in their range."),
    output("backprop_wrt_min: float", "The sums of what flows where they lie below, `[channels]`."),
    output("backprop_wrt_max: float", "The sums of what flows where they lie above, `[channels]`."),
    attr("num_bits: int = 8", "As there."),
    attr("narrow_range: bool = false", "As there."),
    shape_fn = range_per_channel_gradient_shape,
)]
pub struct FakeQuantWithMinMaxVarsPerChannelGradient;

fn one_range_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::unchanged_shape(c)?;
    (1..3).try_for_each(|index| c.with_rank(c.input(index), 0).map(drop))
}

fn one_range_gradient_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let inputs = c.merge(c.input(0), c.input(1))?;
    let range = c.with_rank(c.input(2), 0)?;
    let range = c.merge(range, c.input(3))?;
    outputs_with_range(c, inputs, range)
}

fn range_per_channel_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let inputs = c.with_rank_at_least(c.input(0), 1)?;
    let least = c.with_rank(c.input(1), 1)?;
    let channels = c.merge_dim(c.dim(inputs, -1), c.dim(least, 0))?;
    let greatest = c.with_rank(c.input(2), 1)?;
    c.merge_dim(channels, c.dim(greatest, 0))?;
    shapes::output_shape(c, inputs)
}

fn range_per_channel_gradient_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let inputs = c.with_rank_at_least(c.input(0), 1)?;
    let inputs = c.merge(inputs, c.input(1))?;
    let range = c.with_rank(c.input(2), 1)?;
    let range = c.merge(range, c.vector(c.dim(inputs, -1)))?;
    let range = c.merge(c.input(3), range)?;
    outputs_with_range(c, inputs, range)
}

fn outputs_with_range(c: &InferenceContext<'_>, first: ShapeHandle, range: ShapeHandle) -> Result<()> {
    c.set_output(0, first);
    (1..3).for_each(|index| c.set_output(index, range));
    Ok(())
}
