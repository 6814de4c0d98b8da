//! Numbers that are quantized by scales and zero points: value = scale * (number - zero point).

use kernlink::shape::Shape;
use kernlink::shape_inference::{DimHandle, InferenceContext, ShapeHandle};
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use super::convolution::UniformConvolution;
use crate::shapes;

/// Values as quantized numbers.
#[register_op(
    input("input: Tin", "Any shape."),
    input("scales: float", "How much one step of the output stands for: a scalar, or one for each slice along the axis."),
    input("zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    output("output: Tout"),
    attr("Tin: {float}"),
    attr("Tout: {qint8, quint8, qint32}"),
    attr("quantization_axis: int = -1", "The dimension of the output whose slices have scales of their own, or -1."),
    attr("quantization_min_val: int", "The least number of the output."),
    attr("quantization_max_val: int", "The greatest number of the output."),
    shape_fn = shapes::unchanged_shape,
)]
pub struct UniformQuantize;

/// The values that quantized numbers stand for.
#[register_op(
    input("input: Tin", "Any shape."),
    input("scales: float", "How much one step of the input stands for: a scalar, or one for each slice along the axis."),
    input("zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    output("output: Tout"),
    attr("Tin: {qint8, quint8, qint32}"),
    attr("Tout: {float}"),
    attr("quantization_axis: int = -1", "The dimension of the input whose slices have scales of their own, or -1."),
    attr("quantization_min_val: int", "The least number of the input."),
    attr("quantization_max_val: int", "The greatest number of the input."),
    shape_fn = shapes::unchanged_shape,
)]
pub struct UniformDequantize;

/// Quantized numbers by other scales and zero points.
#[register_op(
    input("input: Tin", "Any shape."),
    input("input_scales: float", "How much one step of the input stands for: a scalar, or one for each slice along the axis."),
    input("input_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    input("output_scales: float", "How much one step of the output stands for: a scalar, or one for each slice along the axis."),
    input("output_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    output("output: Tout"),
    attr("Tin: {qint8, qint32}"),
    attr("Tout: {qint8, qint32}"),
    attr("input_quantization_axis: int = -1", "The dimension of the input whose slices have scales of their own, or -1."),
    attr("input_quantization_min_val: int", "The least number of the input."),
    attr("input_quantization_max_val: int", "The greatest number of the input."),
    attr("output_quantization_axis: int = -1", "The dimension of the output whose slices have scales of their own, or -1."),
    attr("output_quantization_min_val: int", "The least number of the output."),
    attr("output_quantization_max_val: int", "The greatest number of the output."),
    shape_fn = shapes::unchanged_shape,
)]
pub struct UniformRequantize;

/// The sum of quantized numbers, with broadcasting.
#[register_op(
    input("lhs: T", "Any shape."),
    input("rhs: T", "A shape that broadcasts with that of `lhs`."),
    input("lhs_scales: float", "How much one step of `lhs` stands for: a scalar, or one for each slice along the axis."),
    input("lhs_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    input("rhs_scales: float", "How much one step of `rhs` stands for: a scalar, or one for each slice along the axis."),
    input("rhs_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    input("output_scales: float", "How much one step of the output stands for: a scalar, or one for each slice along the axis."),
    input("output_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    output("output: T"),
    attr("lhs_quantization_axis: int = -1", "The dimension of `lhs` whose slices have scales of their own, or -1."),
    attr("lhs_quantization_min_val: int", "The least number of `lhs`."),
    attr("lhs_quantization_max_val: int", "The greatest number of `lhs`."),
    attr("rhs_quantization_axis: int = -1", "The dimension of `rhs` whose slices have scales of their own, or -1."),
    attr("rhs_quantization_min_val: int", "The least number of `rhs`."),
    attr("rhs_quantization_max_val: int", "The greatest number of `rhs`."),
    attr("output_quantization_axis: int = -1", "The dimension of the output whose slices have scales of their own, or -1."),
    attr("output_quantization_min_val: int", "The least number of the output."),
    attr("output_quantization_max_val: int", "The greatest number of the output."),
    attr("T: {qint32}"),
    shape_fn = shapes::broadcast_binary_op,
)]
pub struct UniformQuantizedAdd;

/// Quantized numbers that are cut to a range.
#[register_op(
    input("operand: T", "Any shape."),
    input("min: T", "The least number, of the shape of the scales."),
    input("max: T", "The greatest number, of the shape of the scales."),
    input("scales: float", "How much one step of the operand stands for: a scalar, or one for each slice along the axis."),
    input("zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    output("output: T"),
    attr("T: {qint32}"),
    attr("quantization_axis: int = -1", "The dimension of the operand whose slices have scales of their own, or -1."),
    attr("quantization_min_val: int", "The least number of the operand."),
    attr("quantization_max_val: int", "The greatest number of the operand."),
    shape_fn = shapes::unchanged_shape,
)]
pub struct UniformQuantizedClipByValue;

