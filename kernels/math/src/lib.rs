//! Casts, reductions, products of matrices.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod cast;
mod matmul;
mod reduce;

kernlink::provider!(kernels = 340, part_of = "kernlink-kernels");
