//! `kernlink ops` and `kernlink kernels`

mod families;
mod folder;
mod html;
mod json;
mod rewrites;
mod rows;
mod text;
mod words;
mod wrapper;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::collect::OpEntry;
use crate::error::{Error, Result, shortened};
use crate::kernel::{GPU, KernelDef, Provider};
use crate::registry::{Absence, Registry, did_you_mean};
use crate::sort::CompactSort as _;
use clap::{Args, ValueEnum};
use serde_json::Value;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum OpFormat {
    Text,
    Json,
    /// A binary OpList, as TensorFlow has it
    Pb,
    /// Web pages of all ops, kernels and rewrites, in a folder
    Html,
}

#[derive(Args)]
pub(crate) struct Ops {
    /// Shows all that is known of one op
    name: Option<String>,
    /// Only ops of crates other than Kernlink's: those of this program
    #[arg(long, conflicts_with_all = ["name", "check"])]
    own: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = OpFormat::Text)]
    format: OpFormat,
    /// Lists what the linked ops break of the promises that an older OpList (from `--format pb`) made
    #[arg(long, value_name = "OLD.pb", conflicts_with_all = ["name", "format", "output"])]
    pub(crate) check: Option<std::path::PathBuf>,
    /// The folder for `--format html` [default: kernlink-ops]; what other programs have put there stays as it is
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    output: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Kernels {
    /// Only kernels of this op
    #[arg(long, value_name = "NAME")]
    op: Option<String>,
    /// Only kernels of crates other than Kernlink's: those of this program
    #[arg(long)]
    own: bool,
    /// Only kernels for this device type, such as CPU
    #[arg(long, value_name = "D")]
    device: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn ops(args: &Ops) -> Result<()> {
    let registry = crate::registry()?;
    if args.format == OpFormat::Html {
        return pages(args);
    }
    if let Some(output) = &args.output {
        let folder = output.display();
        return Err(Error::invalid_argument(format!(
            "--output {folder} is for --format html: the other formats print"
        )));
    }
    let entries = wanted(&registry, args.name.as_deref(), args.own)?;
    let mut text = String::new();
    if args.format == OpFormat::Pb {
        return crate::cli::check::export(entries.iter().map(|entry| entry.def));
    }
    if args.format == OpFormat::Json {
        text = json::pretty(&list(&entries)?)?;
    } else if args.name.is_some() {
        for entry in entries {
            text::describe(&mut text, entry, &registry.kernels_of(&entry.def.name));
            text::rewrites(&mut text, entry.def);
        }
    } else {
        text::list(&mut text, &entries);
        let own = entries.iter().filter(|entry| is_own(entry.provider)).count();
        text += &match (args.own, own) {
            (true, 0) => "this program has no ops but Kernlink's: a crate of ops must be named by it, as in \
                          `use my_ops as _;`, or a library of ops by `--library`\n"
                .to_owned(),
            (true, _) | (false, 0) => format!("{}\n", words::count(entries.len(), "op")),
            (false, own) => format!("{}, {own} of them not Kernlink's (--own)\n", words::count(entries.len(), "op")),
        };
    }
    crate::cli::output::print_bytes(text.as_bytes())
}

/// All that is known of ops, as `ops --format json` prints it: of the one with a name, or of all, or of those that are none of
/// Kernlink's own.
///
/// # Errors
/// NOT_FOUND if there is no op of the name.
pub fn ops_json(name: Option<&str>, own: bool) -> Result<String> {
    let registry = crate::registry()?;
    Ok(list(&wanted(&registry, name, own)?)?.to_string())
}

/// Writes the web pages of all ops, or of those that are none of Kernlink's own, to a folder, and says what was written; what other
/// programs have put there stays as it is.
///
/// # Errors
/// Those of the system.
pub fn write_pages(folder: &Path, own: bool) -> Result<String> {
    let registry = crate::registry()?;
    html::write(&registry, |provider| !own || is_own(provider), folder)
}

fn wanted(registry: &Registry, name: Option<&str>, own: bool) -> Result<Vec<&'static OpEntry>> {
    Ok(match name {
        Some(name) => vec![op(registry, name)?],
        None => registry.ops().filter(|entry| !own || is_own(entry.provider)).collect(),
    })
}