/// The product of two matrices of quantized numbers.
#[register_op(
    input("lhs: Tin", "`[rows, inner]`."),
    input("rhs: Tin", "`[inner, columns]`."),
    input("lhs_scales: float", "How much one step of `lhs` stands for: a scalar, or one for each slice along the axis."),
    input("lhs_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    input("rhs_scales: float", "How much one step of `rhs` stands for: a scalar, or one for each slice along the axis."),
    input("rhs_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    input("output_scales: float", "How much one step of the output stands for: a scalar, or one for each slice along the axis."),
    input("output_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    output("output: Tout"),
    attr("Tin: {qint8}"),
    attr("Tout: {qint32}"),
    attr("lhs_quantization_axis: int = -1", "The dimension of `lhs` whose slices have scales of their own, or -1."),
    attr("lhs_quantization_min_val: int", "The least number of `lhs`."),
    attr("lhs_quantization_max_val: int", "The greatest number of `lhs`."),
    attr("rhs_quantization_axis: int = -1", "The dimension of `rhs` whose slices have scales of their own, or -1."),
    attr("rhs_quantization_min_val: int", "The least number of `rhs`."),
    attr("rhs_quantization_max_val: int", "The greatest number of `rhs`."),
    attr("output_quantization_axis: int = -1", "The dimension of the output whose slices have scales of their own, or -1."),
    attr("output_quantization_min_val: int", "The least number of the output."),
    attr("output_quantization_max_val: int", "The greatest number of the output."),
    shape_fn = dot_shape,
)]
pub struct UniformQuantizedDot;

/// The product of a matrix of values, each row of which is quantized on the way, and one of quantized numbers.
#[register_op(
    input("lhs: Tlhs", "`[rows, inner]`."),
    input("rhs: Trhs", "`[inner, columns]`."),
    input("rhs_scales: float", "How much one step of `rhs` stands for: a scalar, or one for each slice along the axis."),
    input("rhs_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    output("output: Tout"),
    attr("Tlhs: {float}"),
    attr("Trhs: {qint8}"),
    attr("Tout: {float}"),
    attr("rhs_quantization_axis: int = -1", "The dimension of `rhs` whose slices have scales of their own, or -1."),
    attr("rhs_quantization_min_val: int", "The least number of `rhs`."),
    attr("rhs_quantization_max_val: int", "The greatest number of `rhs`."),
    shape_fn = dot_hybrid_shape,
)]
pub struct UniformQuantizedDotHybrid;

