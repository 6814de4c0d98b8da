//! The `kernlink` command: runs, verifies and inspects TensorFlow graphs, and lists what is linked.
//!
//! It knows the ops and kernels of the program that it is linked into, so that a crate of ops has a command of its own:
//!
//! ```no_run
//! // main.rs; a crate whose ops are in a library names it, too: `use my_ops as _;`
//! fn main() -> std::process::ExitCode {
//!     kernlink::cli::main()
//! }
//! ```

mod advice;
mod applied;
mod bench;
mod catalogue;
mod check;
mod checkpoint;
mod gradients;
mod inspect;
mod job;
mod libraries;
mod manual;
mod model;
mod new;
mod optimize;
mod output;
mod progress;
mod run;
mod select;
mod shell;
mod source;
mod verify;

pub use self::catalogue::{ops_json, write_pages};
pub use self::new::new_crate;

use std::ffi::OsString;
use std::process::ExitCode;

use self::libraries::Libraries;
use crate::error::{Error, Result, watch_panics};
use crate::optimize::Optimizer;
use crate::proto::GraphDef;
use crate::registry::{Registry, listed};
use crate::tools::unknown_attrs;
use clap::error::ErrorKind;
use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

#[derive(Parser)]
#[command(name = "kernlink", version, about = "Runs and inspects TensorFlow graphs")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes a crate with an op of your own, and this command with the op in it
    New(new::New),
    /// Runs a SavedModel (a folder), a MetaGraph (.meta) or a graph (.pb or .pbtxt)
    Run(run::Run),
    /// Measures how long a model takes, and which ops and nodes take it
    Bench(bench::Bench),
    /// Runs golden cases: graphs that carry their own answers
    Verify(verify::Verify),
    /// Says what a model is made of, and what is missing to run it
    Inspect(inspect::Inspect),
    /// Writes a graph that computes the same with less to do, and says what each pass did
    ///
    /// Runs the graph passes that a session runs, as far as their result is a graph that TensorFlow reads too, and
    /// writes the graph. It computes the same: inputs and outputs keep their names.
    ///
    /// Kept is what the outputs need. These are, of a model with signatures, those of one signature; or else those that
    /// --output and --target name; or else all that nothing else in the graph uses. Kept are also the inputs: the
    /// signature's, those that --input names, and, where outputs have no names, all placeholders.
    ///
    /// Functions that nothing calls any more are left out. The bodies of the others are written as they are: a session
    /// runs the passes on them when it first calls them.
    ///
    /// Of a SavedModel or MetaGraph the graph alone is written, without the values of variables, which are in its
    /// checkpoint. A program that runs the graph gives them values first, in the same session. Where the model's saver
    /// restores them, --target keeps the node that does so, which the command names. `kernlink run` cannot do that, and
    /// needs no such file: it runs the passes on the model itself.
    Optimize(optimize::Optimize),
    /// Writes a graph with the gradients of some of its outputs with respect to others
    ///
    /// `gradients/K`, an Identity, is the gradient of the sum of all --y with respect to the K-th --x, counted from 0, as
    /// TensorFlow's `tf.gradients` has it; it is not there if no --y depends on that --x. Where the graph has such names already,
    /// it is `gradients_1/K`. TensorFlow runs what is written.
    Gradients(gradients::Gradients),
    /// Writes which ops and kernels models need, for KERNLINK_SELECT
    Select(select::Select),
    /// Lists what is in a checkpoint
    Checkpoint(checkpoint::Checkpoint),
    /// Lists the ops that are linked
    Ops(catalogue::Ops),
    /// Lists the kernels that are linked
    Kernels(catalogue::Kernels),
    /// Prints a script that has a shell complete this command's words
    Completions(manual::Completions),
    /// Prints a page of the manual, as `man` shows it, or writes all of them
    Man(manual::Man),
}

