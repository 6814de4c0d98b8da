//! Op libraries: shared libraries of ops and kernels that load at run time, into Kernlink and into TensorFlow.
//!
//! Both sides speak TensorFlow's C API for kernels and ops, which has a stable binary interface: [`abi`] has its types,
//! [`host`] the side of the program that loads libraries, [`guest`] that of a library in Rust, [`load`] how one is found,
//! checked and loaded.

#[doc(hidden)]
pub mod abi;
#[cfg(feature = "guest")]
#[doc(hidden)]
pub mod guest;
#[cfg(feature = "host")]
#[doc(hidden)]
pub mod host;
#[cfg(feature = "host")]
pub mod load;
