//! Glimpses: windows around places in images.

use kernlink::Result;
use kernlink::ensure;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("centered: bool = true", "Whether places are counted from the centres of the images and not from their corners."),
    attr("normalized: bool = true", "Whether places are parts of the images' sizes: from -1 to 1 if `centered`, else from 0 to 1."),
    attr("uniform_noise: bool = true", "Whether the noise is uniform; used where `noise` is empty."),
    attr("noise: string = 'uniform'", "What is outside of an image: `uniform`, `gaussian` or `zero`."),
    input("input: float", "Images."),
    input("size: int32", "The rows and columns of the glimpses, a vector."),
    input("offsets: float", "`[batch, 2]`: the place of each image's glimpse, `[y, x]`."),
    output("glimpse: float", "`[batch, rows, columns, channels]`: the windows."),
    shape_fn = glimpse_shape,
)]
pub enum Glimpses {
    /// A window around a place in each image.
    ExtractGlimpse,
    /// A window in each image: around the place if it is centred and normalized, else beginning there.
    ExtractGlimpseV2,
}

fn glimpse_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let images = c.with_rank(c.input(0), 4)?;
    let offsets = c.with_rank(c.input(2), 2)?;
    let batch = c.merge_dim(c.dim(images, 0), c.dim(offsets, 0))?;
    c.with_value(c.dim(offsets, 1), 2)?;
    let is_uniform: bool = c.attr("uniform_noise")?;
    let noise: String = c.attr("noise")?;
    ensure!(
        !is_uniform || noise.is_empty() || noise == "uniform",
        InvalidArgument,
        "The uniform_noise and noise should not be specified at the same time: noise is `{noise}`"
    );
    shapes::sized_images(c, batch, 1, c.dim(images, 3))
}
