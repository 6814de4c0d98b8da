//! Images, `[batch, rows, columns, channels]`, in another size.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, bfloat16}"),
    attr("align_corners: bool = false", "Whether the centres of the corners stay where they are."),
    attr("half_pixel_centers: bool = false", "Whether a pixel stands for its centre and not for its corner."),
    input("images: T"),
    input("size: int32", "The new numbers of rows and columns, a vector."),
    output("resized_images: float"),
    shape_fn = shapes::resize_shape,
)]
pub enum Resizing {
    /// Images in another size, each pixel a weighted mean of the four around its place.
    ResizeBilinear,
    /// Images in another size, each pixel a copy of the nearest.
    #[op(
        attr("T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}"),
        output("resized_images: T")
    )]
    ResizeNearestNeighbor,
}

/// The gradient of [`ResizeBilinear`].
#[register_op(
    attr("T: {float, bfloat16, half, double}"),
    attr("align_corners: bool = false", "As in `ResizeBilinear`."),
    attr("half_pixel_centers: bool = false", "As in `ResizeBilinear`."),
    input("grads: float", "The gradient of the resized images."),
    input("original_image: T", "The images, whose size alone matters."),
    output("output: T"),
    shape_fn = shapes::resized_back_shape,
)]
pub struct ResizeBilinearGrad;

/// The gradient of [`ResizeNearestNeighbor`].
#[register_op(
    attr("T: {uint8, int8, int32, half, float, double, bfloat16}"),
    attr("align_corners: bool = false", "As in `ResizeNearestNeighbor`."),
    attr("half_pixel_centers: bool = false", "As in `ResizeNearestNeighbor`."),
    input("grads: T", "The gradient of the resized images."),
    input("size: int32", "The numbers of rows and columns of the images, a vector."),
    output("output: T"),
    shape_fn = shapes::resize_shape,
)]
pub struct ResizeNearestNeighborGrad;
