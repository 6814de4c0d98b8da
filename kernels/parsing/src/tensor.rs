//! SerializeTensor, ParseTensor.

use kernlink::dtype::{DataType, TString};
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::proto::{TensorProto, encoded, shape_to_proto, tensor_from_proto, tensor_to_proto};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_kernels_common::tensor_message::tensor_message;
use kernlink_macros::register_kernel;
use kernlink_ops::{ParseTensor, SerializeTensor};
use prost::bytes::Bytes;
use prost::encoding::{WireType, encode_key, encode_varint};

/// The string in an input that is to be a scalar.
pub(super) fn scalar_string<'a>(tensor: &'a Tensor, name: &str) -> Result<&'a TString> {
    match tensor.as_slice::<TString>()? {
        [string] if tensor.rank() == 0 => Ok(string),
        _ => bail!(InvalidArgument, "Expected {name} to be a scalar, got shape: {}", tensor.shape()),
    }
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex64, complex128, resource, string, variant])]
fn serialize(ctx: &mut KernelContext<'_, SerializeTensor>) -> Result<()> {
    let tensor = ctx.input(SerializeTensor::TENSOR)?;
    let message = match tensor.bytes() {
        Ok(content) if cfg!(target_endian = "little") && !content.is_empty() => {
            joined(&head(tensor, content.len())?, content)?
        }
        _ => TString::from(encoded(&tensor_to_proto(tensor)?)?),
    };
    ctx.set_output(SerializeTensor::SERIALIZED, Tensor::scalar(message))
}

/// What a message says before a tensor's elements: its dtype, its shape, and how many bytes follow.
fn head(tensor: &Tensor, length: usize) -> Result<Vec<u8>> {
    let mut head = encoded(&TensorProto {
        dtype: tensor.dtype().number(),
        tensor_shape: Some(shape_to_proto(&tensor.shape().into())),
        ..TensorProto::default()
    })?;
    const TENSOR_CONTENT: u32 = 4;
    encode_key(TENSOR_CONTENT, WireType::LengthDelimited, &mut head);
    encode_varint(length as u64, &mut head);
    Ok(head)
}

/// From so many bytes on a string is in the memory of a tensor, which is kept when it is freed: to have it from the system again
/// takes longer than to fill it.
const POOLED_FROM: usize = 64 * 1024;

/// A string of two parts.
fn joined(head: &[u8], content: &[u8]) -> Result<TString> {
    let length = head.len() + content.len();
    if length < POOLED_FROM {
        return Ok(TString::from(scratch::joined(&[head, content])?));
    }
    let mut whole = Tensor::alloc(DataType::Uint8, [length])?;
    let (first, rest) = whole.as_mut_slice::<u8>()?.split_at_mut(head.len());
    first.copy_from_slice(head);
    rest.copy_from_slice(content);
    Ok(TString::from(Bytes::from_owner(Shared(whole))))
}

/// A tensor whose bytes are a string's.
struct Shared(Tensor);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice().unwrap_or_default()
    }
}

#[register_kernel(device = Cpu)]
fn parse(attrs: &Attrs<ParseTensor>, ctx: &mut KernelContext<'_, ParseTensor>) -> Result<()> {
    let expected: DataType = attrs.out_type;
    let bytes = scalar_string(ctx.input(ParseTensor::SERIALIZED)?, "serialized")?;
    let tensor = tensor_from_proto(&tensor_message(bytes)?)?;
    ensure!(
        tensor.dtype() == expected,
        InvalidArgument,
        "Type mismatch between parsed tensor ({}) and dtype ({expected})",
        tensor.dtype()
    );
    ctx.set_output(ParseTensor::OUTPUT, tensor)
}
