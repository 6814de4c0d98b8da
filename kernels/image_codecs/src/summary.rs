//! Images in summaries, as PNG: ImageSummary and WriteImageSummary.

use kernlink::dtype::{DataType, Pod, TString, f16};
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::event_file::{Event, EventFile};
use kernlink_kernels_common::number::AsPrimitive;
use kernlink_kernels_common::wire::Message;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::png;

/// The field of `Summary` that holds a value, and those of `Summary.Value` and `Summary.Image`.
const VALUE: u32 = 1;
const TAG: u32 = 1;
const IMAGE: u32 = 4;
const HEIGHT: u32 = 1;
const WIDTH: u32 = 2;
const COLORSPACE: u32 = 3;
const ENCODED: u32 = 4;

/// A summary of at most `limit` images of a tensor.
///
/// # Errors
/// INVALID_ARGUMENT for a tensor that holds no images, and a color of other channels.
fn summary(tag: &[u8], tensor: &Tensor, limit: i64, bad_color: &Tensor) -> Result<Message> {
    let &[count, height, width, channels @ (1 | 3 | 4)] = tensor.shape().dims() else {
        bail!(InvalidArgument, "Tensor must be 4-D with last dim 1, 3, or 4, not {}", tensor.shape());
    };
    let size = [height, width].map(u32::try_from);
    let (Ok(rows), Ok(columns), true) = (size[0], size[1], count < 1 << 31 && height.max(width) < 1 << 31) else {
        bail!(InvalidArgument, "Tensor too large for summary {}", tensor.shape());
    };
    let bad = bad_color.as_slice::<u8>()?;
    let mut summary = Message::default();
    for index in 0..count.min(usize::try_from(limit).unwrap_or(usize::MAX)) {
        let samples = samples(tensor, index, height * width * channels, channels, bad)?;
        ensure!(!samples.is_empty(), InvalidArgument, "an image of shape {} is empty", tensor.shape());
        let mut image = Message::default();
        image.integer(HEIGHT, height as u64)?;
        image.integer(WIDTH, width as u64)?;
        image.integer(COLORSPACE, channels as u64)?;
        image.bytes(ENCODED, &png::encode(&samples, [rows, columns], channels, false, -1)?)?;
        let name = if limit > 1 { format!("/image/{index}") } else { "/image".to_owned() };
        let mut tag = scratch::copied(tag)?;
        scratch::append(&mut tag, name.as_bytes())?;
        let mut value = Message::default();
        value.bytes(TAG, &tag)?;
        value.bytes(IMAGE, &image.finish())?;
        summary.bytes(VALUE, &value.finish())?;
    }
    Ok(summary)
}

/// The samples of image `index`, which has `length` numbers.
fn samples(tensor: &Tensor, index: usize, length: usize, channels: usize, bad: &[u8]) -> Result<Vec<u8>> {
    if tensor.dtype() == DataType::Uint8 {
        return scratch::copied(&tensor.as_slice::<u8>()?[index * length..][..length]);
    }
    ensure!(
        channels <= bad.len(),
        InvalidArgument,
        "expected depth <= bad_color.size, got depth = {channels}, bad_color.size = {}",
        bad.len()
    );
    match tensor.dtype() {
        DataType::Float => scaled::<f32>(&tensor.as_slice()?[index * length..][..length], channels, bad),
        DataType::Double => scaled::<f64>(&tensor.as_slice()?[index * length..][..length], channels, bad),
        DataType::Half => scaled::<f16>(&tensor.as_slice()?[index * length..][..length], channels, bad),
        other => bail!(InvalidArgument, "images of {other} are no samples"),
    }
}

/// A number that pixels are computed in, each operation rounded to it.
trait Level: Pod + AsPrimitive<f64> {
    fn of(value: f32) -> Self;
    fn scaled(self, scale: Self, offset: Self) -> Self;
}

macro_rules! level {
    ($($t:ty)*) => {$(
        impl Level for $t {
            fn of(value: f32) -> $t {
                value.into()
            }

            fn scaled(self, scale: $t, offset: $t) -> $t {
                self * scale + offset
            }
        }
    )*};
}

