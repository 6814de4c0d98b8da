//! ResizeBilinear, ResizeNearestNeighbor and their gradients. Places are computed as TensorFlow does it, in `float`.

use kernlink::dtype::{Number, Pod};
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::integers::checked_shape;
use kernlink_geometry::resize::{Scaling, bilinear_gradient, nearest_gradient, resized};
use kernlink_kernels_common::number::{AsPrimitive, mixed};
use kernlink_kernels_common::rows::take_rows;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// For each place in a size of `to` the nearest in a size of `from`.
fn nearest(scaling: Scaling, from: usize, to: usize) -> Result<Vec<usize>> {
    let step = scaling.step(from, to);
    let place =
        |index: usize| if scaling.half_pixel_centers { (index as f32 + 0.5) * step } else { index as f32 * step };
    let whole = |place: f32| if scaling.align_corners { place.round() } else { place.floor() };
    // The cast takes what is negative or NaN to 0.
    scratch::collected((0..to).map(|index| (whole(place(index)) as usize).min(from - 1)))
}

/// For each place in a size of `to` what it is between in a size of `from`.
fn between(scaling: Scaling, from: usize, to: usize) -> Result<Vec<Between>> {
    let step = scaling.step(from, to);
    scratch::collected((0..to).map(|index| {
        let index = index as f32;
        let place = if scaling.half_pixel_centers { (index + 0.5) * step - 0.5 } else { index * step };
        let floor = place.floor();
        let upper = (place.ceil() as usize).min(from - 1);
        Between { lower: (floor as usize).min(upper), upper, fraction: place - floor }
    }))
}

/// Two neighbours, and the weight of the second.
struct Between {
    lower: usize,
    upper: usize,
    fraction: f32,
}

/// A tensor of images of this size.
fn shape_of(sizes: [usize; 4]) -> Result<Shape> {
    checked_shape(sizes.map(Some))
}

#[register_kernel(
    device = Cpu,
    host_memory = ["size"],
    T = [bfloat16, double, float, half, int16, int32, int64, int8, uint16, uint8],
    state = |ctx| Scaling::new(ctx.attrs),
)]
fn resize_nearest_neighbor(&scaling: &Scaling, ctx: &mut KernelContext<'_, ops::ResizeNearestNeighbor>) -> Result<()> {
    let ([batch, rows, columns, channels], to) = resized(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    let mut output = ctx.allocate_output_at(0, shape_of([batch, to[0], to[1], channels])?)?;
    if output.num_elements() == 0 {
        return ctx.set_output_at(0, output);
    }
    let (down, across) = (nearest(scaling, rows, to[0])?, nearest(scaling, columns, to[1])?);
    take_rows(ctx, &mut output, ctx.input_at(0)?, channels, &|pixel| {
        let (line, x) = (pixel / to[1], across[pixel % to[1]]);
        Some((line / to[0] * rows + down[line % to[0]]) * columns + x)
    })?;
    ctx.set_output_at(0, output)
}

#[register_kernel(
    device = Cpu,
    op = ops::ResizeNearestNeighborGrad,
    host_memory = ["size"],
    T = [f32, f64, f16, bf16, i8, i32, u8],
    state = |ctx| Scaling::any(ctx.attrs),
)]
fn resize_nearest_neighbor_grad<T: Number>(&scaling: &Scaling, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let grads = ctx.input_at(0)?;
    let ([batch, rows, columns, channels], to) = nearest_gradient(grads.shape(), ctx.input_at(1)?)?;
    let mut output = Tensor::zeros(T::DTYPE, shape_of([batch, to[0], to[1], channels])?)?;
    if grads.num_elements() > 0 {
        let (down, across) = (nearest(scaling, to[0], rows)?, nearest(scaling, to[1], columns)?);
        let (grads, whole) = (grads.as_slice::<T>()?, to[0] * to[1] * channels);
        let cost = 1 + rows * columns / (to[0] * to[1]);
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, whole, cost, |first, piece| {
            let grads = &grads[first / whole * rows * columns * channels..];
            for (image, grads) in piece.chunks_exact_mut(whole).zip(grads.chunks_exact(rows * columns * channels)) {
                for (pixel, grad) in grads.chunks_exact(channels).enumerate() {
                    let place = down[pixel / columns] * to[1] + across[pixel % columns];
                    let sums = &mut image[place * channels..][..channels];
                    sums.iter_mut().zip(grad).for_each(|(sum, &grad)| *sum = sum.wrapping_add(grad));
                }
            }
        });
    }
    ctx.set_output_at(0, output)
}

/// A line of `C` channels as wide as the output.
fn mix_along<T: AsPrimitive<f32>, const C: usize>(row: &[T], across: &[Between], target: &mut [f32]) {
    let (pixels, _) = row.as_chunks::<C>();
    let (targets, _) = target.as_chunks_mut::<C>();
    for (x, target) in across.iter().zip(targets) {
        let (left, right) = (&pixels[x.lower], &pixels[x.upper]);
        for channel in 0..C {
            target[channel] = mixed(left[channel].as_(), right[channel].as_(), x.fraction);
        }
    }
}

