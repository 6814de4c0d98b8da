//! AdjustHue and AdjustSaturation.

use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_macros::register_kernel;
use kernlink_ops::{AdjustHue, AdjustSaturation};

/// What lies between the least and the greatest part of a colour: the hue, from 0 to 6, and both.
#[inline(always)]
fn hue_and_range([r, g, b]: [f32; 3]) -> (f32, f32, f32) {
    // Greatest, middle and least part, and the sixth of the circle.
    let (most, middle, least, sixth) = if r < g {
        if b < r {
            (g, r, b, 1)
        } else if b > g {
            (b, g, r, 3)
        } else {
            (g, b, r, 2)
        }
    } else if b < g {
        (r, g, b, 0)
    } else if b > r {
        (b, r, g, 4)
    } else {
        (r, b, g, 5)
    };
    if most == least {
        return (0.0, least, most);
    }
    let ratio = (middle - least) / (most - least);
    (sixth as f32 + if sixth % 2 == 0 { ratio } else { 1.0 - ratio }, least, most)
}

/// The colour of a hue from 0 to 6 whose least and greatest part are these.
#[inline(always)]
fn of_hue(hue: f32, least: f32, most: f32) -> [f32; 3] {
    // What is NaN ends in the last sixth.
    let sixth = if hue < 6.0 { hue as u8 } else { 5 };
    let ratio = hue - f32::from(sixth);
    let ratio = if sixth.is_multiple_of(2) { ratio } else { 1.0 - ratio };
    let middle = least + ratio * (most - least);
    match sixth {
        0 => [most, middle, least],
        1 => [middle, most, least],
        2 => [least, most, middle],
        3 => [least, middle, most],
        4 => [middle, least, most],
        _ => [most, least, middle],
    }
}

/// A hue in the range from 0 to 6.
#[inline(always)]
fn turned(mut hue: f32) -> f32 {
    if hue.abs() > 1e4 {
        // TensorFlow takes one step after the other, and ends at some time or never.
        return hue.rem_euclid(6.0);
    }
    while hue < 0.0 {
        hue += 6.0;
    }
    while hue >= 6.0 {
        hue -= 6.0;
    }
    hue
}

/// Hue, saturation and value, from 0 to 1.
#[inline(always)]
fn hsv([r, g, b]: [f32; 3]) -> [f32; 3] {
    // Of NaN and another the first, as TensorFlow has it.
    let max = |a: f32, b: f32| if a < b { b } else { a };
    let min = |a: f32, b: f32| if b < a { b } else { a };
    let value = max(r, max(g, b));
    let range = value - min(r, min(g, b));
    let saturation = if value > 0.0 { range / value } else { 0.0 };
    let norm = 1.0 / (6.0 * range);
    // TensorFlow adds parts of the circle in `double`.
    let from = |part: f32, sixths: f64| (f64::from(part) + sixths / 6.0) as f32;
    let hue = if r == value {
        norm * (g - b)
    } else if g == value {
        from(norm * (b - r), 2.0)
    } else {
        from(norm * (r - g), 4.0)
    };
    let hue = if range <= 0.0 { 0.0 } else { hue };
    [if hue < 0.0 { hue + 1.0 } else { hue }, saturation, value]
}

/// The colour of hue, saturation and value.
#[inline(always)]
fn rgb([hue, saturation, value]: [f32; 3]) -> [f32; 3] {
    let chroma = saturation * value;
    let rest = value - chroma;
    let place = hue * 6.0;
    // The remainder by 2, of a place from 0 to 6.
    let mut remainder = place;
    while remainder >= 2.0 {
        remainder -= 2.0;
    }
    let middle = chroma * (1.0 - (remainder - 1.0).abs());
    let parts = match place as i8 {
        _ if place.is_nan() || place >= 6.0 => [0.0; 3],
        0 => [chroma, middle, 0.0],
        1 => [middle, chroma, 0.0],
        2 => [0.0, chroma, middle],
        3 => [0.0, middle, chroma],
        4 => [middle, 0.0, chroma],
        _ => [chroma, 0.0, middle],
    };
    parts.map(|part| part + rest)
}

/// `f` of all pixels of input 0, and of the scalar that is input 1.
#[inline(always)]
fn each_pixel(ctx: &mut RawContext<'_>, name: &str, f: impl Fn([f32; 3], f32) -> [f32; 3] + Sync) -> Result<()> {
    let shape = ctx.input_at(0)?.shape();
    ensure!(shape.rank() >= 3, InvalidArgument, "input must be at least 3-D, got shape {shape}");
    ensure_scalar(ctx.input_at(1)?, name)?;
    let channels = shape[shape.rank() - 1];
    ensure!(channels == 3, InvalidArgument, "input must have 3 channels but instead has {channels} channels");
    let scalar = ctx.input_at(1)?.to_scalar::<f32>()?;
    let mut output: Tensor = ctx.take_input_at(0)?;
    output.make_unique()?;
    ctx.parallel_chunks(output.as_mut_slice::<f32>()?, 3, 3, |_, pixels| {
        for pixel in pixels.as_chunks_mut::<3>().0 {
            *pixel = f(*pixel, scalar);
        }
    });
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [float])]
fn adjust_hue(ctx: &mut KernelContext<'_, AdjustHue>) -> Result<()> {
    each_pixel(ctx, "delta", |pixel, delta| {
        let (hue, least, most) = hue_and_range(pixel);
        of_hue(turned(hue + delta * 6.0), least, most)
    })
}

#[register_kernel(device = Cpu, T = [float])]
fn adjust_saturation(ctx: &mut KernelContext<'_, AdjustSaturation>) -> Result<()> {
    each_pixel(ctx, "scale", |pixel, scale| {
        let [hue, saturation, value] = hsv(pixel);
        let scaled = saturation * scale;
        // What is NaN becomes 0.
        let scaled = if scaled > 0.0 { scaled } else { 0.0 };
        rgb([hue, if scaled < 1.0 { scaled } else { 1.0 }, value])
    })
}
