//! QuantizedAvgPool and QuantizedMaxPool.

use kernlink::Result;
use kernlink::dtype::Element;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink_geometry::pooling::{Geometry, Pooling};
use kernlink_kernels_common::truncate::Truncate as _;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{QuantizedAvgPool, QuantizedMaxPool};

use crate::number::Quantized;
use crate::slices::{range, set_range};

/// The windows of a node.
struct Windows(Pooling);

impl KernelState for Windows {
    fn new(ctx: &RawConstruction<'_>) -> Result<Windows> {
        Ok(Windows(Pooling::new(ctx.attrs)?))
    }
}

/// What becomes of the numbers that a window sees.
trait Pooled<T> {
    /// What is kept of those that were seen.
    type Total: Copy;

    /// Of none.
    fn start() -> Self::Total;

    fn add(total: Self::Total, number: T) -> Self::Total;

    /// Of `count` numbers, at least one.
    fn end(total: Self::Total, count: usize) -> T;
}

/// Averages towards zero, as integers are divided.
struct Average;

impl<T: Quantized> Pooled<T> for Average {
    type Total = i32;

    #[inline(always)]
    fn start() -> i32 {
        0
    }

    #[inline(always)]
    fn add(total: i32, number: T) -> i32 {
        total.wrapping_add(number.get())
    }

    #[inline(always)]
    fn end(total: i32, count: usize) -> T {
        // Of so few numbers of 8 bits the total has less than 24 bits, and what is next to a quotient that is no whole number is on
        // the same side of all whole numbers, so that the quotient of `float` is exact when it is cut.
        T::from_low_bits(if count <= 1 << 15 { (total as f32 / count as f32).to_i32() } else { total / count as i32 })
    }
}

struct Maximum;

impl<T: Quantized> Pooled<T> for Maximum {
    type Total = T;

    #[inline(always)]
    fn start() -> T {
        T::from_low_bits(T::LOWEST as i32)
    }

    #[inline(always)]
    fn add(total: T, number: T) -> T {
        total.max(number)
    }

    #[inline(always)]
    fn end(total: T, _: usize) -> T {
        total
    }
}

/// Channels, or those of neighbouring pixels, that are computed side by side.
const LANES: usize = 32;

widest! {
    /// `P` of each window, from that of output pixel `place` on.
    fn pool<T: Quantized, P: Pooled<T>>(numbers: &[T], target: &mut [T], place: usize, geometry: Geometry) {
        let Geometry { rows, columns, depth, .. } = geometry;
        let inside = columns.interior();
        let (mut place, mut left_over) = (place, target);
        while !left_over.is_empty() {
            let (column, row) = (place % columns.output, place / columns.output % rows.output);
            let image = place / columns.output / rows.output;
            let (ys, xs) = (rows.taps(row), columns.taps(column));
            let count = (ys.len() * xs.len()).max(1);
            let (top, left) = (rows.start(row), columns.start(column));
            // Neighbours whose windows lie within the input are as one pixel of many channels, if windows move by one.
            let together = if columns.stride == 1 && inside.contains(&column) {
                (inside.end - column).min(left_over.len() / depth)
            } else {
                1
            };
            let target;
            (target, left_over) = left_over.split_at_mut(together * depth);
            place += together;
            let pixels = || {
                ys.clone().flat_map(|y| {
                    let start = (image * rows.input + (top + y as i64) as usize) * columns.input;
                    xs.clone().map(move |x| (start + (left + x as i64) as usize) * depth)
                })
            };
            let (whole, rest) = target.as_chunks_mut::<LANES>();
            let last = whole.len() * LANES;
            for (part, target) in whole.iter_mut().enumerate() {
                let mut totals = [P::start(); LANES];
                for pixel in pixels() {
                    let numbers: &[T; LANES] = numbers[pixel + part * LANES..].first_chunk().expect("as many");
                    for (total, &number) in totals.iter_mut().zip(numbers) {
                        *total = P::add(*total, number);
                    }
                }
                for (target, &total) in target.iter_mut().zip(&totals) {
                    *target = P::end(total, count);
                }
            }
            if rest.is_empty() {
                continue;
            }
            let mut totals = [P::start(); LANES];
            for pixel in pixels() {
                for (total, &number) in totals.iter_mut().zip(&numbers[pixel + last..][..rest.len()]) {
                    *total = P::add(*total, number);
                }
            }
            for (target, &total) in rest.iter_mut().zip(&totals) {
                *target = P::end(total, count);
            }
        }
    }
}

/// `P` of all windows.
fn pooled<T: Element + Quantized, P: Pooled<T>>(
    ctx: &RawContext<'_>,
    geometry: Geometry,
    numbers: &[T],
    target: &mut [T],
) {
    let depth = geometry.depth.max(1);
    let cost = geometry.rows.window.saturating_mul(geometry.columns.window);
    ctx.parallel_chunks(target, depth, cost, |first, target| pool::<T, P>(numbers, target, first / depth, geometry));
}

#[register_kernel(device = Cpu, T = [QUInt8, QInt8])]
fn average<T: Element + Quantized>(windows: &Windows, ctx: &mut KernelContext<'_, QuantizedAvgPool>) -> Result<()> {
    let ends = range(ctx, 1, "the input")?;
    let input = ctx.input_at(0)?.clone();
    let geometry = windows.0.averaged(input.shape())?;
    let mut output = ctx.allocate_output_at(0, geometry.output())?;
    pooled::<T, Average>(ctx, geometry, input.as_slice()?, output.as_mut_slice()?);
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, ends)
}

#[register_kernel(device = Cpu, T = [QUInt8, QInt8])]
fn maximum<T: Element + Quantized>(windows: &Windows, ctx: &mut KernelContext<'_, QuantizedMaxPool>) -> Result<()> {
    let ends = range(ctx, 1, "the input")?;
    let input = ctx.input_at(0)?.clone();
    let geometry = windows.0.geometry(input.shape())?;
    let over_depth = windows.0.over_depth(input.shape())?;
    let numbers = input.as_slice::<T>()?;
    let mut output;
    if let Some((window, shape)) = over_depth {
        output = ctx.allocate_output_at(0, shape)?;
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, 1, window, |first, target| {
            for (target, numbers) in target.iter_mut().zip(numbers[first * window..].chunks(window)) {
                *target = numbers.iter().copied().max().unwrap_or(T::ZERO);
            }
        });
    } else {
        output = ctx.allocate_output_at(0, geometry.output())?;
        pooled::<T, Maximum>(ctx, geometry, numbers, output.as_mut_slice()?);
    }
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, ends)
}
