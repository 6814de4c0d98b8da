//! Datasets, which are values that say how elements are made, and iterators, which make them. An element is a tuple of
//! tensors, its components. Readers, by which graphs of TensorFlow 1 take records from files.

mod choices;
mod disk;
mod distribute;
mod functions;
mod graphs;
mod iterate;
mod map_defun;
mod multi_device;
mod readers;
mod record_input;
mod records;
mod shape;
mod sources;
mod stats;
mod transform;

pub use choices::*;
pub use disk::*;
pub use distribute::*;
pub use functions::*;
pub use graphs::*;
pub use iterate::*;
pub use map_defun::*;
pub use multi_device::*;
pub use readers::*;
pub use record_input::*;
pub use records::*;
pub use sources::*;
pub use stats::*;
pub use transform::*;
