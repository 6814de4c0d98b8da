//! Checkpoints and files.

mod checkpoint;
mod file;
mod first;
mod remap;

use kernlink::dtype::TString;
use kernlink::error::Result;
use kernlink::formats::{TensorSlice, parse_shape_and_slice};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// The one element of a tensor of strings.
fn single<'t>(tensor: &'t Tensor, what: &str) -> Result<&'t TString> {
    match tensor.as_slice::<TString>()? {
        [text] => Ok(text),
        texts => bail!(InvalidArgument, "{what} should have a single element, got {} instead.", texts.len()),
    }
}

/// Which part of a tensor is meant: the whole tensor's shape and the part, or nothing for all of it.
fn part(text: &TString) -> Result<Option<(Shape, TensorSlice, Shape)>> {
    if text.is_empty() {
        return Ok(None);
    }
    match std::str::from_utf8(text) {
        Ok(text) => parse_shape_and_slice(text).map(Some),
        Err(_) => bail!(InvalidArgument, "a shape_and_slice must be UTF-8, and `{}` is not", text.display()),
    }
}

/// The part of a larger tensor that a tensor to save is: the shape of that one, and the range.
fn part_to_save(text: &TString, tensor: &Tensor) -> Result<Option<(Shape, TensorSlice)>> {
    let Some((shape, slice, size)) = part(text)? else { return Ok(None) };
    ensure!(
        size == *tensor.shape(),
        InvalidArgument,
        "Slice in shape_and_slice specification does not match the shape of the tensor to save: {}, tensor: {}",
        text.display(),
        tensor.shape()
    );
    Ok(Some((shape, slice)))
}
