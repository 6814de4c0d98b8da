//! QuantizedAvgPool and QuantizedMaxPool.

use kernlink::Result;
use kernlink::dtype::Element;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink_geometry::pooling::{Geometry, Pooling};
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

widest! {
    fn add<T: Quantized>(numbers: &[T], sums: &mut [i32]) {
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum += number.get();
        }
    }
}

widest! {
    fn keep_greatest<T: Quantized>(numbers: &[T], greatest: &mut [T]) {
        for (greatest, number) in greatest.iter_mut().zip(numbers) {
            *greatest = (*greatest).max(*number);
        }
    }
}

/// Channels whose sums are added up together.
const LANES: usize = 64;

/// `f` of each window: what walks over its pixels, their number, and where the result goes.
fn each_window<T: Element + Quantized>(
    ctx: &RawContext<'_>,
    geometry: Geometry,
    numbers: &[T],
    target: &mut [T],
    f: impl Fn(&dyn Fn(&mut dyn FnMut(&[T])), usize, &mut [T]) + Sync,
) {
    let Geometry { rows, columns, depth, .. } = geometry;
    ctx.parallel_chunks(target, depth.max(1), rows.window.saturating_mul(columns.window), |first, target| {
        for (index, target) in target.chunks_mut(depth.max(1)).enumerate() {
            let place = first / depth.max(1) + index;
            let (column, row) = (place % columns.output, place / columns.output % rows.output);
            let image = place / columns.output / rows.output;
            let (ys, xs) = (rows.taps(row), columns.taps(column));
            let (top, left) = (rows.start(row), columns.start(column));
            let count = ys.len() * xs.len();
            let walk = |visit: &mut dyn FnMut(&[T])| {
                for y in ys.clone() {
                    let start = (image * rows.input + (top + y as i64) as usize) * columns.input;
                    for x in xs.clone() {
                        visit(&numbers[(start + (left + x as i64) as usize) * depth..][..depth]);
                    }
                }
            };
            f(&walk, count, target);
        }
    });
}

/// Averages towards zero, as integers are divided.
#[register_kernel(device = Cpu, T = [QUInt8, QInt8])]
fn average<T: Element + Quantized>(windows: &Windows, ctx: &mut KernelContext<'_, QuantizedAvgPool>) -> Result<()> {
    let ends = range(ctx, 1, "the input")?;
    let input = ctx.input_at(0)?.clone();
    let geometry = windows.0.averaged(input.shape())?;
    let mut output = ctx.allocate_output_at(0, geometry.output())?;
    each_window(ctx, geometry, input.as_slice::<T>()?, output.as_mut_slice::<T>()?, |walk, count, target| {
        for (part, target) in target.chunks_mut(LANES).enumerate() {
            let mut sums = [0; LANES];
            let sums = &mut sums[..target.len()];
            walk(&mut |pixel| add(&pixel[part * LANES..], sums));
            for (target, sum) in target.iter_mut().zip(sums) {
                *target = T::from_low_bits(*sum / count.max(1) as i32);
            }
        }
    });
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
        each_window(ctx, geometry, numbers, output.as_mut_slice::<T>()?, |walk, _, target| {
            target.fill(T::from_low_bits(T::LOWEST as i32));
            walk(&mut |pixel| keep_greatest(pixel, target));
        });
    }
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, ends)
}
