//! The ops that decode image files, and what tells the shape of one.

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Code, Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::{
    DecodeAndCropJpeg, DecodeBmp, DecodeGif, DecodeImage, DecodeJpeg, DecodeJxl, DecodePng, DecodeWebP,
    ExtractJpegShape,
};

use crate::bmp::Bmp;
use crate::format::{Format, classify};
use crate::gif::Gif;
use crate::jpeg;
#[cfg(feature = "jxl")]
use crate::jxl::Jxl;
use crate::png::Png;
use crate::webp::Webp;

/// The op that decodes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Jpeg,
    Crop,
    Png,
    Gif,
    Bmp,
    Webp,
    Jxl,
    Image,
}

/// What the attrs say.
struct Decode {
    kind: Kind,
    channels: usize,
    dtype: DataType,
    expands_animations: bool,
    jpeg: jpeg::Options,
}

impl Decode {
    fn new(ctx: &RawConstruction<'_>) -> Result<Decode> {
        let kind = match &*ctx.op.name {
            "DecodeJpeg" => Kind::Jpeg,
            "DecodeAndCropJpeg" => Kind::Crop,
            "DecodePng" => Kind::Png,
            "DecodeGif" => Kind::Gif,
            "DecodeBmp" => Kind::Bmp,
            "DecodeWebP" => Kind::Webp,
            "DecodeJxl" => Kind::Jxl,
            _ => Kind::Image,
        };
        let mut jpeg = jpeg::Options::default();
        if matches!(kind, Kind::Jpeg | Kind::Crop) {
            let (ratio, method): (i64, String) = (ctx.attrs.required("ratio")?, ctx.attrs.required("dct_method")?);
            ensure!(matches!(ratio, 1 | 2 | 4 | 8), InvalidArgument, "ratio must be 1, 2, 4, or 8, got {ratio}");
            jpeg.ratio = ratio as usize;
            jpeg.has_fancy_upscaling = ctx.attrs.required("fancy_upscaling")?;
            jpeg.recovers = ctx.attrs.required("try_recover_truncated")?;
            jpeg.acceptable_fraction = ctx.attrs.required("acceptable_fraction")?;
            jpeg.is_fast = match &method[..] {
                "" | "INTEGER_FAST" => true,
                "INTEGER_ACCURATE" => false,
                other => bail!(
                    InvalidArgument,
                    "dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, not `{other}`"
                ),
            };
        }
        let channels: i64 = if kind == Kind::Gif { 3 } else { ctx.attrs.required("channels")? };
        ensure!(
            matches!(channels, 0 | 1 | 3 | 4),
            InvalidArgument,
            "`channels` must be 0, 1, 3 or 4 but got {channels}"
        );
        Ok(Decode {
            kind,
            channels: channels as usize,
            dtype: ctx.output_dtype_at(0)?,
            expands_animations: kind != Kind::Image || ctx.attrs.required("expand_animations")?,
            jpeg,
        })
    }

    /// Refuses a format that the op does not take.
    fn check_format(&self, format: Format) -> Result<()> {
        let is_common = matches!(format, Format::Jpeg | Format::Png | Format::Gif);
        match self.kind {
            Kind::Bmp if is_common => bail!(
                InvalidArgument,
                "Trying to decode {format} format using DecodeBmp op. Use `decode_{}` or `decode_image` instead.",
                format!("{format}").to_ascii_lowercase()
            ),
            Kind::Crop if matches!(format, Format::Png | Format::Gif | Format::Bmp | Format::Jxl) => {
                bail!(InvalidArgument, "DecodeAndCropJpeg operation can run on JPEG only, but detected {format}.")
            }
            kind if format == Format::Bmp && !matches!(kind, Kind::Bmp | Kind::Image) => bail!(
                InvalidArgument,
                "Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: Decode{kind:?}"
            ),
            _ => Ok(()),
        }
    }

    /// Refuses a file of other channels than are asked for.
    fn ensure_channels(&self, found: usize) -> Result<()> {
        ensure!(
            self.channels == 0 || self.channels == found,
            InvalidArgument,
            "Number of channels requested does not match input: {} instead of {found}",
            self.channels
        );
        Ok(())
    }

    /// The shape of a single image, which ops of frames give as one.
    fn shape_of(&self, image: [usize; 3]) -> Shape {
        let frames: &[usize] = if matches!(self.kind, Kind::Gif | Kind::Webp) { &[1] } else { &[] };
        frames.iter().chain(&image).copied().collect()
    }

