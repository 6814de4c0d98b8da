//! `--library`: libraries of ops that are loaded before anything else.

use std::path::PathBuf;

use clap::Args;
use kernlink_library::load::{load_libraries, load_libraries_from_env};

use super::output;
use crate::Result;

/// The libraries of all commands.
#[derive(Args)]
pub(crate) struct Flags {
    /// Loads a library of ops first, or all of a folder; may be given several times. The environment's KERNLINK_LIBRARIES names
    /// more, with colons between
    #[arg(long = "library", value_name = "FILE", global = true)]
    files: Vec<PathBuf>,
}

impl Flags {
    /// Loads them, and what the environment names. Files of folders that cannot be loaded are told of.
    ///
    /// # Errors
    /// Those of a file that was named and cannot be loaded.
    pub(crate) fn load(&self) -> Result<()> {
        if self.files.is_empty() && std::env::var_os(kernlink_library::load::VARIABLE).is_none() {
            return Ok(());
        }
        let registry = crate::registry()?;
        let named = load_libraries_from_env(&registry)?;
        let given = load_libraries(&self.files, &registry).map_err(|error| error.context("--library"))?;
        for (_, error) in named.skipped.iter().chain(&given.skipped) {
            output::tell(&format!("warning: passed over: {error}"));
        }
        Ok(())
    }
}
