//! `kernlink new`: writes a crate with an op of one's own. Its files stand in `template`, as they are written but for the
//! crate's name, `my-ops` there, and for blocks that not every crate has.

mod name;
mod place;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use clap::Args;

use crate::cli::{output, shell};
use crate::tools::words::Called;

/// Writes a crate: an op with a kernel, a test, and this command with the op in it.
#[derive(Args)]
pub(crate) struct New {
    /// The folder to write to, which must be empty if it exists
    dir: PathBuf,
    /// The crate's name; by default that of the folder
    #[arg(long)]
    name: Option<String>,
    /// Depends on a checkout of Kernlink, in this folder, and not on the published crate: also for the versions of others
    #[arg(long, value_name = "PATH")]
    kernlink: Option<PathBuf>,
    /// Adds a kernel for the GPU, in WGSL
    #[arg(long)]
    gpu: bool,
}

/// A file of the template: its path, and what stands in it.
type File = (&'static str, &'static str);

const FILES: [File; 7] = [
    // Under its own name it would make the template a package, which `cargo package` leaves out.
    ("Cargo.toml", include_str!("template/Cargo.toml.in")),
    (".gitignore", include_str!("template/gitignore")),
    ("README.md", include_str!("template/README.md")),
    ("src/main.rs", include_str!("template/src/main.rs")),
    ("src/lib.rs", include_str!("template/src/lib.rs")),
    ("src/zero_out.rs", include_str!("template/src/zero_out.rs")),
    ("tests/ops.rs", include_str!("template/tests/ops.rs")),
];

const EXAMPLES: [File; 1] = [("examples/own.rs", include_str!("template/examples/own.rs"))];

const GPU_FILES: [File; 2] = [
    ("src/gpu.rs", include_str!("template/src/gpu.rs")),
    ("src/zero_out.wgsl", include_str!("template/src/zero_out.wgsl")),
];

pub(crate) fn new(args: &New) -> Result<()> {
    output::print(&write_crate(args, Called::Command)?)
}

/// Writes a crate with an op, and says what was written and what to do with it. Its name is that of the folder unless one is given; it
/// depends on a checkout of Kernlink in the folder `kernlink`, or on the published crate.
///
/// # Errors
/// INVALID_ARGUMENT for a name that no crate can have; those of a folder that is not empty, and of the system.
pub fn new_crate(dir: &Path, name: Option<&str>, kernlink: Option<&Path>, gpu: bool) -> Result<String> {
    let (name, kernlink) = (name.map(str::to_owned), kernlink.map(Path::to_owned));
    write_crate(&New { dir: dir.to_owned(), name, kernlink, gpu }, Called::Function)
}

fn write_crate(args: &New, called: Called) -> Result<String> {
    let name = name::of(args.name.as_deref(), &args.dir, called)?;
    place::check(&args.dir)?;
    let kernlink = args.kernlink.as_deref().map(|path| place::checkout(path, called)).transpose()?;
    std::fs::create_dir_all(&args.dir)
        .map_err(|error| Error::from_io(format!("cannot make {}", args.dir.display()), &error))?;
    let workspace = place::workspace_around(&args.dir);
    let blocks = [("gpu", args.gpu), ("workspace", workspace.is_some())];
    let dependency = match &kernlink {
        Some(checkout) => format!("{{ path = {} }}", place::toml_path(&args.dir, checkout)?),
        None => concat!("\"", env!("CARGO_PKG_VERSION"), "\"").to_owned(),
    };
    for (file, text) in FILES.into_iter().chain(EXAMPLES).chain(GPU_FILES.into_iter().filter(|_| args.gpu)) {
        let text = with_blocks(text, &blocks);
        let words = [("@kernlink@", &*dependency), ("my-ops", &name), ("my_ops", &name.replace('-', "_"))];
        write(&args.dir.join(file), &replaced(&text, &words))?;
    }
    // Cargo leaves out of it what the crate does not need.
    if let Some(lock) = kernlink.as_deref().and_then(|checkout| std::fs::read(checkout.join("Cargo.lock")).ok()) {
        output::write(&args.dir.join("Cargo.lock"), &lock)?;
    }
    let mut text = format!("crate {name} is in {}: an op, its kernel, a test, and a command\n", args.dir.display());
    if let Some(workspace) = workspace {
        text += &format!(
            "It stands by itself inside the workspace of {}; to make it a member, remove [workspace] and the profiles \
             from its Cargo.toml.\n",
            workspace.display()
        );
    }
    if kernlink.is_none() {
        text += "It depends on the published crate; where Cargo finds none, give a checkout in its Cargo.toml: \
                 kernlink = { path = \"CHECKOUT\" }, as ";
        text += &format!("`new` writes it with {}.\n", called.option("kernlink", "CHECKOUT"));
    }
    text += "The first of these commands compiles Kernlink, which takes minutes.\n";
    text += &format!("Try it, as its README.md says:\n  cd {}\n", shell::path(&args.dir));
    let commands = ["test", "run -- ops --own", "run --example own", "run -- run own.pb --input 'x=[1, 2, 3]'"];
    let on_gpu = ["test --features gpu", "run --features gpu -- run own.pb --input 'x=[1, 2, 3]' --device gpu"];
    let commands = commands.into_iter().chain(on_gpu.into_iter().filter(|_| args.gpu));
    commands.for_each(|command| text += &format!("  cargo {command}\n"));
    Ok(text)
}

