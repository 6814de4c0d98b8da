//! `TF_Session`: running graphs that may grow between runs.
//!
//! | module | idea |
//! |---|---|
//! | `messages` | the protocol buffers that sessions are told with and tell with |
//! | `options` | `TF_SessionOptions` |
//! | `state` | a session, which follows its graph |
//! | `prepared` | what is asked of a graph, resolved once |
//! | `run` | `TF_SessionRun`, and how a run is told to behave |
//! | `trace` | what a run tells of its nodes |
//! | `partial` | runs whose feeds come, and fetches go, in several calls |
//! | `devices` | `TF_DeviceList` |
//! | `saved_model` | sessions of SavedModels |
//! | `deprecated` | `TF_DeprecatedSession`: a session whose graph belongs to it |

mod deprecated;
mod devices;
mod messages;
mod options;
mod partial;
mod prepared;
mod run;
mod saved_model;
mod state;
#[cfg(test)]
mod tests;
mod trace;

pub(crate) use devices::{full_name, list_of};
pub(crate) use messages::ConfigProto;
pub(crate) use trace::metadata_of;

pub use deprecated::*;
pub use devices::*;
pub use options::*;
pub use partial::*;
pub use run::*;
pub use saved_model::*;
pub use state::*;