widest! {
    /// As [`mix_along`], of any number of channels.
    fn mix_along_all<T: AsPrimitive<f32>>(row: &[T], across: &[Between], channels: usize, target: &mut [f32]) {
        for (x, target) in across.iter().zip(target.chunks_exact_mut(channels)) {
            let (left, right) = (&row[x.lower * channels..][..channels], &row[x.upper * channels..][..channels]);
            for ((target, &a), &b) in target.iter_mut().zip(left).zip(right) {
                *target = mixed(a.as_(), b.as_(), x.fraction);
            }
        }
    }
}

widest! {
    /// What is a fraction of the way between two lines.
    fn mix(upper: &[f32], lower: &[f32], fraction: f32, target: &mut [f32]) {
        for ((target, &a), &b) in target.iter_mut().zip(upper).zip(lower) {
            *target = mixed(a, b, fraction);
        }
    }
}

#[register_kernel(
    device = Cpu,
    host_memory = ["size"],
    T = [f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16],
    state = |ctx| Scaling::new(ctx.attrs),
)]
fn resize_bilinear<T: Pod + AsPrimitive<f32>>(
    &scaling: &Scaling,
    ctx: &mut KernelContext<'_, ops::ResizeBilinear>,
) -> Result<()> {
    let ([batch, rows, columns, channels], to) = resized(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    let mut output = ctx.allocate_output_at(0, shape_of([batch, to[0], to[1], channels])?)?;
    if output.num_elements() == 0 {
        return ctx.set_output_at(0, output);
    }
    let (down, across) = (between(scaling, rows, to[0])?, between(scaling, columns, to[1])?);
    let (input, line) = (ctx.input_at(0)?.as_slice::<T>()?, to[1] * channels);
    ctx.try_parallel_chunks(output.as_mut_slice::<f32>()?, line, 2, |first, piece| {
        // Two lines of the input, as wide as the output: neighbouring lines of the output often share them.
        let (mut upper, mut lower) = (scratch::zeros::<f32>(line)?, scratch::zeros::<f32>(line)?);
        let mut made = [None; 2];
        for (number, target) in (first / line..).zip(piece.chunks_exact_mut(line)) {
            let y = &down[number % to[0]];
            let wanted = [y.lower, y.upper].map(|row| number / to[0] * rows + row);
            if made[1] == Some(wanted[0]) {
                std::mem::swap(&mut upper, &mut lower);
                made.swap(0, 1);
            }
            for (index, buffer) in [&mut upper, &mut lower].into_iter().enumerate() {
                if made[index] != Some(wanted[index]) {
                    let row = &input[wanted[index] * columns * channels..][..columns * channels];
                    match channels {
                        1 => mix_along::<T, 1>(row, &across, buffer),
                        3 => mix_along::<T, 3>(row, &across, buffer),
                        4 => mix_along::<T, 4>(row, &across, buffer),
                        _ => mix_along_all(row, &across, channels, buffer),
                    }
                    made[index] = Some(wanted[index]);
                }
            }
            mix(&upper, &lower, y.fraction, target);
        }
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

#[register_kernel(
    device = Cpu,
    op = ops::ResizeBilinearGrad,
    T = [f32, f64, f16, bf16],
    state = |ctx| Scaling::new(ctx.attrs),
)]
fn resize_bilinear_grad<T: Number>(&scaling: &Scaling, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let grads = ctx.input_at(0)?;
    let ([batch, rows, columns, channels], [to_rows, to_columns]) =
        bilinear_gradient(grads.shape(), ctx.input_at(1)?.shape())?;
    let mut output = Tensor::zeros(T::DTYPE, shape_of([batch, to_rows, to_columns, channels])?)?;
    if grads.num_elements() > 0 {
        let (down, across) = (between(scaling, to_rows, rows)?, between(scaling, to_columns, columns)?);
        let (grads, whole) = (grads.as_slice::<f32>()?, to_rows * to_columns * channels);
        let cost = 1 + 8 * rows * columns / (to_rows * to_columns);
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, whole, cost, |first, piece| {
            let grads = &grads[first / whole * rows * columns * channels..];
            for (image, grads) in piece.chunks_exact_mut(whole).zip(grads.chunks_exact(rows * columns * channels)) {
                for (pixel, grad) in grads.chunks_exact(channels).enumerate() {
                    let (y, x) = (&down[pixel / columns], &across[pixel % columns]);
                    for (row, row_weight) in [(y.lower, 1.0 - y.fraction), (y.upper, y.fraction)] {
                        for (column, weight) in [(x.lower, 1.0 - x.fraction), (x.upper, x.fraction)] {
                            let sums = &mut image[(row * to_columns + column) * channels..][..channels];
                            for (sum, &grad) in sums.iter_mut().zip(grad) {
                                *sum = sum.wrapping_add(T::from_f64((grad * row_weight * weight).into()));
                            }
                        }
                    }
                }
            }
        });
    }
    ctx.set_output_at(0, output)
}
