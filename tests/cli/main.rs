//! The command, as a person uses it.

mod command;
mod files;
mod gradients;
mod graphs;
#[path = "../support/html.rs"]
mod html;
#[cfg(target_os = "linux")]
mod libraries;
mod manual;
mod measures;
mod models;
mod new;
#[path = "../support/new_crate.rs"]
mod new_crate;
mod optimize;
mod pages;
#[cfg(target_os = "linux")]
mod progress;
mod promises;
mod selection;
#[path = "../support/mod.rs"]
mod support;
mod training;
