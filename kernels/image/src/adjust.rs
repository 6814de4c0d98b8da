//! AdjustHue and AdjustSaturation.

use kernlink::kernel::{KernelContext, RawContext};
use kernlink::{Result, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_kernels_common::extremes::{max_or_first, min_or_first};
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{AdjustHue, AdjustSaturation};

use super::color::convert;

/// One of two numbers.
#[inline(always)]
fn pick(condition: bool, a: f32, b: f32) -> f32 {
    if condition { a } else { b }
}

/// The hue of a colour, from 0 to 6, and its least and greatest part.
#[inline(always)]
fn hue_and_range([r, g, b]: [f32; 3]) -> [f32; 3] {
    let (is_green, below_red, below_green, above_red, above_green) = (r < g, b < r, b < g, b > r, b > g);
    // Of those whose greatest part but for blue is green, and of the others; then with blue.
    let of = |green: [f32; 3], red: [f32; 3]| {
        let of_green = pick(below_red, green[0], pick(above_green, green[1], green[2]));
        pick(is_green, of_green, pick(below_green, red[0], pick(above_red, red[1], red[2])))
    };
    let (most, middle) = (of([g, b, g], [r, b, r]), of([r, g, b], [g, r, b]));
    let (least, sixth) = (of([b, r, r], [b, g, g]), of([1.0, 3.0, 2.0], [0.0, 4.0, 5.0]));
    let ratio = (middle - least) / (most - least);
    let is_odd = sixth == 1.0 || sixth == 3.0 || sixth == 5.0;
    let hue = sixth + pick(is_odd, 1.0 - ratio, ratio);
    [pick(most == least, 0.0, hue), least, most]
}

/// The colour of a hue from 0 to 6 whose least and greatest part are these.
#[inline(always)]
fn of_hue([hue, least, most]: [f32; 3]) -> [f32; 3] {
    // What is NaN ends in the last sixth.
    let at = |limit: f32| f32::from(u8::from(hue >= limit));
    let sixth = pick(hue < 6.0, at(1.0) + at(2.0) + at(3.0) + at(4.0) + at(5.0), 5.0);
    let ratio = hue - sixth;
    let is = |a: f32, b: f32| sixth == a || sixth == b;
    let ratio = pick(is(1.0, 3.0) || sixth == 5.0, 1.0 - ratio, ratio);
    let middle = least + ratio * (most - least);
    let part = |greatest: bool, between: bool| pick(greatest, most, pick(between, middle, least));
    [part(is(0.0, 5.0), is(1.0, 4.0)), part(is(1.0, 2.0), is(0.0, 3.0)), part(is(3.0, 4.0), is(2.0, 5.0))]
}

/// A hue in the range from 0 to 6. TensorFlow takes steps of 6, which are exact as the remainder is, as long as it ends at all.
#[inline(always)]
fn turned(hue: f32) -> f32 {
    let hue = hue % 6.0;
    let hue = pick(hue < 0.0, hue + 6.0, hue);
    // What was just below 0 was rounded.
    pick(hue >= 6.0, hue - 6.0, hue)
}

/// As [`turned`], of a hue from -6 to 12.
#[inline(always)]
fn turned_once(hue: f32) -> f32 {
    let hue = pick(hue < 0.0, hue + 6.0, hue);
    let hue = pick(hue >= 6.0, hue - 6.0, hue);
    pick(hue >= 6.0, hue - 6.0, hue)
}

/// Hue, saturation and value, from 0 to 1.
#[inline(always)]
fn hsv([r, g, b]: [f32; 3]) -> [f32; 3] {
    let value = max_or_first(r, max_or_first(g, b));
    let range = value - min_or_first(r, min_or_first(g, b));
    // TensorFlow flushes denormals: the inverse of one would be infinite, and so no place on the circle.
    let range = pick(range < f32::MIN_POSITIVE, 0.0, range);
    let saturation = pick(value > 0.0, range / value, 0.0);
    let norm = 1.0 / (6.0 * range);
    // TensorFlow adds parts of the circle in `double`.
    let from = |part: f32, sixths: f64| (f64::from(part) + sixths / 6.0) as f32;
    let (from_green, from_blue) = (from(norm * (b - r), 2.0), from(norm * (r - g), 4.0));
    let hue = pick(r == value, norm * (g - b), pick(g == value, from_green, from_blue));
    let hue = pick(range <= 0.0, 0.0, hue);
    let hue = pick(hue.abs() < f32::MIN_POSITIVE, 0.0, hue);
    [pick(hue < 0.0, hue + 1.0, hue), saturation, value]
}

/// The colour of hue, saturation and value.
#[inline(always)]
fn rgb([hue, saturation, value]: [f32; 3]) -> [f32; 3] {
    let chroma = saturation * value;
    let rest = value - chroma;
    let place = hue * 6.0;
    // The remainder by 2, of a place from 0 to 6.
    let remainder = pick(place >= 4.0, place - 4.0, pick(place >= 2.0, place - 2.0, place));
    let middle = chroma * (1.0 - (remainder - 1.0).abs());
    // From one sixth of the circle up to another; nowhere what is NaN, or 6.
    let within = |from: f32, to: f32| place >= from && place < to;
    let part = |greatest: bool, between: bool| pick(greatest, chroma, pick(between, middle, 0.0)) + rest;
    [
        part(within(0.0, 1.0) || within(5.0, 6.0), within(1.0, 2.0) || within(4.0, 5.0)),
        part(within(1.0, 3.0), within(0.0, 1.0) || within(3.0, 4.0)),
        part(within(3.0, 5.0), within(2.0, 3.0) || within(5.0, 6.0)),
    ]
}

widest! {
    /// Turns the hues of colours.
    fn adjust_hues(source: &[f32], delta: f32, target: &mut [f32]) {
        let turn = delta * 6.0;
        if turn.abs() <= 6.0 {
            return convert(source, target, |pixel| {
                let [hue, least, most] = hue_and_range(pixel);
                of_hue([turned_once(hue + turn), least, most])
            });
        }
        convert(source, target, |pixel| {
            let [hue, least, most] = hue_and_range(pixel);
            of_hue([turned(hue + turn), least, most])
        });
    }
}

widest! {
    /// Multiplies the saturations of colours.
    fn adjust_saturations(source: &[f32], scale: f32, target: &mut [f32]) {
        convert(source, target, |pixel| {
            let [hue, saturation, value] = hsv(pixel);
            let scaled = saturation * scale;
            // What is NaN becomes 0.
            let scaled = pick(scaled > 0.0, scaled, 0.0);
            rgb([hue, pick(scaled < 1.0, scaled, 1.0), value])
        });
    }
}

/// `adjust` of all pixels of input 0, by the scalar that is input 1.
fn each_pixel(ctx: &mut RawContext<'_>, name: &str, adjust: fn(&[f32], f32, &mut [f32])) -> Result<()> {
    let images = ctx.input_at(0)?;
    let shape = images.shape();
    ensure!(shape.rank() >= 3, InvalidArgument, "input must be at least 3-D, got shape {shape}");
    ensure_scalar(ctx.input_at(1)?, name)?;
    let channels = shape[shape.rank() - 1];
    ensure!(channels == 3, InvalidArgument, "input must have 3 channels but instead has {channels} channels");
    let scalar = ctx.input_at(1)?.to_scalar::<f32>()?;
    let source = images.as_slice::<f32>()?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    ctx.parallel_chunks(output.as_mut_slice::<f32>()?, 3, 2, |first, target| {
        adjust(&source[first..][..target.len()], scalar, target);
    });
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [float])]
fn adjust_hue(ctx: &mut KernelContext<'_, AdjustHue>) -> Result<()> {
    each_pixel(ctx, "delta", adjust_hues)
}

