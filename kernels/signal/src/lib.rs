//! Fourier transforms, by [`rustfft`] and [`realfft`].
//!
//! Those crates transform rows of numbers. What is here cuts tensors into rows, for threads and along other dimensions than the
//! last, and keeps the plans.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod along;
mod complex;
mod plans;
mod real;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
