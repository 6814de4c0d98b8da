//! Saving and restoring in the first checkpoint format.

use kernlink::dtype::{DataType, TString};
use kernlink::error::Result;
use kernlink::formats::{SliceFileWriter, SliceFilesReader, TensorSlice};
use kernlink::kernel::{InputList, KernelContext};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_kernels_common::files::{path_of, pattern_of};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::{part, part_to_save, single};

/// The files of a checkpoint, with the pattern that named them.
pub(super) struct FirstFormat {
    reader: SliceFilesReader,
    pattern: String,
}

impl FirstFormat {
    pub(super) fn open(pattern: &TString) -> Result<FirstFormat> {
        let Some(path) = pattern_of(pattern)? else {
            // As the reader says it if there are none.
            bail!(
                NotFound,
                "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {}",
                pattern.display()
            );
        };
        Ok(FirstFormat { reader: SliceFilesReader::open(&path)?, pattern: path })
    }
}

/// A tensor, or the part of it that `text` names.
pub(super) fn restore(
    files: &FirstFormat,
    name: &TString,
    text: Option<&TString>,
    expected: DataType,
) -> Result<Tensor> {
    let (dtype, saved) = files.reader.dtype_and_shape(name.as_bytes())?;
    ensure!(
        dtype == expected,
        InvalidArgument,
        "Expected to restore a tensor of type {expected}, got a tensor of type {dtype} instead: tensor_name = {}",
        name.display()
    );
    let Some((shape, slice, _)) = text.map(part).transpose()?.flatten() else {
        return files.reader.read(name.as_bytes());
    };
    ensure!(
        shape == *saved,
        InvalidArgument,
        "Shape in shape_and_slice spec does not match the shape in the save file: {shape}, save file shape: {saved} \
         (tensor `{}` in {})",
        name.display(),
        files.pattern
    );
    files.reader.read_slice(name.as_bytes(), &slice)
}

/// Saves tensors, or parts of larger ones, in one file.
fn save(filename: &Tensor, names: &Tensor, parts: Option<&Tensor>, tensors: InputList<'_>) -> Result<()> {
    let path = path_of(single(filename, "Input 0 (filename)")?)?;
    let names = names.as_slice::<TString>()?;
    let parts = parts.map(|parts| parts.as_slice::<TString>()).transpose()?;
    if let Some(parts) = parts {
        ensure!(
            parts.len() == names.len(),
            InvalidArgument,
            "Expected {} elements for the tensor shapes and slices but got {}",
            names.len(),
            parts.len()
        );
    }
    ensure!(
        names.len() == tensors.len(),
        InvalidArgument,
        "Got {} tensor names but {} tensors",
        names.len(),
        tensors.len()
    );
    let mut writer = SliceFileWriter::new(path);
    for (index, (name, tensor)) in names.iter().zip(tensors.iter()).enumerate() {
        let part = parts.map(|parts| part_to_save(&parts[index], tensor)).transpose()?.flatten();
        let (shape, slice) = part.unwrap_or_else(|| (tensor.shape().clone(), TensorSlice::full(tensor.rank())));
        writer.add_slice(&name.to_string_lossy(), &shape, &slice, tensor)?;
    }
    writer.finish()
}

#[register_kernel(device = Cpu)]
fn save_kernel(ctx: &mut KernelContext<'_, ops::Save>) -> Result<()> {
    let (filename, names) = (ctx.input(ops::Save::FILENAME)?, ctx.input(ops::Save::TENSOR_NAMES)?);
    save(filename, names, None, ctx.input_list(ops::Save::DATA))
}

#[register_kernel(device = Cpu)]
fn save_slices(ctx: &mut KernelContext<'_, ops::SaveSlices>) -> Result<()> {
    let (filename, names) = (ctx.input(ops::SaveSlices::FILENAME)?, ctx.input(ops::SaveSlices::TENSOR_NAMES)?);
    let parts = ctx.input(ops::SaveSlices::SHAPES_AND_SLICES)?;
    save(filename, names, Some(parts), ctx.input_list(ops::SaveSlices::DATA))
}

/// The dtype to restore. `preferred_shard` says where to look first, which changes no result.
fn expected(dtype: DataType, preferred_shard: i64) -> Result<DataType> {
    ensure!(preferred_shard >= -1, InvalidArgument, "Attribute 'preferred_shard' must be greater or equal to -1");
    Ok(dtype)
}

#[register_kernel(device = Cpu, state = |ctx| expected(ctx.attrs().dt, ctx.attrs().preferred_shard))]
fn restore_kernel(&dtype: &DataType, ctx: &mut KernelContext<'_, ops::Restore>) -> Result<()> {
    let files = FirstFormat::open(single(ctx.input(ops::Restore::FILE_PATTERN)?, "Input 0 (file_pattern)")?)?;
    let name = single(ctx.input(ops::Restore::TENSOR_NAME)?, "Input 1 (tensor_name)")?;
    let tensor = restore(&files, name, None, dtype)?;
    ctx.set_output(ops::Restore::TENSOR, tensor)
}

#[register_kernel(device = Cpu, state = |ctx| expected(ctx.attrs().dt, ctx.attrs().preferred_shard))]
fn restore_slice(&dtype: &DataType, ctx: &mut KernelContext<'_, ops::RestoreSlice>) -> Result<()> {
    let files = FirstFormat::open(single(ctx.input(ops::RestoreSlice::FILE_PATTERN)?, "Input 0 (file_pattern)")?)?;
    let name = single(ctx.input(ops::RestoreSlice::TENSOR_NAME)?, "Input 1 (tensor_name)")?;
    let text = single(ctx.input(ops::RestoreSlice::SHAPE_AND_SLICE)?, "Input 2 (shape_and_slice)")?;
    let tensor = restore(&files, name, Some(text), dtype)?;
    ctx.set_output(ops::RestoreSlice::TENSOR, tensor)
}
