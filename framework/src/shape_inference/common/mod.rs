//! TensorFlow's common shape functions, to be named in `#[register_op(shape_fn = ...)]`, and the helpers that shape
//! functions of one's own are built from.
//!
//! | family | functions |
//! |---|---|
//! | as the inputs are | [`unchanged_shape`] (also `_with_rank`, `_at_least`, `_at_most`), [`merge_both_inputs_shape_fn`] |
//! | fixed | [`no_outputs`], [`scalar_shape`], [`unknown_shape`], [`explicit_shape`], [`explicit_shapes`], [`random_shape`], [`dataset_iterator_shape`] |
//! | element-wise | [`broadcast_binary_op_shape_fn`], [`broadcast_binary_op_output_shape_fn`] |
//! | arrays | [`concat_shape`], [`concat_v2_shape`], [`quantized_concat_v2_shape`], [`slice_shape`], [`strided_slice_shape`], [`gather_nd_shape`], [`scatter_nd_shape_helper`] |
//! | reductions | [`reduction_shape`], [`segment_reduction_with_num_segments_shape_fn`], [`reduce_scatter_shape`] |
//! | matrices | [`mat_mul_shape`], [`batch_mat_mul_shape`], [`batch_mat_mul_v2_shape`], [`einsum_shape`], [`matrix_diag_v2_shape`], [`matrix_diag_part_v2_shape`], [`matrix_set_diag_v2_shape`] |
//! | sparse tensors | [`validate_sparse_tensor`], [`sparse_reduce_shape_fn`] |
//! | variables | [`validate_variable_resource_handle`] |

mod array;
mod basic;
mod broadcast;
mod collective;
mod einsum;
mod matrix;
mod matrix_diag;
mod reduction;
mod resource;
mod scatter;
mod sparse;

pub use array::{
    concat_shape, concat_shape_of, concat_v2_shape, gather_nd_shape, quantized_concat_v2_shape, slice_shape,
    strided_slice_shape,
};
pub use basic::{
    dataset_iterator_shape, explicit_shape, explicit_shapes, merge_both_inputs_shape, no_outputs, random_shape,
    scalar_shape, unchanged_shape, unchanged_shape_with_rank, unchanged_shape_with_rank_at_least,
    unchanged_shape_with_rank_at_most, unknown_shape,
};
pub use broadcast::{broadcast_binary_op, broadcast_binary_op_output_shape, broadcast_binary_op_output_shape_fn};
pub use collective::reduce_scatter_shape;
pub use einsum::einsum_shape;
pub use matrix::{batch_mat_mul_shape, batch_mat_mul_v2_shape, mat_mul_shape};
pub use matrix_diag::{matrix_diag_part_v2_shape, matrix_diag_v2_shape, matrix_set_diag_v2_shape};
pub use reduction::reduction_shape;
pub use resource::validate_variable_resource_handle;
pub use scatter::{scatter_nd_shape_helper, segment_reduction_with_num_segments_shape_fn};
pub use sparse::{sparse_reduce_shape_fn, validate_sparse_tensor};

pub use basic::merge_both_inputs_shape as merge_both_inputs_shape_fn;
pub use basic::{
    scalar_shape as scalar, unchanged_shape as unchanged, unchanged_shape_with_rank as unchanged_with_rank,
    unknown_shape as unknown,
};
pub use broadcast::{
    broadcast_binary_op as broadcast_binary_op_shape_fn,
    broadcast_binary_op_output_shape as broadcast_binary_op_output_shape_fn_helper,
};

use super::InferenceContext;
use crate::error::Result;
use crate::op::FromAttrValue;

/// The attr with this name; `default` if the op has none.
///
/// # Errors
/// INVALID_ARGUMENT if the attr has another type.
#[track_caller]
pub fn attr_or<T: FromAttrValue>(c: &InferenceContext<'_>, name: &str, default: T) -> Result<T> {
    if c.attrs().get(name).is_some() { c.attr(name) } else { Ok(default) }
}
