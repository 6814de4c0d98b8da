//! Parts of images in a common size.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// What boxes contain of images, each in the same size.
///
/// The corners of a crop are the centres of the pixels at the corners of its box.
#[register_op(
    input("image: T", "Images."),
    input("boxes: float", "`[boxes, 4]`: 0 is the first row or column of an image, 1 the last; may lie outside, or be turned over."),
    input("box_ind: int32", "`[boxes]`: the index of each box's image in the batch."),
    input("crop_size: int32", "The rows and columns of all crops, a vector."),
    output("crops: float", "`[boxes, rows, columns, channels]`."),
    attr("T: {uint8, uint16, int8, int16, int32, int64, half, float, double}"),
    attr("method: {'bilinear', 'nearest'} = 'bilinear'", "Whether pixels are weighted means of four or copies of the nearest."),
    attr("extrapolation_value: float = 0", "What is outside of the images."),
    shape_fn = crop_and_resize_shape,
)]
pub struct CropAndResize;

fn crop_and_resize_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let images = c.with_rank(c.input(0), 4)?;
    let boxes = c.with_rank(c.input(1), 2)?;
    let indices = c.with_rank(c.input(2), 1)?;
    let count = c.merge_dim(c.dim(boxes, 0), c.dim(indices, 0))?;
    c.with_value(c.dim(boxes, 1), 4)?;
    shapes::sized_images(c, count, 3, c.dim(images, 3))
}

/// The gradient of [`CropAndResize`] with respect to the images.
#[register_op(
    input("grads: float", "The gradient of the crops."),
    input("boxes: float", "As in `CropAndResize`."),
    input("box_ind: int32", "As in `CropAndResize`."),
    input("image_size: int32", "The shape of the images, a vector of 4."),
    output("output: T", "The gradient of the images, of their shape."),
    attr("T: {float, half, double}", "The dtype of the images."),
    attr("method: {'bilinear', 'nearest'} = 'bilinear'", "As in `CropAndResize`."),
    shape_fn = |c| {
        let images = c.with_rank(c.make_shape_from_shape_tensor(3)?, 4)?;
        shapes::output_shape(c, images)
    },
)]
pub struct CropAndResizeGradImage;

/// The gradient of [`CropAndResize`] with respect to the boxes.
#[register_op(
    input("grads: float", "The gradient of the crops."),
    input("image: T", "As in `CropAndResize`."),
    input("boxes: float", "As in `CropAndResize`."),
    input("box_ind: int32", "As in `CropAndResize`."),
    output("output: float", "`[boxes, 4]`: the gradient of the boxes."),
    attr("T: {uint8, uint16, int8, int16, int32, int64, half, float, double}"),
    attr("method: {'bilinear'} = 'bilinear'", "As in `CropAndResize`."),
    shape_fn = shapes::shape_of_input::<2>,
)]
pub struct CropAndResizeGradBoxes;

/// A random part of an image.
#[register_op(
    input("image: T", "`[rows, columns, channels]`."),
    input("size: int64", "The rows and columns of the part, a vector."),
    output("output: T", "The part, `[rows, columns, channels]`."),
    attr("T: {uint8, int8, int16, int32, int64, float, double}"),
    attr("seed: int = 0", "With `seed2` where the random numbers start; if both are 0, somewhere else each time."),
    attr("seed2: int = 0", "See `seed`."),
    stateful,
    deprecated(8, "Random crop is now pure Python"),
    shape_fn = random_crop_shape,
)]
pub struct RandomCrop;

fn random_crop_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let image = c.with_rank(c.input(0), 3)?;
    let [rows, columns] = shapes::rows_and_columns(c, 1)?;
    shapes::output_shape(c, c.make_shape([rows, columns, c.dim(image, 2)]))
}
