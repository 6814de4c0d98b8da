//! `tensorflow/c/eager/c_api.h`: ops that run at once.
//!
//! | module | idea |
//! |---|---|
//! | `options` | `TFE_ContextOptions` |
//! | `context` | `TFE_Context`: devices, functions, steps, statistics |
//! | `policy` | what threads want to happen to inputs on other devices |
//! | `handle` | `TFE_TensorHandle`: tensors that ops take and give |
//! | `op` | `TFE_Op`: an op that is being described: its device and inputs |
//! | `attrs` | its attrs |
//! | `arguments` | which of its inputs are which argument's, and how many an argument has |
//! | `execute` | `TFE_Execute` |
//!
//! - Ops run when they are told to and have ended when `TFE_Execute` returns, in contexts that are asked to be asynchronous,
//!   too: handles are never pending, and every error is told by the call that met it.
//! - A context lives as long as its ops. Handles need none.
//! - An op that has run has given its inputs away, and keeps its attrs: it may run again with others.

mod arguments;
mod attrs;
mod context;
mod execute;
mod handle;
mod op;
mod options;
mod policy;

pub use arguments::*;
pub use attrs::*;
pub use context::*;
pub use execute::*;
pub use handle::*;
pub use op::*;
pub use options::*;
pub use policy::*;