/// The text without the lines of blocks that are not wanted, and without those that mark blocks: comments that say
/// `@NAME` and `@end`.
fn with_blocks(text: &str, blocks: &[(&str, bool)]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_kept = true;
    for line in text.split_inclusive('\n') {
        let words = line.trim().trim_start_matches(['#', '/', '<', '!', '-', ' ']).trim_end_matches(['-', '>', ' ']);
        match words.strip_prefix('@') {
            Some("end") => is_kept = true,
            Some(mark) if blocks.iter().any(|(name, _)| *name == mark) => is_kept = blocks.contains(&(mark, true)),
            _ if is_kept => kept.push_str(line),
            _ => {}
        }
    }
    kept
}

/// The text with each word replaced, at once: what takes the place of one may hold another.
fn replaced(text: &str, words: &[(&str, &str)]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    let first = |rest: &str| {
        let found = words.iter().filter_map(|&(word, by)| Some((rest.find(word)?, word, by)));
        found.min_by_key(|(at, ..)| *at)
    };
    while let Some((at, word, by)) = first(rest) {
        result.extend([&rest[..at], by]);
        rest = &rest[at + word.len()..];
    }
    result + rest
}

fn write(file: &Path, text: &str) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::from_io(format!("cannot make {}", folder.display()), &error))?;
    output::write(file, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_kept_or_left_out_whole() {
        let text = "a\n// @gpu\nb\n// @end\n# @workspace\nc\n# @end\n<!-- @gpu -->\nd\n<!-- @end -->\ne @gpu\n";
        assert_eq!(with_blocks(text, &[("gpu", true), ("workspace", false)]), "a\nb\nd\ne @gpu\n");
        assert_eq!(with_blocks(text, &[("gpu", false), ("workspace", true)]), "a\nc\ne @gpu\n");
    }

    #[test]
    fn names_and_paths_may_hold_what_is_replaced() {
        let words = [("@kernlink@", "\"../my-ops/kernlink\""), ("my-ops", "my_ops2"), ("my_ops", "my_ops2")];
        let text = "name = \"my-ops\" # my_ops\nkernlink = @kernlink@\n";
        assert_eq!(replaced(text, &words), "name = \"my_ops2\" # my_ops2\nkernlink = \"../my-ops/kernlink\"\n");
    }

    #[test]
    fn every_mark_of_the_template_is_known() {
        for (file, text) in FILES.into_iter().chain(EXAMPLES).chain(GPU_FILES) {
            for gpu in [false, true] {
                let text = with_blocks(text, &[("gpu", gpu), ("workspace", gpu)]).replace("@kernlink@", "");
                assert!(!text.contains('@'), "{file}: {text}");
                assert!(
                    text.ends_with('\n') && !text.ends_with("\n\n") && !text.contains("\n\n\n"),
                    "{file}: {text:?}"
                );
            }
        }
    }
}
