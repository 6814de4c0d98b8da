//! Datasets, which are values that say how elements are made, and iterators, which make them. An element is a tuple of
//! tensors, its components. Readers, by which graphs of TensorFlow 1 take records from files.

mod functions;
mod iterate;
mod readers;
mod record_input;
mod shape;
mod sources;
mod transform;

pub use functions::*;
pub use iterate::*;
pub use readers::*;
pub use record_input::*;
pub use sources::*;
pub use transform::*;
