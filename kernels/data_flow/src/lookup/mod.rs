//! Lookup tables.

mod access;
mod column;
mod entries;
mod make;
mod table;
mod text_file;
mod vocabulary;
