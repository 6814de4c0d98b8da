//! Images in other sizes.

use kernlink::Result;
use kernlink::shape_inference::common::output_shape;
use kernlink::shape_inference::{DimHandle, InferenceContext};

/// Output 0 of `ResizeBilinear` and its kin: input 0, images `[batch, rows, columns, channels]`, in the size that input 1 holds.
///
/// # Errors
/// INVALID_ARGUMENT if input 0 has another rank than 4, or input 1 is no vector of two elements.
pub fn resize_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    sized_images_of::<1>(c)
}

/// As [`resize_shape`], of the size that input `SIZE` holds.
///
/// # Errors
/// As there.
pub fn sized_images_of<const SIZE: usize>(c: &mut InferenceContext<'_>) -> Result<()> {
    let images = c.with_rank(c.input(0), 4)?;
    sized_images(c, c.dim(images, 0), SIZE, c.dim(images, 3))
}

/// Output 0: `batch` images of `channels`, in the size that input `size`, rows and columns, holds.
///
/// # Errors
/// INVALID_ARGUMENT if that input is no vector of two elements.
pub fn sized_images(c: &InferenceContext<'_>, batch: DimHandle, size: usize, channels: DimHandle) -> Result<()> {
    let [rows, columns] = rows_and_columns(c, size)?;
    output_shape(c, c.make_shape([batch, rows, columns, channels]))
}

/// Rows and columns, as input `size` holds them.
///
/// # Errors
/// INVALID_ARGUMENT if that input is no vector of two elements.
pub fn rows_and_columns(c: &InferenceContext<'_>, size: usize) -> Result<[DimHandle; 2]> {
    let shape = c.with_rank(c.input(size), 1)?;
    c.with_value(c.dim(shape, 0), 2)?;
    Ok(match c.input_i64s(size)?.as_deref() {
        Some(&[rows, columns]) => [c.make_dim(rows), c.make_dim(columns)],
        _ => [c.unknown_dim(), c.unknown_dim()],
    })
}

/// Output 0 of the gradients of resizing: as many images, of as many channels, as input 0, the gradient, has, in the size of input 1, the
/// images; what is not known of the gradient is that of the images.
///
/// # Errors
/// None: what is of another rank than 4 is refused when it runs.
pub fn resized_back_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (grads, images) = (c.input(0), c.input(1));
    if c.rank(grads) != Some(4) || c.rank(images) != Some(4) {
        return output_shape(c, images);
    }
    let of = |axis: i64| match c.value_known(c.dim(grads, axis)) {
        true => c.dim(grads, axis),
        false => c.dim(images, axis),
    };
    output_shape(c, c.make_shape([of(0), c.dim(images, 1), c.dim(images, 2), of(3)]))
}
