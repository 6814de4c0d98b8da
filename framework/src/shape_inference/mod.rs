//! Shape inference: which shapes the outputs of a node will have, before it runs.
//!
//! An op names its shape function in `#[register_op(shape_fn = ...)]`. The function reads the input shapes from an
//! [`InferenceContext`], constrains them, and sets the outputs:
//!
//! ```
//! use kernlink_framework as kernlink;
//! use kernlink::Result;
//! use kernlink::shape_inference::InferenceContext;
//!
//! /// `[batch, depth]` and `[depth, units]` to `[batch, units]`.
//! fn dense(c: &mut InferenceContext<'_>) -> Result<()> {
//!     let a = c.with_rank(c.input(0), 2)?;
//!     let b = c.with_rank(c.input(1), 2)?;
//!     c.merge_dim(c.dim(a, 1), c.dim(b, 0))?;
//!     c.set_output(0, c.matrix(c.dim(a, 0), c.dim(b, 1)));
//!     Ok(())
//! }
//! ```
//!
//! A function may ask for more than shapes: the value of an input that is constant
//! ([`input_tensor`](InferenceContext::input_tensor)), the shape that an input holds as far as it is known
//! ([`make_shape_from_shape_tensor`](InferenceContext::make_shape_from_shape_tensor)), what is behind a resource handle
//! ([`input_handle_shapes_and_types`](InferenceContext::input_handle_shapes_and_types)). A graph runs it without the
//! values first, finds those that it asked for, and runs it again.
//!
//! Most ops need none of their own: [`common`] has those that suit ops of any kind, `kernlink::ops::shapes` TensorFlow's
//! others. [`testing`] checks a function in TensorFlow's notation.

mod arithmetic;
pub mod common;
mod computed;
mod constrain;
mod context;
mod handles;
mod linked;
mod make;
pub mod strided_slice;
pub mod testing;

pub use arithmetic::DimOrConstant;
#[cfg(debug_assertions)]
pub(crate) use computed::Inferred;
pub(crate) use computed::{Said, check_outputs, infer_call};
pub(crate) use constrain::subshape_indices;
pub use context::{DimHandle, GRAPH_DEF_VERSION, InferenceContext, ShapeAndType, ShapeFn, ShapeHandle};
pub use linked::{LinkedDim, LinkedShape, LinkedShapeAndType, Links};