    /// Allocates the output and has it filled with samples of eight bits, which are brought to its dtype.
    fn fill(
        &self,
        ctx: &mut RawContext<'_>,
        shape: Shape,
        decode: impl FnOnce(&RawContext<'_>, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let mut output = ctx.allocate_output_at(0, shape)?;
        if self.dtype == DataType::Uint8 {
            decode(ctx, output.as_mut_slice::<u8>()?)?;
            return ctx.set_output_at(0, output);
        }
        let mut samples = scratch::zeros(output.num_elements())?;
        decode(ctx, &mut samples)?;
        match self.dtype {
            DataType::Uint16 => {
                let out = output.as_mut_slice::<u16>()?;
                out.iter_mut().zip(&samples).for_each(|(out, &sample)| *out = u16::from(sample) << 8);
            }
            _ => {
                let out = output.as_mut_slice::<f32>()?;
                out.iter_mut().zip(&samples).for_each(|(out, &sample)| *out = f32::from(sample) * (1.0 / 255.0) as f32);
            }
        }
        ctx.set_output_at(0, output)
    }

    fn jpeg(&self, ctx: &mut RawContext<'_>, data: &[u8]) -> Result<()> {
        ensure!(self.channels != 4, InvalidArgument, "JPEG does not support 4 channels");
        let mut options = jpeg::Options { channels: self.channels, ..self.jpeg };
        if self.kind == Kind::Crop {
            let window = ctx.input_at(1)?;
            ensure!(window.rank() == 1, InvalidArgument, "crop_window must be 1-D, got shape {}", window.shape());
            let Some(&window) = window.as_slice::<i32>()?.first_chunk::<4>().filter(|_| window.num_elements() == 4)
            else {
                bail!(InvalidArgument, "crop_size must have four elements {}", window.shape());
            };
            options.window = Some(window);
        }
        let refused = |stop: jpeg::Stop| {
            let window = options.window.map_or(String::new(), |window| format!(" {window:?} (y, x, height, width)"));
            let what = format_args!("jpeg::Uncompress failed. Invalid JPEG data or crop window{window}");
            stop.error(Code::InvalidArgument, what)
        };
        let decoder = jpeg::Decoder::new(data, options).map_err(refused)?;
        let shape = self.shape_of(decoder.shape());
        self.fill(ctx, shape, |ctx, out| {
            let image = decoder.decode().map_err(refused)?;
            // A pixel's colours take about a nanosecond.
            ctx.parallel_chunks(out, image.row_length(), 1, |first, rows| image.render(first, rows));
            Ok(())
        })
    }

    fn png(&self, ctx: &mut RawContext<'_>, data: &[u8]) -> Result<()> {
        let is_wide = self.dtype != DataType::Uint8;
        let file = Png::new(data, self.channels, is_wide)?;
        let shape = self.shape_of([file.rows, file.columns, file.channels]);
        if !is_wide {
            return self.fill(ctx, shape, |_, out| file.decode(out));
        }
        let mut output = ctx.allocate_output_at(0, shape)?;
        if self.dtype == DataType::Uint16 {
            file.decode_wide(output.as_mut_slice::<u16>()?)?;
        } else {
            let mut samples = scratch::zeros(output.num_elements())?;
            file.decode_wide(&mut samples)?;
            let out = output.as_mut_slice::<f32>()?;
            out.iter_mut().zip(&samples).for_each(|(out, &sample)| *out = f32::from(sample) * (1.0 / 65535.0) as f32);
        }
        ctx.set_output_at(0, output)
    }

    fn gif(&self, ctx: &mut RawContext<'_>, data: &[u8]) -> Result<()> {
        ensure!(
            matches!(self.channels, 0 | 3),
            InvalidArgument,
            "channels must be 0 or 3 for GIF, got {}",
            self.channels
        );
        let file = Gif::new(data, !self.expands_animations)?;
        let image = [file.rows, file.columns, 3];
        let frames = file.frames();
        let shape = match self.kind {
            Kind::Jpeg | Kind::Png => {
                ensure!(
                    frames == 1,
                    InvalidArgument,
                    "Got {frames} frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image"
                );
                Shape::from(image)
            }
            Kind::Image if !self.expands_animations => Shape::from(image),
            Kind::Gif | Kind::Image => Shape::from([frames, image[0], image[1], 3]),
            kind => bail!(InvalidArgument, "Bad op type Decode{kind:?}"),
        };
        self.fill(ctx, shape, |_, out| file.decode(data.len(), out))
    }

    fn bmp(&self, ctx: &mut RawContext<'_>, data: &[u8]) -> Result<()> {
        ensure!(self.channels != 1, InvalidArgument, "`channels` must be 0, 3 or 4 for BMP, but got {}", self.channels);
        self.check_format(Format::Bmp)?;
        let file = Bmp::new(data)?;
        let channels = if self.channels == 0 { file.channels } else { self.channels };
        self.fill(ctx, Shape::from([file.rows, file.columns, channels]), |_, out| {
            file.decode(channels, out);
            Ok(())
        })
    }

    fn webp(&self, ctx: &mut RawContext<'_>, data: &[u8]) -> Result<()> {
        ensure!(self.channels != 1, InvalidArgument, "WebP only supports 3 or 4 channels");
        ensure!(self.dtype == DataType::Uint8, InvalidArgument, "WebP only supports uint8 for dtype");
        let file = Webp::new(data)?;
        self.ensure_channels(file.channels)?;
        ensure!(
            file.frames().is_none() || matches!(self.channels, 0 | 4),
            InvalidArgument,
            "WebP Animation must be 4 channel RGBA"
        );
        let count = file.frames().filter(|_| self.expands_animations).unwrap_or(1);
        let channels = if file.frames().is_some() { 4 } else { file.channels };
        let frames: &[usize] = if self.expands_animations { &[count] } else { &[] };
        let shape = frames.iter().chain(&[file.rows, file.columns, channels]).copied().collect();
        self.fill(ctx, shape, |_, out| file.decode(count, out))
    }

    /// The first image.
    #[cfg(feature = "jxl")]
    fn jxl(&self, ctx: &mut RawContext<'_>, data: &[u8]) -> Result<()> {
        ensure!(self.dtype == DataType::Uint8, InvalidArgument, "JXL only supports uint8 for dtype");
        let file = Jxl::new(data)?;
        self.ensure_channels(file.channels)?;
        let shape = self.shape_of([file.rows, file.columns, file.channels]);
        self.fill(ctx, shape, |_, out| file.decode(out))
    }

    #[cfg(not(feature = "jxl"))]
    fn jxl(&self, _: &mut RawContext<'_>, _: &[u8]) -> Result<()> {
        bail!(Unimplemented, "JPEG XL is decoded with the feature `jxl`, which this program lacks")
    }
}

/// The file of input 0.
fn contents(ctx: &RawContext<'_>) -> Result<TString> {
    let contents = ctx.input_at(0)?;
    ensure!(contents.rank() == 0, InvalidArgument, "`contents` must be scalar but got shape {}", contents.shape());
    let file = contents.as_slice::<TString>()?[0].clone();
    ensure!(file.len() <= i32::MAX as usize, InvalidArgument, "Input contents are too large for int: {}", file.len());
    Ok(file)
}

#[register_kernel(
    device = Cpu,
    op = [DecodeJpeg, DecodeAndCropJpeg, DecodePng, DecodeGif, DecodeBmp, DecodeWebP, DecodeJxl, DecodeImage],
    state = |ctx| Decode::new(ctx),
)]
fn decode(attrs: &Decode, ctx: &mut RawContext<'_>) -> Result<()> {
    let file = contents(ctx)?;
    ensure!(!file.is_empty(), InvalidArgument, "Input is empty.");
    let Some(format) = classify(&file) else {
        bail!(InvalidArgument, "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.");
    };
    if format != Format::Bmp {
        attrs.check_format(format)?;
    }
    match format {
        Format::Jpeg => attrs.jpeg(ctx, &file),
        Format::Png => attrs.png(ctx, &file),
        Format::Gif => attrs.gif(ctx, &file),
        Format::Bmp => attrs.bmp(ctx, &file),
        Format::Webp => attrs.webp(ctx, &file),
        Format::Jxl => attrs.jxl(ctx, &file),
    }
}