/// A convolution of quantized numbers, over any number of spatial dimensions.
#[register_op(
    input("lhs: Tin", "Batch, channels and spatial dimensions."),
    input("rhs: Tin", "The filter: channels out, channels in and spatial dimensions."),
    input("lhs_scales: float", "How much one step of `lhs` stands for: a scalar, or one for each slice along the axis."),
    input("lhs_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    input("rhs_scales: float", "How much one step of `rhs` stands for: a scalar, or one for each slice along the axis."),
    input("rhs_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    input("output_scales: float", "How much one step of the output stands for: a scalar, or one for each slice along the axis."),
    input("output_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    output("output: Tout"),
    attr("Tin: {qint8}"),
    attr("Tout: {qint32}"),
    attr("window_strides: list(int) = []", "The step of the window along each spatial dimension; empty means 1."),
    attr("padding: string", "`SAME`, `VALID` or `EXPLICIT`."),
    attr("explicit_padding: list(int) = []", "Before and after each spatial dimension, with `EXPLICIT`."),
    attr("lhs_dilation: list(int) = []", "The step between elements of `lhs` along each spatial dimension; empty means 1."),
    attr("rhs_dilation: list(int) = []", "The step between elements of the filter; empty means 1."),
    attr("batch_group_count: int = 1", "Into how many groups the batch is split."),
    attr("feature_group_count: int = 1", "Into how many groups the channels are split."),
    attr("dimension_numbers: string = ''", "A `UniformQuantizedConvolutionDimensionNumbersAttr` in the text format: which dimension is which."),
    attr("lhs_quantization_axis: int = -1", "The dimension of `lhs` whose slices have scales of their own, or -1."),
    attr("lhs_quantization_min_val: int", "The least number of `lhs`."),
    attr("lhs_quantization_max_val: int", "The greatest number of `lhs`."),
    attr("rhs_quantization_axis: int = -1", "The dimension of `rhs` whose slices have scales of their own, or -1."),
    attr("rhs_quantization_min_val: int", "The least number of `rhs`."),
    attr("rhs_quantization_max_val: int", "The greatest number of `rhs`."),
    attr("output_quantization_axis: int = -1", "The dimension of the output whose slices have scales of their own, or -1."),
    attr("output_quantization_min_val: int", "The least number of the output."),
    attr("output_quantization_max_val: int", "The greatest number of the output."),
    shape_fn = convolution_shape,
)]
pub struct UniformQuantizedConvolution;

/// A convolution of values, each batch of which is quantized on the way, with a filter of quantized numbers.
#[register_op(
    input("lhs: Tlhs", "Batch, channels and spatial dimensions."),
    input("rhs: Trhs", "The filter: channels out, channels in and spatial dimensions."),
    input("rhs_scales: float", "How much one step of `rhs` stands for: a scalar, or one for each slice along the axis."),
    input("rhs_zero_points: int32", "The numbers that stand for zero, of the shape of the scales."),
    output("output: Tout"),
    attr("Tlhs: {float}"),
    attr("Trhs: {qint8}"),
    attr("Tout: {float}"),
    attr("window_strides: list(int) = []", "The step of the window along each spatial dimension; empty means 1."),
    attr("padding: string", "`SAME`, `VALID` or `EXPLICIT`."),
    attr("explicit_padding: list(int) = []", "Before and after each spatial dimension, with `EXPLICIT`."),
    attr("lhs_dilation: list(int) = []", "The step between elements of `lhs` along each spatial dimension; empty means 1."),
    attr("rhs_dilation: list(int) = []", "The step between elements of the filter; empty means 1."),
    attr("batch_group_count: int = 1", "Into how many groups the batch is split."),
    attr("feature_group_count: int = 1", "Into how many groups the channels are split."),
    attr("dimension_numbers: string = ''", "A `UniformQuantizedConvolutionDimensionNumbersAttr` in the text format: which dimension is which."),
    attr("rhs_quantization_axis: int = -1", "The dimension of `rhs` whose slices have scales of their own, or -1."),
    attr("rhs_quantization_min_val: int", "The least number of `rhs`."),
    attr("rhs_quantization_max_val: int", "The greatest number of `rhs`."),
    shape_fn = convolution_hybrid_shape,
)]
pub struct UniformQuantizedConvolutionHybrid;

/// Fails unless scales and zero points, if their ranks are known, are scalars or as long as a dimension.
fn ensure_scales(
    c: &InferenceContext<'_>,
    dim: DimHandle,
    scales: ShapeHandle,
    zero_points: ShapeHandle,
) -> Result<()> {
    let (Some(rank), Some(other)) = (c.rank(scales), c.rank(zero_points)) else {
        return Ok(());
    };
    ensure!(rank == other, InvalidArgument, "scales and zero_points must have same rank, not {rank} and {other}");
    if rank > 0 {
        c.merge_dim(c.dim(scales, 0), dim)?;
        c.merge_dim(c.dim(zero_points, 0), dim)?;
    }
    Ok(())
}

