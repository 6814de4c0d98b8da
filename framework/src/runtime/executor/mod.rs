//! The executor: runs a plan.
//!
//! Three layers, of which each knows only those before it:
//!
//! 1. `state`: which nodes are ready, which are dead, which loops are under way. A [`State`](state::State) goes by the
//!    plan's layout alone: told what a node has handed on, it answers with the nodes that can run next. It knows neither
//!    kernels nor threads.
//! 2. `context`, `sampling`, `node`, `static_loop`: what runs one node, with its kernel or without, and hands on what
//!    comes of it; or a static loop, for a while. All kernels are called by [`KernelCall`](super::call::KernelCall).
//! 3. `driver`, `run`: which node runs where and when, messages of other threads, the clock, errors, the end.
//!
//! A [`PlanRun`] has one [`Driver`](driver::Driver), and one thread at a time *drives*: it takes the box out of the lock
//! and is the only one to touch what is in it, the state included, until it puts the box back. It takes nodes that are
//! ready, runs those that are cheap, gives the expensive ones to the pool as tasks that own their inputs, and keeps what
//! waits. So it stands with a run:
//!
//! - *not begun*, or *idle*: the driver is in the lock. Whoever leaves a message takes it out and drives.
//! - *driven*: the lock has no driver and no result. Whoever leaves a message leaves: the driving thread looks for messages
//!   before it puts the driver back, and every [`CHECK_INTERVAL`](super::plan::layout::CHECK_INTERVAL) nodes.
//! - *ended*: the lock has a result. The driver is among the executor's idle ones, or dropped after an error.
//!
//! Under the lock are the driver, the messages, the waker of whoever waits for the end, and the result: any thread may touch
//! them, for a moment. The context of the run (plan, step, feeds) never changes and is shared by all.

mod context;
mod driver;
mod node;
mod run;
mod sampling;
mod state;
mod static_loop;

pub(super) use run::{Executor, Nesting, PlanRun, RunFuture};
