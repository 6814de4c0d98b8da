//! Op libraries: shared libraries of ops and kernels that load at run time, into Kernlink and into TensorFlow.
//!
//! Both sides speak TensorFlow's C API for kernels and ops, which has a stable binary interface. [`abi`] has its
//! types, the signatures of all functions and the layout of strings; `guest` what makes a crate of ops a library; [`host`] the
//! functions as the program that loads libraries gives them: a library that calls them registers ops and kernels, in a batch
//! that is [committed](host::registration::Batch::commit) as a whole; [`load`] finds and opens libraries, and takes what they
//! register.

pub mod abi;
#[cfg(all(feature = "guest", target_os = "linux"))]
pub mod guest;
#[cfg(any(feature = "guest", feature = "host"))]
mod handle;
#[cfg(feature = "host")]
pub mod host;
#[cfg(feature = "guest")]
mod library;
#[cfg(feature = "host")]
pub mod load;
