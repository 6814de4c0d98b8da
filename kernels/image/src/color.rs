//! RGBToHSV and HSVToRGB.

use kernlink::dtype::{Number, Pod, bf16, f16};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::{Result, ensure};
use kernlink_kernels_common::extremes::{max_or_first, max_or_second, min_or_first, min_or_second};
use kernlink_kernels_common::float16::Float16;
use kernlink_kernels_common::number::{Computed, Float};
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{HSVToRGB, RGBToHSV};

/// A dtype of colours, each step of whose computations is rounded to the dtype.
trait Part: Computed<Wide: Float> {
    /// The nearest number of the dtype.
    fn rounded(wide: Self::Wide) -> Self::Wide;
}

impl Part for f32 {
    #[inline(always)]
    fn rounded(wide: f32) -> f32 {
        wide
    }
}

impl Part for f64 {
    #[inline(always)]
    fn rounded(wide: f64) -> f64 {
        wide
    }
}

/// As [`Float16::rounded`], by arithmetic of floats alone, of which loops make vectors: what is added has the last place of the
/// result for its own.
impl Part for f16 {
    #[inline(always)]
    fn rounded(wide: f32) -> f32 {
        let magnitude = wide.abs();
        // What is far beyond the greatest half is infinite in any case.
        let exponent = (magnitude.to_bits() & 0x7f80_0000).min((127 + 20) << 23);
        // Numbers below 2^-14 have the last place of that.
        let added = f32::from_bits(exponent + (13 << 23)).max(0.5);
        let rounded = (magnitude + added) - added;
        let finite = if rounded > 65504.0 { f32::INFINITY } else { rounded };
        finite.copysign(wide)
    }
}

impl Part for bf16 {
    #[inline(always)]
    fn rounded(wide: f32) -> f32 {
        <bf16 as Float16>::rounded(wide)
    }
}

/// A small whole number.
#[inline(always)]
fn whole<W: Number>(number: u8) -> W {
    W::from_i64(number.into())
}

#[inline(always)]
fn hsv<T: Part>([r, g, b]: [T::Wide; 3]) -> [T::Wide; 3] {
    let (zero, one, round) = (T::Wide::ZERO, T::Wide::ONE, T::rounded);
    let parts = |count| round(whole::<T::Wide>(count) / whole(6));
    let value = max_or_second(max_or_second(r, g), b);
    let range = round(value - min_or_second(min_or_second(r, g), b));
    // All is computed before a choice is made, so that the loop over pixels uses vectors.
    let quotient = round(range / value);
    let saturation = if value > zero { quotient } else { zero };
    let norm = round(round(one / range) * parts(1));
    let of = |a: T::Wide, b: T::Wide| round(norm * round(a - b));
    let from_red = of(g, b);
    let from_green = round(of(b, r) + parts(2));
    let from_blue = round(of(r, g) + parts(4));
    let from_others = if g == value { from_green } else { from_blue };
    let hue = if r == value { from_red } else { from_others };
    let hue = if range > zero { hue } else { zero };
    let turned = round(hue + one);
    let hue = if hue < zero { turned } else { hue };
    [hue, saturation, value]
}

#[inline(always)]
fn rgb<T: Part>([hue, saturation, value]: [T::Wide; 3]) -> [T::Wide; 3] {
    let (zero, one, two, round) = (T::Wide::ZERO, T::Wide::ONE, whole::<T::Wide>(2), T::rounded);
    let place = round(hue * whole(6));
    let distance = |from| round(place - whole(from)).abs();
    let clipped = |part| min_or_first(max_or_first(part, zero), one);
    let parts = [round(distance(3) - one), round(two - distance(2)), round(two - distance(4))].map(clipped);
    let white = round(one - saturation);
    parts.map(|part| round(round(white + round(saturation * part)) * value))
}

/// Pixels that are converted at once: their parts are apart then, so that the loop over them uses vectors.
const GROUP: usize = 16;

/// `f` of each three numbers.
#[inline(always)]
pub(super) fn convert<T: Computed>(source: &[T], target: &mut [T], f: impl Fn([T::Wide; 3]) -> [T::Wide; 3]) {
    let (groups, rest) = source.as_chunks::<{ 3 * GROUP }>();
    let (targets, last) = target.as_chunks_mut::<{ 3 * GROUP }>();
    for (group, target) in groups.iter().zip(targets) {
        let mut wide = T::widen_chunk(group);
        let mut parts = [[T::Wide::ZERO; GROUP]; 3];
        for (place, pixel) in wide.as_chunks::<3>().0.iter().enumerate() {
            (parts[0][place], parts[1][place], parts[2][place]) = (pixel[0], pixel[1], pixel[2]);
        }
        let [first, second, third] = &mut parts;
        for ((a, b), c) in first.iter_mut().zip(second).zip(third) {
            [*a, *b, *c] = f([*a, *b, *c]);
        }
        for (place, pixel) in wide.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            *pixel = parts.each_ref().map(|part| part[place]);
        }
        T::narrow_all(&wide, target);
    }
    for (pixel, target) in rest.as_chunks::<3>().0.iter().zip(last.as_chunks_mut::<3>().0) {
        *target = f(pixel.map(T::widen)).map(T::narrow);
    }
}

widest! {
    fn to_hsv<T: Part>(source: &[T], target: &mut [T]) {
        convert(source, target, hsv::<T>);
    }
}

widest! {
    fn to_rgb<T: Part>(source: &[T], target: &mut [T]) {
        convert(source, target, rgb::<T>);
    }
}

/// Converts all pixels of input 0.
fn each_pixel<T: Pod>(ctx: &mut RawContext<'_>, convert: fn(&[T], &mut [T])) -> Result<()> {
    let images = ctx.input_at(0)?;
    let shape = images.shape();
    ensure!(shape.rank() >= 1, InvalidArgument, "input must be at least 1D, not a scalar");
    let channels = shape[shape.rank() - 1];
    ensure!(channels == 3, FailedPrecondition, "input must have 3 channels but has {channels}: its shape is {shape}");
    let source = images.as_slice::<T>()?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, 3, 2, |first, target| {
        convert(&source[first..][..target.len()], target);
    });
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64])]
fn rgb_to_hsv<T: Part>(ctx: &mut KernelContext<'_, RGBToHSV>) -> Result<()> {
    each_pixel(ctx, to_hsv::<T>)
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64])]
fn hsv_to_rgb<T: Part>(ctx: &mut KernelContext<'_, HSVToRGB>) -> Result<()> {
    each_pixel(ctx, to_rgb::<T>)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_as_they_are_converted() {
        let edges = [0.0, 65504.0, 65519.9, 65520.0, 6.1e-5, 5.96e-8, 2.98e-8, 1e-30, f32::MAX, f32::INFINITY];
        let all = (0..u32::MAX).step_by(65_537).map(f32::from_bits).chain(edges).flat_map(|x| [x, -x]);
        // Halfway between two halves, too, and just beside.
        let halves = (0..0x7c00u16).step_by(3).map(|bits| f16::from_bits(bits).to_f32());
        let ties =
            halves.flat_map(|x| [x.to_bits() | 0x1000, x.to_bits() | 0x0fff, x.to_bits() | 0x1001]).map(f32::from_bits);
        for x in all.chain(ties) {
            let (found, expected) = (<f16 as Part>::rounded(x), <f16 as Float16>::rounded(x));
            assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(), "{x:e}: {found}");
        }
    }
}
