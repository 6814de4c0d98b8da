//! What several shape functions need: the values of constant inputs, and the shape that all inputs have.

use kernlink::dtype::DataType;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};

/// The elements of a tensor of signed integers.
#[track_caller]
pub(crate) fn integers(tensor: &Tensor) -> Result<Vec<i64>> {
    match tensor.dtype() {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => tensor.to_i64_vec(),
        other => bail!(InvalidArgument, "a tensor of signed integers is expected, not of {other}"),
    }
}

/// The one element of a tensor of signed integers.
#[track_caller]
pub(crate) fn integer(tensor: &Tensor) -> Result<i64> {
    ensure!(tensor.num_elements() == 1, InvalidArgument, "one value is expected, not shape {}", tensor.shape());
    Ok(integers(tensor)?[0])
}

/// The shape that all inputs have.
#[track_caller]
pub(crate) fn merged_inputs(c: &InferenceContext<'_>) -> Result<ShapeHandle> {
    let mut inputs = (0..c.num_inputs()).rev();
    let mut merged = inputs.next().map_or_else(|| c.unknown_shape(), |last| c.input(last));
    for i in inputs {
        let wrong = |error: kernlink::Error| error.context(format!("From merging shape {i} with other shapes"));
        merged = c.merge(c.input(i), merged).map_err(wrong)?;
    }
    Ok(merged)
}
