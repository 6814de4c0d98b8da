//! TensorFlow's common shape functions, to be named in `#[register_op(shape_fn = ...)]`, and the helpers that shape
//! functions of one's own are built from.
//!
//! | family | functions |
//! |---|---|
//! | as the inputs are | [`unchanged_shape`], [`unchanged_shape_with_rank`], [`merge_both_inputs_shape`] |
//! | fixed | [`no_outputs`], [`scalar_shape`], [`unknown_shape`], [`explicit_shape`], [`random_shape`] |
//! | element-wise | [`broadcast_binary_op`] |
//! | arrays | [`concat_shape`], [`concat_v2_shape`], [`slice_shape`], [`strided_slice_shape`], [`gather_nd_shape`] |
//! | reductions | [`reduction_shape`] |
//! | matrices | [`mat_mul_shape`], [`batch_mat_mul_shape`], [`batch_mat_mul_v2_shape`] |
//! | convolutions | [`conv2d_shape`], [`conv3d_shape`], [`depthwise_conv2d_native_shape`] |
//! | pooling | [`avg_pool_shape`], [`max_pool_shape`], [`max_pool_v2_shape`], [`pool3d_shape`] |
//! | biases and norms | [`bias_add_shape`], [`fused_batch_norm_shape`], [`fused_batch_norm_v3_shape`] |

mod array;
mod basic;
mod broadcast;
mod conv;
mod format;
mod matrix;
mod norm;
mod pool;
mod reduction;
mod window;

pub use array::{
    concat_shape, concat_v2_shape, gather_nd_shape, quantized_concat_v2_shape, slice_shape, strided_slice_shape,
};
pub use basic::{
    explicit_shape, explicit_shapes, merge_both_inputs_shape, no_outputs, random_shape, scalar_shape, unchanged_shape,
    unchanged_shape_with_rank, unchanged_shape_with_rank_at_least, unchanged_shape_with_rank_at_most, unknown_shape,
};
pub use broadcast::{broadcast_binary_op, broadcast_binary_op_output_shape};
pub use conv::{conv2d_backprop_input_shape, conv2d_shape, conv3d_shape, depthwise_conv2d_native_shape};
pub use format::{FilterFormat, TensorFormat};
pub use matrix::{batch_mat_mul_shape, batch_mat_mul_v2_shape, mat_mul_shape};
pub use norm::{
    bias_add_grad_shape, bias_add_shape, fused_batch_norm_grad_shape, fused_batch_norm_shape, fused_batch_norm_v3_shape,
};
pub use pool::{avg_pool_shape, max_pool_shape, max_pool_v2_shape, pool3d_shape};
pub use reduction::reduction_shape;
pub use window::{Padding, get_windowed_output_size_from_dims, get_windowed_output_size_from_dims_v2};

pub use basic::{
    scalar_shape as scalar, unchanged_shape as unchanged, unchanged_shape_with_rank as unchanged_with_rank,
    unknown_shape as unknown,
};

use super::InferenceContext;
use crate::error::Result;
use crate::op::FromAttrValue;

/// The attr with this name; `default` if the op has none.
#[track_caller]
fn attr_or<T: FromAttrValue>(c: &InferenceContext<'_>, name: &str, default: T) -> Result<T> {
    if c.attrs().get(name).is_some() { c.attr(name) } else { Ok(default) }
}
