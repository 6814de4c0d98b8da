//! MaxPool and AvgPool.

use kernlink::Result;
use kernlink::dtype::{Number, Pod, RealNumber, bf16, f16};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink_geometry::pooling::{Geometry, Pooling};
use kernlink_macros::register_kernel;
use kernlink_ops::{AvgPool, MaxPool};

use super::images::{channels_last, output_images};
use super::vector::widest;

/// Runs `line` for each line of output pixels: the image, the row, the line's elements.
fn for_each_line<T: Pod>(
    geometry: &Geometry,
    ctx: &RawContext<'_>,
    input: &[T],
    output: &mut [T],
    line: impl Fn(&Geometry, &[T], usize, &mut [T]) + Sync,
) {
    if output.is_empty() {
        return;
    }
    let Geometry { rows, columns, depth, .. } = geometry;
    let length = columns.output * depth;
    let image = rows.input * columns.input * depth;
    let taps = rows.window.min(rows.input).saturating_mul(columns.window.min(columns.input));
    ctx.parallel_chunks(output, length, taps.div_ceil(8), |first, piece| {
        for (index, target) in piece.chunks_exact_mut(length).enumerate() {
            let index = first / length + index;
            let (batch, row) = (index / rows.output, index % rows.output);
            line(geometry, &input[batch * image..][..image], row, target);
        }
    });
}

/// Channels whose results stay in registers while a window passes.
const CHANNELS: usize = 32;

/// The part of the input under a window: `count` pixels from each of `rows` offsets on.
struct Window {
    /// Where the first row's pixels begin.
    first: usize,
    rows: usize,
    /// Elements from row to row.
    stride: usize,
    count: usize,
}

impl Window {
    /// What is under the window at `row` and `column`.
    #[inline(always)]
    fn new(geometry: &Geometry, row: usize, column: usize) -> Window {
        let Geometry { rows, columns, depth, .. } = *geometry;
        let (row_taps, column_taps) = (rows.taps(row), columns.taps(column));
        let top = (rows.start(row) + row_taps.start as i64).max(0) as usize;
        let left = (columns.start(column) + column_taps.start as i64).max(0) as usize;
        let stride = columns.input * depth;
        Window { first: top * stride + left * depth, rows: row_taps.len(), stride, count: column_taps.len() }
    }

    /// How many pixels it has.
    fn pixels(&self) -> usize {
        self.rows * self.count
    }

    /// Folds each channel of its pixels, row by row.
    #[inline(always)]
    fn fold<T: Copy>(&self, image: &[T], target: &mut [T], start: T, fold: impl Fn(T, T) -> T) {
        let depth = target.len();
        let pixels = |channel: usize| {
            let rows = (0..self.rows).map(move |row| self.first + row * self.stride + channel);
            rows.flat_map(move |row| (0..self.count).map(move |pixel| row + pixel * depth))
        };
        let (chunks, rest) = target.as_chunks_mut::<CHANNELS>();
        let rest_from = depth - rest.len();
        for (index, chunk) in chunks.iter_mut().enumerate() {
            let mut folded = [start; CHANNELS];
            for pixel in pixels(index * CHANNELS) {
                let Some(source) = image[pixel..].first_chunk::<CHANNELS>() else { continue };
                for (folded, &element) in folded.iter_mut().zip(source) {
                    *folded = fold(*folded, element);
                }
            }
            *chunk = folded;
        }
        if !rest.is_empty() {
            rest.fill(start);
            for pixel in pixels(rest_from) {
                for (folded, &element) in rest.iter_mut().zip(&image[pixel..]) {
                    *folded = fold(*folded, element);
                }
            }
        }
    }
}

#[register_kernel(
    device = Cpu,
    T = [i8, i16, i32, i64, u8, u16, f16, bf16, f32, f64],
    state = |ctx| Pooling::of_maxima(ctx.attrs),
)]
fn max_pool_kernel<T: RealNumber>(pooling: &Pooling, ctx: &mut KernelContext<'_, MaxPool>) -> Result<()> {
    max_pool::<T>(ctx, pooling)
}

/// Writes the greatest elements of input 0 to output 0.
pub(super) fn max_pool<T: RealNumber>(ctx: &mut RawContext<'_>, pooling: &Pooling) -> Result<()> {
    let input = channels_last(ctx, pooling.format, ctx.input_at(0)?)?;
    let geometry = pooling.geometry(input.shape())?;
    let over_depth = pooling.over_depth(input.shape())?;
    let elements = input.as_slice::<T>()?;
    let output = match over_depth {
        Some((window, shape)) => output_images(ctx, pooling.format, shape, |output| {
            ctx.parallel_chunks(output.as_mut_slice::<T>()?, 64, window, |first, piece| {
                let windows = elements[first * window..].chunks_exact(window);
                piece.iter_mut().zip(windows).for_each(|(target, window)| *target = largest(window));
            });
            Ok(())
        }),
        None => output_images(ctx, pooling.format, geometry.output(), |output| {
            for_each_line(&geometry, ctx, elements, output.as_mut_slice::<T>()?, max_line::<T>);
            Ok(())
        }),
    }?;
    ctx.set_output_at(0, output)
}

