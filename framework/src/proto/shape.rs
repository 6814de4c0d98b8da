//! Shapes, to and from their messages.

use super::{TensorShapeProto, tensor_shape_proto};
use crate::error::Result;
use crate::shape::PartialShape;
use crate::tensor::scratch;

/// The shape in a message.
///
/// # Errors
/// INVALID_ARGUMENT for a size below −1, a rank above 254, or more than 2⁶³ − 1 elements.
pub fn shape_from_proto(proto: &TensorShapeProto) -> Result<PartialShape> {
    if proto.unknown_rank {
        return Ok(PartialShape::unknown());
    }
    let dims: Vec<i64> = scratch::collected(proto.dim.iter().map(|dim| dim.size))?;
    PartialShape::from_dims(&dims)
}

/// The message that holds a shape.
pub fn shape_to_proto(shape: &PartialShape) -> TensorShapeProto {
    match shape.dims() {
        None => TensorShapeProto { unknown_rank: true, ..TensorShapeProto::default() },
        Some(dims) => TensorShapeProto {
            dim: dims
                .iter()
                .map(|dim| tensor_shape_proto::Dim { size: dim.map_or(-1, |dim| dim as i64), name: String::new() })
                .collect(),
            unknown_rank: false,
        },
    }
}
