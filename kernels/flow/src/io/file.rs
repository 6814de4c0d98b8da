//! Whole files and their names.

use kernlink::dtype::TString;
use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::formats::matching_files;
use kernlink::kernel::KernelContext;
use kernlink::sort::CompactSort as _;
use kernlink::tensor::{FileBytes, Tensor, scratch};
use kernlink_kernels_common::files::{path_of, pattern_of};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

fn ensure_scalar(tensor: &Tensor, name: &str) -> Result<()> {
    ensure!(tensor.rank() == 0, InvalidArgument, "{name} must be a scalar, got shape {}", tensor.shape());
    Ok(())
}

/// The base of a name, which ends where a C string would.
fn basename(tensor: &Tensor) -> Result<Vec<u8>> {
    ensure_scalar(tensor, "basename")?;
    let text = tensor.to_scalar::<TString>()?;
    scratch::copied(text.split(|&byte| byte == 0).next().unwrap_or_default())
}

/// The scalar that is a base and what follows it.
fn with_suffix(mut base: Vec<u8>, suffix: String) -> Result<Tensor> {
    scratch::append(&mut base, suffix.as_bytes())?;
    Ok(Tensor::scalar(TString::from(base)))
}

fn number(tensor: &Tensor, name: &str) -> Result<i32> {
    ensure_scalar(tensor, name)?;
    tensor.to_scalar()
}

#[register_kernel(device = Cpu, cheap)]
fn sharded_filename(ctx: &mut KernelContext<'_, ops::ShardedFilename>) -> Result<()> {
    let name = basename(ctx.input(ops::ShardedFilename::BASENAME)?)?;
    let shard = number(ctx.input(ops::ShardedFilename::SHARD)?, "shard")?;
    let shards = number(ctx.input(ops::ShardedFilename::NUM_SHARDS)?, "num_shards")?;
    let name = with_suffix(name, format!("-{shard:05}-of-{shards:05}"))?;
    ctx.set_output(ops::ShardedFilename::FILENAME, name)
}

#[register_kernel(device = Cpu, cheap)]
fn sharded_filespec(ctx: &mut KernelContext<'_, ops::ShardedFilespec>) -> Result<()> {
    let name = basename(ctx.input(ops::ShardedFilespec::BASENAME)?)?;
    let shards = number(ctx.input(ops::ShardedFilespec::NUM_SHARDS)?, "num_shards")?;
    let name = with_suffix(name, format!("-?????-of-{shards:05}"))?;
    ctx.set_output(ops::ShardedFilespec::FILENAME, name)
}

/// The name of the file that a scalar holds.
fn file_name(tensor: &Tensor, name: &str) -> Result<std::path::PathBuf> {
    ensure!(
        tensor.rank() == 0,
        InvalidArgument,
        "Input {name} tensor must be scalar, but had shape: {}",
        tensor.shape()
    );
    path_of(&tensor.to_scalar::<TString>()?)
}

#[register_kernel(device = Cpu)]
fn read_file(ctx: &mut KernelContext<'_, ops::ReadFile>) -> Result<()> {
    let path = file_name(ctx.input(ops::ReadFile::FILENAME)?, "filename")?;
    // A pipe would make it wait forever, and a mapped file that another program cuts short would end the process.
    let contents = FileBytes::read(path)?;
    ctx.set_output(ops::ReadFile::CONTENTS, Tensor::scalar(TString::from(contents)))
}

#[register_kernel(device = Cpu)]
fn write_file(ctx: &mut KernelContext<'_, ops::WriteFile>) -> Result<()> {
    let path = file_name(ctx.input(ops::WriteFile::FILENAME)?, "filename")?;
    let contents = ctx.input(ops::WriteFile::CONTENTS)?;
    ensure!(
        contents.rank() == 0,
        InvalidArgument,
        "Contents tensor must be scalar, but had shape: {}",
        contents.shape()
    );
    let contents = contents.to_scalar::<TString>()?;
    let cannot = |error| Error::from_io(format_args!("cannot write {}", path.display()), &error);
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(cannot)?;
    }
    std::fs::write(&path, contents.as_bytes()).map_err(cannot)
}

#[register_kernel(device = Cpu)]
fn matching_files_kernel(ctx: &mut KernelContext<'_, ops::MatchingFiles>) -> Result<()> {
    let patterns = ctx.input(ops::MatchingFiles::PATTERN)?;
    ensure!(
        patterns.rank() <= 1,
        InvalidArgument,
        "Input patterns tensor must be scalar or vector, but had shape: {}",
        patterns.shape()
    );
    let mut names = Vec::new();
    for pattern in patterns.as_slice::<TString>()? {
        let Some(pattern) = pattern_of(pattern)? else { continue };
        for name in matching_files(&pattern)? {
            scratch::push(&mut names, name)?;
        }
    }
    names.compact_sort();
    let names = scratch::collected(names.into_iter().map(TString::from))?;
    ctx.set_output(ops::MatchingFiles::FILENAMES, Tensor::vector(&names)?)
}
