//! Op libraries: shared libraries of ops and kernels that load at run time, into Kernlink and into TensorFlow.
//!
//! Both sides speak TensorFlow's C API for kernels and ops, which has a stable binary interface. [`abi`] has its
//! types, the signatures of all functions and the layout of strings; [`host`] the functions as the program that loads libraries
//! gives them: a library that calls them registers ops and kernels, in a batch that is
//! [committed](host::registration::Batch::commit) as a whole. Finding and opening files, and libraries in Rust, are to come.

pub mod abi;
#[cfg(feature = "host")]
pub mod host;
