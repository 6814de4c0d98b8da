//! A client as a program in C, or a binding of another language, would be: objects that are freed, and failures as values.

#![allow(unused_imports, reason = "each test uses a part of it")]

mod graph;
mod status;

pub(crate) use graph::*;
pub(crate) use status::*;
