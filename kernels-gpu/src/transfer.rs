//! How elements lie in the device's memory: as in the host's, but for bools, which are a `u32` each.

use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};

/// The bytes that so many elements take on the device.
pub(crate) fn device_bytes(dtype: DataType, count: usize) -> usize {
    match dtype {
        DataType::Bool => count.saturating_mul(4),
        dtype => count.saturating_mul(dtype.size()),
    }
}

/// A tensor's bytes as the device wants them: a multiple of four.
pub(crate) fn to_device(tensor: &Tensor) -> Result<std::borrow::Cow<'_, [u8]>> {
    if !tensor.dtype().is_pod() {
        let message = format!("a {} tensor stays in the memory of the host", tensor.dtype());
        return Err(Error::invalid_argument(message));
    }
    if tensor.dtype() == DataType::Bool {
        let mut bytes = scratch::room(device_bytes(DataType::Bool, tensor.num_elements()))?;
        for &value in tensor.as_slice::<bool>()? {
            bytes.extend_from_slice(&u32::from(value).to_ne_bytes());
        }
        return Ok(bytes.into());
    }
    let bytes = tensor.bytes()?;
    if bytes.len().is_multiple_of(4) {
        return Ok(bytes.into());
    }
    let mut padded = scratch::room(bytes.len().next_multiple_of(4))?;
    padded.extend_from_slice(bytes);
    padded.resize(bytes.len().next_multiple_of(4), 0);
    Ok(padded.into())
}

/// A tensor from the device's bytes.
pub(crate) fn from_device(dtype: DataType, shape: Shape, bytes: &[u8]) -> Result<Tensor> {
    if dtype == DataType::Bool {
        let wide = bytes.chunks_exact(4).map(|word| word.iter().any(|&byte| byte != 0));
        return Tensor::from_elements(shape, &scratch::collected(wide)?);
    }
    Tensor::from_bytes(dtype, shape, bytes)
}