#[register_kernel(device = Cpu, op = [ExtractJpegShape], output_type = [int32, int64])]
fn extract_jpeg_shape(ctx: &mut RawContext<'_>) -> Result<()> {
    let file = contents(ctx)?;
    let shape = jpeg::shape(&file)
        .map_err(|stop| stop.error(Code::InvalidArgument, format_args!("Invalid JPEG data, size {}", file.len())))?;
    let output = match ctx.output_dtype_at(0)? {
        DataType::Int32 => Tensor::vector(&shape.map(|size| size as i32))?,
        _ => Tensor::vector(&shape.map(|size| size as i64))?,
    };
    ctx.set_output_at(0, output)
}

#[cfg(test)]
mod tests {
    use kernlink::registry::Registry;
    use kernlink::testing::OpTest;
    use kernlink_ops as ops;

    use super::TString;

    #[test]
    fn of_webp_files_ops_of_other_formats_give_frames() {
        let providers = [&ops::KERNLINK_PROVIDER, &crate::KERNLINK_PROVIDER];
        let mut test = OpTest::new(&Registry::linked(&providers).unwrap().into());
        let mut file = Vec::new();
        let encoder = image_webp::WebPEncoder::new(&mut file);
        encoder.encode(&[7; 2 * 5 * 3], 5, 2, image_webp::ColorType::Rgb8).unwrap();
        let file = TString::from(&file[..]);
        let frames = [1, 2, 5, 3];
        test.run(|op| ops::decode_png(op, file.clone()).build()).expect_shape(ops::DecodePng::IMAGE, frames);
        test.run(|op| ops::decode_jpeg(op, file.clone()).build()).expect_shape(ops::DecodeJpeg::IMAGE, frames);
        test.run(|op| ops::decode_bmp(op, file.clone()).build()).expect_shape(ops::DecodeBmp::IMAGE, frames);
        test.run(|op| ops::decode_and_crop_jpeg(op, file.clone(), [0, 0, 1, 1]).build())
            .expect_shape(ops::DecodeAndCropJpeg::IMAGE, frames);
        test.run(|op| ops::decode_image(op, file.clone()).expand_animations(false).build())
            .expect_shape(ops::DecodeImage::IMAGE, [2, 5, 3]);
    }
}
