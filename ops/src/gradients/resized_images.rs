//! Images that are resized, scaled, or cut into patches.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::{long_dims, shape_of};
use crate::*;

/// Height and width.
pub(super) fn sides(g: &mut GradientScope<'_>, images: &ShapeOf) -> Result<Value> {
    let dims = g.dims(images)?;
    let dims = cast(g, dims, DataType::Int32).build()?;
    strided_slice(g, dims, &[1i32][..], &[3i32][..], &[1i32][..]).build()
}

#[register_gradient(op = ResizeBilinear)]
fn resize_bilinear_gradient(
    g: &mut GradientScope<'_>,
    align_corners: bool,
    half_pixel_centers: bool,
    images: Value,
    d_resized_images: Value,
) -> Result<(Value, NoGradient)> {
    let flow = resize_bilinear_grad(g, d_resized_images, images).align_corners(align_corners);
    Ok((flow.half_pixel_centers(half_pixel_centers).build()?, NoGradient))
}

#[register_gradient(op = ResizeBilinearGrad)]
fn resize_bilinear_grad_gradient(
    g: &mut GradientScope<'_>,
    align_corners: bool,
    half_pixel_centers: bool,
    grads: ShapeOf,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    let size = sides(g, &grads)?;
    let flow = resize_bilinear(g, d_output, size).align_corners(align_corners);
    Ok((flow.half_pixel_centers(half_pixel_centers).build()?, NoGradient))
}

#[register_gradient(op = ResizeNearestNeighbor)]
fn resize_nearest_neighbor_gradient(
    g: &mut GradientScope<'_>,
    align_corners: bool,
    half_pixel_centers: bool,
    images: ShapeOf,
    d_resized_images: Value,
) -> Result<(Value, NoGradient)> {
    let size = sides(g, &images)?;
    let flow = resize_nearest_neighbor_grad(g, d_resized_images, size).align_corners(align_corners);
    Ok((flow.half_pixel_centers(half_pixel_centers).build()?, NoGradient))
}

#[register_gradient(op = ResizeNearestNeighborGrad)]
fn resize_nearest_neighbor_grad_gradient(
    g: &mut GradientScope<'_>,
    align_corners: bool,
    half_pixel_centers: bool,
    grads: ShapeOf,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    let size = sides(g, &grads)?;
    let flow = resize_nearest_neighbor(g, d_output, size).align_corners(align_corners);
    Ok((flow.half_pixel_centers(half_pixel_centers).build()?, NoGradient))
}

/// The numbers of the pixels, cut into the same patches, say where each element of a patch goes back to; what lies outside of
/// the image has number zero there.
#[register_gradient(op = ExtractImagePatches)]
fn extract_image_patches_gradient(
    g: &mut GradientScope<'_>,
    ksizes: Vec<i64>,
    strides: Vec<i64>,
    rates: Vec<i64>,
    padding: String,
    images: ShapeOf,
    d_patches: Value,
) -> Result<Value> {
    let (dims, one) = (long_dims(g, &images)?, g.constant(1i64)?);
    let image = unpack(g, dims, 4).build()?;
    let flowing = shape_of(g, d_patches);
    let flowing = long_dims(g, &flowing)?;
    let patches = unpack(g, flowing, 4).build()?;
    let (batch, depth) = (image[0], image[3]);
    let pixels = mul(g, image[1], image[2]).build()?;
    let behind = add_v2(g, pixels, one).build()?;
    let numbers = range(g, one, behind, one).build()?;
    let as_image = pack(g, [one, image[1], image[2], one]).build()?;
    let numbers = reshape(g, numbers, as_image).build()?;
    let required = ExtractImagePatchesRequired { ksizes: &ksizes, strides: &strides, rates: &rates, padding: &padding };
    let numbers = extract_image_patches(g, numbers, required).build()?;
    let numbers = reshape(g, numbers, &[-1i32][..]).build()?;
    let places = sub(g, numbers, one).build()?;

    let elements = g.constant(ksizes.iter().fold(1i64, |elements, &size| elements.saturating_mul(size)))?;
    let by_element = pack(g, [batch, patches[1], patches[2], elements, depth]).build()?;
    let flow = reshape(g, d_patches, by_element).build()?;
    let flow = transpose(g, flow, &[1i32, 2, 3, 0, 4][..]).build()?;
    let count = size(g, places).build()?;
    let count = cast(g, count, DataType::Int64).build()?;
    let rows = pack(g, [count, batch, depth]).build()?;
    let flow = reshape(g, flow, rows).build()?;
    let summed = unsorted_segment_sum(g, flow, places, pixels).build()?;
    let sides = pack(g, [image[1], image[2], batch, depth]).build()?;
    let summed = reshape(g, summed, sides).build()?;
    transpose(g, summed, &[2i32, 0, 1, 3][..]).build()
}

/// To `half`, `bfloat16` and integers nothing flows.
#[cfg(feature = "image")]
#[register_gradient(op = ResizeBicubic)]
fn resize_bicubic_gradient(
    g: &mut GradientScope<'_>,
    align_corners: bool,
    half_pixel_centers: bool,
    images: Value,
    d_resized_images: Value,
) -> Result<(Option<Value>, NoGradient)> {
    if !matches!(g.dtype(images)?, DataType::Float | DataType::Double) {
        return Ok((None, NoGradient));
    }
    let flow = resize_bicubic_grad(g, d_resized_images, images).align_corners(align_corners);
    Ok((Some(flow.half_pixel_centers(half_pixel_centers).build()?), NoGradient))
}

#[cfg(feature = "image")]
#[register_gradient(op = ScaleAndTranslate)]
fn scale_and_translate_gradient(
    g: &mut GradientScope<'_>,
    kernel_type: String,
    antialias: bool,
    images: Value,
    scale: Value,
    translation: Value,
    d_resized_images: Value,
) -> Result<(Value, NoGradient, NoGradient, NoGradient)> {
    // The gradient's op takes images of `float`, whose size is all that matters.
    let dtype = g.dtype(images)?;
    let size = if dtype == DataType::Float { images } else { cast(g, images, DataType::Float).build()? };
    let flow = scale_and_translate_grad(g, d_resized_images, size, scale, translation).kernel_type(&kernel_type);
    let flow = flow.antialias(antialias).build()?;
    let flow = if dtype == DataType::Float { flow } else { cast(g, flow, dtype).build()? };
    Ok((flow, NoGradient, NoGradient, NoGradient))
}