/// The largest of a window's elements; a NaN counts only in the first place, as in TensorFlow.
fn largest<T: RealNumber>(window: &[T]) -> T {
    let (&first, rest) = window.split_first().expect("a window is not empty");
    rest.iter().fold(first, |largest, &element| if largest < element { element } else { largest })
}

widest! {
    /// A line of maxima. TensorFlow starts at the lowest finite value: NaN and negative infinity never win.
    fn max_line<T: RealNumber>(geometry: &Geometry, image: &[T], row: usize, target: &mut [T]) {
        for (column, target) in target.chunks_exact_mut(geometry.depth).enumerate() {
            let window = Window::new(geometry, row, column);
            window.fold(image, target, T::MIN, |largest, element| if largest < element { element } else { largest });
        }
    }
}

/// A dtype whose average can be taken.
pub(super) trait Average: Number {
    /// The number of elements, as TensorFlow counts it: by adding ones, until they no longer make a difference.
    fn from_count(count: usize) -> Self;
    /// `self / count`
    fn over(self, count: Self) -> Self;
}

macro_rules! average {
    ($($t:ty, $last:expr, $convert:expr);*) => {$(
        impl Average for $t {
            fn from_count(count: usize) -> $t {
                $convert(count.min($last))
            }
            #[inline(always)]
            fn over(self, count: $t) -> $t {
                self / count
            }
        }
    )*};
}
average!(
    f32, 1 << 24, |count: usize| count as f32;
    f64, usize::MAX, |count: usize| count as f64;
    f16, 1 << 11, |count: usize| f16::from_f32(count as f32);
    bf16, 1 << 8, |count: usize| bf16::from_f32(count as f32)
);

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64], state = |ctx| Pooling::new(ctx.attrs))]
fn avg_pool<T: Average>(pooling: &Pooling, ctx: &mut KernelContext<'_, AvgPool>) -> Result<()> {
    let input = channels_last(ctx, pooling.format, ctx.input(AvgPool::VALUE)?)?;
    let geometry = pooling.averaged(input.shape())?;
    let elements = input.as_slice::<T>()?;
    let output = output_images(ctx, pooling.format, geometry.output(), |output| {
        for_each_line(&geometry, ctx, elements, output.as_mut_slice::<T>()?, average_line::<T>);
        Ok(())
    })?;
    ctx.set_output(AvgPool::OUTPUT, output)
}

widest! {
    /// A line of averages over the elements that are not padding.
    fn average_line<T: Average>(geometry: &Geometry, image: &[T], row: usize, target: &mut [T]) {
        for (column, target) in target.chunks_exact_mut(geometry.depth).enumerate() {
            let window = Window::new(geometry, row, column);
            window.fold(image, target, T::ZERO, |sum, element| sum.wrapping_add(element));
            let count = T::from_count(window.pixels());
            target.iter_mut().for_each(|target| *target = target.over(count));
        }
    }
}

#[cfg(test)]
mod tests {
    use kernlink_ops::shapes::{Axis, Padding};

    use super::*;

    #[test]
    fn windows_of_any_depth_are_folded_element_by_element() {
        let rows = Axis::new(5, 3, 2, 1, Padding::Same).unwrap();
        let columns = Axis::new(4, 2, 1, 1, Padding::Explicit((1, 2))).unwrap();
        for depth in [1, 31, 32, 35, 64, 70] {
            let geometry = Geometry { batch: 1, rows, columns, depth };
            let image: Vec<i32> = (0..5 * 4 * depth as i32).map(|i| i * 7919 % 1009 - 504).collect();
            for (row, column) in (0..rows.output).flat_map(|row| (0..columns.output).map(move |column| (row, column))) {
                let mut sums = vec![0; depth];
                let mut pixels = 0;
                for (y, x) in (0..3).flat_map(|y| (0..2).map(move |x| (y, x))) {
                    let Some((y, x)) = rows.at(row, y).zip(columns.at(column, x)) else { continue };
                    pixels += 1;
                    let pixel = &image[(y * 4 + x) * depth..][..depth];
                    sums.iter_mut().zip(pixel).for_each(|(sum, element)| *sum += element);
                }
                let mut folded = vec![-1; depth];
                let window = Window::new(&geometry, row, column);
                window.fold(&image, &mut folded, 0, |a, b| a + b);
                assert_eq!((window.pixels(), folded), (pixels, sums), "{depth} at {row}, {column}");
            }
        }
    }

    #[test]
    fn over_depth_a_nan_counts_in_the_first_place_alone() {
        let nan = f32::NAN;
        assert!(largest(&[nan, 1.0, 2.0]).is_nan() && largest(&[nan]).is_nan());
        assert_eq!(largest(&[1.0, nan, 0.5]), 1.0);
        assert_eq!(largest(&[1.0, nan, 2.0]), 2.0);
        assert_eq!(largest(&[f32::NEG_INFINITY, nan]), f32::NEG_INFINITY);
        assert_eq!(largest(&[-3i32, -5, -1, -2]), -1);
    }
}
