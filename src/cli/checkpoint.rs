//! `kernlink checkpoint`

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, escaped};
use crate::formats::{CheckpointReader, SliceFilesReader};
use crate::tensor::Tensor;
use clap::Args;

use crate::cli::output;
use crate::tools::checkpoint_prefix;
use crate::tools::words::count;

#[derive(Args)]
pub(crate) struct Checkpoint {
    /// The checkpoint: what stands before `.index`, a folder for the latest in it, or the files of the older format, with
    /// wildcards
    prefix: PathBuf,
    /// A tensor to print
    #[arg(long, value_name = "NAME")]
    tensor: Vec<String>,
    /// Reads every tensor and compares its checksum
    #[arg(long)]
    verify: bool,
    /// Writes each tensor named by --tensor to DIR/NAME.npy
    #[arg(long, value_name = "DIR", requires = "tensor")]
    save: Option<PathBuf>,
}

/// Reads the tensor of a name.
type Read = Box<dyn Fn(&str) -> Result<Tensor>>;

/// [`checkpoint_prefix`], with the note about the checkpoint told.
pub(crate) fn prefix(path: &Path) -> Result<PathBuf> {
    let (prefix, note) = checkpoint_prefix(path)?;
    if let Some(note) = note {
        output::tell(&note);
    }
    Ok(prefix)
}

pub(crate) fn checkpoint(args: &Checkpoint) -> Result<()> {
    let prefix = &prefix(&args.prefix)?;
    if let Some(folder) = &args.save {
        crate::cli::run::check_folder(folder)?;
        crate::cli::run::check_file_names(folder, &args.tensor, "name only one of them with --tensor")?;
    }
    let mut text = String::new();
    let read: Read;
    let names: Vec<String>;
    if CheckpointReader::exists(prefix) {
        let reader = CheckpointReader::open(prefix)?;
        let _ = writeln!(text, "{}", count(reader.shards(), "data file"));
        for (name, entry) in reader.tensors() {
            let place = match entry.slices.len() {
                0 => format!("data file {}", entry.shard),
                parts => count(parts, "part"),
            };
            let _ = writeln!(text, "{}: {} {} ({place})", escaped(&name), entry.dtype, entry.shape);
        }
        names = reader.tensors().map(|(name, _)| name).collect();
        read = Box::new(move |name| reader.read(name));
    } else {
        let reader = SliceFilesReader::open(&prefix.to_string_lossy())?;
        for (name, dtype, shape) in reader.tensors() {
            let _ = writeln!(text, "{}: {dtype} {shape}", escaped(&name));
        }
        names = reader.tensors().map(|(name, ..)| name).collect();
        read = Box::new(move |name| reader.read(name));
    }
    if !args.tensor.is_empty() {
        text.clear();
    }
    if args.verify {
        for name in &names {
            read(name)?;
        }
        let are = if names.len() == 1 { "is" } else { "are" };
        let _ = writeln!(text, "{} {are} whole", count(names.len(), "tensor"));
    }
    for name in &args.tensor {
        let tensor = read(name)?;
        let _ = writeln!(text, "{}: {} {}\n  {}", escaped(name), tensor.dtype(), tensor.shape(), tensor.values_text());
        if let Some(folder) = &args.save {
            std::fs::create_dir_all(folder)
                .map_err(|error| Error::from_io(format!("cannot make {}", folder.display()), &error))?;
            output::write_array(&folder.join(crate::cli::run::file_name(name)), &tensor)?;
        }
    }
    output::print(&text)
}
