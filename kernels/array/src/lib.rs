//! Arrays: shapes as values, and the moving of elements.
//!
//! Nearly all of these kernels only move elements, so they are compiled once and not once for each dtype. What becomes of
//! their inputs' shapes, and where elements go, is in [`kernlink_geometry`]. Most run a
//! [`StridedCopy`](kernlink_geometry::strided::StridedCopy); those that pick rows one by one use
//! [`take_rows`](kernlink_kernels_common::rows::take_rows).

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod check;
mod diag;
mod gather;
mod grad;
mod image;
mod index;
mod inplace;
mod join;
mod nonzero;
mod one_hot;
mod pad;
mod patches;
mod permutation;
mod ranked;
mod repeat;
mod reshape;
mod reverse;
mod roll;
mod scatter;
mod sequence;
mod shapes;
mod slice;
mod space;
mod split;
mod top_k;
mod transpose;
mod unique;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