/// Runs the command that this program's arguments name, and tells on standard error what failed.
///
/// The exit status is 0 if all went well, 1 if a check failed ([`verify`](crate::golden), `ops --check`, `inspect` of a
/// model that lacks something here), 2 after an error. It is 2, too, for arguments that are wrong,
/// and 0 for those that ask for help or the version.
pub fn main() -> ExitCode {
    ExitCode::from(main_of(std::env::args_os()))
}

/// [`main`] for these arguments, of which the first is the program's name; returns the exit status.
pub fn main_of(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    watch_panics();
    let named = command()
        .try_get_matches_from(arguments)
        .and_then(|matches| Ok((Libraries::of(&matches)?, Cli::from_arg_matches(&matches)?.command)));
    let (libraries, command) = match named {
        Ok(named) => named,
        Err(error) => {
            let error = error.with_cmd(&command());
            let _ = error.print();
            if error.kind() == ErrorKind::InvalidSubcommand {
                let command = command();
                output::tell(&format!("Commands: {}", listed(command.get_subcommands().map(clap::Command::get_name))));
            }
            return if error.exit_code() == 0 { 0 } else { 2 };
        }
    };
    match run(&libraries, command) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            output::tell(&format!("error: {}", error.in_words(advice::in_flags)));
            2
        }
    }
}

/// What `bench --format json` prints for these arguments, which are those behind `bench`.
///
/// # Errors
/// INVALID_ARGUMENT for arguments that are wrong; and those of loading and running the model.
pub fn bench_json(arguments: impl IntoIterator<Item = OsString>) -> Result<String> {
    let command = bench::Bench::augment_args(clap::Command::new("bench").no_binary_name(true));
    let matches = command.try_get_matches_from(arguments);
    let args = matches.and_then(|matches| bench::Bench::from_arg_matches(&matches));
    let mut args = args.map_err(|error| Error::invalid_argument(error.to_string().trim().to_owned()))?;
    args.what.called = crate::tools::words::Called::Function;
    Ok(bench::document(&args)?.to_string())
}

/// The command, under the name by which this program was called: a crate of ops has it under a name of its own.
fn command() -> clap::Command {
    let name = manual::own_name();
    let version = match name.as_str() {
        "kernlink" => env!("CARGO_PKG_VERSION"),
        _ => concat!("with kernlink ", env!("CARGO_PKG_VERSION")),
    };
    libraries::of_all_commands(Cli::command()).name(name).version(version)
}

/// What a graph has that the linked ops do not know, as a warning to people.
fn warn_of_attrs(def: &GraphDef, registry: &Registry) {
    tell_passed_over(&unknown_attrs(def, registry));
}

fn tell_passed_over(lines: &[String]) {
    if !lines.is_empty() {
        output::tell(&format!("warning: attrs that are passed over:\n  {}", lines.join("\n  ")));
    }
}

/// Whether all is well.
fn run(libraries: &Libraries, command: Command) -> Result<bool> {
    // Whoever switches off a pass by a wrong name is told at once, whatever is asked for.
    Optimizer::from_env()?;
    // What is only about the command itself can be had with whatever the environment names.
    if !matches!(command, Command::New(_) | Command::Completions(_) | Command::Man(_)) {
        libraries.load()?;
    }
    match command {
        Command::New(args) => new::new(&args).map(|()| true),
        Command::Run(args) => run::run(&args).map(|()| true),
        Command::Bench(args) => bench::bench(&args).map(|()| true),
        Command::Verify(args) => verify::verify(&args),
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Optimize(args) => optimize::optimize(&args).map(|()| true),
        Command::Gradients(args) => gradients::gradients(&args).map(|()| true),
        Command::Checkpoint(args) => checkpoint::checkpoint(&args).map(|()| true),
        Command::Ops(catalogue::Ops { check: Some(old), .. }) => check::check(&old),
        Command::Select(args) => select::select(&args).map(|()| true),
        Command::Ops(args) => catalogue::ops(&args).map(|()| true),
        Command::Kernels(args) => catalogue::kernels(&args).map(|()| true),
        Command::Completions(args) => manual::completions(&args).map(|()| true),
        Command::Man(args) => manual::man(&args).map(|()| true),
    }
}
