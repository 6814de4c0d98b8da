//! Assertions, printing, summaries.

mod histogram;
mod media;
mod print;
mod summary;
mod writer;
