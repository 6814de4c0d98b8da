//! Variables, as references and as resources; steps of optimisers.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

#[cfg(feature = "state")]
mod state;
#[cfg(feature = "training")]
mod training;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
