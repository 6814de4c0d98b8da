//! Graph passes: a graph that computes the same, with less to do.
//!
//! A [`Pass`] looks at a graph and writes what it wants changed into a [`GraphPatch`](crate::graph::GraphPatch). [`PASSES`]
//! lists the passes in the order in which they run, each in a file of its own; an [`Optimizer`] runs them. Sessions do so
//! between choosing the nodes that a run needs and laying out its plan, for the bodies of functions too.
//! docs/optimizing.md says how a pass is written.

mod copy;
mod devices;
mod elide_identities;
mod fold_branches;
mod fold_constants;
mod free_constants;
mod fuse_element_wise;
mod hoist_invariants;
mod inline_functions;
mod liveness;
mod merge_duplicates;
mod pass;
mod passes;
mod prune;
mod purity;
pub mod rewrite;
mod run;

pub use pass::{Choice, Ends, Pass, Tally};
pub use passes::{PASSES, created};
pub(crate) use run::{Optimized, Origin};
pub use run::{Optimizer, PassReport, WITHOUT};
