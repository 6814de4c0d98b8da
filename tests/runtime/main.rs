//! What the framework does beyond computing, with ops and kernels of these tests: building nodes and graphs, the registry,
//! sessions, loops and conditionals, kernels that wait, timeouts, cancellation, devices, eager execution; and what it says
//! to bad input.
//!
//! Nothing here changes the process, but for a panic hook that notes where a panic began, and each test that changes a registry makes one of its own, so all of it runs at once.

mod bad_input;
#[cfg(feature = "text-format")]
mod calls;
#[cfg(feature = "text-format")]
mod control_dependencies;
#[cfg(feature = "text-format")]
mod control_flow;
// Its device is of the type GPU, and its kernels would clash with those for real ones.
#[cfg(all(feature = "text-format", not(feature = "gpu")))]
mod devices;
mod eager;
#[cfg(feature = "text-format")]
mod element_wise;
#[cfg(feature = "text-format")]
mod endless;
mod extended;
#[cfg(feature = "text-format")]
mod faulty_rewrites;
mod foreign;
#[cfg(feature = "text-format")]
mod functions;
mod fused;
#[cfg(feature = "text-format")]
mod fusions;
#[cfg(feature = "text-format")]
mod graphs;
mod hostile;
mod kernel_context;
#[cfg(feature = "text-format")]
mod kernels;
#[cfg(feature = "text-format")]
mod loop_passes;
#[cfg(feature = "text-format")]
mod missing;
mod nodes;
mod op_test;
#[cfg(feature = "text-format")]
mod passes;
#[cfg(feature = "text-format")]
mod patches;
#[cfg(feature = "text-format")]
mod placement;
mod queues;
#[cfg(feature = "text-format")]
mod random_graphs;
mod registry;
mod resources;
#[cfg(feature = "text-format")]
mod rewrite_examples;
#[cfg(feature = "text-format")]
mod rewrites;
#[cfg(feature = "text-format")]
mod runs;
mod session;
#[cfg(feature = "text-format")]
mod shared_pool;
#[path = "../support/mod.rs"]
mod support;
mod variables;
#[cfg(feature = "text-format")]
mod waiting;

kernlink::provider!();
