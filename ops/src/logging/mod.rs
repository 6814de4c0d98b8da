//! Assertions, printing, summaries.

mod print;
mod summary;
mod writer;

pub use print::*;
pub use summary::*;
pub use writer::*;
