//! ScalarSummary, HistogramSummary, MergeSummary.

use std::collections::HashSet;

use kernlink::dtype::{DataType, Pod, TString, bf16, f16};
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_kernels_common::number::AsPrimitive;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::histogram::Histogram;
use super::wire::{Malformed, Message, next_field};

/// The field of `Summary` that holds a value.
pub(super) const VALUE: u32 = 1;
/// The field of `Summary.Value` that holds its tag.
const TAG: u32 = 1;
const SIMPLE_VALUE: u32 = 2;
const HISTOGRAM: u32 = 5;

/// A `Summary.Value` that has a tag so far.
pub(super) fn tagged(tag: &[u8]) -> Message {
    let mut message = Message::default();
    if !tag.is_empty() {
        message.bytes(TAG, tag);
    }
    message
}

/// Sets the output to a summary.
pub(super) fn set_summary(ctx: &mut RawContext<'_>, summary: Message) -> Result<()> {
    ctx.set_output_at(0, Tensor::scalar(TString::from(summary.finish())))
}

/// Calls `f` with each number, as a float and as a double, until it says no.
fn each<T: Pod + AsPrimitive<f32> + AsPrimitive<f64>>(
    tensor: &Tensor,
    f: &mut dyn FnMut(f32, f64) -> bool,
) -> Result<bool> {
    Ok(tensor.as_slice::<T>()?.iter().all(|&value| f(value.as_(), value.as_())))
}

/// [`each`] of a tensor of any real numbers; whether all were looked at.
fn each_number(tensor: &Tensor, f: &mut dyn FnMut(f32, f64) -> bool) -> Result<bool> {
    match tensor.dtype() {
        DataType::Float => each::<f32>(tensor, f),
        DataType::Double => each::<f64>(tensor, f),
        DataType::Half => each::<f16>(tensor, f),
        DataType::Bfloat16 => each::<bf16>(tensor, f),
        DataType::Int8 => each::<i8>(tensor, f),
        DataType::Int16 => each::<i16>(tensor, f),
        DataType::Int32 => each::<i32>(tensor, f),
        DataType::Int64 => each::<i64>(tensor, f),
        DataType::Uint8 => each::<u8>(tensor, f),
        DataType::Uint16 => each::<u16>(tensor, f),
        DataType::Uint32 => each::<u32>(tensor, f),
        DataType::Uint64 => each::<u64>(tensor, f),
        other => bail!(InvalidArgument, "{other} is no real number"),
    }
}

#[register_kernel(device = Cpu, T = [realnumbertype])]
fn scalar(ctx: &mut KernelContext<'_, ops::ScalarSummary>) -> Result<()> {
    let (tags, values) = (ctx.input(ops::ScalarSummary::TAGS)?, ctx.input(ops::ScalarSummary::VALUES)?);
    let (shape, names) = (tags.shape(), tags.as_slice::<TString>()?);
    ensure!(
        shape == values.shape(),
        InvalidArgument,
        "tags and values are not the same shape: {shape} != {}{}",
        values.shape(),
        if let [tag] = names { format!(" (tag '{}')", tag.to_string_lossy()) } else { String::new() }
    );
    let mut summary = Message::default();
    let mut names = names.iter();
    each_number(values, &mut |value, _| {
        let mut message = tagged(names.next().map_or(&[], |tag| tag.as_bytes()));
        message.float(SIMPLE_VALUE, value);
        summary.bytes(VALUE, &message.finish());
        true
    })?;
    set_summary(ctx, summary)
}

#[register_kernel(device = Cpu, T = [realnumbertype])]
fn histogram_summary(ctx: &mut KernelContext<'_, ops::HistogramSummary>) -> Result<()> {
    let tag = ctx.input(ops::HistogramSummary::TAG)?;
    ensure!(tag.rank() == 0, InvalidArgument, "tags must be scalar");
    let mut message = tagged(&tag.to_scalar::<TString>()?);
    let (mut histogram, mut odd) = (Histogram::new(), None);
    each_number(ctx.input(ops::HistogramSummary::VALUES)?, &mut |_, value| {
        if value.is_finite() {
            histogram.add(value);
        } else {
            odd = Some(value);
        }
        odd.is_none()
    })?;
    if let Some(odd) = odd {
        let what = if odd.is_nan() { "Nan" } else { "Infinity" };
        bail!(InvalidArgument, "{what} in summary histogram for: {}", ctx.node());
    }
    message.bytes(HISTOGRAM, &histogram.encode());
    let mut summary = Message::default();
    summary.bytes(VALUE, &message.finish());
    set_summary(ctx, summary)
}

/// Appends the values of a summary, and their tags to `tags`; the tag that was there before, if one was.
fn merge<'a>(
    mut text: &'a [u8],
    summary: &mut Message,
    tags: &mut HashSet<&'a [u8]>,
) -> std::result::Result<Option<&'a [u8]>, Malformed> {
    while let Some((field, bytes)) = next_field(&mut text)? {
        let (1, Some(value)) = (field, bytes) else { continue };
        let (mut tag, mut rest): (&[u8], _) = (&[], value);
        while let Some((field, bytes)) = next_field(&mut rest)? {
            if let (1, Some(bytes)) = (field, bytes) {
                tag = bytes;
            }
        }
        if !tag.is_empty() && !tags.insert(tag) {
            return Ok(Some(tag));
        }
        summary.bytes(VALUE, value);
    }
    Ok(None)
}

#[register_kernel(device = Cpu)]
fn merge_summary(ctx: &mut KernelContext<'_, ops::MergeSummary>) -> Result<()> {
    let (mut summary, mut tags) = (Message::default(), HashSet::new());
    for input in ctx.input_list(ops::MergeSummary::INPUTS).iter() {
        for text in input.as_slice::<TString>()? {
            match merge(text, &mut summary, &mut tags) {
                Ok(None) => {}
                Ok(Some(tag)) => {
                    let tag = String::from_utf8_lossy(tag);
                    bail!(InvalidArgument, "Duplicate tag {tag} found in summary inputs");
                }
                Err(Malformed) => bail!(InvalidArgument, "Could not parse one of the summary inputs"),
            }
        }
    }
    set_summary(ctx, summary)
}
