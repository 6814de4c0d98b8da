//! Messages and text to tensors: Examples, tensors, other messages, CSV, JSON, compressed bytes.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

#[cfg(test)]
mod broken;
mod compressed;
mod csv;
mod example;
mod json;
mod message;
mod sequence;
mod single_sequence;
mod tensor;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
