//! Casts, reductions, products of matrices.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod cast;
mod matmul;
mod reduce;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
