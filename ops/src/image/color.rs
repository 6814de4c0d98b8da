//! Colours.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {half, bfloat16, float, double} = DT_FLOAT"),
    input("images: T", "`[..., 3]`, from 0 to 1."),
    output("output: T", "Of the shape of `images`, from 0 to 1."),
    shape_fn = pixels_shape,
)]
pub enum ColorSpaces {
    /// Hue, saturation and value of colours whose parts are red, green and blue.
    RGBToHSV,
    /// Red, green and blue of colours whose parts are hue, saturation and value.
    HSVToRGB,
}

fn pixels_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let images = c.with_rank_at_least(c.input(0), 1)?;
    let parts = c.with_value(c.dim(images, -1), 3)?;
    shapes::output_shape(c, c.replace_dim(images, -1, parts)?)
}

#[register_op(
    attr("T: {half, float} = DT_FLOAT"),
    input("images: T", "`[..., rows, columns, channels]`."),
    output("output: T", "Of the shape of `images`."),
    shape_fn = shapes::unchanged_shape_with_rank_at_least::<3>,
)]
pub enum Adjustments {
    /// Images whose pixels are as many times as far from the mean of their channel as `contrast_factor` says.
    #[op(input("contrast_factor: float", "A scalar."), shape_fn = adjust_contrast_shape)]
    AdjustContrastv2,
    /// Images of red, green and blue whose hues are turned by `delta`.
    #[op(input("delta: float", "A scalar, of which 1 is once around the circle of hues."))]
    AdjustHue,
    /// Images of red, green and blue whose saturations are multiplied by `scale`.
    #[op(input("scale: float", "A scalar."))]
    AdjustSaturation,
}

/// [`AdjustContrastv2`] with results clipped to a range.
#[register_op(
    input("images: T", "`[..., rows, columns, channels]`."),
    input("contrast_factor: float", "A scalar."),
    input("min_value: float", "The least result, a scalar."),
    input("max_value: float", "The greatest result, a scalar."),
    output("output: float", "The adjusted images."),
    attr("T: {uint8, int8, int16, int32, int64, float, double}"),
    deprecated(2, "Use AdjustContrastv2 instead"),
    shape_fn = adjust_contrast_shape,
)]
pub struct AdjustContrast;

/// As images, input 0; what else there is are scalars.
fn adjust_contrast_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for index in 1..c.num_inputs() {
        c.with_rank(c.input(index), 0)?;
    }
    shapes::unchanged_shape_with_rank_at_least::<3>(c)
}
