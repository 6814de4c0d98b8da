//! Saving, restoring and merging checkpoints.

use std::path::PathBuf;
use std::sync::OnceLock;

use kernlink::dtype::TString;
use kernlink::error::{Error, Result};
use kernlink::formats::{CheckpointReader, CheckpointWriter, merge_checkpoints};
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::sort::CompactSort as _;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Code, ensure};
use kernlink_kernels_common::files::{LONGEST_NAME, path_of};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::first::{FirstFormat, restore};
use super::{part, part_to_save, single};

/// Checks what SaveV2 and RestoreV2 have in common: a prefix, and as many names as parts.
fn names_and_parts<'t>(names: &'t Tensor, parts: &'t Tensor) -> Result<(&'t [TString], &'t [TString])> {
    ensure!(
        names.rank() == 1 && parts.rank() == 1,
        InvalidArgument,
        "Input tensor_names and shape_and_slices should be an 1-D tensors, got {} and {} instead.",
        names.shape(),
        parts.shape()
    );
    let (names, parts) = (names.as_slice::<TString>()?, parts.as_slice::<TString>()?);
    ensure!(
        names.len() == parts.len(),
        InvalidArgument,
        "tensor_names and shape_and_slices have different number of elements: {} vs. {}",
        names.len(),
        parts.len()
    );
    Ok((names, parts))
}

#[register_kernel(device = Cpu)]
fn save_v2(ctx: &mut KernelContext<'_, ops::SaveV2>) -> Result<()> {
    let prefix = path_of(single(ctx.input(ops::SaveV2::PREFIX)?, "Input prefix")?)?;
    let (names, parts) = (ctx.input(ops::SaveV2::TENSOR_NAMES)?, ctx.input(ops::SaveV2::SHAPE_AND_SLICES)?);
    let (names, parts) = names_and_parts(names, parts)?;
    let tensors = ctx.input_list(ops::SaveV2::TENSORS);
    ensure!(
        names.len() == tensors.len(),
        InvalidArgument,
        "Got {} tensor names but {} tensors.",
        names.len(),
        tensors.len()
    );
    let mut writer = CheckpointWriter::create(prefix)?;
    for ((name, text), tensor) in names.iter().zip(parts).zip(tensors.iter()) {
        match part_to_save(text, tensor)? {
            Some((shape, slice)) => writer.add_slice(name.as_bytes(), &shape, &slice, tensor)?,
            None => writer.add(name.as_bytes(), tensor)?,
        }
    }
    writer.finish()
}

#[register_kernel(device = Cpu)]
fn restore_v2(attrs: &Attrs<ops::RestoreV2>, ctx: &mut KernelContext<'_, ops::RestoreV2>) -> Result<()> {
    let names = ctx.input(ops::RestoreV2::TENSOR_NAMES)?.clone();
    ensure!(
        names.num_elements() == attrs.dtypes.len(),
        InvalidArgument,
        "Got {} tensor names, but {} expected dtypes.",
        names.num_elements(),
        attrs.dtypes.len()
    );
    let prefix = single(ctx.input(ops::RestoreV2::PREFIX)?, "Input prefix")?.clone();
    let parts = ctx.input(ops::RestoreV2::SHAPE_AND_SLICES)?.clone();
    let (names, parts) = names_and_parts(&names, &parts)?;
    let first_output = ctx.output_range(ops::RestoreV2::TENSORS).start;
    if prefix.len() > LONGEST_NAME || !CheckpointReader::exists(path_of(&prefix)?) {
        let files = FirstFormat::open(&prefix)?;
        for (index, ((name, text), &dtype)) in names.iter().zip(parts).zip(&attrs.dtypes).enumerate() {
            ctx.set_output_at(first_output + index, restore(&files, name, Some(text), dtype)?)?;
        }
        return Ok(());
    }
    let reader = CheckpointReader::open(path_of(&prefix)?)?;
    let mut bytes = 0usize;
    let mut mismatches: Option<Error> = None;
    for (name, &dtype) in names.iter().zip(&attrs.dtypes) {
        let entry = reader.entry(name.as_bytes())?;
        bytes = bytes.saturating_add(entry.shape.num_elements().saturating_mul(entry.dtype.size()));
        if entry.dtype != dtype {
            let said = Error::format(
                Code::InvalidArgument,
                format_args!(
                    "tensor_name = {}; expected dtype {dtype} does not equal original dtype {}",
                    name.display(),
                    entry.dtype
                ),
            );
            mismatches = Some(match mismatches {
                // As many as a message may have: the others would only be cut.
                Some(error) if error.message().len() > 64 << 10 => error,
                Some(error) => error.append(format_args!("\n{}", said.message())),
                None => said,
            });
        }
    }
    if let Some(error) = mismatches {
        return Err(error);
    }
    let tensors: Vec<OnceLock<Result<Tensor>>> = scratch::collected(names.iter().map(|_| OnceLock::new()))?;
    ctx.parallel_for(names.len(), bytes / names.len().max(1), |range| {
        for index in range {
            let _ = tensors[index].set(read(&reader, &names[index], &parts[index]));
        }
    });
    for (index, tensor) in tensors.into_iter().enumerate() {
        let tensor = tensor.into_inner().ok_or_else(|| Error::internal("a tensor was not read"))?;
        ctx.set_output_at(first_output + index, tensor?)?;
    }
    Ok(())
}

/// A tensor, or the part of it that `text` names.
fn read(reader: &CheckpointReader, name: &TString, text: &TString) -> Result<Tensor> {
    let Some((shape, slice, _)) = part(text)? else { return reader.read(name.as_bytes()) };
    let stored = &reader.entry(name.as_bytes())?.shape;
    ensure!(
        shape == *stored,
        InvalidArgument,
        "tensor_name = {}; shape in shape_and_slice spec {shape} does not match the shape stored in checkpoint: {stored}",
        name.display()
    );
    reader.read_slice(name.as_bytes(), &slice)
}

#[register_kernel(device = Cpu, op = ops::MergeV2Checkpoints)]
fn merge_v2_checkpoints(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let prefixes = ctx.input(O::CHECKPOINT_PREFIXES)?;
    ensure!(
        prefixes.rank() == 1,
        InvalidArgument,
        "Input checkpoint_prefixes should be an 1-D tensor, got {} instead.",
        prefixes.shape()
    );
    let target = ctx.input(O::DESTINATION_PREFIX)?;
    ensure!(
        target.rank() == 0,
        InvalidArgument,
        "Input destination_prefix should be a scalar tensor, got {} instead.",
        target.shape()
    );
    let target = path_of(&target.to_scalar::<TString>()?)?;
    let prefixes: Vec<PathBuf> = scratch::collected_ok(prefixes.as_slice::<TString>()?.iter().map(path_of))?;
    merge_checkpoints(&prefixes, &target, attrs.allow_missing_files)?;
    if attrs.delete_old_dirs {
        let mut folders = scratch::collected(prefixes.iter().filter_map(|prefix| prefix.parent()))?;
        folders.compact_sort();
        folders.dedup();
        for folder in folders.into_iter().filter(|&folder| Some(folder) != target.parent()) {
            // One that holds something else stays.
            let _ = std::fs::remove_dir(folder);
        }
    }
    Ok(())
}
