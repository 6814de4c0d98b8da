//! Images in another size, by other means than those of the family `array`.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}"),
    attr("align_corners: bool = false", "Whether the centres of the corners stay where they are."),
    input("images: T", "Images."),
    input("size: int32", "The new numbers of rows and columns, a vector."),
    output("resized_images: float", "`[batch, rows, columns, channels]`, of the new size."),
    shape_fn = shapes::resize_shape,
)]
pub enum OtherResizing {
    /// Images in another size, each pixel the mean of the area that it covers.
    ResizeArea,
    /// Images in another size, each pixel a weighted sum of the sixteen around its place, by cubic functions.
    ///
    /// The cubic function is that of Keys with -0.75 for the free parameter, or with `half_pixel_centers` with -0.5.
    #[op(attr("half_pixel_centers: bool = false", "Whether a pixel stands for its centre and not for its corner."))]
    ResizeBicubic,
}

/// The gradient of [`ResizeBicubic`].
#[register_op(
    attr("T: {float, double}"),
    attr("align_corners: bool = false", "As in `ResizeBicubic`."),
    attr("half_pixel_centers: bool = false", "As in `ResizeBicubic`."),
    input("grads: float", "The gradient of the resized images."),
    input("original_image: T", "The images, whose size alone matters."),
    output("output: T", "The gradient of the original images, of their shape."),
    shape_fn = shapes::resized_back_shape,
)]
pub struct ResizeBicubicGrad;

/// Images that are scaled and moved, each pixel a weighted sum of those around its place.
///
/// `output[y]` is `images` at `(y + 0.5 - translation) / scale`, where `images[y]` is at `y + 0.5`; what would come from
/// outside of the images is 0.
#[register_op(
    attr("T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}"),
    attr(
        "kernel_type: string = 'lanczos3'",
        "The weights: `lanczos1`, `lanczos3`, `lanczos5`, `gaussian`, `box`, `triangle`, `keyscubic` or `mitchellcubic`."
    ),
    attr("antialias: bool = true", "Whether the weights reach farther where images become smaller."),
    input("images: T", "Images."),
    input("size: int32", "The numbers of rows and columns of the results, a vector."),
    input("scale: float", "The factors of rows and columns, above 0, a vector."),
    input("translation: float", "By how many rows and columns of the results the scaled images are moved, a vector."),
    output("resized_images: float", "`[batch, rows, columns, channels]`, of the new size."),
    shape_fn = shapes::resize_shape,
)]
pub struct ScaleAndTranslate;

/// The gradient of [`ScaleAndTranslate`].
#[register_op(
    attr("T: {float}"),
    attr("kernel_type: string = 'lanczos3'", "As in `ScaleAndTranslate`."),
    attr("antialias: bool = true", "As in `ScaleAndTranslate`."),
    input("grads: T", "The gradient of the results."),
    input("original_image: T", "The images, whose size alone matters."),
    input("scale: float", "As in `ScaleAndTranslate`."),
    input("translation: float", "As in `ScaleAndTranslate`."),
    output("output: T", "The gradient of the original images, of their shape."),
    shape_fn = shapes::resized_back_shape,
)]
pub struct ScaleAndTranslateGrad;
