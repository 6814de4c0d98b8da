//! The kernels of readers.

use kernlink::kernel::{KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::records::Compression;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::reader::{Kind, Reader};
use crate::data_flow::Queue;

/// Makes a reader.
struct ReaderKernel {
    reader: NamedResource<Reader>,
    kind: Kind,
}

/// An attr that must not be negative.
fn count(ctx: &RawConstruction<'_>, name: &str) -> Result<u64> {
    let value: i64 = ctx.attrs.required(name)?;
    match u64::try_from(value) {
        Ok(value) => Ok(value),
        Err(_) => bail!(InvalidArgument, "{name} must be >= 0 not {value}"),
    }
}

impl KernelState for ReaderKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let kind = match ctx.op.name.trim_end_matches("V2") {
            "WholeFileReader" => Kind::WholeFile,
            "TextLineReader" => {
                let skipped: i64 = ctx.attrs.required("skip_header_lines")?;
                ensure!(
                    i32::try_from(skipped).is_ok(),
                    InvalidArgument,
                    "Attr skip_header_lines has value {skipped} out of range for an int32"
                );
                ensure!(skipped >= 0, InvalidArgument, "skip_header_lines must be >= 0 not {skipped}");
                Kind::Lines { skipped }
            }
            "FixedLengthRecordReader" => {
                let record = count(ctx, "record_bytes")?;
                let hop = count(ctx, "hop_bytes")?;
                // The first form has none.
                let encoding = match ctx.attrs.get("encoding") {
                    Some(_) => ctx.attrs.required("encoding")?,
                    None => String::new(),
                };
                Kind::FixedLength {
                    header: count(ctx, "header_bytes")?,
                    record,
                    footer: count(ctx, "footer_bytes")?,
                    hop: if hop == 0 { record } else { hop },
                    compression: Compression::named(encoding.as_bytes()).unwrap_or(Compression::None),
                }
            }
            "TFRecordReader" => {
                let name: String = ctx.attrs.required("compression_type")?;
                Kind::Records { compression: Compression::of_records(name.as_bytes()) }
            }
            _ => Kind::Identity,
        };
        Ok(Self { reader: NamedResource::new(ctx)?, kind })
    }
}

#[register_kernel(device = Cpu, cheap, op = [
    ops::WholeFileReader, ops::WholeFileReaderV2, ops::TextLineReader, ops::TextLineReaderV2,
    ops::FixedLengthRecordReader, ops::FixedLengthRecordReaderV2, ops::TFRecordReader, ops::TFRecordReaderV2,
    ops::IdentityReader, ops::IdentityReaderV2,
])]
fn reader(kernel: &ReaderKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    kernel.reader.get(|| Ok(Reader::new(kernel.kind, ctx.node())))?;
    kernel.reader.set_handle(ctx)
}

#[register_kernel(device = Cpu, op = [ops::ReaderRead, ops::ReaderReadV2])]
async fn read(ctx: &mut RawContext<'_>) -> Result<()> {
    let reader = ctx.resource_at::<Reader>(0)?;
    let queue = ctx.resource_at::<Queue>(1)?;
    let (key, value) = reader.hold().await.read(&queue).await?;
    ctx.set_output_at(0, Tensor::scalar(key))?;
    ctx.set_output_at(1, Tensor::scalar(value))
}

#[register_kernel(device = Cpu, op = [ops::ReaderReadUpTo, ops::ReaderReadUpToV2])]
async fn read_up_to(ctx: &mut RawContext<'_>) -> Result<()> {
    let reader = ctx.resource_at::<Reader>(0)?;
    let queue = ctx.resource_at::<Queue>(1)?;
    let count: i64 = ctx.input_at(2)?.to_scalar()?;
    let Ok(count) = usize::try_from(count) else {
        bail!(InvalidArgument, "num_records must be >= 0, but is {count}");
    };
    let step = ctx.step()?.clone();
    let (keys, values) = reader.hold().await.read_up_to(count, &queue, || step.check()).await?;
    ctx.set_output_at(0, Tensor::vector(&keys)?)?;
    ctx.set_output_at(1, Tensor::vector(&values)?)
}

#[register_kernel(device = Cpu, op = [ops::ReaderNumRecordsProduced, ops::ReaderNumRecordsProducedV2])]
async fn num_records_produced(ctx: &mut RawContext<'_>) -> Result<()> {
    let reader = ctx.resource_at::<Reader>(0)?;
    let count = reader.hold().await.num_records_produced();
    ctx.set_output_at(0, Tensor::scalar(count))
}

#[register_kernel(device = Cpu, op = [ops::ReaderNumWorkUnitsCompleted, ops::ReaderNumWorkUnitsCompletedV2])]
async fn num_work_units_completed(ctx: &mut RawContext<'_>) -> Result<()> {
    let reader = ctx.resource_at::<Reader>(0)?;
    let count = reader.hold().await.num_works_finished();
    ctx.set_output_at(0, Tensor::scalar(count))
}

#[register_kernel(device = Cpu, op = [ops::ReaderSerializeState, ops::ReaderSerializeStateV2])]
async fn serialize_state(ctx: &mut RawContext<'_>) -> Result<()> {
    let reader = ctx.resource_at::<Reader>(0)?;
    let state = reader.hold().await.serialize()?;
    ctx.set_output_at(0, Tensor::scalar(kernlink::dtype::TString::from(state)))
}

#[register_kernel(device = Cpu, op = [ops::ReaderRestoreState, ops::ReaderRestoreStateV2])]
async fn restore_state(ctx: &mut RawContext<'_>) -> Result<()> {
    let reader = ctx.resource_at::<Reader>(0)?;
    let state = ctx.input_at(1)?;
    ensure!(state.rank() == 0, InvalidArgument, "Reader state must be scalar, but had shape: {}", state.shape());
    let state: kernlink::dtype::TString = state.to_scalar()?;
    reader.hold().await.restore(state.as_bytes())
}

#[register_kernel(device = Cpu, op = [ops::ReaderReset, ops::ReaderResetV2])]
async fn reset(ctx: &mut RawContext<'_>) -> Result<()> {
    let reader = ctx.resource_at::<Reader>(0)?;
    reader.hold().await.reset();
    Ok(())
}
