//! ResizeBicubic and its gradient. Places and weights are computed as TensorFlow does it, in `float`.

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::kernel::KernelContext;
use kernlink::tensor::{Tensor, scratch};
use kernlink_geometry::integers::checked_shape;
use kernlink_geometry::resize::{Scaling, bilinear_gradient, resized};
use kernlink_kernels_common::number::AsPrimitive;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{ResizeBicubic, ResizeBicubicGrad};

use super::pixel::Summand;

/// Weights are those of places that are rounded to this part of a pixel.
const STEPS: f32 = 1024.0;

/// The four lines of an image around a place, and their weights.
#[derive(Clone, Copy)]
struct Taps {
    lines: [usize; 4],
    weights: [f32; 4],
}

/// The cubic convolution kernel at a distance below 1, and at 1 more. See Keys, "Cubic Convolution Interpolation for Digital
/// Image Processing", 1981, where `a` is free.
fn cubic(a: f64, steps: f32) -> [f32; 2] {
    let x = steps / STEPS;
    let (near, far) = (f64::from(x), f64::from(x + 1.0));
    [
        (((a + 2.0) * near - (a + 3.0)) * near * near + 1.0) as f32,
        (((a * far - 5.0 * a) * far + 8.0 * a) * far - 4.0 * a) as f32,
    ]
}

impl Taps {
    /// Those of line `index` in an image of `size` lines, where the step is `step`.
    fn new(scaling: Scaling, step: f32, index: usize, size: usize) -> Taps {
        let index = index as f32;
        let place = if scaling.half_pixel_centers { (index + 0.5) * step - 0.5 } else { index * step };
        let floor = place.floor();
        let steps = ((place - floor) * STEPS).round_ties_even();
        let wanted = [-1, 0, 1, 2].map(|tap| floor as i64 + tap);
        let lines = wanted.map(|line| line.max(0).min(size as i64 - 1));
        let a = if scaling.half_pixel_centers { -0.5 } else { -0.75 };
        let ([second, first], [third, fourth]) = (cubic(a, steps), cubic(a, STEPS - steps));
        let mut weights = [first, second, third, fourth];
        if scaling.half_pixel_centers {
            // What is outside has no weight, and the others have more.
            for tap in 0..4 {
                weights[tap] = if lines[tap] == wanted[tap] { weights[tap] } else { 0.0 };
            }
            let sum = weights[0] + weights[1] + weights[2] + weights[3];
            if sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
                let factor = 1.0 / sum;
                weights = weights.map(|weight| weight * factor);
            }
        }
        Taps { lines: lines.map(|line| line as usize), weights }
    }

    /// Those of all of `count` lines.
    fn all(scaling: Scaling, count: usize, size: usize) -> Result<Vec<Taps>> {
        let step = scaling.step(size, count);
        scratch::collected((0..count).map(|index| Taps::new(scaling, step, index, size)))
    }
}

/// The weighted sum of four numbers.
#[inline(always)]
fn sum(weights: [f32; 4], values: [f32; 4]) -> f32 {
    values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2] + values[3] * weights[3]
}

widest! {
    /// The weighted sum of four lines.
    fn sum_lines<T: AsPrimitive<f32>>(lines: [&[T]; 4], weights: [f32; 4], target: &mut [f32]) {
        let [a, b, c, d] = lines.map(|line| &line[..target.len()]);
        for place in 0..target.len() {
            target[place] = sum(weights, [a[place].as_(), b[place].as_(), c[place].as_(), d[place].as_()]);
        }
    }
}

widest! {
    /// For each pixel the weighted sum of four of a line.
    fn sum_across(line: &[f32], across: &[Taps], channels: usize, target: &mut [f32]) {
        // A number of channels that is known makes no loop.
        match channels {
            1 => sum_pixels(line, across, 1, target),
            3 => sum_pixels(line, across, 3, target),
            4 => sum_pixels(line, across, 4, target),
            _ => sum_pixels(line, across, channels, target),
        }
    }
}

#[inline(always)]
fn sum_pixels(line: &[f32], across: &[Taps], channels: usize, target: &mut [f32]) {
    for (taps, target) in across.iter().zip(target.chunks_exact_mut(channels)) {
        let pixels = taps.lines.map(|column| &line[column * channels..][..channels]);
        for channel in 0..channels {
            target[channel] = sum(taps.weights, pixels.map(|pixel| pixel[channel]));
        }
    }
}

