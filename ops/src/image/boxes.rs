//! Boxes that are drawn, and boxes that are drawn by lot.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {float, half} = DT_FLOAT"),
    input("images: T", "Images with 1, 3 or 4 channels."),
    input("boxes: float", "`[batch, boxes, 4]`, from 0, the first row or column, to 1, the last."),
    output("output: T", "The images with the outlines."),
    shape_fn = drawn_boxes_shape,
)]
pub enum DrawnBoxes {
    /// Images with the outlines of boxes, in colours that take turns.
    DrawBoundingBoxes,
    /// Images with the outlines of boxes, in colours that are given.
    #[op(
        input("colors: float", "`[colors, channels]`, which take turns; if there are none, those of `DrawBoundingBoxes`."),
        shape_fn = shapes::unchanged_shape_with_rank_at_least::<3>,
    )]
    DrawBoundingBoxesV2,
}

fn drawn_boxes_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let images = c.with_rank(c.input(0), 4)?;
    let channels = c.value(c.dim(images, 3));
    ensure!(
        channels.is_none_or(|channels| matches!(channels, 1 | 3 | 4)),
        InvalidArgument,
        "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"
    );
    let boxes = c.with_rank(c.input(1), 3)?;
    c.with_value(c.dim(boxes, 2), 4)?;
    shapes::unchanged_shape(c)
}

#[register_op(
    attr("T: {uint8, int8, int16, int32, int64}"),
    attr("aspect_ratio_range: list(float) = [0.75, 1.33]", "The least and the greatest width divided by height."),
    attr("area_range: list(float) = [0.05, 1.0]", "The least and the greatest part of the image that the box covers."),
    attr("max_attempts: int = 100", "After so many boxes that do not fit, the whole image is taken."),
    attr(
        "use_image_if_no_bounding_boxes: bool = false",
        "Whether the image stands for the boxes where there are none; else that is an error."
    ),
    input("image_size: T", "The rows, columns and channels of the image, a vector."),
    input("bounding_boxes: float", "`[batch, boxes, 4]`: what to see in the image, from 0 to 1."),
    output("begin: T", "The first row and column of the box, and 0: where `Slice` begins."),
    output("size: T", "The rows and columns of the box, and -1: the size for `Slice`."),
    output("bboxes: float", "`[1, 1, 4]`: the box, for `DrawBoundingBoxes`."),
    shape_fn = sampled_box_shape,
)]
pub enum SampledBoxes {
    /// A random box in an image that covers enough of one of the boxes that are given.
    #[op(
        attr(
            "seed: int = 0",
            "With `seed2` where the random numbers start; if both are 0, somewhere else each time.",
            after = "T"
        ),
        attr("seed2: int = 0", "See `seed`.", after = "seed"),
        attr(
            "min_object_covered: float = 0.1",
            "How large a part of one of the boxes is covered, at least.",
            after = "seed2"
        ),
        stateful
    )]
    SampleDistortedBoundingBox,
    /// A random box in an image that covers enough of one of the boxes that are given.
    #[op(
        attr(
            "seed: int = 0",
            "With `seed2` where the random numbers start; if both are 0, somewhere else each time.",
            after = "T"
        ),
        attr("seed2: int = 0", "See `seed`.", after = "seed"),
        input("min_object_covered: float", "How large a part of one of the boxes is covered, at least; a scalar."),
        stateful
    )]
    SampleDistortedBoundingBoxV2,
    /// A random box in an image that covers enough of one of the boxes that are given, the same for the same seed.
    #[op(
        attr("Tseed: {int32, int64}", after = "T"),
        input("min_object_covered: float", "How large a part of one of the boxes is covered, at least; a scalar."),
        input("seed: Tseed", "A vector of two elements."),
        shape_fn = seeded_box_shape,
    )]
    StatelessSampleDistortedBoundingBox,
}

/// Whatever comes before it, a box of an image whose size is input 0.
fn sampled_box_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let size = c.with_rank(c.input(0), 1)?;
    let boxes = c.with_rank(c.input(1), 3)?;
    if c.num_inputs() > 2 {
        c.with_rank(c.input(2), 0)?;
    }
    c.with_value(c.dim(size, 0), 3)?;
    c.with_value(c.dim(boxes, 2), 4)?;
    c.set_output(0, c.vector(3));
    c.set_output(1, c.vector(3));
    c.set_output(2, c.make_shape([1, 1, 4].map(|size| c.make_dim(size))));
    Ok(())
}

fn seeded_box_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let seed = c.with_rank(c.input(3), 1)?;
    c.with_value(c.dim(seed, 0), 2)?;
    sampled_box_shape(c)
}
