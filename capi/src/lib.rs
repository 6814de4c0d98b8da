//! TensorFlow's C API on Kernlink: what `c_api.h`, `eager/c_api.h`, `kernels.h` and `ops.h` declare, as a library that takes the
//! place of `libtensorflow`.
//!
//! | module | holds |
//! |---|---|
//! | `export` | what the crate `kernlink-library` implements, under its C names: status, buffers, tensors, strings, kernels, ops |
//! | [`graph`] | graphs and operations: described, asked about, imported, exported, differentiated |
//! | [`session`] | sessions, SavedModels, devices |
//! | [`eager`] | contexts, tensor handles, ops that run at once |
//! | [`missing`] | functions that are there for programs that name them, and answer UNIMPLEMENTED |
//!
//! Every function catches panics, takes null pointers for errors, and clears its status first. Pointers that C gives must be
//! what the functions of this API gave; wrong ones cannot be told from right ones, here as in TensorFlow.

#![allow(non_snake_case, non_camel_case_types, reason = "the names are TensorFlow's")]
#![allow(clippy::missing_safety_doc, reason = "what they ask of callers is said once, above")]

pub mod eager;
// mod export;
pub mod graph;
pub mod missing;
mod pointer;
pub mod registry;
pub mod session;
