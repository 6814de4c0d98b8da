//! The gradients of convolution and bias.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    attr("strides: list(int)", "Those of the convolution."),
    attr("padding: {'SAME', 'VALID', 'EXPLICIT'}", "That of the convolution."),
    attr("explicit_paddings: list(int) = []", "Before and after each dimension of the input; only with `EXPLICIT`."),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "The order of the dimensions of input and output."),
    attr("dilations: list(int) = [1, 1, 1, 1]", "Those of the convolution."),
    input("out_backprop: T", "What flows back into the convolution: of the shape of its output."),
    output("output: T"),
    shape_fn = four_sizes::<1>,
)]
pub enum ConvolutionGradients {
    /// The gradient of `Conv2D` with respect to its input.
    #[op(
        attr("T: {half, bfloat16, float, double, int32}"),
        attr("use_cudnn_on_gpu: bool = true", "A choice for NVIDIA's devices; without effect here.", after = "strides"),
        input("input_sizes: int32", "The shape of the input, or its height and width alone.", before = "out_backprop"),
        input("filter: T", "`[height, width, channels of a group, output channels]`.", after = "input_sizes"),
        shape_fn = shapes::conv2d_backprop_input_shape,
    )]
    Conv2DBackpropInput,
    /// The gradient of `Conv2D` with respect to its filter.
    #[op(
        attr(
            "use_cudnn_on_gpu: bool = true",
            "A choice for NVIDIA's devices; without effect here.",
            after = "strides"
        ),
        input("input: T", before = "out_backprop"),
        input("filter_sizes: int32", "The shape of the filter.", after = "input")
    )]
    Conv2DBackpropFilter,
    /// The gradient of `DepthwiseConv2dNative` with respect to its input.
    #[op(
        input("input_sizes: int32", "The shape of the input.", before = "out_backprop"),
        input("filter: T", "`[height, width, channels, multiplier]`.", after = "input_sizes"),
        shape_fn = four_sizes::<0>,
    )]
    DepthwiseConv2dNativeBackpropInput,
    /// The gradient of `DepthwiseConv2dNative` with respect to its filter.
    #[op(
        input("input: T", before = "out_backprop"),
        input("filter_sizes: int32", "The shape of the filter.", after = "input")
    )]
    DepthwiseConv2dNativeBackpropFilter,
}

/// Output 0 has the shape that input `INDEX` holds, of rank 4.
fn four_sizes<const INDEX: usize>(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.make_shape_from_shape_tensor(INDEX)?;
    shapes::output_shape(c, c.with_rank(shape, 4)?)
}

#[register_op(attr("T: numbertype"), output("output: T"), shape_fn = shapes::bias_add_grad_shape)]
pub enum BiasGradients {
    /// The gradient of `BiasAdd` with respect to the bias: for each channel the sum of its elements.
    #[op(
        attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "Channels come last (`NHWC`) or second (`NCHW`), at any rank."),
        input("out_backprop: T")
    )]
    BiasAddGrad,
    /// `bias`, a vector, added along the last dimension of `value`: `BiasAdd` as it was before it knew data formats.
    #[op(input("value: T"), input("bias: T"), shape_fn = shapes::bias_add_shape)]
    BiasAddV1,
}