fn dot_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let factors = [c.with_rank(c.input(0), 2)?, c.with_rank(c.input(1), 2)?];
    (2..4).try_for_each(|index| c.with_rank_at_most(c.input(index), 0).map(drop))?;
    (4..8).try_for_each(|index| c.with_rank_at_most(c.input(index), 1).map(drop))?;
    product_shape(c, factors, &[4, 6])
}

fn dot_hybrid_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let factors = [c.with_rank(c.input(0), 2)?, c.with_rank(c.input(1), 2)?];
    (2..4).try_for_each(|index| c.with_rank_at_most(c.input(index), 1).map(drop))?;
    product_shape(c, factors, &[2])
}

/// The product of two matrices; the inputs `scales`, and those after them, belong to its columns.
fn product_shape(c: &InferenceContext<'_>, [lhs, rhs]: [ShapeHandle; 2], scales: &[usize]) -> Result<()> {
    c.merge_dim(c.dim(lhs, 1), c.dim(rhs, 0))?;
    let (rows, columns) = (c.dim(lhs, 0), c.dim(rhs, 1));
    for &index in scales {
        ensure_scales(c, columns, c.input(index), c.input(index + 1))?;
    }
    shapes::output_shape(c, c.matrix(rows, columns))
}

fn convolution_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let sides = [c.with_rank_at_least(c.input(0), 2)?, c.with_rank_at_least(c.input(1), 2)?];
    (2..4).try_for_each(|index| c.with_rank_at_most(c.input(index), 0).map(drop))?;
    (4..8).try_for_each(|index| c.with_rank_at_most(c.input(index), 1).map(drop))?;
    general_convolution_shape(c, sides, &[4, 6])
}

fn convolution_hybrid_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let sides = [c.with_rank_at_least(c.input(0), 2)?, c.with_rank_at_least(c.input(1), 2)?];
    (2..4).try_for_each(|index| c.with_rank_at_most(c.input(index), 1).map(drop))?;
    general_convolution_shape(c, sides, &[2])
}

fn general_convolution_shape(c: &InferenceContext<'_>, [lhs, rhs]: [ShapeHandle; 2], scales: &[usize]) -> Result<()> {
    let rank = match (c.rank(lhs), c.rank(rhs)) {
        (None, None) => return shapes::output_shape(c, c.unknown_shape()),
        (Some(rank), None) | (None, Some(rank)) => return shapes::output_shape(c, c.unknown_shape_of_rank(rank)),
        (Some(rank), Some(other)) => {
            ensure!(rank == other, InvalidArgument, "lhs and rhs must have same rank, not {rank} and {other}");
            rank
        }
    };
    let known = |shape| -> Option<Shape> {
        c.dims(shape)?
            .into_iter()
            .map(|dim| usize::try_from(c.value(dim)?).ok())
            .collect::<Option<Vec<_>>>()
            .map(Shape::from)
    };
    let (Some(lhs), Some(filter)) = (known(lhs), known(rhs)) else {
        return shapes::output_shape(c, c.unknown_shape_of_rank(rank));
    };
    let geometry = UniformConvolution::new(c.attrs())?.geometry(&lhs, &filter)?;
    let channels = c.dim(rhs, geometry.filter.feature as i64);
    for &index in scales {
        ensure_scales(c, channels, c.input(index), c.input(index + 1))?;
    }
    if let &[of_filter, of_output] = scales
        && c.rank(c.input(of_output)).is_some_and(|rank| rank > 0)
    {
        c.merge_dim(c.dim(c.input(of_filter), 0), c.dim(c.input(of_output), 0))?;
    }
    let dims: Vec<DimHandle> = geometry.output_shape()?.iter().map(|&dim| c.make_dim(dim as i64)).collect();
    shapes::output_shape(c, c.make_shape(dims))
}
