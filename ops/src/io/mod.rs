//! Checkpoints and files.

mod checkpoint;
mod file;
mod remap;

pub use checkpoint::*;
pub use file::*;
pub use remap::*;
