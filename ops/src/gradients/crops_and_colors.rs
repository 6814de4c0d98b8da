//! Images that are cropped, transformed, or given in other colours.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::resized_images::sides;
use super::{scalar_like, shape_of};
use crate::*;

/// What flows to the boxes is that of the bilinear method, whatever the method.
#[register_gradient(op = CropAndResize)]
fn crop_and_resize_gradient(
    g: &mut GradientScope<'_>,
    method: String,
    image: Value,
    boxes: Value,
    box_ind: Value,
    d_crops: Value,
) -> Result<(Option<Value>, Option<Value>, NoGradient, NoGradient)> {
    let dtype = g.dtype(image)?;
    let is_float = matches!(dtype, DataType::Half | DataType::Float | DataType::Double);
    let to_image = if g.is_wanted(0) && is_float {
        let size = shape_of(g, image);
        let size = g.dims(&size)?;
        let size = cast(g, size, DataType::Int32).build()?;
        Some(crop_and_resize_grad_image(g, d_crops, boxes, box_ind, size, dtype).method(&method).build()?)
    } else {
        None
    };
    let to_boxes = match g.is_wanted(1) {
        true => Some(crop_and_resize_grad_boxes(g, d_crops, image, boxes, box_ind).build()?),
        false => None,
    };
    Ok((to_image, to_boxes, NoGradient, NoGradient))
}

/// The inverse of projective transforms, `[n, 8]`: matrices whose last element is 1 and left out. The inverse
/// of a matrix is its adjugate but for a factor, by which it is divided anyway.
fn inverted(g: &mut GradientScope<'_>, transforms: Value) -> Result<Value> {
    let matrix = unpack(g, transforms, 8).axis(1).build()?;
    let [a, b, c, d, e, f, x, y] = std::array::from_fn(|index| matrix[index]);
    // `p - q * r`
    let mut less = |p: Value, q: Value, r: Value| {
        let product = mul(g, q, r).build()?;
        sub(g, p, product).build()
    };
    let (first, second, fifth) = (less(e, f, y)?, less(b, c, y)?, less(a, c, x)?);
    let fourth = less(d, f, x)?;
    // `p * q - r * s`
    let mut minor = |p: Value, q: Value, r: Value, s: Value| {
        let (first, second) = (mul(g, p, q).build()?, mul(g, r, s).build()?);
        sub(g, first, second).build()
    };
    let (third, sixth) = (minor(b, f, c, e)?, minor(c, d, a, f)?);
    let (seventh, eighth, last) = (minor(d, y, e, x)?, minor(b, x, a, y)?, minor(a, e, b, d)?);
    let (second, fourth) = (neg(g, second).build()?, neg(g, fourth).build()?);
    let inverse = pack(g, [first, second, third, fourth, fifth, sixth, seventh, eighth]).axis(1).build()?;
    let scale = expand_dims(g, last, 1i32).build()?;
    real_div(g, inverse, scale).build()
}

/// What flows back through a transform is seen through its inverse.
fn seen_through_inverse(g: &mut GradientScope<'_>, images: &ShapeOf, transforms: Value) -> Result<(Value, Value)> {
    Ok((inverted(g, transforms)?, sides(g, images)?))
}

