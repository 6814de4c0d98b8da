//! QuantizedResizeBilinear.

use kernlink::dtype::{Element, QInt32, QUInt8};
use kernlink::kernel::{KernelContext, KernelState, RawConstruction};
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::Result;
use kernlink_geometry::resize::{Scaling, resized};
use kernlink_macros::register_kernel;
use kernlink_ops::QuantizedResizeBilinear;

use crate::number::Quantized;
use crate::slices::{range, set_range};

/// The attrs of a node.
struct Manner(Scaling);

impl KernelState for Manner {
    fn new(ctx: &RawConstruction<'_>) -> Result<Manner> {
        Ok(Manner(Scaling::any(ctx.attrs)?))
    }
}

/// The two neighbours of a place, and how far it is from the first, in parts of `1 << bits`.
#[derive(Clone, Copy)]
struct Place {
    before: usize,
    after: usize,
    part: i64,
}

/// Where the elements of an output lie between those of an input.
fn places(scaling: Scaling, from: usize, to: usize, bits: u32) -> Result<Vec<Place>> {
    let step = scaling.step(from, to);
    scratch::collected((0..to).map(|index| {
        let place = if scaling.half_pixel_centers { (index as f32 + 0.5) * step - 0.5 } else { index as f32 * step };
        let whole = place.floor();
        let after = (place.ceil() as i64).min(from as i64 - 1).max(0) as usize;
        let before = (whole as i64).max(0).min(after as i64) as usize;
        Place { before, after, part: ((place - whole) * (1i64 << bits) as f32) as i64 }
    }))
}

/// Numbers that are mixed as whole numbers.
trait Mixed: Element + Quantized {
    /// How finely places are told apart.
    const BITS: u32;
}

impl Mixed for QUInt8 {
    const BITS: u32 = 7;
}

impl Mixed for QInt32 {
    const BITS: u32 = 30;
}

/// Four neighbours, weighted.
#[inline(always)]
fn mixed<T: Mixed>([[top_left, top_right], [bottom_left, bottom_right]]: [[T; 2]; 2], x: i64, y: i64) -> T {
    let one = 1i64 << T::BITS;
    let row = |left: T, right: T| {
        let (left, right) = (i64::from(left.get()), i64::from(right.get()));
        left.wrapping_mul(one).wrapping_add((right - left).wrapping_mul(x))
    };
    let (top, bottom) = (row(top_left, top_right), row(bottom_left, bottom_right));
    let sum = top.wrapping_add((bottom.wrapping_sub(top) / one).wrapping_mul(y));
    T::from_low_bits((sum.wrapping_add(one / 2) / one) as i32)
}

#[register_kernel(device = Cpu, T = [QUInt8, QInt32])]
fn resize<T: Mixed>(manner: &Manner, ctx: &mut KernelContext<'_, QuantizedResizeBilinear>) -> Result<()> {
    let ends = range(ctx, 2, "the images")?;
    let images = ctx.input_at(0)?.clone();
    let ([batch, rows, columns, channels], [to_rows, to_columns]) = resized(images.shape(), ctx.input_at(1)?)?;
    let shape = Shape::from([batch, to_rows, to_columns, channels]);
    shape.check()?;
    if *images.shape() == shape {
        ctx.set_output_at(0, images)?;
        return set_range(ctx, 1, ends);
    }
    let mut output = ctx.allocate_output_at(0, shape)?;
    let ys = places(manner.0, rows, to_rows, T::BITS)?;
    let xs = places(manner.0, columns, to_columns, T::BITS)?;
    let numbers = images.as_slice::<T>()?;
    let width = to_columns * channels;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, width, 2, |first, target| {
        for (index, target) in target.chunks_mut(width).enumerate() {
            let row = first / width + index;
            let y = ys[row % to_rows];
            let line = |place: usize| &numbers[(row / to_rows * rows + place) * columns * channels..][..columns * channels];
            let (top, bottom) = (line(y.before), line(y.after));
            for (x, target) in xs.iter().zip(target.chunks_mut(channels)) {
                let (left, right) = (x.before * channels, x.after * channels);
                for (channel, target) in target.iter_mut().enumerate() {
                    let at = |line: &[T]| [line[left + channel], line[right + channel]];
                    *target = mixed([at(top), at(bottom)], x.part, y.part);
                }
            }
        }
    });
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, ends)
}
