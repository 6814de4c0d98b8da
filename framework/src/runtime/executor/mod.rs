//! The executor: runs a plan.
//!
//! A run has a state, and one thread at a time drives it: it takes nodes that are ready, runs those that are cheap,
//! gives the expensive ones to the pool, and notes what that makes ready. Threads that are done with a node, and kernels
//! that have waited, leave a message; if nobody drives, whoever leaves it does. So no part of the state is shared, and a
//! kernel that waits holds no thread.

mod loops;
mod node;
mod run;
mod state;
mod straight;
mod wait;

pub(super) use node::LOOK;
pub(super) use run::{Place, Run, Running};
pub(super) use state::State;