#[register_gradient(op = ImageProjectiveTransformV2)]
fn image_projective_transform_v2_gradient(
    g: &mut GradientScope<'_>,
    interpolation: String,
    fill_mode: String,
    images: ShapeOf,
    transforms: Value,
    d_transformed_images: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let (inverse, size) = seen_through_inverse(g, &images, transforms)?;
    let flow = image_projective_transform_v2(g, d_transformed_images, inverse, size, &interpolation);
    Ok((flow.fill_mode(&fill_mode).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = ImageProjectiveTransformV3)]
fn image_projective_transform_v3_gradient(
    g: &mut GradientScope<'_>,
    interpolation: String,
    fill_mode: String,
    images: ShapeOf,
    transforms: Value,
    d_transformed_images: Value,
) -> Result<(Value, NoGradient, NoGradient, NoGradient)> {
    let (inverse, size) = seen_through_inverse(g, &images, transforms)?;
    let flow = image_projective_transform_v3(g, d_transformed_images, inverse, size, 0.0f32, &interpolation);
    Ok((flow.fill_mode(&fill_mode).build()?, NoGradient, NoGradient, NoGradient))
}

/// `1 / x`, of 0 nothing.
fn inverse_or_zero(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    let one = scalar_like(g, x, 1.0)?;
    div_no_nan(g, one, x).build()
}

/// `1 / x²`, of 0 nothing.
fn inverse_square_or_zero(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    let squared = square(g, x).build()?;
    inverse_or_zero(g, squared)
}

fn product(g: &mut GradientScope<'_>, factors: &[Value]) -> Result<Value> {
    let (first, rest) = factors.split_at(1);
    rest.iter().try_fold(first[0], |product, &factor| mul(g, product, factor).build())
}

/// Where conditions hold, 1; else 0.
fn both(g: &mut GradientScope<'_>, dtype: DataType, first: Value, second: Value) -> Result<Value> {
    let both = logical_and(g, first, second).build()?;
    cast(g, both, dtype).build()
}

/// Each part of a colour changes hue, saturation and value in a way that depends on which parts are the greatest and the least;
/// of equal ones red comes before green, and green before blue.
#[register_gradient(op = RGBToHSV)]
fn rgb_to_hsv_gradient(g: &mut GradientScope<'_>, images: Value, output: Value, d_output: Value) -> Result<Value> {
    let dtype = g.dtype(images)?;
    let parts = unpack(g, images, 3).axis(-1).build()?;
    let [r, green, b] = [parts[0], parts[1], parts[2]];
    let outputs = unpack(g, output, 3).axis(-1).build()?;
    let (saturation, value) = (outputs[1], outputs[2]);
    let flows = unpack(g, d_output, 3).axis(-1).build()?;

    let greatest = {
        let red = (greater_equal(g, r, b).build()?, greater_equal(g, r, green).build()?);
        let greens = (greater(g, green, r).build()?, greater_equal(g, green, b).build()?);
        let blues = (greater(g, b, r).build()?, greater(g, b, green).build()?);
        [both(g, dtype, red.0, red.1)?, both(g, dtype, greens.0, greens.1)?, both(g, dtype, blues.0, blues.1)?]
    };
    let least = {
        let red = (less(g, r, b).build()?, less(g, r, green).build()?);
        let greens = (less_equal(g, green, r).build()?, less(g, green, b).build()?);
        let blues = (less_equal(g, b, r).build()?, less_equal(g, b, green).build()?);
        [both(g, dtype, red.0, red.1)?, both(g, dtype, greens.0, greens.1)?, both(g, dtype, blues.0, blues.1)?]
    };
    let (zero, sixth) = (scalar_like(g, images, 0.0)?, scalar_like(g, images, 6.0)?);
    let mut positive = Vec::new();
    for &part in &parts[..3] {
        let is_positive = greater(g, part, zero).build()?;
        positive.push(cast(g, is_positive, dtype).build()?);
    }
    let range = {
        let (saturation, value) = (inverse_square_or_zero(g, saturation)?, inverse_square_or_zero(g, value)?);
        mul(g, saturation, value).build()?
    };

    let mut sums = Vec::new();
    for own in 0..3 {
        // The other two parts, in the order of the circle of hues.
        let (next, last) = ((own + 1) % 3, (own + 2) % 3);
        let by_value = mul(g, flows[2], greatest[own]).build()?;

        let smaller = product(g, &[least[next], parts[next]])?;
        let other = product(g, &[least[last], parts[last]])?;
        let smaller = add_v2(g, smaller, other).build()?;
        let own_square = inverse_square_or_zero(g, parts[own])?;
        let as_greatest = product(g, &[greatest[own], smaller, own_square])?;
        let larger = product(g, &[greatest[next], parts[next]])?;
        let other = product(g, &[greatest[last], parts[last]])?;
        let larger = add_v2(g, larger, other).build()?;
        let larger = inverse_or_zero(g, larger)?;
        let as_least = product(g, &[least[own], larger])?;
        let slope = sub(g, as_greatest, as_least).build()?;
        let by_saturation = product(g, &[flows[1], positive[own], slope])?;

        // By what the hue changes where this part is the greatest, where the next is, and where the last is.
        let apart = sub(g, parts[last], parts[next]).build()?;
        let first = product(g, &[positive[own], greatest[own], apart, range])?;
        let to_next = sub(g, parts[own], parts[next]).build()?;
        let to_next = inverse_square_or_zero(g, to_next)?;
        let second = product(g, &[positive[next], greatest[next], least[own], apart, to_next])?;
        let inverse = inverse_or_zero(g, apart)?;
        let third = product(g, &[positive[next], greatest[next], least[last], inverse])?;
        let to_last = sub(g, parts[last], parts[own]).build()?;
        let to_last = inverse_square_or_zero(g, to_last)?;
        let fourth = product(g, &[positive[last], greatest[last], least[own], apart, to_last])?;
        let fifth = product(g, &[positive[last], greatest[last], least[next], inverse])?;
        let slope = add_n(g, [first, second, third, fourth, fifth]).build()?;
        let slope = real_div(g, slope, sixth).build()?;
        let by_hue = mul(g, flows[0], slope).build()?;

        sums.push(add_n(g, [by_value, by_saturation, by_hue]).build()?);
    }
    pack(g, [sums[0], sums[1], sums[2]]).axis(-1).build()
}