#[register_kernel(
    device = Cpu,
    host_memory = ["size"],
    T = [i8, u8, i16, u16, i32, i64, f16, bf16, f32, f64],
    state = |ctx| Scaling::new(ctx.attrs),
)]
fn resize_bicubic<T: Pod + AsPrimitive<f32>>(
    &scaling: &Scaling,
    ctx: &mut KernelContext<'_, ResizeBicubic>,
) -> Result<()> {
    let ([batch, rows, columns, channels], to) = resized(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    let mut output = ctx.allocate_output_at(0, checked_shape([batch, to[0], to[1], channels].map(Some))?)?;
    if output.num_elements() == 0 {
        return ctx.set_output_at(0, output);
    }
    let down = scaling.step(rows, to[0]);
    let across = Taps::all(scaling, to[1], columns)?;
    let (input, line, from) = (ctx.input_at(0)?.as_slice::<T>()?, to[1] * channels, columns * channels);
    let cost = 4 + 2 * columns / to[1];
    ctx.try_parallel_chunks(output.as_mut_slice::<f32>()?, line, cost, |first, piece| {
        let mut between = scratch::zeros::<f32>(from)?;
        for (number, target) in (first / line..).zip(piece.chunks_exact_mut(line)) {
            let taps = Taps::new(scaling, down, number % to[0], rows);
            let rows = taps.lines.map(|row| &input[(number / to[0] * rows + row) * from..][..from]);
            if columns <= 4 * to[1] {
                sum_lines(rows, taps.weights, &mut between);
            } else {
                // Most columns are needed nowhere.
                for column in across.iter().flat_map(|taps| taps.lines) {
                    let pixel = column * channels..(column + 1) * channels;
                    sum_lines(rows.map(|row| &row[pixel.clone()]), taps.weights, &mut between[pixel.clone()]);
                }
            }
            sum_across(&between, &across, channels, target);
        }
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

#[register_kernel(
    device = Cpu,
    op = ResizeBicubicGrad,
    T = [f32, f64],
    state = |ctx| Scaling::new(ctx.attrs),
)]
fn resize_bicubic_grad<T: Summand>(&scaling: &Scaling, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let grads = ctx.input_at(0)?;
    let ([batch, rows, columns, channels], [to_rows, to_columns]) =
        bilinear_gradient(grads.shape(), ctx.input_at(1)?.shape())?;
    let mut output = Tensor::zeros(T::DTYPE, checked_shape([batch, to_rows, to_columns, channels].map(Some))?)?;
    if grads.num_elements() > 0 {
        let (down, across) = (Taps::all(scaling, rows, to_rows)?, Taps::all(scaling, columns, to_columns)?);
        let (grads, line) = (grads.as_slice::<f32>()?, to_columns * channels);
        let cost = 4 + 16 * rows * columns / (to_rows * to_columns);
        // Each piece takes what flows to its rows, in the order of the gradients.
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, line, cost, |first, piece| {
            let mut row = first / line;
            let mut piece = piece;
            while !piece.is_empty() {
                let (image, top) = (row / to_rows, row % to_rows);
                let (part, rest) = piece.split_at_mut(((to_rows - top) * line).min(piece.len()));
                let grads = &grads[image * rows * columns * channels..][..rows * columns * channels];
                for (taps, grads) in down.iter().zip(grads.chunks_exact(columns * channels)) {
                    add_flow(grads, taps, &across, channels, top, line, part);
                }
                row += part.len() / line;
                piece = rest;
            }
        });
    }
    ctx.set_output_at(0, output)
}

widest! {
    /// Adds to rows of an image from row `top` on what flows back from a line.
    fn add_flow<T: Summand>(
        grads: &[f32],
        down: &Taps,
        across: &[Taps],
        channels: usize,
        top: usize,
        line: usize,
        part: &mut [T],
    ) {
        let count = part.len() / line;
        let rows = down.lines.map(|row| row.checked_sub(top).filter(|&row| row < count).map(|row| row * line));
        if rows == [None; 4] {
            return;
        }
        // A number of channels that is known makes no loop.
        match channels {
            1 => add_pixels(grads, rows, down.weights, across, 1, part),
            3 => add_pixels(grads, rows, down.weights, across, 3, part),
            4 => add_pixels(grads, rows, down.weights, across, 4, part),
            _ => add_pixels(grads, rows, down.weights, across, channels, part),
        }
    }
}

#[inline(always)]
fn add_pixels<T: Summand>(
    grads: &[f32],
    rows: [Option<usize>; 4],
    row_weights: [f32; 4],
    across: &[Taps],
    channels: usize,
    part: &mut [T],
) {
    let row_weights = row_weights.map(T::of_float);
    for (taps, grads) in across.iter().zip(grads.chunks_exact(channels)) {
        let weights = taps.weights.map(T::of_float);
        for (row, row_weight) in rows.iter().zip(row_weights) {
            let Some(row) = row else { continue };
            for (column, weight) in taps.lines.iter().zip(weights) {
                let sums = &mut part[row + column * channels..][..channels];
                for (sum, &grad) in sums.iter_mut().zip(grads) {
                    let flow = T::of_float(grad).wrapping_mul(row_weight);
                    *sum = sum.wrapping_add(flow.wrapping_mul(weight));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_cubic_and_add_up_to_one() {
        let scaling = |half_pixel_centers| Scaling { align_corners: false, half_pixel_centers };
        let legacy = Taps::new(scaling(false), 0.5, 1, 4);
        assert_eq!((legacy.lines, legacy.weights), ([0, 0, 1, 2], [-0.09375, 0.59375, 0.59375, -0.09375]));
        for index in 0..8 {
            let taps = Taps::new(scaling(true), 0.5, index, 4);
            assert!((taps.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
    }
}
