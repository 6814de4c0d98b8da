//! The command, as a person uses it.

mod command;
mod files;
mod graphs;
#[path = "../support/html.rs"]
mod html;
mod measures;
mod models;
mod optimize;
mod pages;
mod promises;
mod selection;
#[path = "../support/mod.rs"]
mod support;
mod training;
