//! Numbers that become quantized, and back, and in another range.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// Values as the numbers of a few bits.
///
/// With `MIN_COMBINED` the numbers are as many even steps from the lower end of the range to the upper; with `MIN_FIRST` they are moved so
/// that zero is one of them; with `SCALED` zero is zero, and the end that asks for the larger steps says how long they are.
#[register_op(
    input("input: float", "Any shape."),
    input("min_range: float", "The least value, a scalar, or with `axis` one for each slice."),
    input("max_range: float", "The greatest value, likewise."),
    output("output: T"),
    output("output_min: float", "What the lowest number of the output stands for."),
    output("output_max: float", "What the highest stands for."),
    attr("T: quantizedtype"),
    attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'", "How numbers follow from values."),
    attr("round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'", "What becomes of a half; to even only with `SCALED`."),
    attr("narrow_range: bool = false", "Whether the lowest number is left out, with `SCALED`."),
    attr("axis: int = -1", "The dimension along which each slice has a range of its own, or -1 for one range."),
    attr("ensure_minimum_range: float = 0.00999999978", "The least length of the range, as a part of its ends or of 1."),
    shape_fn = shapes::quantize_v2_shape,
)]
pub struct QuantizeV2;

/// The values that quantized numbers stand for, the other way round of [`QuantizeV2`].
#[register_op(
    input("input: T", "Any shape."),
    input("min_range: float", "What the lowest number stands for, a scalar, or with `axis` one for each slice."),
    input("max_range: float", "What the highest stands for, likewise."),
    output("output: dtype"),
    attr("T: quantizedtype"),
    attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'", "How values follow from numbers."),
    attr("narrow_range: bool = false", "Whether the lowest number is left out, with `SCALED`."),
    attr("axis: int = -1", "The dimension along which each slice has a range of its own, or -1 for one range."),
    attr("dtype: {bfloat16, float} = DT_FLOAT"),
    shape_fn = dequantize_shape,
)]
pub struct Dequantize;

/// Numbers of 32 bits as numbers of 8, in the range that they take.
#[register_op(
    input("input: Tinput", "Any shape."),
    input("input_min: float", "What the lowest number of the input stands for, a scalar."),
    input("input_max: float", "What the highest stands for."),
    output("output: out_type"),
    output("output_min: float", "What the lowest number of the output stands for."),
    output("output_max: float", "What the highest stands for."),
    attr("Tinput: quantizedtype"),
    attr("out_type: quantizedtype"),
    shape_fn = shapes::quantized_unchanged::<2>,
)]
pub struct QuantizeDownAndShrinkRange;

/// Numbers of 32 bits as numbers of 8, in the range that is asked for.
#[register_op(
    input("input: Tinput", "Any shape."),
    input("input_min: float", "What the lowest number of the input stands for, a scalar."),
    input("input_max: float", "What the highest stands for."),
    input("requested_output_min: float", "The least value of the output, at most zero."),
    input("requested_output_max: float", "The greatest value of the output, at least zero."),
    output("output: out_type"),
    output("output_min: float", "What the lowest number of the output stands for."),
    output("output_max: float", "What the highest stands for."),
    attr("Tinput: quantizedtype"),
    attr("out_type: quantizedtype"),
    shape_fn = shapes::quantized_unchanged::<4>,
)]
pub struct Requantize;

/// The range that numbers of 32 bits take, for [`Requantize`]; zero lies in it.
#[register_op(
    input("input: Tinput", "Any shape."),
    input("input_min: float", "What the lowest number of the input stands for, a scalar."),
    input("input_max: float", "What the highest stands for."),
    output("output_min: float", "The least value, at most zero."),
    output("output_max: float", "The greatest value."),
    attr("Tinput: quantizedtype"),
    shape_fn = requantization_range_shape,
)]
pub struct RequantizationRange;

/// [`Requantize`] of numbers with a range for each channel.
#[register_op(
    input("input: T", "`[batch, rows, columns, channels]`, or with one dimension more."),
    input("input_min: float", "What the lowest number of each channel stands for."),
    input("input_max: float", "What the highest stands for."),
    input("requested_output_min: float", "The least value of the output, a scalar."),
    input("requested_output_max: float", "The greatest value of the output, a scalar."),
    output("output: out_type"),
    output("output_min: float", "What the lowest number of the output stands for."),
    output("output_max: float", "What the highest stands for."),
    attr("T: quantizedtype = DT_QINT32"),
    attr("out_type: quantizedtype = DT_QUINT8"),
    shape_fn = requantize_per_channel_shape,
)]
pub struct RequantizePerChannel;

/// The range that numbers of 32 bits take over all channels, each of which has a range of its own.
#[register_op(
    input("input: T", "`[batch, rows, columns, channels]`."),
    input("input_min: float", "What the lowest number of each channel stands for."),
    input("input_max: float", "What the highest stands for."),
    output("output_min: float", "The least value: zero if no number is below, and else as far from zero as the greatest."),
    output("output_max: float", "The greatest value."),
    attr("T: quantizedtype = DT_QINT32"),
    attr("clip_value_max: float", "What the greatest value is at most."),
    shape_fn = range_of_channels_shape,
)]
pub struct RequantizationRangePerChannel;

fn dequantize_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let axis: i64 = c.attr("axis")?;
    ensure!(axis >= -1, InvalidArgument, "axis should be at least -1, got {axis}");
    shapes::unchanged_shape(c)?;
    let rank = usize::from(axis != -1);
    c.with_rank(c.input(1), rank)?;
    let greatest = c.with_rank(c.input(2), rank)?;
    if axis != -1 {
        let rank = usize::try_from(axis.saturating_add(1)).unwrap_or(usize::MAX);
        let input = c.with_rank_at_least(c.input(0), rank)?;
        // As TensorFlow has it.
        ensure!(
            c.rank_known(input),
            InvalidArgument,
            "axis {axis} must be less than the rank of the input, which is unknown"
        );
        c.merge_dim(c.dim(greatest, 0), c.dim(input, axis))?;
    }
    Ok(())
}

fn scalars_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    (0..2).for_each(|index| c.set_output(index, c.scalar()));
    Ok(())
}

fn range_of_channels_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    (1..3).try_for_each(|index| c.with_rank(c.input(index), 1).map(drop))?;
    scalars_shape(c)
}

fn requantization_range_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    (1..3).try_for_each(|index| c.with_rank(c.input(index), 0).map(drop))?;
    scalars_shape(c)
}

fn requantize_per_channel_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::unchanged_shape(c)?;
    (1..3).try_for_each(|index| c.with_rank(c.input(index), 1).map(drop))?;
    shapes::with_ranges(c, 3..5)
}
