//! Images that are turned, stretched and seen in perspective.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("dtype: {uint8, int32, int64, half, bfloat16, float, double}"),
    attr("interpolation: string", "`BILINEAR`, or `NEAREST` for copies of the nearest pixels."),
    attr(
        "fill_mode: string = 'CONSTANT'",
        "What is outside of an image: `CONSTANT`, one value; `NEAREST`, its edge; `REFLECT`, the image turned over; `WRAP`, the image again."
    ),
    input("images: dtype", "Images."),
    input(
        "transforms: float32",
        "`[batch, 8]`, or `[1, 8]` for all: `[a0, a1, a2, b0, b1, b2, c0, c1]` takes the result at `(x, y)` from `((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)`, where `k = c0 x + c1 y + 1`."
    ),
    input("output_shape: int32", "The rows and columns of the results, a vector."),
    output("transformed_images: dtype", "`[batch, rows, columns, channels]`: what is seen of the images."),
    shape_fn = shapes::sized_images_of::<2>,
)]
pub enum ProjectiveTransforms {
    /// Images seen through projective transforms; outside of them is 0.
    ImageProjectiveTransformV2,
    /// Images seen through projective transforms.
    #[op(input("fill_value: float32", "What is outside of the images if `fill_mode` is `CONSTANT`, a scalar."))]
    ImageProjectiveTransformV3,
}
