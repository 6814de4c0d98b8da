//! A library.
