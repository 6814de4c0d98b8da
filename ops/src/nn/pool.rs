//! Pooling.

use kernlink_macros::register_op;

use crate::shapes;

/// The greatest element in each window.
#[register_op(
    attr("T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT"),
    attr("ksize: list(int) >= 4", "The window's size in each dimension of `input`."),
    attr("strides: list(int) >= 4", "The window's step in each dimension of `input`."),
    attr(
        "padding: {'SAME', 'VALID', 'EXPLICIT'}",
        "`VALID` keeps windows inside; `SAME` and `EXPLICIT` let them reach out, where there is nothing to compare.",
    ),
    attr("explicit_paddings: list(int) = []", "Before and after each dimension of `input`; only with `EXPLICIT`."),
    attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'", "The order of dimensions of `input` and `output`."),
    input("input: T"),
    output("output: T"),
    shape_fn = shapes::max_pool_shape_with_explicit_padding,
)]
pub struct MaxPool;

/// The mean of each window; what lies outside of `value` does not count.
#[register_op(
    attr("ksize: list(int) >= 4", "The window's size in each dimension of `value`."),
    attr("strides: list(int) >= 4", "The window's step in each dimension of `value`."),
    attr("padding: {'SAME', 'VALID'}", "`VALID` keeps windows inside, `SAME` lets them reach out."),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "The order of the dimensions of `value` and `output`."),
    attr("T: {half, bfloat16, float, double}"),
    input("value: T"),
    output("output: T"),
    shape_fn = shapes::avg_pool_shape,
)]
pub struct AvgPool;

#[register_op(
    attr("T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16}"),
    attr("ksize: list(int) >= 4", "The window's size in each dimension of `input`; 1 for batch and channels."),
    attr("strides: list(int) >= 4", "The window's step in each dimension of `input`; 1 for batch and channels."),
    attr("padding: {'EXPLICIT'}"),
    attr(
        "explicit_paddings: list(int)",
        "Zeros before and after each dimension of `input`; fewer than the window has."
    ),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "The order of dimensions of `input` and `output`."),
    input("input: T"),
    output("output: T")
)]
pub enum PaddedPoolings {
    /// `MaxPool` of `input` with zeros around it, which count, other than those that `MaxPool` pads with. Kernlink's own,
    /// made by rewrites.
    #[op(name = "_PaddedMaxPool", shape_fn = shapes::max_pool_shape_with_explicit_padding)]
    PaddedMaxPool,
    /// `AvgPool` of `input` with zeros around it, which count. Kernlink's own, made by rewrites.
    #[op(
        name = "_PaddedAvgPool",
        attr("T: {half, bfloat16, float, double}"),
        shape_fn = shapes::avg_pool_shape,
    )]
    PaddedAvgPool,
}
