//! Datasets, which are values that say how elements are made, and iterators, which make them. An element is a tuple of
//! tensors, its components.

mod disk;
mod functions;
mod iterate;
mod multi_device;
mod shape;
mod sources;
mod transform;

pub use disk::*;
pub use functions::*;
pub use iterate::*;
pub use multi_device::*;
pub use sources::*;
pub use transform::*;
