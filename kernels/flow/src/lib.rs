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

kernlink::provider!(
    kernels = 90 + if cfg!(feature = "io") { 12 } else { 0 } + if cfg!(feature = "logging") { 12 } else { 0 },
    part_of = "kernlink-kernels",
);
