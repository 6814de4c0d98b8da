//! Arrays: the moving of elements, which shaders do by the elements' size and not by their dtype.
//!
//! Most of these kernels run a [`StridedCopy`](strided::StridedCopy), as those for the processor do: what becomes of
//! shapes, where elements go and what is wrong is said in [`kernlink_geometry`] for both.
//!
//! Where TensorFlow's kernels for GPUs have `int32` in host memory, because it counts and indexes, so has Kernlink:
//! those registrations are with the kernels for the processor.

mod fill;
mod gather;
mod join;
pub(crate) mod merge;
mod one_hot;
mod rearrange;
mod scatter;
mod segments;
mod sequence;
mod slice;
mod space;
mod split;
mod stitch;
mod strided;
mod unit;
mod window;

use kernlink_geometry::integers;

pub(crate) use fill::{with_copies, zeros};
pub(crate) use rearrange::{rearranged, turned};
pub(crate) use strided::{copies, copy};
