//! Shape functions for `#[register_op(shape_fn = ...)]`: those of op families, all of the framework's common ones, and the
//! windows that inference and kernels compute with.
//!
//! | family | functions |
//! |---|---|
//! | convolutions | [`conv2d_shape`], [`depthwise_conv2d_native_shape`] (both also `_with_explicit_padding`), [`conv3d_shape`], [`conv_shape`], [`conv2d_backprop_input_shape`], [`conv2d_backprop_filter_with_bias_shape`] |
//! | pooling | [`avg_pool_shape`], [`max_pool_shape`] (also `_with_explicit_padding`), [`max_pool_v2_shape`], [`pool3d_shape`], and their gradients |
//! | biases and norms | [`bias_add_shape`], [`bias_add_grad_shape`], [`fused_batch_norm_shape`], [`fused_batch_norm_v3_shape`], [`fused_batch_norm_ex_shape`], and their gradients |
//! | quantized | [`quantized_conv2d_shape`], [`fused_quantized_conv2d_shape`], [`fused_quantized_depthwise_conv2d`], [`quantized_avg_pool_shape`], [`quantize_v2_shape`] |
//! | windows | [`Padding`], [`TensorFormat`], [`Axis`], [`get_windowed_output_size_from_dims`], [`get_windowed_output_size_from_dims_v2`], [`make_shape_from_format`] |
//! | all others | [`kernlink_framework::shape_inference::common`] |

mod axis;
mod conv;
mod conv_general;
mod format;
mod norm;
mod pool;
mod quantized;
mod window;

pub use axis::{Axis, four};
pub use conv::{
    conv2d_backprop_input_shape, conv2d_shape, conv2d_shape_with_explicit_padding, conv3d_shape,
    depthwise_conv2d_native_shape, depthwise_conv2d_native_shape_with_explicit_padding,
};
pub use conv_general::{conv_shape, conv2d_backprop_filter_with_bias_shape};
pub use format::{FilterFormat, TensorFormat};
pub use kernlink::shape_inference::common::*;
pub use norm::{
    bias_add_grad_shape, bias_add_shape, fused_batch_norm_ex_shape, fused_batch_norm_grad_ex_shape,
    fused_batch_norm_grad_shape, fused_batch_norm_shape, fused_batch_norm_v3_shape,
};
pub use pool::{
    avg_pool_grad_shape, avg_pool_shape, avg_pool3d_grad_shape, max_pool_grad_shape, max_pool_shape,
    max_pool_shape_with_explicit_padding, max_pool_v2_shape, max_pool3d_grad_shape, pool3d_shape,
};
pub use quantized::{
    fused_quantized_conv2d_shape, fused_quantized_depthwise_conv2d, quantize_v2_shape, quantized_avg_pool_shape,
    quantized_conv2d_shape,
};
pub use window::{
    Padding, get_windowed_output_size_from_dims, get_windowed_output_size_from_dims_v2, make_shape_from_format,
};
