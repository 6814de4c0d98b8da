//! Variables, as references and as resources; steps of optimisers.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

#[cfg(feature = "state")]
mod state;
#[cfg(feature = "training")]
mod training;

// The macro in `training::driver` writes those that are not in the sources.
kernlink::provider!(
    kernels = kernlink_macros::registered_kernels!() + if cfg!(feature = "training") { 57 } else { 0 },
    part_of = "kernlink-kernels"
);
