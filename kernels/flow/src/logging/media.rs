//! TensorSummary, TensorSummaryV2, AudioSummary, AudioSummaryV2, and the values that they write.

use kernlink::dtype::TString;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::proto::{self, tensor_to_proto};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_kernels_common::wav;
use kernlink_kernels_common::wire::Message;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::summary::{VALUE, set_summary, tagged};

/// Fields of `Summary.Value`.
const AUDIO: u32 = 6;
const NODE_NAME: u32 = 7;
const TENSOR: u32 = 8;
const METADATA: u32 = 9;

/// The string in a scalar.
fn scalar(tensor: &Tensor, name: &str) -> Result<TString> {
    ensure!(tensor.rank() == 0, InvalidArgument, "{name} must be scalar, got shape {}", tensor.shape());
    tensor.to_scalar()
}

/// A tensor as a `TensorProto`.
fn encoded(tensor: &Tensor) -> Result<Vec<u8>> {
    proto::encoded(&tensor_to_proto(tensor)?)
}

#[register_kernel(device = Cpu, T = [realnumbertype, variant, resource, string, bool, complex128, complex64])]
fn tensor_summary(ctx: &mut KernelContext<'_, ops::TensorSummary>) -> Result<()> {
    let mut value = Message::default();
    value.bytes(NODE_NAME, ctx.node().as_bytes())?;
    value.bytes(TENSOR, &encoded(ctx.input(ops::TensorSummary::TENSOR)?)?)?;
    let mut summary = Message::default();
    summary.bytes(VALUE, &value.finish())?;
    set_summary(ctx, summary)
}

/// A summary with a tensor and what a plugin wants to know, a `SummaryMetadata` message.
pub(super) fn tensor(tag: &[u8], tensor: &Tensor, metadata: Option<&[u8]>) -> Result<Message> {
    let (mut value, mut summary) = (tagged(tag)?, Message::default());
    value.bytes(TENSOR, &encoded(tensor)?)?;
    if let Some(metadata) = metadata {
        value.bytes(METADATA, metadata)?;
    }
    summary.bytes(VALUE, &value.finish())?;
    Ok(summary)
}

#[register_kernel(device = Cpu, T = [realnumbertype, variant, resource, string, bool, complex128, complex64])]
fn tensor_v2(ctx: &mut KernelContext<'_, ops::TensorSummaryV2>) -> Result<()> {
    let tag = scalar(ctx.input(ops::TensorSummaryV2::TAG)?, "tag")?;
    let metadata = ctx.input(ops::TensorSummaryV2::SERIALIZED_SUMMARY_METADATA)?;
    let metadata = scalar(metadata, "serialized_summary_metadata")?;
    let summary = tensor(&tag, ctx.input(ops::TensorSummaryV2::TENSOR)?, Some(&metadata))?;
    set_summary(ctx, summary)
}

/// A summary of at most `limit` sounds.
pub(super) fn audio(tag: &[u8], tensor: &Tensor, rate: f32, limit: i64) -> Result<Message> {
    let (sounds, frames, channels) = match *tensor.shape().dims() {
        [sounds, frames] => (sounds, frames, 1),
        [sounds, frames, channels] => (sounds, frames, channels),
        _ => bail!(InvalidArgument, "Tensor must be 3-D or 2-D, got: {}", tensor.shape()),
    };
    ensure!(rate > 0.0, InvalidArgument, "sample_rate must be > 0");
    let samples = tensor.as_slice::<f32>()?;
    let mut summary = Message::default();
    for index in 0..sounds.min(usize::try_from(limit).unwrap_or(usize::MAX)) {
        // The file has it in 32 bits.
        ensure!(rate < u32::MAX as f32, InvalidArgument, "sample_rate must be in (0, 2^32), got: {rate}");
        let (samples, whole_rate) =
            (&samples[index * frames * channels..][..frames * channels], rate.round_ties_even());
        let file = wav::encode(samples, (whole_rate as u32).max(1), channels)?;
        let name = if limit > 1 { format!("/audio/{index}") } else { "/audio".to_owned() };
        let mut sound = Message::default();
        sound.float(1, rate)?;
        sound.integer(2, channels as u64)?;
        sound.integer(3, frames as u64)?;
        sound.bytes(4, &file)?;
        sound.bytes(5, b"audio/wav")?;
        let mut tag = scratch::copied(tag)?;
        scratch::append(&mut tag, name.as_bytes())?;
        let mut value = tagged(&tag)?;
        value.bytes(AUDIO, &sound.finish())?;
        summary.bytes(VALUE, &value.finish())?;
    }
    Ok(summary)
}

/// Sets the output to a summary of at most `limit` sounds.
fn set_audio(ctx: &mut RawContext<'_>, rate: f32, limit: i64) -> Result<()> {
    let tag = ctx.input_at(0)?;
    ensure!(tag.rank() == 0, InvalidArgument, "Tag must be a scalar");
    let summary = audio(&tag.to_scalar::<TString>()?, ctx.input_at(1)?, rate, limit)?;
    set_summary(ctx, summary)
}

#[register_kernel(device = Cpu)]
fn audio_summary(attrs: &Attrs<ops::AudioSummary>, ctx: &mut KernelContext<'_, ops::AudioSummary>) -> Result<()> {
    set_audio(ctx, attrs.sample_rate, attrs.max_outputs)
}

#[register_kernel(device = Cpu, op = ops::AudioSummaryV2)]
fn audio_summary_v2(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let rate = ctx.input(O::SAMPLE_RATE)?;
    let rate = rate.to_scalar::<f32>()?;
    set_audio(ctx, rate, attrs.max_outputs)
}
