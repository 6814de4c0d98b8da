//! The side of libraries: what a crate of ops becomes by [`library!`](crate::library). Libraries load on Linux.
//!
//! When the library is loaded, a constructor looks for a host and offers it the crate's ops and kernels by TensorFlow's C API.
//! What crosses are names, texts and bytes: an op is described by specs, a kernel reads its node from a `NodeDef`, tensors share
//! their elements, and resources stay in the library, where handles name them: strings, for a host.

mod functions;
mod kernel;
mod load;
mod node;
mod offer;
mod refusals;
mod shader;
mod shape;
mod status;
mod tensor;

pub use functions::{Functions, HostKind};
pub use load::{library_loaded, offer_by};

#[doc(hidden)]
pub use kernlink_framework::kernel::CrateProvider;
