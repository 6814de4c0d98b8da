//! The runtime: a graph becomes a plan, the plan is executed.

mod call;
mod derived;
mod drop_in_turn;
mod eager;
mod executor;
mod functions;
mod index;
mod lacking;
mod library;
mod options;
mod partial;
mod place;
mod plan;
mod session;
mod turns;

pub(crate) use derived::derive;
pub(crate) use eager::Prepared;
pub use eager::{Computed, EagerContext, NodeKernel, run_op};
pub use lacking::without_kernel;
pub use library::{BroughtFunctions, GraphFunction, functions_of, graph_function};
pub use options::{DeviceCounters, RunMetadata, RunOptions, SessionOptions};
pub use partial::PartialRun;
pub use place::kernel_on;
pub use session::{Callable, LoopInfo, Session};
