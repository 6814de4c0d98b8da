//! Convolutions of any number of dimensions, and of images that are resized and padded on the way.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes::{self, Padding, TensorFormat, get_windowed_output_size_from_dims};

/// The convolution of `input` with `filter` over two or three dimensions of space (strictly, the cross-correlation).
#[register_op(
    input("input: T", "With `CHANNELS_LAST`, `[batch..., space..., channels]`."),
    input("filter: T", "`[space..., channels of a group, output channels]`."),
    output("output: T"),
    attr("T: {half, bfloat16, float, double, int32}"),
    attr("strides: list(int)", "The window's step in each dimension of space, and 1 for batch and channels."),
    attr(
        "padding: {'SAME', 'VALID', 'EXPLICIT'}",
        "`VALID` keeps windows inside, `SAME` adds zeros around, `EXPLICIT`, over two dimensions, as `explicit_paddings` says.",
    ),
    attr("explicit_paddings: list(int) = []", "Before and after each dimension; only with `EXPLICIT`."),
    attr(
        "data_format: {'CHANNELS_FIRST', 'CHANNELS_LAST'} = 'CHANNELS_LAST'",
        "Whether the channels come before space or after it."
    ),
    attr("dilations: list(int) = []", "The distance between a window's elements; 1 over three dimensions of space."),
    attr("batch_dims: int = 1", "How many dimensions are those of batches."),
    attr("groups: int = 1", "Into how many groups the channels are split, each with filters of its own; 1 over three dimensions."),
    shape_fn = shapes::conv_shape,
)]
pub struct Conv;

#[register_op(
    input("input: T", "`[batch, rows, columns, channels]`."),
    input("filter: T", "`[height, width, input channels, output channels]`."),
    output("output: T"),
    attr("mode: {'REFLECT', 'SYMMETRIC'}", "Whether the mirror images leave out the edge itself."),
    attr("strides: list(int)", "The window's step in each dimension; 1 for batch and channels."),
    attr("padding: {'SAME', 'VALID'}", "`VALID` keeps windows inside, `SAME` adds zeros around.")
)]
pub enum ConvolutionsOfTransformedImages {
    /// `Conv2D` of mirror-padded images.
    #[op(
        attr("T: {half, bfloat16, float, double}", before = "mode"),
        input("paddings: int32", "How far mirror images reach before and after each dimension, `[4, 2]`.", after = "input"),
        shape_fn = |c| transformed_shape(c, false),
    )]
    FusedPadConv2D,
    /// `Conv2D` of images that are resized by linear interpolation, and then mirror-padded.
    #[op(
        attr("T: {half, float, double}", before = "mode"),
        attr("resize_align_corners: bool = false", "Whether the centres of the corners stay where they are.", before = "mode"),
        input("size: int32", "The rows and columns of the resized images.", after = "input"),
        input("paddings: int32", "How far mirror images reach before and after each dimension, `[4, 2]`.", after = "size"),
        shape_fn = |c| transformed_shape(c, true),
    )]
    FusedResizeAndPadConv2D,
}

fn transformed_shape(c: &mut InferenceContext<'_>, is_resized: bool) -> Result<()> {
    let mut images = c.with_rank(c.input(0), 4)?;
    let mut next = 1;
    if is_resized {
        let [rows, columns] = shapes::rows_and_columns(c, 1)?;
        images = c.replace_dim(images, 1, rows)?;
        images = c.replace_dim(images, 2, columns)?;
        next = 2;
    }
    let paddings = c.with_rank(c.input(next), 2)?;
    // As TensorFlow has it, for which unknown is -1, too.
    let rank = c.value(c.dim(paddings, 0)).unwrap_or(-1);
    ensure!(rank == 4, InvalidArgument, "Shape must be rank {rank} but is rank 4");
    c.merge(paddings, c.matrix(4, 2))?;
    let padded = match c.input_i64s(next)? {
        None => c.unknown_shape_of_rank(4),
        Some(paddings) => {
            let mut dims = Vec::with_capacity(4);
            for (axis, ends) in paddings.as_chunks::<2>().0.iter().enumerate() {
                ensure!(ends.iter().all(|&end| end >= 0), InvalidArgument, "Paddings must be non-negative");
                dims.push(c.add(c.dim(images, axis as i64), ends[0] + ends[1])?);
            }
            c.make_shape(dims)
        }
    };
    let filter = c.with_rank(c.input(next + 1), 4)?;
    let strides: Vec<i64> = c.attr("strides")?;
    let count = strides.len();
    ensure!(
        count == 4,
        InvalidArgument,
        "Operation requires the stride attribute to contain 4 values, but got: {count}"
    );
    c.merge_dim(c.dim(padded, 3), c.dim(filter, 2))?;
    let padding = Padding::new(&c.attr::<String>("padding")?, &[], TensorFormat::Nhwc, 4)?;
    let mut dims = vec![c.dim(padded, 0)];
    for axis in [1usize, 2] {
        let (size, window) = (c.dim(padded, axis as i64), c.dim(filter, axis as i64 - 1));
        dims.push(get_windowed_output_size_from_dims(c, size, window, strides[axis], &padding)?);
    }
    dims.push(c.dim(filter, 3));
    shapes::output_shape(c, c.make_shape(dims))
}
