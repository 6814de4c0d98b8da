//! Handles of resources as both sides have them: a scalar's bytes are a serialized `ResourceHandleProto`.

use kernlink_framework::dtype::DataType;
use kernlink_framework::proto::{
    Message as _, ResourceHandleProto, TensorProto, TensorShapeProto, tensor_from_proto, tensor_to_proto,
};
use kernlink_framework::tensor::Tensor;
use kernlink_framework::{Error, Result};

/// The bytes of a scalar of dtype `resource`.
///
/// # Errors
/// UNIMPLEMENTED for a tensor that is no scalar.
pub(crate) fn handle_bytes(tensor: &Tensor) -> Result<Vec<u8>> {
    match &tensor_to_proto(tensor)?.resource_handle_val[..] {
        [handle] if tensor.rank() == 0 => Ok(handle.encode_to_vec()),
        _ => Err(Error::unimplemented("of dtype resource only scalars go from a library to its host, or back")),
    }
}

/// The scalar of which these are the bytes.
///
/// # Errors
/// INVALID_ARGUMENT if they are no `ResourceHandleProto`.
pub(crate) fn handle_from_bytes(bytes: &[u8]) -> Result<Tensor> {
    let handle = ResourceHandleProto::decode(bytes)
        .map_err(|error| Error::invalid_argument(format!("Malformed TF_RESOURCE tensor: {error}")))?;
    tensor_from_proto(&TensorProto {
        dtype: DataType::Resource.number(),
        tensor_shape: Some(TensorShapeProto::default()),
        resource_handle_val: vec![handle],
        ..TensorProto::default()
    })
}
