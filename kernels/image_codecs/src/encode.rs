//! The ops that make image files.

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Code, Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::{EncodeJpeg, EncodeJpegVariableQuality, EncodePng};

use crate::jpeg::{EncodeOptions, encode};
use crate::png;

/// What compression the attr asks for.
fn level(ctx: &RawConstruction<'_>) -> Result<i64> {
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
    ensure!((1..=4).contains(&channels), InvalidArgument, "image must have 1, 2, 3, or 4 channels, got {channels}");
    let is_wide = images.dtype() == DataType::Uint16;
    let mut output = ctx.allocate_output_at(0, Shape::from(batch))?;
    let length = rows * columns * channels;
    if output.num_elements() > 0 {
        ensure!(
            length > 0 && rows <= u32::MAX as usize,
            Internal,
            "PNG encoding failed: an image of shape {} is empty",
            images.shape()
        );
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

/// How many channels a format has; none if it is left open.
fn channels(format: &str) -> Result<Option<usize>> {
    Ok(match format {
        "" => None,
        "grayscale" => Some(1),
        "rgb" => Some(3),
        other => bail!(InvalidArgument, "format must be '', grayscale or rgb, got `{other}`"),
    })
}

fn check_quality(quality: i64) -> Result<i64> {
    ensure!((0..=100).contains(&quality), InvalidArgument, "quality must be in [0,100], got {quality}");
    Ok(quality)
}

/// What the attrs of EncodeJpeg say.
struct Jpeg {
    format: String,
    channels: Option<usize>,
    options: EncodeOptions,
}

impl Jpeg {
    fn new(ctx: &RawConstruction<'_>) -> Result<Jpeg> {
        let format: String = ctx.attrs.required("format")?;
        let unit: String = ctx.attrs.required("density_unit")?;
        let xmp: TString = ctx.attrs.required("xmp_metadata")?;
        Ok(Jpeg {
            channels: channels(&format)?,
            format,
            options: EncodeOptions {
                quality: check_quality(ctx.attrs.required("quality")?)?,
                is_progressive: ctx.attrs.required("progressive")?,
                optimizes: ctx.attrs.required("optimize_size")?,
                downsamples: ctx.attrs.required("chroma_downsampling")?,
                density_unit: match &unit[..] {
                    "in" => 1,
                    "cm" => 2,
                    other => bail!(InvalidArgument, "density_unit must be 'in' or 'cm', not `{other}`"),
                },
                density: [ctx.attrs.required("x_density")?, ctx.attrs.required("y_density")?],
                xmp: xmp.to_vec(),
            },
        })
    }
}

/// The file of input 0.
fn jpeg(ctx: &mut RawContext<'_>, options: &EncodeOptions, format: &str, channels: Option<usize>) -> Result<()> {
    let image = ctx.input_at(0)?;
    let &[rows, columns, depth] = &image.shape()[..] else {
        bail!(InvalidArgument, "image must be 3-dimensional, not of shape {}", image.shape());
    };
    ensure!(
        image.num_elements() < i32::MAX as usize,
        InvalidArgument,
        "Cannot encode images with >= max int32 elements: {}",
        image.shape()
    );
    match channels {
        None => {
            ensure!(matches!(depth, 1 | 3), InvalidArgument, "image must have 1 or 3 channels, got {}", image.shape())
        }
        Some(channels) => ensure!(
            channels == depth,
            InvalidArgument,
            "format {format} expects {channels} channels, got {}",
            image.shape()
        ),
    }
    let file = encode(image.as_slice::<u8>()?, [rows, columns, depth], options)
        .map_err(|stop| stop.error(Code::Internal, "JPEG encoding failed"))?;
    ctx.set_output_at(0, Tensor::scalar(TString::from(file)))
}

#[register_kernel(device = Cpu, op = [EncodeJpeg], state = |ctx| Jpeg::new(ctx))]
fn encode_jpeg(attrs: &Jpeg, ctx: &mut RawContext<'_>) -> Result<()> {
    jpeg(ctx, &attrs.options, &attrs.format, attrs.channels)
}

#[register_kernel(device = Cpu, op = [EncodeJpegVariableQuality])]
fn encode_jpeg_variable_quality(ctx: &mut RawContext<'_>) -> Result<()> {
    let quality = ctx.input_at(1)?;
    ensure!(quality.rank() == 0, InvalidArgument, "quality must be scalar, not of shape {}", quality.shape());
    let quality = check_quality(quality.as_slice::<i32>()?[0].into())?;
    jpeg(ctx, &EncodeOptions { quality, ..EncodeOptions::default() }, "", None)
}
