//! DecodeRaw, DecodePaddedRaw.

use kernlink::dtype::{DataType, TString};
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Bytes that swap places between byte orders: the parts of complex numbers do it each by itself.
fn word(dtype: DataType) -> usize {
    match dtype {
        DataType::Complex64 | DataType::Complex128 => dtype.size() / 2,
        _ => dtype.size(),
    }
}

/// The strings of input 0 as rows of `length` bytes, filled with zeros.
fn decode(ctx: &RawContext<'_>, length: usize, little_endian: bool) -> Result<Tensor> {
    let input = ctx.input_at(0)?;
    let dtype = ctx.output_dtype_at(0)?;
    let mut shape = input.shape().clone();
    shape.push(length / dtype.size());
    shape.check()?;
    let mut output = Tensor::zeros(if dtype == DataType::Bool { DataType::Uint8 } else { dtype }, shape.clone())?;
    let word = word(dtype);
    let swap = little_endian != cfg!(target_endian = "little") && word > 1;
    if length > 0 {
        let rows = output.bytes_mut()?.chunks_exact_mut(length);
        for (row, text) in rows.zip(input.as_slice::<TString>()?) {
            let known = text.len().min(length);
            row[..known].copy_from_slice(&text[..known]);
            if swap {
                row.chunks_exact_mut(word).for_each(<[u8]>::reverse);
            }
        }
    }
    if dtype == DataType::Bool {
        return Tensor::from_bytes(dtype, shape, output.bytes()?);
    }
    Ok(output)
}

#[register_kernel(device = Cpu, out_type = [
    half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, bool, bfloat16,
])]
fn decode_raw(attrs: &Attrs<ops::DecodeRaw>, ctx: &mut KernelContext<'_, ops::DecodeRaw>) -> Result<()> {
    let texts = ctx.input(ops::DecodeRaw::BYTES)?.as_slice::<TString>()?;
    let length = texts.first().map_or(0, |text| text.len());
    if let Some(index) = texts.iter().position(|text| text.len() != length) {
        bail!(
            InvalidArgument,
            "DecodeRaw requires input strings to all be the same size, but element {index} has size {length} != {}",
            texts[index].len()
        );
    }
    let dtype = ctx.output_dtype_at(0)?;
    ensure!(
        length.is_multiple_of(dtype.size()),
        InvalidArgument,
        "Input to DecodeRaw has length {length} that is not a multiple of {}, the size of {dtype}",
        dtype.size()
    );
    let output = decode(ctx, length, attrs.little_endian)?;
    ctx.set_output(ops::DecodeRaw::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    op = ops::DecodePaddedRaw,
    out_type = [float, double, int32, uint16, uint8, int16, int8, int64, bfloat16],
)]
fn decode_padded_raw(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let length = ctx.input(O::FIXED_LENGTH)?;
    ensure!(length.rank() == 0, InvalidArgument, "k must be scalar, got shape {}", length.shape());
    let (length, size) = (length.to_scalar::<i32>()?, ctx.output_dtype_at(0)?.size());
    ensure!(length > 0, InvalidArgument, "fixed_length ({length}) must be greater than zero.");
    ensure!(
        (length as usize).is_multiple_of(size),
        InvalidArgument,
        "fixed_length ({length}) must be a multiple of the size of out_type ({size})"
    );
    let output = decode(ctx, length as usize, attrs.little_endian)?;
    ctx.set_output(O::OUTPUT, output)
}
