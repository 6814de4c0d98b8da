//! `--library`: libraries of ops that are loaded before anything else.

use std::path::PathBuf;

use clap::{ArgMatches, Args, FromArgMatches as _};
use kernlink_library::load::{VARIABLE, load_libraries, named_by_env};

use super::output;
use crate::Result;

// What all commands take.
#[derive(Args)]
struct Flags {
    /// Loads a library of ops first, or those of a folder; may be given several times. KERNLINK_LIBRARIES in the environment names
    /// more, with colons between
    #[arg(long = "library", value_name = "FILE")]
    libraries: Vec<PathBuf>,
}

/// The libraries that the arguments name.
pub(crate) struct Libraries(Vec<PathBuf>);

/// The command, which takes libraries before and behind the name of a command. As a global argument of clap's, those before would
/// be forgotten where there are some behind.
pub(crate) fn of_all_commands(command: clap::Command) -> clap::Command {
    Flags::augment_args(command).mut_subcommands(Flags::augment_args)
}

impl Libraries {
    pub(crate) fn of(matches: &ArgMatches) -> std::result::Result<Libraries, clap::Error> {
        let mut files = Flags::from_arg_matches(matches)?.libraries;
        if let Some((_, behind)) = matches.subcommand() {
            files.extend(Flags::from_arg_matches(behind)?.libraries);
        }
        Ok(Libraries(files))
    }

    /// Loads what the environment names, then these. Files of folders that cannot be loaded are told of.
    ///
    /// # Errors
    /// Those of a file that was named and cannot be loaded.
    pub(crate) fn load(&self) -> Result<()> {
        let from_env = named_by_env();
        let from_env = from_env.iter().map(|path| (path, VARIABLE));
        let named: Vec<_> = from_env.chain(self.0.iter().map(|path| (path, "--library"))).collect();
        if named.is_empty() {
            return Ok(());
        }
        let registry = crate::registry()?;
        // One at a time: what is passed over is told even if a later one fails.
        for (path, named_by) in named {
            let libraries = load_libraries([path], &registry).map_err(|error| error.context(named_by))?;
            for (_, error) in libraries.skipped {
                output::tell(&format!("warning: passed over: {error}"));
            }
        }
        Ok(())
    }
}
