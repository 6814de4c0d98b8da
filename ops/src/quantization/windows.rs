//! Quantized images.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// A convolution of quantized images.
#[register_op(
    input("input: Tinput", "`[batch, rows, columns, in_channels]`."),
    input("filter: Tfilter", "`[rows, columns, in_channels, out_channels]`."),
    input("min_input: float", "What the lowest number of `input` stands for, a scalar."),
    input("max_input: float", "What the highest stands for."),
    input("min_filter: float", "What the lowest number of `filter` stands for, a scalar."),
    input("max_filter: float", "What the highest stands for."),
    output("output: out_type"),
    output("min_output: float", "What the lowest number of the output stands for."),
    output("max_output: float", "What the highest stands for."),
    attr("Tinput: quantizedtype"),
    attr("Tfilter: quantizedtype"),
    attr("out_type: quantizedtype = DT_QINT32"),
    attr("strides: list(int)", "Four, of which those of rows and columns are equal and the others 1."),
    attr("padding: {'SAME', 'VALID'}", "What happens at the borders."),
    attr("dilations: list(int) = [1, 1, 1, 1]", "Must all be 1."),
    shape_fn = shapes::quantized_conv2d_shape,
)]
pub struct QuantizedConv2D;

/// The means of windows of quantized images.
#[register_op(
    input("input: T", "`[batch, rows, columns, channels]`."),
    input("min_input: float", "What the lowest number of `input` stands for, a scalar."),
    input("max_input: float", "What the highest stands for."),
    output("output: T"),
    output("min_output: float", "`min_input`."),
    output("max_output: float", "`max_input`."),
    attr("T: quantizedtype"),
    attr("ksize: list(int)", "The size of a window, four dimensions."),
    attr("strides: list(int)", "How far apart windows are, four dimensions."),
    attr("padding: {'SAME', 'VALID'}", "What happens at the borders."),
    shape_fn = shapes::quantized_avg_pool_shape,
)]
pub struct QuantizedAvgPool;

/// The greatest of windows of quantized images.
#[register_op(
    input("input: T", "`[batch, rows, columns, channels]`."),
    input("min_input: float", "What the lowest number of `input` stands for, a scalar."),
    input("max_input: float", "What the highest stands for."),
    output("output: T"),
    output("min_output: float", "`min_input`."),
    output("max_output: float", "`max_input`."),
    attr("T: quantizedtype"),
    attr("ksize: list(int)", "The size of a window, four dimensions."),
    attr("strides: list(int)", "How far apart windows are, four dimensions."),
    attr("padding: {'SAME', 'VALID'}", "What happens at the borders."),
    shape_fn = quantized_max_pool_shape,
)]
pub struct QuantizedMaxPool;

/// Quantized images that are brought to mean zero and variance one, each channel of each by itself.
#[register_op(
    input("x: T", "`[batch, rows, columns, channels]`."),
    input("x_min: float", "What the lowest number of `x` stands for, a scalar."),
    input("x_max: float", "What the highest stands for."),
    output("y: T"),
    output("y_min: float", "What the lowest number of `y` stands for."),
    output("y_max: float", "What the highest stands for."),
    attr("T: quantizedtype"),
    attr("output_range_given: bool = false", "Whether the range of `y` is given, and not that of the values."),
    attr("given_y_min: float = 0", "The least value of `y`, if given."),
    attr("given_y_max: float = 0", "The greatest value of `y`, if given."),
    attr("variance_epsilon: float = 9.99999975e-06", "What is added to variances."),
    attr("min_separation: float = 0.00100000005", "The least length of the range of `y`."),
    shape_fn = quantized_instance_norm_shape,
)]
pub struct QuantizedInstanceNorm;

/// Quantized images that are brought to mean zero and variance one, with statistics that are given.
#[register_op(
    input("t: Tinput", "`[batch, rows, columns, channels]`."),
    input("t_min: float", "What the lowest number of `t` stands for, a scalar."),
    input("t_max: float", "What the highest stands for."),
    input("m: Tinput", "The means, `[channels]`."),
    input("m_min: float", "What the lowest number of `m` stands for, a scalar."),
    input("m_max: float", "What the highest stands for."),
    input("v: Tinput", "The variances, `[channels]`."),
    input("v_min: float", "What the lowest number of `v` stands for, a scalar."),
    input("v_max: float", "What the highest stands for."),
    input("beta: Tinput", "What is added, `[channels]`."),
    input("beta_min: float", "What the lowest number of `beta` stands for, a scalar."),
    input("beta_max: float", "What the highest stands for."),
    input("gamma: Tinput", "What is multiplied by, `[channels]`."),
    input("gamma_min: float", "What the lowest number of `gamma` stands for, a scalar."),
    input("gamma_max: float", "What the highest stands for."),
    output("result: out_type"),
    output("result_min: float", "What the lowest number of the result stands for."),
    output("result_max: float", "What the highest stands for."),
    attr("Tinput: quantizedtype"),
    attr("out_type: quantizedtype"),
    attr("variance_epsilon: float", "What is added to variances."),
    attr("scale_after_normalization: bool", "Whether `gamma` is used."),
    shape_fn = quantized_batch_norm_shape,
)]
pub struct QuantizedBatchNormWithGlobalNormalization;

/// Quantized images in another size, each pixel a weighted sum of four.
#[register_op(
    input("images: T", "`[batch, rows, columns, channels]`."),
    input("size: int32", "The new numbers of rows and columns, a vector."),
    input("min: float", "What the lowest number stands for, a scalar."),
    input("max: float", "What the highest stands for."),
    output("resized_images: T"),
    output("out_min: float", "`min`."),
    output("out_max: float", "`max`."),
    attr("T: {quint8, qint32, float}"),
    attr("align_corners: bool = false", "Whether the centres of the corners stay where they are."),
    attr("half_pixel_centers: bool = false", "Whether a pixel stands for its centre and not for its corner."),
    shape_fn = quantized_resize_shape,
)]
pub struct QuantizedResizeBilinear;

fn quantized_max_pool_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::max_pool_shape(c)?;
    shapes::with_ranges(c, 1..3)
}

fn quantized_instance_norm_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 4)?;
    shapes::quantized_unchanged::<2>(c)
}

fn quantized_batch_norm_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let images = c.with_rank(c.input(0), 4)?;
    let mut channels = c.dim(images, 3);
    for vector in [3, 6, 9, 12] {
        let vector = c.with_rank(c.input(vector), 1)?;
        channels = c.merge_dim(channels, c.dim(vector, 0))?;
    }
    c.set_output(0, c.replace_dim(images, 3, channels)?);
    shapes::with_ranges(c, 0..0)
}

fn quantized_resize_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::resize_shape(c)?;
    shapes::with_ranges(c, 2..4)
}
