//! `kernlink completions` and `kernlink man`: what shells and `man` are to know of the command.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man as Page;

use crate::cli::{command, output};
use crate::tools::words::count;

/// Prints a script that has a shell complete this command's words: for bash, for example,
/// `source <(kernlink completions bash)` in ~/.bashrc.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
    /// What the command is called where it is used, if not by this program's own name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// Prints a page of the manual, as `man` shows it: `kernlink man run | man -l -`.
#[derive(Args)]
pub(crate) struct Man {
    /// The command that the page is about; without it, all of them
    command: Option<String>,
    /// Writes all pages, such as kernlink.1 and kernlink-run.1 of `kernlink`, into a folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    output: Option<PathBuf>,
}

/// The name by which this program was called.
pub(crate) fn own_name() -> String {
    let program = std::env::args_os().next().map(PathBuf::from);
    let name = program.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    let name = name.map(|name| name.strip_suffix(std::env::consts::EXE_SUFFIX).unwrap_or(name));
    name.filter(|name| !name.is_empty()).unwrap_or("kernlink").to_owned()
}

pub(crate) fn completions(args: &Completions) -> Result<()> {
    let name = args.name.clone().unwrap_or_else(own_name);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    // The name becomes part of a script.
    if name.is_empty() || name.starts_with('-') || !name.chars().all(plain) {
        let name = crate::error::shortened(&name);
        return Err(Error::invalid_argument(format!(
            "`{name}` is no name for a command here: give one of letters, digits, `-`, `_` and `.` by --name"
        )));
    }
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), name, &mut script);
    output::print_bytes(&script)
}

pub(crate) fn man(args: &Man) -> Result<()> {
    let mut all = command().disable_help_subcommand(true);
    // Pages then say `kernlink run` where they are about it.
    all.build();
    let render = |page: Page| {
        // What the page is a part of is Kernlink, also where a crate of ops has the command under a name of its own.
        let page = page.source(concat!("Kernlink ", env!("CARGO_PKG_VERSION")));
        let mut bytes = Vec::new();
        page.render(&mut bytes).map_err(|error| Error::from_io("the page", &error))?;
        Ok::<_, Error>(bytes)
    };
    if let Some(folder) = &args.output {
        crate::cli::run::check_folder(folder).map_err(|error| error.context("--output"))?;
        std::fs::create_dir_all(folder)
            .map_err(|error| Error::from_io(format!("cannot make {}", folder.display()), &error))?;
        let pages = std::iter::once(&all).chain(all.get_subcommands()).map(|command| Page::new(command.clone()));
        let mut written = 0;
        for page in pages {
            let file = folder.join(page.get_filename());
            output::write(&file, &render(page)?)?;
            written += 1;
        }
        return output::print(&format!("{} in {}\n", count(written, "page"), folder.display()));
    }
    let command = match args.command.as_deref() {
        None => all,
        Some(name) => all.find_subcommand(name).cloned().ok_or_else(|| {
            let names = || all.get_subcommands().map(clap::Command::get_name);
            let hint = crate::registry::did_you_mean(name, names());
            let (name, names) = (crate::error::shortened(name), crate::registry::listed(names()));
            Error::not_found(format!("there is no command `{name}`{hint}\nthere are: {names}"))
        })?,
    };
    output::print_bytes(&render(Page::new(command))?)
}
