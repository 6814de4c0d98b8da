//! MaxPool and AvgPool, by themselves and with zeros around their images.

use kernlink::Result;
use kernlink::dtype::{Number, Pod, RealNumber, bf16, f16};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink_geometry::pooling::{Geometry, Pooling};
use kernlink_kernels_common::extremes::max_or_first;
use kernlink_kernels_common::float16::Float16;
use kernlink_macros::register_kernel;
use kernlink_ops::{AvgPool, MaxPool, PaddedAvgPool, PaddedMaxPool};

use super::images::{channels_last, output_images};
use super::vector::widest;
use super::window::Window;

/// What computes a line of output pixels: takes the image, the row, the line's elements.
type Line<T> = fn(&Geometry, &[T], usize, &mut [T]);

/// Runs `line` for each line of output pixels.
fn for_each_line<T: Pod>(geometry: &Geometry, ctx: &RawContext<'_>, input: &[T], output: &mut [T], line: Line<T>) {
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

#[register_kernel(
    device = Cpu,
    T = [i8, i16, i32, i64, u8, u16, f16, bf16, f32, f64],
    state = |ctx| Pooling::of_maxima(ctx.attrs),
)]
fn max_pool_kernel<T: RealNumber>(pooling: &Pooling, ctx: &mut KernelContext<'_, MaxPool>) -> Result<()> {
    max_pool::<T>(ctx, pooling, max_line::<T>)
}

#[register_kernel(
    device = Cpu,
    T = [i8, i16, i32, i64, u8, u16, f16, bf16, f32, f64],
    state = |ctx| Pooling::of_maxima(ctx.attrs),
)]
fn padded_max_pool<T: RealNumber>(pooling: &Pooling, ctx: &mut KernelContext<'_, PaddedMaxPool>) -> Result<()> {
    max_pool::<T>(ctx, pooling, padded_max_line::<T>)
}

/// Writes the greatest elements of input 0 to output 0.
pub(super) fn max_pool<T: RealNumber>(ctx: &mut RawContext<'_>, pooling: &Pooling, line: Line<T>) -> Result<()> {
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
            for_each_line(&geometry, ctx, elements, output.as_mut_slice::<T>()?, line);
            Ok(())
        }),
    }?;
    ctx.set_output_at(0, output)
}

/// The largest of a window's elements; a NaN counts only in the first place, as in TensorFlow.
fn largest<T: RealNumber>(window: &[T]) -> T {
    let (&first, rest) = window.split_first().expect("a window is not empty");
    rest.iter().copied().fold(first, max_or_first)
}

widest! {
    /// A line of maxima. TensorFlow starts at the lowest finite value: NaN and negative infinity never win.
    pub(super) fn max_line<T: RealNumber>(geometry: &Geometry, image: &[T], row: usize, target: &mut [T]) {
        for (column, target) in target.chunks_exact_mut(geometry.depth).enumerate() {
            let window = Window::new(geometry, row, column);
            window.fold(image, target, T::MIN, max_or_first, |largest| largest);
        }
    }
}

widest! {
    /// A line of maxima of an image with zeros around it. Zeros and pixels are compared in the order in which a padded image
    /// has them, as the first of two zeros with different signs wins.
    fn padded_max_line<T: RealNumber>(geometry: &Geometry, image: &[T], row: usize, target: &mut [T]) {
        let Geometry { rows, columns, depth, .. } = *geometry;
        let (row_taps, inside) = (rows.taps(row), columns.interior());
        let is_inside = row_taps.len() == rows.window;
        for (column, target) in target.chunks_exact_mut(depth).enumerate() {
            let window = Window::new(geometry, row, column);
            if is_inside && inside.contains(&column) {
                window.fold(image, target, T::MIN, max_or_first, |largest| largest);
                continue;
            }
            let with_zero = |target: &mut [T]| {
                target.iter_mut().for_each(|largest| *largest = max_or_first(*largest, T::ZERO));
            };
            let column_taps = columns.taps(column);
            target.fill(T::MIN);
            if row_taps.start > 0 {
                with_zero(target);
            }
            window.row_starts().for_each(|row| {
                if column_taps.start > 0 {
                    with_zero(target);
                }
                let pixels = &image[row..][..window.count * depth];
                for pixel in pixels.chunks_exact(depth) {
                    target.iter_mut().zip(pixel).for_each(|(largest, &element)| {
                        *largest = max_or_first(*largest, element);
                    });
                }
                if column_taps.end < columns.window {
                    with_zero(target);
                }
            });
            if row_taps.end < rows.window {
                with_zero(target);
            }
        }
    }
}

