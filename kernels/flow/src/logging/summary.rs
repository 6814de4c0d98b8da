//! ScalarSummary, HistogramSummary, MergeSummary, and the values that they write.

use std::collections::HashSet;

use kernlink::dtype::{DataType, Pod, TString, bf16, f16};
use kernlink::error::{Error, Result, shortened_bytes};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::MakeRoom;
use kernlink::{bail, ensure};
use kernlink_kernels_common::histogram::Histogram;
use kernlink_kernels_common::number::AsPrimitive;
use kernlink_kernels_common::wire::{Malformed, Message, next_field};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// The field of `Summary` that holds a value.
pub(super) const VALUE: u32 = 1;
/// The field of `Summary.Value` that holds its tag.
const TAG: u32 = 1;
const SIMPLE_VALUE: u32 = 2;
const HISTOGRAM: u32 = 5;

/// A `Summary.Value` that has a tag so far.
pub(super) fn tagged(tag: &[u8]) -> Result<Message> {
    let mut message = Message::default();
    if !tag.is_empty() {
        message.bytes(TAG, tag)?;
    }
    Ok(message)
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
pub(super) fn each_number(tensor: &Tensor, f: &mut dyn FnMut(f32, f64) -> bool) -> Result<bool> {
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
        DataType::Bool => Ok(tensor.as_slice::<bool>()?.iter().all(|&value| f(value.into(), value.into()))),
        other => bail!(InvalidArgument, "{other} is no real number"),
    }
}

/// Appends a number under its tag.
pub(super) fn add_value(summary: &mut Message, tag: &[u8], value: f32) -> Result<()> {
    let mut message = tagged(tag)?;
    message.float(SIMPLE_VALUE, value)?;
    summary.bytes(VALUE, &message.finish())
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
        if let [tag] = names { format!(" (tag '{}')", shortened_bytes(tag)) } else { String::new() }
    );
    let mut summary = Message::default();
    let (mut names, mut added) = (names.iter(), Ok(()));
    each_number(values, &mut |value, _| {
        added = add_value(&mut summary, names.next().map_or(&[], |tag| tag.as_bytes()), value);
        added.is_ok()
    })?;
    added?;
    set_summary(ctx, summary)
}

/// A summary with a histogram of a tensor's values.
///
/// # Errors
/// INVALID_ARGUMENT if one is not finite: of `name`, the message says.
pub(super) fn histogram(tag: &[u8], values: &Tensor, name: &str) -> Result<Message> {
    let (mut histogram, mut odd) = (Histogram::new(), None);
    each_number(values, &mut |_, value| {
        if value.is_finite() {
            histogram.add(value);
        } else {
            odd = Some(value);
        }
        odd.is_none()
    })?;
    if let Some(odd) = odd {
        let what = if odd.is_nan() { "Nan" } else { "Infinity" };
        bail!(InvalidArgument, "{what} in summary histogram for: {name}");
    }
    let (mut value, mut summary) = (tagged(tag)?, Message::default());
    value.bytes(HISTOGRAM, &histogram.encode()?)?;
    summary.bytes(VALUE, &value.finish())?;
    Ok(summary)
}

#[register_kernel(device = Cpu, T = [realnumbertype])]
fn histogram_summary(ctx: &mut KernelContext<'_, ops::HistogramSummary>) -> Result<()> {
    let tag = ctx.input(ops::HistogramSummary::TAG)?;
    ensure!(tag.rank() == 0, InvalidArgument, "tags must be scalar");
    let tag = tag.to_scalar::<TString>()?;
    let summary = histogram(&tag, ctx.input(ops::HistogramSummary::VALUES)?, ctx.node())?;
    set_summary(ctx, summary)
}

/// Appends the values of a summary, and their tags to `tags`.
///
/// # Errors
/// INVALID_ARGUMENT for what is no summary, and for a tag that was there before; RESOURCE_EXHAUSTED if there is not enough
/// memory.
fn merge<'a>(mut text: &'a [u8], summary: &mut Message, tags: &mut HashSet<&'a [u8]>) -> Result<()> {
    let malformed = |Malformed| Error::invalid_argument("Could not parse one of the summary inputs");
    while let Some((field, bytes)) = next_field(&mut text).map_err(malformed)? {
        let (1, Some(value)) = (field, bytes) else { continue };
        let (mut tag, mut rest): (&[u8], _) = (&[], value);
        while let Some((field, bytes)) = next_field(&mut rest).map_err(malformed)? {
            if let (1, Some(bytes)) = (field, bytes) {
                tag = bytes;
            }
        }
        if !tag.is_empty() {
            tags.make_room(1)?;
            ensure!(
                tags.insert(tag),
                InvalidArgument,
                "Duplicate tag {} found in summary inputs",
                shortened_bytes(tag)
            );
        }
        summary.bytes(VALUE, value)?;
    }
    Ok(())
}

#[register_kernel(device = Cpu)]
fn merge_summary(ctx: &mut KernelContext<'_, ops::MergeSummary>) -> Result<()> {
    let (mut summary, mut tags) = (Message::default(), HashSet::new());
    for input in ctx.input_list(ops::MergeSummary::INPUTS).iter() {
        for text in input.as_slice::<TString>()? {
            merge(text, &mut summary, &mut tags)?;
        }
    }
    set_summary(ctx, summary)
}
