//! Assertions, printing, summaries.

mod media;
mod print;
mod summary;
mod writer;