level! { f32 f64 }

impl Level for f16 {
    fn of(value: f32) -> f16 {
        f16::from_f32(value)
    }

    fn scaled(self, scale: f16, offset: f16) -> f16 {
        f16::from_f32(f16::from_f32(self.to_f32() * scale.to_f32()).to_f32() + offset.to_f32())
    }
}

/// Samples of numbers, whose scale is a float for all dtypes: the largest becomes 255, or with negative ones 0 becomes 128 and the one that is farthest from it 255 or 1. A
/// pixel of which a number is not finite gets the color for that.
fn scaled<T: Level>(numbers: &[T], channels: usize, bad: &[u8]) -> Result<Vec<u8>> {
    let is_finite = |pixel: &[T]| pixel.iter().all(|x| x.as_().is_finite());
    let (mut least, mut greatest) = (f32::INFINITY, f32::NEG_INFINITY);
    for pixel in numbers.chunks_exact(channels).filter(|pixel| is_finite(pixel)) {
        for x in pixel {
            let x = x.as_() as f32;
            (least, greatest) = (least.min(x), greatest.max(x));
        }
    }
    const NEARLY_ZERO: f32 = 1e-6;
    let scale = |most: f32, top: f32| T::of(if most < NEARLY_ZERO { 0.0 } else { top / most });
    let (scale, offset) = if least < 0.0 {
        (scale(least.abs().max(greatest.abs()), 127.0), T::of(128.0))
    } else {
        (scale(greatest, 255.0), T::of(0.0))
    };
    let mut samples = scratch::room(numbers.len())?;
    for pixel in numbers.chunks_exact(channels) {
        if is_finite(pixel) {
            samples.extend(pixel.iter().map(|x| x.scaled(scale, offset).as_() as u8));
        } else {
            samples.extend_from_slice(&bad[..channels]);
        }
    }
    Ok(samples)
}

/// ImageSummary, with the color of pixels that are not finite.
struct ImageKernel {
    limit: i64,
    bad_color: Tensor,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::ImageSummary> for ImageKernel {
    fn new(ctx: &KernelConstruction<'_, ops::ImageSummary>) -> Result<Self> {
        let color = &ctx.attrs().bad_color;
        ensure!(color.dtype() == DataType::Uint8, InvalidArgument, "bad_color must be uint8, got {}", color.dtype());
        ensure!(color.rank() == 1, InvalidArgument, "bad_color must be a vector, got shape {}", color.shape());
        Ok(Self { limit: ctx.attrs().max_images, bad_color: color.clone() })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::ImageSummary>) -> Result<()> {
        let tag = ctx.input(ops::ImageSummary::TAG)?;
        ensure!(tag.rank() == 0, InvalidArgument, "Tags must be a scalar");
        let (tag, tensor) = (tag.to_scalar::<TString>()?, ctx.input(ops::ImageSummary::TENSOR)?);
        let summary = summary(&tag, tensor, self.limit, &self.bad_color)?;
        ctx.set_output_at(0, Tensor::scalar(TString::from(summary.finish())))
    }
}

#[register_kernel(device = Cpu, op = ops::WriteImageSummary)]
fn write_image(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let writer = ctx.resource::<EventFile>(O::WRITER)?;
    let (step, tag) = (ctx.input(O::STEP)?, ctx.input(O::TAG)?);
    let ([step], [tag]) = (step.as_slice::<i64>()?, tag.as_slice::<TString>()?) else {
        bail!(InvalidArgument, "step and tag must be scalars, got shapes {} and {}", step.shape(), tag.shape());
    };
    let bad_color = ctx.input(O::BAD_COLOR)?;
    ensure!(bad_color.rank() == 1, InvalidArgument, "bad_color must be a vector, got shape {}", bad_color.shape());
    let summary = summary(tag, ctx.input(O::TENSOR)?, attrs.max_images, bad_color)?;
    writer.add(*step, Event::Summary(&summary.finish()))
}
