//! Op libraries: shared libraries of ops and kernels that load at run time, into Kernlink and into TensorFlow.
//!
//! Both sides speak TensorFlow's C API for kernels and ops, which has a stable binary interface. So far there are the values that
//! cross it: [`abi`] has the types, the signatures of all functions and the layout of strings; [`host`] status, buffers, tensors
//! and strings as the program that loads libraries gives them. Registration and loading are to come.

pub mod abi;
pub mod host;
