//! Quantized numbers: simulated, converted, and computed with.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod fake;
mod number;
mod simulated;
mod slices;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
