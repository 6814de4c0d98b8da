//! Constants, control flow, functions, transfers between devices, changes of the registry; files; assertions, printing,
//! summaries.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod control_flow;
mod flow;
mod function;
#[cfg(feature = "io")]
mod io;
#[cfg(feature = "logging")]
mod logging;
mod registry;
mod transfer;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
