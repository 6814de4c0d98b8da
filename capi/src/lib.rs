//! TensorFlow's C API over Kernlink: what `libtensorflow` exports, for programs and bindings that were written for it.
//!
//! Each function has the name, the signature and the meaning that TensorFlow's headers give it. All of them follow these rules:
//!
//! - No panic leaves a function: one that a call meets is an INTERNAL error where there is a status.
//! - A status that comes in with an error is overwritten.
//! - A null pointer where an object is due is an INVALID_ARGUMENT; where there is no status, the call has no effect and
//!   returns null, 0 or -1.
//! - What the headers have and Kernlink has not exists as a symbol, and answers UNIMPLEMENTED ([`absent`]).
//!
//! The functions are exported under their names, so that a static library of this crate is linked like TensorFlow's own.

#![allow(non_snake_case, reason = "the names are TensorFlow's")]
#![allow(
    clippy::missing_safety_doc,
    reason = "what they ask of callers is said once, in `pointer`: pointers are null or what these functions gave"
)]

pub mod abi;
pub mod absent;
mod call;
pub mod eager;
pub mod export;
pub mod function;
pub mod graph;
pub mod import;
pub mod library;
pub mod lists;
mod pointer;
mod program;
pub mod session;
pub mod tensor;
mod values;
