//! Image files of tensors.

use kernlink_macros::register_op;

use crate::shapes;

/// A JPEG file of an image.
///
/// Its bytes equal those of libjpeg-turbo.
#[register_op(
    input("image: uint8", "`[rows, columns, channels]`."),
    output("contents: string", "The file, a scalar."),
    attr("format: {'', 'grayscale', 'rgb'} = ''", "What the channels must be: `grayscale` for one, `rgb` for three."),
    attr("quality: int = 95", "From 0 to 100."),
    attr("progressive: bool = false", "Whether the file shows the image coarsely first."),
    attr("optimize_size: bool = false", "Whether codes are made for this image."),
    attr("chroma_downsampling: bool = true", "Whether colours are stored for four pixels at once."),
    attr("density_unit: {'in', 'cm'} = 'in'"),
    attr("x_density: int = 300", "The columns in a unit."),
    attr("y_density: int = 300", "The rows in a unit."),
    attr("xmp_metadata: string = ''", "What the file says beside the image."),
    shape_fn = |c| {
        c.with_rank(c.input(0), 3)?;
        shapes::output_shape(c, c.scalar())
    },
)]
pub struct EncodeJpeg;

/// A JPEG file of an image, in a quality that is computed.
#[register_op(
    input("images: uint8", "`[rows, columns, channels]`, with one channel or three."),
    input("quality: int32", "From 0 to 100, a scalar."),
    output("contents: string", "The file, a scalar."),
    shape_fn = |c| {
        c.with_rank(c.input(0), 3)?;
        shapes::output_shape(c, c.scalar())
    },
)]
pub struct EncodeJpegVariableQuality;

/// PNG files of images.
#[register_op(
    input("image: T", "`[..., rows, columns, channels]`: 1 for brightness, 2 with alpha, 3 for red, green and blue, 4 with alpha."),
    output("contents: string", "The files."),
    attr("compression: int = -1", "From 0, none, to 9; -1 for what is usual."),
    attr("T: {uint8, uint16} = DT_UINT8"),
    shape_fn = |c| {
        let images = c.with_rank_at_least(c.input(0), 3)?;
        let files = c.subshape_range(images, 0, -3)?;
        shapes::output_shape(c, files)
    },
)]
pub struct EncodePng;
