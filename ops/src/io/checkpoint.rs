//! Saving and restoring tensors, in both of TensorFlow's formats.

use kernlink::Result;
use kernlink::dtype::TString;
use kernlink::ensure;
use kernlink::formats::parse_shape_and_slice;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink_macros::register_op;

use crate::shapes;

/// Saves tensors as a checkpoint `prefix.index` with its data file.
///
/// An element of `shape_and_slices` that is not empty says that the tensor is a part of a larger one: the shape of that
/// one and the range along each dimension, as in `4 3 0,2:-`.
#[register_op(
    attr("dtypes: list(type) >= 1"),
    input("prefix: string", "What the names of the files begin with."),
    input("tensor_names: string", "The tensors' names in the checkpoint."),
    input("shape_and_slices: string", "For each tensor, which part of a larger one it is; empty for a whole one."),
    input("tensors: dtypes"),
    stateful,
    shape_fn = save_v2_shape,
)]
pub struct SaveV2;

/// Reads tensors from a checkpoint.
///
/// If there is no `prefix.index`, `prefix` stands for the files of a checkpoint of the first format.
#[register_op(
    attr("dtypes: list(type) >= 1", "The dtypes that the tensors are to have."),
    input("prefix: string", "What the names of the checkpoint's files begin with."),
    input("tensor_names: string", "Which tensors to read."),
    input("shape_and_slices: string", "For each tensor, its shape and the part of it to read; empty for all of it."),
    output("tensors: dtypes"),
    stateful,
    shape_fn = restore_v2_shape,
)]
pub struct RestoreV2;

/// Makes one checkpoint of several: their data files are renamed, their indices become one.
#[register_op(
    attr("delete_old_dirs: bool = true", "Whether to remove the folders that are empty then."),
    attr("allow_missing_files: bool = false", "Whether checkpoints that do not exist are passed over."),
    input("checkpoint_prefixes: string", "The checkpoints to merge."),
    input("destination_prefix: string", "What the names of the new checkpoint's files begin with."),
    stateful,
    shape_fn = merge_shape,
)]
pub struct MergeV2Checkpoints;

/// Saves tensors in a file of the first checkpoint format.
#[register_op(
    attr("T: list(type) >= 1"),
    input("filename: string"),
    input("tensor_names: string", "The tensors' names in the file."),
    input("data: T"),
    stateful,
    shape_fn = save_shape,
)]
pub struct Save;

/// Saves tensors, or parts of larger ones, in a file of the first checkpoint format.
#[register_op(
    attr("T: list(type) >= 1"),
    input("filename: string"),
    input("tensor_names: string", "The tensors' names in the file."),
    input("shapes_and_slices: string", "For each tensor, which part of a larger one it is; empty for a whole one."),
    input("data: T"),
    stateful,
    shape_fn = save_v2_shape,
)]
pub struct SaveSlices;

#[register_op(
    attr("dt: type", "The dtype that the tensor is to have."),
    attr("preferred_shard: int = -1", "Which of the files probably has the tensor; changes nothing."),
    input("file_pattern: string", "The files, with wildcards."),
    input("tensor_name: string"),
    output("tensor: dt"),
    stateful,
    shape_fn = restore_shape,
)]
pub enum Restoring {
    /// Reads a tensor from files of the first checkpoint format.
    Restore,
    /// Reads a part of a tensor from files of the first checkpoint format.
    #[op(
        input("shape_and_slice: string", "The tensor's shape and the part of it to read; empty for all of it."),
        shape_fn = restore_slice_shape,
    )]
    RestoreSlice,
}

/// Checks that inputs 1 and 2 are vectors with an element for each tensor.
fn lists_of_tensors(c: &InferenceContext<'_>, inputs: std::ops::RangeInclusive<usize>, tensors: usize) -> Result<()> {
    for input in inputs {
        let list = c.with_rank(c.input(input), 1)?;
        c.with_value(c.dim(list, 0), tensors as i64)?;
    }
    Ok(())
}

