//! SerializeTensor, ParseTensor.

use kernlink::dtype::{DataType, TString};
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::proto::{encoded, tensor_from_proto, tensor_to_proto};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_kernels_common::tensor_message::tensor_message;
use kernlink_macros::register_kernel;
use kernlink_ops::{ParseTensor, SerializeTensor};

/// The string in an input that is to be a scalar.
pub(super) fn scalar_string<'a>(tensor: &'a Tensor, name: &str) -> Result<&'a TString> {
    match tensor.as_slice::<TString>()? {
        [string] if tensor.rank() == 0 => Ok(string),
        _ => bail!(InvalidArgument, "Expected {name} to be a scalar, got shape: {}", tensor.shape()),
    }
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex64, complex128, resource, string, variant])]
fn serialize(ctx: &mut KernelContext<'_, SerializeTensor>) -> Result<()> {
    let bytes = encoded(&tensor_to_proto(ctx.input(SerializeTensor::TENSOR)?)?)?;
    ctx.set_output(SerializeTensor::SERIALIZED, Tensor::scalar(TString::from(bytes)))
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
