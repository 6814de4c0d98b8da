//! Lookup tables.

mod access;
mod tables;
mod vocabulary;

pub use access::*;
pub use tables::*;
pub use vocabulary::*;
