//! Writers of summaries: the ops that make, fill and close files of events.

use std::sync::Arc;

use kernlink::dtype::{DataType, Pod, TString};
use kernlink::kernel::{Attrs, KernelContext, RawContext, ResourceHandleOp};
use kernlink::proto::{GraphDef, Message as _};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::event_file::{Event, EventFile, Flushing};
use kernlink_kernels_common::wire::{Message, next_field};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::media::{audio, tensor};
use super::summary::{add_value, each_number, histogram};

#[register_kernel(device = Cpu, op = ops::SummaryWriter)]
type SummaryWriter = ResourceHandleOp<EventFile>;

/// The one element of an input.
fn only<T: Pod>(ctx: &RawContext<'_>, index: usize) -> Result<T> {
    let input = ctx.input_at(index)?;
    match *input.as_slice::<T>()? {
        [element] => Ok(element),
        _ => bail!(InvalidArgument, "input {index} must be a scalar, got shape {}", input.shape()),
    }
}

/// [`only`], of strings.
fn only_string(ctx: &RawContext<'_>, index: usize) -> Result<TString> {
    let input = ctx.input_at(index)?;
    match input.as_slice::<TString>()? {
        [element] => Ok(element.clone()),
        _ => bail!(InvalidArgument, "input {index} must be a scalar, got shape {}", input.shape()),
    }
}

/// The writer that input 0 names.
fn writer(ctx: &RawContext<'_>) -> Result<Arc<EventFile>> {
    ctx.resource_at(0)
}

#[register_kernel(device = Cpu)]
fn create(ctx: &mut KernelContext<'_, ops::CreateSummaryFileWriter>) -> Result<()> {
    let text = |index| Ok::<_, Error>(only_string(ctx, index)?.to_string_lossy().into_owned());
    let (folder, suffix) = (text(1)?, text(4)?);
    ensure!(!suffix.contains(['/', '\0']), InvalidArgument, "filename_suffix {suffix:?} is no part of a file's name");
    let flushing = Flushing { most_waiting: only(ctx, 2)?, millis: only(ctx, 3)? };
    let make = || EventFile::create(&folder, &suffix, flushing);
    ctx.resources()?.lookup_or_create_handle(ctx.handle_at(0)?, make).map(drop)
}

#[register_kernel(device = Cpu)]
fn flush(ctx: &mut KernelContext<'_, ops::FlushSummaryWriter>) -> Result<()> {
    writer(ctx)?.flush()
}

#[register_kernel(device = Cpu)]
fn close(ctx: &mut KernelContext<'_, ops::CloseSummaryWriter>) -> Result<()> {
    ctx.resources()?.delete_handle(ctx.handle_at(0)?)
}

/// Refuses what is no message.
fn check(bytes: &[u8], what: &str) -> Result<()> {
    let mut rest = bytes;
    loop {
        match next_field(&mut rest) {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(()),
            Err(_) => bail!(DataLoss, "Bad {what} binary proto tensor string"),
        }
    }
}

#[register_kernel(device = Cpu)]
fn import(ctx: &mut KernelContext<'_, ops::ImportEvent>) -> Result<()> {
    let event = only_string(ctx, 1)?;
    let writer = writer(ctx)?;
    check(&event, "tf.Event")?;
    writer.add_whole(&event)
}

#[register_kernel(device = Cpu)]
fn write_graph(ctx: &mut KernelContext<'_, ops::WriteGraphSummary>) -> Result<()> {
    let (writer, step, graph) = (writer(ctx)?, only(ctx, 1)?, only_string(ctx, 2)?);
    let decoded = GraphDef::decode(graph.as_bytes());
    ensure!(decoded.is_ok(), DataLoss, "Bad tf.GraphDef binary proto tensor string");
    writer.add(step, Event::Graph(&graph))
}

#[register_kernel(device = Cpu)]
fn write_raw(ctx: &mut KernelContext<'_, ops::WriteRawProtoSummary>) -> Result<()> {
    let (writer, step) = (writer(ctx)?, only(ctx, 1)?);
    let mut summary = Vec::new();
    let texts = ctx.input_at(2)?.as_slice::<TString>()?;
    for (index, text) in texts.iter().enumerate() {
        check(text, "tf.Summary").map_err(|error| error.context(format!("at index {index}")))?;
        // Messages behind each other are one.
        kernlink::tensor::scratch::append(&mut summary, text)?;
    }
    writer.add(step, if texts.is_empty() { Event::Empty } else { Event::Summary(&summary) })
}

/// Adds a summary to the writer of input 0, in the step of input 1.
fn add(ctx: &RawContext<'_>, summary: impl FnOnce() -> Result<Message>) -> Result<()> {
    let (writer, step) = (writer(ctx)?, only(ctx, 1)?);
    writer.add(step, Event::Summary(&summary()?.finish()))
}

#[register_kernel(device = Cpu)]
fn write(ctx: &mut KernelContext<'_, ops::WriteSummary>) -> Result<()> {
    add(ctx, || {
        let (tag, metadata) = (only_string(ctx, 3)?, only_string(ctx, 4)?);
        // What is no message is as good as an empty one.
        let metadata = (!metadata.is_empty())
            .then(|| if check(&metadata, "tf.SummaryMetadata").is_ok() { metadata.as_bytes() } else { &[] });
        tensor(&tag, ctx.input_at(2)?, metadata)
    })
}

#[register_kernel(device = Cpu)]
fn write_scalar(ctx: &mut KernelContext<'_, ops::WriteScalarSummary>) -> Result<()> {
    add(ctx, || {
        let (tag, value) = (only_string(ctx, 2)?, ctx.input_at(3)?);
        refuse_bfloat16(value.dtype())?;
        ensure!(value.num_elements() == 1, InvalidArgument, "value must be a scalar, got shape {}", value.shape());
        let mut summary = Message::default();
        let mut added = Ok(());
        each_number(value, &mut |value, _| {
            added = add_value(&mut summary, &tag, value);
            false
        })?;
        added.map(|()| summary)
    })
}

/// TensorFlow's files of events have none of it.
fn refuse_bfloat16(dtype: DataType) -> Result<()> {
    ensure!(
        dtype != DataType::Bfloat16,
        Unimplemented,
        "a file of events does not take {dtype}: cast it to float first"
    );
    Ok(())
}

#[register_kernel(device = Cpu)]
fn write_histogram(ctx: &mut KernelContext<'_, ops::WriteHistogramSummary>) -> Result<()> {
    add(ctx, || {
        let (tag, values) = (only_string(ctx, 2)?, ctx.input_at(3)?);
        refuse_bfloat16(values.dtype())?;
        histogram(&tag, values, &tag.to_string_lossy())
    })
}

#[register_kernel(device = Cpu)]
fn write_audio(
    attrs: &Attrs<ops::WriteAudioSummary>,
    ctx: &mut KernelContext<'_, ops::WriteAudioSummary>,
) -> Result<()> {
    add(ctx, || audio(&only_string(ctx, 2)?, ctx.input_at(3)?, only(ctx, 4)?, attrs.max_outputs))
}
