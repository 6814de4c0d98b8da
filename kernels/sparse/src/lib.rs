//! Sparse and ragged tensors, sums of picked rows, sets.
//!
//! Kernels that only move elements are compiled once for all dtypes: see `elements`.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod add;
mod bincount;
mod coo;
mod counts;
mod cross;
mod crossing;
mod csr;
mod cwise;
mod edit_distance;
mod elements;
mod fill;
mod mat_mul;
mod number;
mod parts;
mod ragged;
mod ragged_cross;
mod ragged_to_tensor;
mod ragged_variant;
mod reduce;
mod reshape;
mod segment;
mod segment_grad;
mod serialize;
mod set;
mod tensors_map;
mod to_dense;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
