//! Quantized numbers: simulated, converted, and computed with.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod arithmetic;
mod byte_pairs;
mod calibration;
mod calibration_statistics;
mod convert;
mod fake;
mod matrix;
mod norm;
mod number;
mod pool;
mod product;
mod requantize;
mod resize;
mod simulated;
mod slices;
mod uniform;
mod uniform_convolution;
mod uniform_product;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
