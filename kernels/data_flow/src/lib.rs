//! Queues, stacks, staging areas, accumulators, tensor arrays, session handles; batching; readers of files; lists, maps and optionals
//! that are values; lookup tables.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

#[cfg(feature = "data_flow")]
mod batching;
#[cfg(feature = "data_flow")]
mod data_flow;
#[cfg(feature = "list")]
mod list;
#[cfg(feature = "lookup")]
mod lookup;
#[cfg(feature = "readers")]
mod readers;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
