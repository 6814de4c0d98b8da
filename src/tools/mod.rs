//! What the command does, for programs: functions that return what it prints.
//!
//! | module | idea |
//! |---|---|
//! | `model`, `checkpoint` | models and checkpoints by their paths |
//! | `device` | devices by their names |
//! | `freeze` | a signature as a graph without variables |
//! | `gradients` | a graph with gradients |
//! | `inspect` | what a model is made of, and what is missing to run it |
//! | `optimize` | a graph with less to do, for a file |
//! | `select` | the ops and kernels that models need |
//! | `compatibility` | promises of older ops that are broken |
//! | `cost` | what ops and nodes take |
//! | `trace` | the statistics of a run for Chrome and Perfetto |
//! | `defaults`, `callees`, `lacking`, `unknown` | what a graph computes, and what of it cannot run |

mod callees;
mod checkpoint;
mod compatibility;
mod cost;
pub(crate) mod defaults;
mod device;
mod freeze;
mod gradients;
pub(crate) mod inspect;
pub(crate) mod lacking;
pub(crate) mod model;
mod optimize;
pub(crate) mod select;
mod trace;
mod unknown;
pub(crate) mod words;

pub use checkpoint::checkpoint_prefix;
pub use compatibility::{Compared, compare_ops};
pub use cost::{Cost, slowest_first};
pub use device::{DeviceName, devices};
pub use freeze::{Frozen, freeze};
pub use gradients::{Differentiate, Differentiated, Gradient, differentiate};
pub use inspect::{Endpoint, Inspection, VariableSizes, count_ops, inspect};
pub use model::read_model;
pub use optimize::{Optimize, Optimized, Unsaved, in_session, optimize};
pub use select::{Selected, select};
pub use trace::chrome_trace;
pub use unknown::unknown_attrs;
