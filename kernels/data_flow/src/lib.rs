//! Queues, stacks, staging areas, accumulators, tensor arrays, session handles; lists, maps and optionals that are values;
//! lookup tables.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

#[cfg(feature = "data_flow")]
mod data_flow;
#[cfg(feature = "list")]
mod list;
#[cfg(feature = "lookup")]
mod lookup;
#[cfg(any(feature = "data_flow", feature = "list", feature = "lookup"))]
#[cfg_attr(not(feature = "data_flow"), allow(dead_code, reason = "tables and lists need a part"))]
mod named;

// The macro in `lookup::make` writes those that are not in the sources.
kernlink::provider!(
    kernels = kernlink_macros::registered_kernels!() + if cfg!(feature = "lookup") { 36 } else { 0 },
    part_of = "kernlink-kernels"
);
