//! Convolution and bias.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {half, bfloat16, float, double, int32}"),
    attr("strides: list(int)", "The window's step in each dimension of `input`; 1 for batch and channels."),
    attr(
        "padding: {'SAME', 'VALID', 'EXPLICIT'}",
        "`VALID` keeps windows inside, `SAME` adds zeros around, `EXPLICIT` adds as many as `explicit_paddings` says.",
    ),
    attr("explicit_paddings: list(int) = []", "Before and after each dimension of `input`; only with `EXPLICIT`."),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "The order of dimensions of `input` and `output`."),
    attr("dilations: list(int) = [1, 1, 1, 1]", "The distance between a window's elements; 1 for batch and channels."),
    input("input: T"),
    input("filter: T", "`[height, width, channels of a group, output channels]`."),
    output("output: T"),
    shape_fn = shapes::conv2d_shape_with_explicit_padding,
)]
pub enum Convolutions {
    /// The 2-D convolution of `input` with `filter` (strictly, the cross-correlation).
    ///
    /// With `NHWC`, `output[b, i, j, k] = Σ input[b, strides[1] * i + dilations[1] * di, strides[2] * j +
    /// dilations[2] * dj, q] * filter[di, dj, q, k]`. The channels of `input` may be a multiple of those of `filter`:
    /// they then form groups, each with its share of the filters.
    #[op(attr(
        "use_cudnn_on_gpu: bool = true",
        "A choice for NVIDIA's devices; without effect here.",
        after = "strides"
    ))]
    Conv2D,
    /// The 2-D convolution of each channel of `input` with filters of its own.
    ///
    /// Output channel `k * multiplier + q` is channel `k` convolved with `filter[:, :, k, q]`.
    #[op(
        attr("T: {half, bfloat16, float, double}"),
        attr("strides: list(int)", "The window's steps, equal for rows and columns; 1 for batch and channels."),
        input("filter: T", "`[height, width, channels, multiplier]`."),
        shape_fn = shapes::depthwise_conv2d_native_shape_with_explicit_padding,
    )]
    DepthwiseConv2dNative,
}

/// `bias`, a vector, added to each channel of `value`.
#[register_op(
    attr("T: numbertype"),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "Channels come last (`NHWC`) or second (`NCHW`), at any rank."),
    input("value: T"),
    input("bias: T"),
    output("output: T"),
    shape_fn = shapes::bias_add_shape,
)]
pub struct BiasAdd;
