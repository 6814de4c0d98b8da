//! Datasets, which are values that say how elements are made, and iterators, which make them. An element is a tuple of
//! tensors, its components.

mod choices;
mod distribute;
mod functions;
mod iterate;
mod map_defun;
mod records;
mod shape;
mod sources;
mod stats;
mod transform;

pub use choices::*;
pub use distribute::*;
pub use functions::*;
pub use iterate::*;
pub use map_defun::*;
pub use records::*;
pub use sources::*;
pub use stats::*;
pub use transform::*;
