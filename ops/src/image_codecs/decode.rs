//! Image files to tensors.

use kernlink::shape_inference::{DimHandle, InferenceContext};
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// The channels that the attr of this name asks for; unknown if that is 0.
fn channels(c: &InferenceContext<'_>) -> Result<DimHandle> {
    let channels: i64 = c.attr("channels")?;
    ensure!(channels >= 0, InvalidArgument, "channels must be non-negative, got {channels}");
    Ok(if channels == 0 { c.unknown_dim() } else { c.make_dim(channels) })
}

/// Output 0: the image in the file of input 0, a scalar, of unknown size.
fn image_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    // Of a WebP file TensorFlow's kernels give frames, one dimension more than its shape function says.
    c.set_outputs_are_promised();
    still_shape(c)
}

/// [`image_shape`] of an op that keeps to it.
fn still_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    shapes::output_shape(c, c.make_shape([c.unknown_dim(), c.unknown_dim(), channels(c)?]))
}

/// The image of a JPEG file.
///
/// The samples equal those of libjpeg-turbo, bit for bit. PNG files and GIF files of one frame are taken, too.
#[register_op(
    input("contents: string", "The file, a scalar."),
    output("image: uint8", "`[rows, columns, channels]`."),
    attr("channels: int = 0", "1 for brightness, 3 for red, green and blue, 0 for those of the file."),
    attr("ratio: int = 1", "By which rows and columns are divided: 1, 2, 4 or 8."),
    attr("fancy_upscaling: bool = true", "Whether colours that are stored for two pixels at once are interpolated rather than repeated."),
    attr("try_recover_truncated: bool = false", "Whether a file that was cut is decoded as far as it goes."),
    attr("acceptable_fraction: float = 1.0", "Which share of its rows a file that was cut must have."),
    attr("dct_method: string = ''", "`INTEGER_FAST`, which is the default, or `INTEGER_ACCURATE`."),
    shape_fn = image_shape,
)]
pub struct DecodeJpeg;

/// A part of the image of a JPEG file.
#[register_op(
    input("contents: string", "The file, a scalar."),
    input("crop_window: int32", "The first row and column, the rows and the columns of the part, a vector of 4."),
    output("image: uint8", "`[rows, columns, channels]`."),
    attr("channels: int = 0", "As in `DecodeJpeg`."),
    attr("ratio: int = 1", "As in `DecodeJpeg`; the window is one of the smaller image."),
    attr("fancy_upscaling: bool = true", "As in `DecodeJpeg`."),
    attr("try_recover_truncated: bool = false", "As in `DecodeJpeg`."),
    attr("acceptable_fraction: float = 1.0", "As in `DecodeJpeg`."),
    attr("dct_method: string = ''", "As in `DecodeJpeg`."),
    shape_fn = crop_shape,
)]
pub struct DecodeAndCropJpeg;

fn crop_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    // As of `image_shape`.
    c.set_outputs_are_promised();
    c.with_rank(c.input(0), 0)?;
    let channels = channels(c)?;
    c.with_rank(c.input(1), 1)?;
    c.with_value(c.dim(c.input(1), 0), 4)?;
    let [rows, columns] = match c.input_i64s(1)?.as_deref() {
        Some(&[_, _, rows, columns]) => {
            ensure!(rows >= 0 && columns >= 0, InvalidArgument, "crop_window has a negative size: {rows} by {columns}");
            [c.make_dim(rows), c.make_dim(columns)]
        }
        _ => [c.unknown_dim(), c.unknown_dim()],
    };
    shapes::output_shape(c, c.make_shape([rows, columns, channels]))
}

/// The image of a PNG file.
///
/// JPEG files and GIF files of one frame are taken, too.
#[register_op(
    input("contents: string", "The file, a scalar."),
    output("image: dtype", "`[rows, columns, channels]`."),
    attr("channels: int = 0", "1 for brightness, 3 for red, green and blue, 4 with alpha, 0 for those of the file."),
    attr("dtype: {uint8, uint16} = DT_UINT8", "Samples of more bits lose their lowest, those of fewer are scaled."),
    shape_fn = image_shape,
)]
pub struct DecodePng;

/// The frames of a GIF file.
///
/// A frame that does not fill the canvas lies over the one before it. JPEG and PNG files are taken, too, as one frame.
#[register_op(
    input("contents: string", "The file, a scalar."),
    output("image: uint8", "`[frames, rows, columns, 3]`."),
    shape_fn = |c| {
        c.with_rank(c.input(0), 0)?;
        shapes::output_shape(c, c.make_shape([c.unknown_dim(), c.unknown_dim(), c.unknown_dim(), c.make_dim(3)]))
    },
)]
pub struct DecodeGif;

/// The image of a BMP file that is not compressed.
#[register_op(
    input("contents: string", "The file, a scalar."),
    output("image: uint8", "`[rows, columns, channels]`."),
    attr("channels: int = 0", "3 for red, green and blue, 4 with alpha, 0 for those of the file."),
    shape_fn = image_shape,
)]
pub struct DecodeBmp;

/// The images of a WebP file.
#[register_op(
    input("contents: string", "The file, a scalar."),
    output("image: dtype", "`[frames, rows, columns, channels]`. Animations have four channels, also if the file does not announce alpha: TensorFlow's kernel writes behind its output then."),
    attr("channels: int = 0", "3 for red, green and blue, 4 with alpha, which must be those of the file; 0 for whatever these are."),
    attr("dtype: {uint8} = DT_UINT8"),
    shape_fn = |c| {
        c.with_rank(c.input(0), 0)?;
        let channels = channels(c)?;
        shapes::output_shape(c, c.make_shape([c.unknown_dim(), c.unknown_dim(), c.unknown_dim(), channels]))
    },
)]
pub struct DecodeWebP;

/// The image of a JPEG XL file, the first of an animation.
///
/// Kernlink decodes such files, here and in the other ops, with the feature `jxl`.
#[register_op(
    input("contents: string", "The file, a scalar."),
    output("image: dtype", "`[rows, columns, channels]`."),
    attr("channels: int = 0", "1 for brightness, 3 for red, green and blue, 4 with alpha, which must be those of the file; 0 for whatever these are."),
    attr("dtype: {uint8} = DT_UINT8"),
    shape_fn = image_shape,
)]
pub struct DecodeJxl;

/// The image or the frames of a file of any format that is known.
#[register_op(
    input("contents: string", "A JPEG, PNG, GIF, BMP, WebP or JPEG XL file, a scalar."),
    output("image: dtype", "`[rows, columns, channels]`; of GIF and WebP files `[frames, rows, columns, channels]` if `expand_animations`."),
    attr("channels: int = 0", "As in the formats' own ops."),
    attr("dtype: {uint8, uint16, float} = DT_UINT8", "Floats are from 0 to 1."),
    attr("expand_animations: bool = true", "Whether all frames of animations are decoded rather than the first."),
    shape_fn = |c| {
        c.with_rank(c.input(0), 0)?;
        if c.attr("expand_animations")? {
            return shapes::output_shape(c, c.unknown_shape());
        }
        still_shape(c)
    },
)]
pub struct DecodeImage;

/// The shape of the image of a JPEG file.
#[register_op(
    input("contents: string", "The file, a scalar."),
    output("image_shape: output_type", "Rows, columns and channels, a vector of 3."),
    attr("output_type: {int32, int64} = DT_INT32"),
    shape_fn = |c| {
        c.with_rank(c.input(0), 0)?;
        shapes::output_shape(c, c.vector(3))
    },
)]
pub struct ExtractJpegShape;
