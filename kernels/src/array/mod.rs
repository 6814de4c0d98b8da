//! Arrays: shapes as values, and the moving of elements.
//!
//! Nearly all of these kernels only move elements, so they are compiled once and not once for each dtype. What becomes of
//! their inputs' shapes, and where elements go, is in [`kernlink::kernel::geometry`]. Most run a
//! [`StridedCopy`](strided::StridedCopy); those that pick rows one by one use [`take_rows`](rows::take_rows). Kernels of
//! other families use these too.

mod check;
mod diag;
pub(crate) mod element;
pub(crate) mod gather;
mod grad;
mod image;
mod inplace;
mod join;
mod nonzero;
mod one_hot;
mod pad;
mod patches;
pub(crate) mod repeat;
mod reshape;
mod reverse;
mod roll;
pub(crate) mod rows;
mod scatter;
mod sequence;
mod shapes;
mod slice;
mod space;
mod split;
pub(crate) mod strided;
mod top_k;
mod transpose;
mod unique;

pub(crate) use kernlink_geometry::integers;