fn save_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    lists_of_tensors(c, 1..=2, c.num_inputs().saturating_sub(3))
}

fn save_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    lists_of_tensors(c, 1..=1, c.num_inputs().saturating_sub(2))
}

/// The shape of the part that a text such as `4 3 0,2:-` names; unknown if it is empty.
fn part_shape(c: &InferenceContext<'_>, text: &TString) -> Result<ShapeHandle> {
    if text.is_empty() {
        return Ok(c.unknown_shape());
    }
    let (_, _, part) = parse_shape_and_slice(&text.to_string_lossy())?;
    Ok(c.make_shape_from_partial(&part.into()))
}

fn restore_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    let names = c.with_rank(c.input(1), 1)?;
    let parts = c.with_rank(c.input(2), 1)?;
    c.merge(names, parts)?;
    let unknown = |c: &InferenceContext<'_>| {
        for output in 0..c.num_outputs() {
            c.set_output(output, c.unknown_shape());
        }
    };
    let Some(texts) = c.input_tensor(2) else {
        unknown(c);
        return Ok(());
    };
    let texts = texts.as_slice::<TString>()?;
    ensure!(
        texts.len() == c.num_outputs(),
        InvalidArgument,
        "The number of shape_and_slice doesn't match tensor outputs."
    );
    for (output, text) in texts.iter().enumerate() {
        c.set_output(output, part_shape(c, text)?);
    }
    Ok(())
}

fn merge_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 1)?;
    c.with_rank(c.input(1), 0)?;
    Ok(())
}

fn restore_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    c.with_rank(c.input(1), 0)?;
    shapes::output_shape(c, c.unknown_shape())
}

fn restore_slice_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for input in 0..3 {
        c.with_rank(c.input(input), 0)?;
    }
    let shape = match c.input_tensor(2) {
        Some(text) => part_shape(c, &text.to_scalar::<TString>()?)?,
        None => c.unknown_shape(),
    };
    shapes::output_shape(c, shape)
}

#[cfg(test)]
mod tests {
    use kernlink::dtype::{DataType, TString};
    use kernlink::tensor::Tensor;

    use super::*;
    use crate::testing::infer;

    #[test]
    fn what_is_saved() {
        let types = || vec![DataType::Float, DataType::Int64];
        let op = || infer::<SaveV2>().attr("dtypes", types());
        op().ok("[];[2];[2];?;?", "");
        op().error("Dimension must be 2 but is 3", "[];[3];[2];?;?");
        op().error("Shape must be rank 0 but is rank 1", "[1];[2];[2];?;?");
        infer::<Save>().attr("T", types()).ok("[];[2];?;?", "");
        infer::<Save>().attr("T", types()).error("Dimension must be 2 but is 1", "[];[1];?;?");
        infer::<MergeV2Checkpoints>().ok("[?];[]", "");
        infer::<MergeV2Checkpoints>().error("Shape must be rank 1", "[];[]");
    }

    #[test]
    fn what_is_restored() {
        let op = || infer::<RestoreV2>().attr("dtypes", vec![DataType::Float, DataType::Int64]);
        let parts = |texts: &[&str]| Tensor::vector(&texts.iter().map(|&text| TString::from(text)).collect::<Vec<_>>());
        op().ok("[];[2];[2]", "?;?");
        op().tensor(2, parts(&["4 3 0,2:-", ""]).unwrap()).ok("[];[2];[2]", "[2,3];?");
        op().tensor(2, parts(&[""]).unwrap()).error("doesn't match tensor outputs", "[];[1];[1]");
        op().tensor(2, parts(&["4 x -", ""]).unwrap()).error("Non numerical dimension", "[];[2];[2]");
        op().error("Dimension 0 in both shapes must be equal", "[];[2];[3]");
        let op = || infer::<RestoreSlice>().attr("dt", DataType::Float);
        op().ok("[];[];[]", "?");
        op().tensor(2, Tensor::from("5 1,3")).ok("[];[];[]", "[3]");
        infer::<Restore>().attr("dt", DataType::Float).ok("[];?", "?");
    }
}
