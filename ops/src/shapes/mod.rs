//! Shape functions for `#[register_op(shape_fn = ...)]`: those of op families, the framework's common ones, and the
//! windows that inference and kernels compute with.
//!
//! | family | functions |
//! |---|---|
//! | convolutions | [`conv2d_shape`], [`depthwise_conv2d_native_shape`] (both also `_with_explicit_padding`), [`conv3d_shape`], [`conv_shape`], [`conv2d_backprop_input_shape`], [`conv2d_backprop_filter_with_bias_shape`] |
//! | pooling | [`avg_pool_shape`], [`max_pool_shape`] (also `_with_explicit_padding`), [`max_pool_v2_shape`], [`pool3d_shape`], and their gradients |
//! | biases and norms | [`bias_add_shape`], [`bias_add_grad_shape`], [`fused_batch_norm_shape`], [`fused_batch_norm_v3_shape`], [`fused_batch_norm_ex_shape`], and their gradients |
//! | quantized | [`quantized_conv2d_shape`], [`fused_quantized_conv2d_shape`], [`fused_quantized_depthwise_conv2d`], [`quantized_avg_pool_shape`], [`quantize_v2_shape`], [`quantized_unchanged`], [`with_ranges`] |
//! | images in other sizes | [`resize_shape`], [`resized_back_shape`], [`sized_images_of`], [`sized_images`] |
//! | windows | [`Padding`], [`TensorFormat`], [`Axis`], [`get_windowed_output_size_from_dims`], [`get_windowed_output_size_from_dims_v2`], [`make_shape_from_format`] |
//! | element-wise | [`broadcast_binary_op`], [`broadcast_binary_op_output_shape_fn`], [`fused_element_wise_shape`] |
//! | arrays | [`reshape_shape`], [`concat_shape`], [`concat_v2_shape`], [`quantized_concat_shape`], [`quantized_concat_v2_shape`], [`slice_shape`], [`strided_slice_shape`], [`gather_nd_shape`], [`scatter_nd_shape_helper`] |
//! | reductions | [`reduction_shape`], [`segment_reduction_with_num_segments_shape_fn`], [`reduce_scatter_shape`] |
//! | matrices | [`mat_mul_shape`], [`batch_mat_mul_shape`], [`batch_mat_mul_v2_shape`], [`einsum_shape`], [`matrix_diag_v2_shape`], [`matrix_diag_part_v2_shape`], [`matrix_set_diag_v2_shape`] |
//! | Fourier transforms | [`rfft_shape`] |
//! | linear algebra | [`batch_unchanged_square_shape`], [`determinant_shape`], [`qr_shape`], [`svd_shape`], [`lu_shape`], [`eig_shape`], [`matrix_solve_shape`], [`matrix_triangular_solve_shape`] and others |
//! | Examples | [`ExampleAttrs`], [`SequenceAttrs`], [`FeatureShapes`] |
//! | sparse tensors | [`validate_sparse_tensor`], [`sparse_reduce_shape_fn`] |
//! | variables | [`validate_variable_resource_handle`] |
//! | as an input is, as an attr says, or always the same | [`kernlink_framework::shape_inference::common`] |

mod array;
mod axis;
mod broadcast;
mod collective;
mod conv;
mod conv_general;
mod einsum;
mod format;
mod image;
mod linear_algebra;
mod matrix;
mod matrix_diag;
mod norm;
mod parsing;
mod pool;
mod program;
mod quantized;
mod reduction;
mod reshape;
mod resource;
mod scatter;
mod signal;
mod sparse;
mod window;

pub use array::*;
pub use axis::*;
pub use broadcast::*;
pub use collective::*;
pub use conv::*;
pub use conv_general::*;
pub use einsum::*;
pub use format::*;
pub use image::*;
pub use kernlink::shape_inference::common::*;
pub use linear_algebra::*;
pub use matrix::*;
pub use matrix_diag::*;
pub use norm::*;
pub use parsing::*;
pub use pool::*;
pub use program::*;
pub use quantized::*;
pub use reduction::*;
pub use reshape::*;
pub use resource::*;
pub use scatter::*;
pub use signal::*;
pub use sparse::*;
pub use window::*;
