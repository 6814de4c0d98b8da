//! QuantizedResizeBilinear.

use kernlink::Result;
use kernlink::dtype::{Element, QInt32, QUInt8};
use kernlink::kernel::{KernelContext, KernelState, RawConstruction};
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink_geometry::resize::{Scaling, resized};
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::QuantizedResizeBilinear;

use crate::number::rounded;
use crate::slices::{range, set_range};

/// The attrs of a node.
struct Manner(Scaling);

impl KernelState for Manner {
    fn new(ctx: &RawConstruction<'_>) -> Result<Manner> {
        Ok(Manner(Scaling::any(ctx.attrs)?))
    }
}

/// The two neighbours of a place, and how far it is from the first.
#[derive(Clone, Copy)]
struct Place<P> {
    before: usize,
    after: usize,
    part: P,
}

/// Where the elements of an output lie between those of an input.
fn places<T: Mixed>(scaling: Scaling, from: usize, to: usize) -> Result<Vec<Place<T::Part>>> {
    let step = scaling.step(from, to);
    scratch::collected((0..to).map(|index| {
        let place = if scaling.half_pixel_centers { (index as f32 + 0.5) * step - 0.5 } else { index as f32 * step };
        let whole = place.floor();
        let after = (place.ceil() as i64).min(from as i64 - 1).max(0) as usize;
        let before = (whole as i64).max(0).min(after as i64) as usize;
        Place { before, after, part: T::part(place - whole) }
    }))
}

/// Four neighbours: of the upper row and of the lower, left and right.
type Neighbours<T> = [[T; 2]; 2];

/// Numbers that are mixed.
trait Mixed: Element + Copy {
    /// How a place between two is told.
    type Part: Copy + Send + Sync;

    /// A place, of which this part of the way lies before it.
    fn part(fraction: f32) -> Self::Part;

    /// Four neighbours, weighted.
    fn mixed(neighbours: Neighbours<Self>, x: Place<Self::Part>, y: Place<Self::Part>) -> Self;
}

impl Mixed for f32 {
    type Part = f32;

    fn part(fraction: f32) -> f32 {
        fraction
    }

    #[inline(always)]
    fn mixed(rows: Neighbours<f32>, x: Place<f32>, y: Place<f32>) -> f32 {
        let [top, bottom] = rows.map(|[left, right]| left + (right - left) * x.part);
        top + (bottom - top) * y.part
    }
}

/// As whole numbers.
impl Mixed for QUInt8 {
    /// In parts of 128.
    type Part = i32;

    fn part(fraction: f32) -> i32 {
        (fraction * 128.0) as i32
    }

    #[inline(always)]
    fn mixed([top, bottom]: Neighbours<QUInt8>, x: Place<i32>, y: Place<i32>) -> QUInt8 {
        // Nothing here has more than 23 bits.
        let one = 128;
        let row = |[left, right]: [QUInt8; 2]| {
            let (left, right) = (i32::from(left.0), i32::from(right.0));
            left * one + (right - left) * x.part
        };
        let (top, bottom) = (row(top), row(bottom));
        let sum = top + (bottom - top) / one * y.part;
        QUInt8(((sum + one / 2) / one) as u8)
    }
}

/// As whole numbers, which TensorFlow rounds to `float` before.
impl Mixed for QInt32 {
    /// In parts of `1 << 30`.
    type Part = i64;

    fn part(fraction: f32) -> i64 {
        (fraction * (1i64 << 30) as f32) as i64
    }

    #[inline(always)]
    fn mixed([top, bottom]: Neighbours<QInt32>, x: Place<i64>, y: Place<i64>) -> QInt32 {
        let one = 1i64 << 30;
        let row = |[left, right]: [QInt32; 2]| {
            let (left, right) = (rounded(left.0), rounded(right.0));
            left.wrapping_mul(one).wrapping_add((right - left).wrapping_mul(x.part))
        };
        let (top, bottom) = (row(top), row(bottom));
        let sum = top.wrapping_add((bottom.wrapping_sub(top) / one).wrapping_mul(y.part));
        QInt32((sum.wrapping_add(one / 2) / one) as i32)
    }
}

/// A row of the output, from two of the input, of so many channels.
#[inline(always)]
fn mix_few<T: Mixed, const CHANNELS: usize>(
    lines: [&[T]; 2],
    xs: &[Place<T::Part>],
    y: Place<T::Part>,
    target: &mut [T],
) {
    let [top, bottom] = lines.map(|line| line.as_chunks::<CHANNELS>().0);
    for (x, target) in xs.iter().zip(target.as_chunks_mut::<CHANNELS>().0) {
        let (a, b, c, d) = (&top[x.before], &top[x.after], &bottom[x.before], &bottom[x.after]);
        for (channel, target) in target.iter_mut().enumerate() {
            *target = T::mixed([[a[channel], b[channel]], [c[channel], d[channel]]], *x, y);
        }
    }
}

widest! {
    /// A row of the output, from two of the input.
    fn mix<T: Mixed>(lines: [&[T]; 2], xs: &[Place<T::Part>], y: Place<T::Part>, target: &mut [T]) {
        let channels = target.len() / xs.len();
        match channels {
            1 => return mix_few::<T, 1>(lines, xs, y, target),
            2 => return mix_few::<T, 2>(lines, xs, y, target),
            3 => return mix_few::<T, 3>(lines, xs, y, target),
            4 => return mix_few::<T, 4>(lines, xs, y, target),
            _ => {}
        }
        for (x, target) in xs.iter().zip(target.chunks_mut(channels)) {
            let [top, bottom] = lines.map(|line| {
                let at = |place: usize| &line[place * channels..][..channels];
                at(x.before).iter().zip(at(x.after))
            });
            for ((target, (&a, &b)), (&c, &d)) in target.iter_mut().zip(top).zip(bottom) {
                *target = T::mixed([[a, b], [c, d]], *x, y);
            }
        }
    }
}

#[register_kernel(device = Cpu, T = [QUInt8, QInt32, f32])]
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
    let ys = places::<T>(manner.0, rows, to_rows)?;
    let xs = places::<T>(manner.0, columns, to_columns)?;
    let numbers = images.as_slice::<T>()?;
    let width = to_columns * channels;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, width, 2, |first, target| {
        for (index, target) in target.chunks_mut(width).enumerate() {
            let row = first / width + index;
            let y = ys[row % to_rows];
            let line =
                |place: usize| &numbers[(row / to_rows * rows + place) * columns * channels..][..columns * channels];
            mix([line(y.before), line(y.after)], &xs, y, target);
        }
    });
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, ends)
}
