//! Kernlink's framework: everything that is no op and no kernel.
//!
//! The modules in reading order; each may use those before it, never one after it (docs/design.md, "The rooms"):
//!
//! | module | idea |
//! |---|---|
//! | [`error`] | codes, messages, where an error was raised and which node met it |
//! | [`sort`] | sorting that costs little code |
//! | [`threads`] | threads that kernels split their work over, and that nodes run on |
//! | [`dtype`], [`shape`], [`tensor`] | values |
//! | [`attr`], [`op`] | what a node says, and what it may be |
//! | [`shape_inference`] | which shapes an op's outputs will have |
//! | [`resource`] | what outlives a run and is shared by kernels |
//! | [`step`] | what one run shares among its kernels, what a session shares among its runs |
//! | [`device`] | where kernels run |
//! | [`kernel`], [`select`], [`collect`], [`registry`] | how ops are computed, which of them a build keeps, how they are found |
//! | [`proto`] | TensorFlow's messages, binary and text |
//! | [`graph`] | nodes and edges, imported and checked |
//! | [`optimize`] | passes that leave a graph less to do |
//! | [`runtime`] | plan, executor, session |
//! | [`gradient`] | gradients of ops, of graphs, and of what ran |
//! | [`formats`] | SavedModels, MetaGraphs, checkpoints |
//! | [`testing`] | an op by itself, held against what is expected |

// The macros' output names this crate as users see it.
extern crate self as kernlink;

pub mod attr;
pub mod collect;
pub mod device;
pub mod dtype;
pub mod error;
pub mod formats;
pub mod gradient;
pub mod graph;
pub mod kernel;
pub mod op;
pub mod optimize;
pub mod proto;
pub mod registry;
pub mod resource;
pub mod runtime;
pub mod select;
pub mod shape;
pub mod shape_inference;
pub mod sort;
pub mod step;
pub mod tensor;
pub mod testing;
pub mod threads;

pub use error::{Code, Error, Result};

#[doc(hidden)]
pub mod __private {
    //! What the macros' output needs. Not for use by hand.

    pub use crate::collect::*;
    #[cfg(target_family = "wasm")]
    pub use inventory;
    #[cfg(not(target_family = "wasm"))]
    pub use linkme;
}
