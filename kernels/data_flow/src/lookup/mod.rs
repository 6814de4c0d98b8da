//! Lookup tables.

mod access;
mod make;
mod text_file;
mod vocabulary;