fn list(entries: &[&OpEntry]) -> Result<Value> {
    entries.iter().map(|entry| json::op(entry)).collect::<Result<Vec<_>>>().map(Value::Array)
}

/// The op of a name. Of a name that nobody knows, the error gives names like it alone.
fn op(registry: &Registry, name: &str) -> Result<&'static OpEntry> {
    registry.op(name).map_err(|error| {
        if registry.absence(name) != Some(Absence::Unknown) {
            return error;
        }
        let hint = match did_you_mean(name, registry.ops().map(|entry| &*entry.def.name)) {
            hint if hint.is_empty() => with_name(registry, name),
            hint => hint,
        };
        match hint.is_empty() {
            true => error,
            false => Error::not_found(format!("there is no op `{}`{hint}", shortened(name))),
        }
    })
}

/// So many ops are told that have a name in theirs.
const MOST: usize = 20;

/// The ops that have a name in theirs, in upper or lower case.
fn with_name(registry: &Registry, name: &str) -> String {
    let part = name.to_ascii_lowercase();
    let names = registry.ops().map(|entry| &*entry.def.name);
    let mut names: Vec<&str> = names.filter(|op| op.to_ascii_lowercase().contains(&part)).collect();
    if part.is_empty() || names.is_empty() {
        return String::new();
    }
    names.compact_sort();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("; it is in the names of {}{more}", names.join(", "))
}

/// Whether a crate is none of Kernlink's.
fn is_own(provider: &Provider) -> bool {
    !crate::providers().iter().any(|kernlinks| kernlinks.name == provider.name)
}

fn pages(args: &Ops) -> Result<()> {
    if let Some(name) = &args.name {
        return Err(Error::invalid_argument(format!(
            "--format html writes the pages of all ops: leave `{name}` out, or print it as text or json"
        )));
    }
    crate::cli::output::print(&write_pages(args.output.as_deref().unwrap_or(Path::new("kernlink-ops")), args.own)?)
}

pub(crate) fn kernels(args: &Kernels) -> Result<()> {
    let registry = crate::registry()?;
    if let Some(name) = &args.op {
        op(&registry, name)?;
    }
    let is_asked_for = |kernel: &KernelDef| {
        args.op.as_deref().is_none_or(|op| op == kernel.op) && (!args.own || is_own(kernel.provider))
    };
    let of_op = registry.kernels_where(is_asked_for);
    let wanted =
        |kernel: &&&KernelDef| args.device.as_deref().is_none_or(|device| device.eq_ignore_ascii_case(kernel.device.0));
    let kernels: Vec<&KernelDef> = of_op.iter().filter(wanted).copied().collect();
    let text = match args.format {
        Format::Json => json::pretty(&Value::Array(kernels.iter().map(|kernel| json::kernel(kernel)).collect()))?,
        Format::Text => {
            let mut text = String::new();
            kernels.iter().for_each(|kernel| {
                let _ = writeln!(text, "{kernel}");
            });
            let _ = writeln!(text, "{}{}", words::count(kernels.len(), "kernel"), instead(args, &kernels, &of_op));
            text
        }
    };
    crate::cli::output::print_bytes(text.as_bytes())
}

/// The error of a name that does not exist, with those that do.
fn instead(args: &Kernels, kernels: &[&KernelDef], of_op: &[&KernelDef]) -> String {
    let Some(device) = args.device.as_deref().filter(|_| kernels.is_empty()) else { return String::new() };
    let devices: BTreeSet<&str> = of_op.iter().map(|kernel| kernel.device.0).collect();
    let devices = devices.into_iter().collect::<Vec<_>>().join(", ");
    let of = args.op.as_deref().map(|op| format!(" of {op}")).unwrap_or_default();
    let built = if cfg!(not(feature = "gpu")) && device.eq_ignore_ascii_case(GPU.0) {
        "; those for GPUs come with `--features gpu`"
    } else {
        ""
    };
    match devices.is_empty() {
        true => format!(": none{of} is linked for any device type{built}"),
        false => format!(": none{of} is for device type `{device}`; there are kernels for {devices}{built}"),
    }
}