#[register_kernel(device = Cpu, T = [float])]
fn adjust_saturation(ctx: &mut KernelContext<'_, AdjustSaturation>) -> Result<()> {
    each_pixel(ctx, "scale", adjust_saturations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_turns_are_exact() {
        for turn in -9000..9000 {
            let far = turn as f32 * 1.1;
            let mut hue = far;
            while hue < 0.0 {
                hue += 6.0;
            }
            while hue >= 6.0 {
                hue -= 6.0;
            }
            assert_eq!(turned(far), hue, "{far}");
        }
        for far in [-1e-10, 1e5, -1e9, 3e38, -3e38] {
            assert!((0.0..6.0).contains(&turned(far)), "{far}");
        }
        assert!(turned(f32::INFINITY).is_nan() && turned(f32::NAN).is_nan());
    }

    #[test]
    fn a_denormal_range_has_no_hue() {
        assert_eq!(hsv([0.0, 3e-40, 1e-40]), [0.0, 0.0, 3e-40]);
        assert_eq!(hsv([1.0, 0.0, 1e-40]), [0.0, 1.0, 1.0]);
        let mut adjusted = [0.0; 3];
        adjust_saturations(&[0.0, 3e-40, 1e-40], 0.5, &mut adjusted);
        assert!(adjusted.iter().all(|part| part.abs() < f32::MIN_POSITIVE), "{adjusted:?}");
    }
}
