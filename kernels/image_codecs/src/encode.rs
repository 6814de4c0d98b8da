//! The ops that make image files.

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::EncodePng;

use crate::png;

/// What compression the attr asks for.
fn level(ctx: &kernlink::kernel::RawConstruction<'_>) -> Result<i64> {
    let level: i64 = ctx.attrs.required("compression")?;
    ensure!((-1..=9).contains(&level), InvalidArgument, "compression should be in [-1,9], got {level}");
    Ok(level)
}

#[register_kernel(device = Cpu, op = [EncodePng], state = |ctx| level(ctx))]
fn encode_png(level: &i64, ctx: &mut RawContext<'_>) -> Result<()> {
    let images = ctx.input_at(0)?;
    let &[ref batch @ .., rows, columns, channels] = &images.shape()[..] else {
        bail!(InvalidArgument, "images must be at least rank 3, not of shape {}", images.shape());
    };
    ensure!(
        images.num_elements() < i32::MAX as usize,
        InvalidArgument,
        "image cannot have >= int32 max elements: {}",
        images.shape()
    );
    ensure!(
        columns.saturating_mul(channels) < i32::MAX as usize / 2,
        InvalidArgument,
        "image too wide to encode: {}",
        images.shape()
    );
    ensure!(
        (1..=4).contains(&channels),
        InvalidArgument,
        "image must have 1, 2, 3, or 4 channels, got {channels}"
    );
    let is_wide = images.dtype() == DataType::Uint16;
    let mut output = ctx.allocate_output_at(0, Shape::from(batch))?;
    let length = rows * columns * channels;
    if output.num_elements() > 0 {
        ensure!(length > 0 && rows <= u32::MAX as usize, Internal, "PNG encoding failed: an image of shape {} is empty", images.shape());
    }
    let size = [rows as u32, columns as u32];
    for (index, file) in output.as_mut_slice::<TString>()?.iter_mut().enumerate() {
        let bytes = if is_wide {
            let samples = &images.as_slice::<u16>()?[index * length..][..length];
            let mut bytes = scratch::room(length * 2)?;
            bytes.extend(samples.iter().flat_map(|sample| sample.to_be_bytes()));
            png::encode(&bytes, size, channels, true, *level)?
        } else {
            png::encode(&images.as_slice::<u8>()?[index * length..][..length], size, channels, false, *level)?
        };
        *file = TString::from(bytes);
    }
    ctx.set_output_at(0, output)
}