/// A dtype whose average can be taken.
pub(super) trait Average: Number {
    /// What sums are kept in; their values are the dtype's own.
    type Sum: Copy;
    /// The sum of nothing.
    const NOTHING: Self::Sum;
    /// The number of elements, as TensorFlow counts it: by adding ones, until they no longer make a difference.
    fn from_count(count: usize) -> Self::Sum;
    /// The sum of one element.
    fn widened(self) -> Self::Sum;
    /// The sum with another element.
    fn sum_with(sum: Self::Sum, element: Self) -> Self::Sum;
    /// The sum divided by a number of elements.
    fn over(sum: Self::Sum, count: Self::Sum) -> Self;
    /// One over a number of elements if it is a power of two: what is multiplied by it is what is divided by the number.
    fn exact_inverse(count: Self::Sum) -> Option<Self::Sum>;
    /// The sum multiplied by such an inverse.
    fn times(sum: Self::Sum, inverse: Self::Sum) -> Self;
}

macro_rules! average {
    ($($t:ty, $last:expr;)*) => {$(
        impl Average for $t {
            type Sum = $t;
            const NOTHING: $t = 0.0;
            fn from_count(count: usize) -> $t {
                count.min($last) as $t
            }
            #[inline(always)]
            fn widened(self) -> $t {
                self
            }
            #[inline(always)]
            fn sum_with(sum: $t, element: $t) -> $t {
                sum + element
            }
            #[inline(always)]
            fn over(sum: $t, count: $t) -> $t {
                sum / count
            }
            fn exact_inverse(count: $t) -> Option<$t> {
                (count as usize).is_power_of_two().then(|| 1.0 / count)
            }
            #[inline(always)]
            fn times(sum: $t, inverse: $t) -> $t {
                sum * inverse
            }
        }
    )*};
    (half $($t:ty, $last:expr;)*) => {$(
        impl Average for $t {
            type Sum = f32;
            const NOTHING: f32 = 0.0;
            fn from_count(count: usize) -> f32 {
                count.min($last) as f32
            }
            #[inline(always)]
            fn widened(self) -> f32 {
                Float16::widened(self)
            }
            #[inline(always)]
            fn sum_with(sum: f32, element: $t) -> f32 {
                <$t>::rounded_sum(sum + Float16::widened(element))
            }
            #[inline(always)]
            fn over(sum: f32, count: f32) -> $t {
                <$t>::nearest(sum / count)
            }
            fn exact_inverse(count: f32) -> Option<f32> {
                (count as usize).is_power_of_two().then(|| 1.0 / count)
            }
            #[inline(always)]
            fn times(sum: f32, inverse: f32) -> $t {
                <$t>::nearest(sum * inverse)
            }
        }
    )*};
}
average! {
    f32, 1 << 24;
    f64, usize::MAX;
}
average! {
    half
    f16, 1 << 11;
    bf16, 1 << 8;
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64], state = |ctx| Pooling::new(ctx.attrs))]
fn avg_pool_kernel<T: Average>(pooling: &Pooling, ctx: &mut KernelContext<'_, AvgPool>) -> Result<()> {
    avg_pool::<T>(ctx, pooling, average_line::<T>)
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64], state = |ctx| Pooling::new(ctx.attrs))]
fn padded_avg_pool<T: Average>(pooling: &Pooling, ctx: &mut KernelContext<'_, PaddedAvgPool>) -> Result<()> {
    avg_pool::<T>(ctx, pooling, padded_average_line::<T>)
}

/// Writes the averages of input 0 to output 0.
fn avg_pool<T: Average>(ctx: &mut RawContext<'_>, pooling: &Pooling, line: Line<T>) -> Result<()> {
    let input = channels_last(ctx, pooling.format, ctx.input_at(0)?)?;
    let geometry = pooling.averaged(input.shape())?;
    let elements = input.as_slice::<T>()?;
    let output = output_images(ctx, pooling.format, geometry.output(), |output| {
        for_each_line(&geometry, ctx, elements, output.as_mut_slice::<T>()?, line);
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

/// Writes the averages of a window's channels, given how many elements each counts. The divisions take as long as the sums where a
/// window is small.
#[inline(always)]
fn average<T: Average>(window: &Window, image: &[T], target: &mut [T], count: T::Sum) {
    match T::exact_inverse(count) {
        Some(inverse) => window.fold(image, target, T::NOTHING, T::sum_with, |sum| T::times(sum, inverse)),
        None => window.fold(image, target, T::NOTHING, T::sum_with, |sum| T::over(sum, count)),
    }
}

widest! {
    avx512:
    /// A line of averages over the elements that are not padding.
    fn average_line<T: Average>(geometry: &Geometry, image: &[T], row: usize, target: &mut [T]) {
        for (column, target) in target.chunks_exact_mut(geometry.depth).enumerate() {
            let window = Window::new(geometry, row, column);
            average(&window, image, target, T::from_count(window.pixels()));
        }
    }
}

widest! {
    avx512:
    /// A line of averages of an image with zeros around it. A sum that begins with zero is the same with further zeros.
    fn padded_average_line<T: Average>(geometry: &Geometry, image: &[T], row: usize, target: &mut [T]) {
        let count = T::from_count(geometry.rows.window.saturating_mul(geometry.columns.window));
        for (column, target) in target.chunks_exact_mut(geometry.depth).enumerate() {
            average(&Window::new(geometry, row, column), image, target, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
