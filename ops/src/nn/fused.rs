//! What optimisers of graphs make of a convolution or a normalisation and of what follows it.

use kernlink_macros::register_op;

use crate::shapes;

/// The 2-D convolution of `input` with `filter`, as `Conv2D`, followed by the ops that `fused_ops` names.
///
/// `fused_ops` begins with steps of each channel, `BiasAdd`, `Mul` or `FusedBatchNorm` (in inference), after which may come
/// `Add` and an activation:
/// `Relu`, `Relu6`, `Elu`, `LeakyRelu`, `Sigmoid`, `Tanh`, `GeluExact`, `GeluApproximate`, `_MklSwish` (`x * sigmoid(x)`) or
/// `_FusedHardSwish` (`x * relu6(x + 3) / 6`). TensorFlow takes some of these with oneDNN only, and others not at all.
#[register_op(
    name = "_FusedConv2D",
    attr("T: {half, float, double, int8, qint8}"),
    attr("TArgs: list(type) >= 1"),
    input("input: T"),
    input("filter: T", "`[height, width, input channels, output channels]`."),
    input("args: TArgs", "The other operands of `fused_ops`: a bias; scale, offset, mean and variance; a summand."),
    input("host_args: num_host_args * float", "Scales of NVIDIA's kernels for bytes."),
    output("output: T"),
    attr("num_args: int >= 0", "How many `args` there are."),
    attr("num_host_args: int >= 0 = 0"),
    attr("strides: list(int)", "The window's step in each dimension of `input`; 1 for batch and channels."),
    attr("padding: {'SAME', 'VALID', 'EXPLICIT'}"),
    attr("explicit_paddings: list(int) = []", "Before and after each dimension of `input`; only with `EXPLICIT`."),
    attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'", "The order of dimensions of `input` and `output`."),
    attr("filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'", "The order of dimensions of `filter`."),
    attr("dilations: list(int) = [1, 1, 1, 1]", "The distance between a window's elements; 1 for batch and channels."),
    attr("use_cudnn_on_gpu: bool = true", "A choice for NVIDIA's devices; without effect here."),
    attr("fused_ops: list(string) = []", "The ops that follow, in order."),
    attr("epsilon: float = 0.0001", "That of `FusedBatchNorm`."),
    attr("leakyrelu_alpha: float = 0.2", "The slope of `LeakyRelu` below zero."),
    shape_fn = shapes::conv2d_shape_with_explicit_padding,
)]
pub struct FusedConv2D;

#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    input("input: T"),
    input("filter: T", "`[height, width, channels, multiplier]`."),
    input("args: num_args * T", "The other operands of `fused_ops`: a bias; scale, offset, mean and variance; a summand."),
    output("output: T"),
    attr("num_args: int >= 0"),
    attr("strides: list(int)", "The window's steps, equal for rows and columns; 1 for batch and channels."),
    attr("padding: {'SAME', 'VALID'}"),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "The order of dimensions of `input` and `output`."),
    attr("dilations: list(int) = [1, 1, 1, 1]", "The distance between a window's elements; 1 for batch and channels."),
    attr("fused_ops: list(string) = []", "The ops that follow, in order."),
    attr("epsilon: float = 0.0001", "That of `FusedBatchNorm`."),
    attr("leakyrelu_alpha: float = 0.2", "The slope of `LeakyRelu` below zero."),
    shape_fn = shapes::depthwise_conv2d_native_shape,
)]
pub enum FusedDepthwiseConvolutions {
    /// The 2-D convolution of each channel with filters of its own, as `DepthwiseConv2dNative`,
    /// followed by the ops that `fused_ops` names, of which `_FusedConv2D` has the list.
    #[op(name = "_FusedDepthwiseConv2dNative")]
    FusedDepthwiseConv2dNative,
    /// `_FusedDepthwiseConv2dNative` with explicit padding, which TensorFlow's does not have. Kernlink's own, made by
    /// rewrites.
    #[op(
        name = "_FusedPaddedDepthwiseConv2dNative",
        attr("padding: {'EXPLICIT'}"),
        attr("explicit_paddings: list(int)", "Zeros before and after each dimension of `input`.", after = "padding"),
        shape_fn = shapes::depthwise_conv2d_native_shape_with_explicit_padding,
    )]
    FusedPaddedDepthwiseConv2dNative,
}

/// `FusedBatchNormV3` of images whose channels are a multiple of 4, to which `side_input` is added,
/// and of which `activation_mode` is taken.
#[register_op(
    name = "_FusedBatchNormEx",
    attr("T: {half, float, bfloat16}"),
    attr("U: {float}"),
    attr("epsilon: float = 0.0001", "Keeps the divisor from zero."),
    attr("exponential_avg_factor: float = 1.0", "The share of this batch in the running mean and variance."),
    attr("num_side_inputs: int >= 0 = 0", "0 or 1."),
    attr("activation_mode: string = \"Identity\"", "`Identity` or `Relu`."),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'", "Where the channels stand."),
    attr("is_training: bool = true", "Whether mean and variance come from this batch."),
    input("x: T"),
    input("scale: U"),
    input("offset: U"),
    input("mean: U"),
    input("variance: U"),
    input("side_input: num_side_inputs * T", "In the shape of `x`."),
    output("y: T"),
    output("batch_mean: U", "The running mean, updated; in inference `mean`."),
    output("batch_variance: U", "The running variance, updated; in inference `variance`."),
    output("reserve_space_1: U", "For the gradient: this batch's mean."),
    output("reserve_space_2: U", "For the gradient: this batch's variance."),
    output("reserve_space_3: U", "For the gradient on NVIDIA's devices; empty here."),
    shape_fn = shapes::fused_batch_norm_ex_shape,
)]
pub struct FusedBatchNormEx;
