//! ResizeArea: each pixel is the mean of the area that it covers. Areas are computed as TensorFlow does it, in `float`.

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::scratch;
use kernlink_geometry::integers::checked_shape;
use kernlink_geometry::resize::{Scaling, resized};
use kernlink_kernels_common::number::AsPrimitive;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::ResizeArea;

/// What a line of the output covers of those of the input, whose indices are still to be clamped.
#[derive(Clone, Copy)]
struct Cover {
    start: i64,
    end: i64,
    first: f32,
    last: f32,
}

impl Cover {
    /// What line `index` covers where the step is `step`.
    fn new(index: usize, step: f32) -> Cover {
        let (from, to) = (index as f32 * step, (index as i64 + 1) as f32 * step);
        let (start, end) = (from.floor() as i64, to.ceil() as i64);
        Cover { start, end, first: weight(start, from, to, step), last: weight(end - 1, from, to, step) }
    }
}

/// How much of line `line` is between two places that are `step` apart.
fn weight(line: i64, from: f32, to: f32, step: f32) -> f32 {
    let (begin, end) = (line as f32, (line + 1) as f32);
    match begin < from {
        true if end > to => step,
        true => end - from,
        false if end > to => to - begin,
        false => 1.0,
    }
}

/// The nearest of `size` lines.
#[inline(always)]
fn clamped(line: i64, size: usize) -> usize {
    line.max(0).min(size as i64 - 1) as usize
}

widest! {
    /// The weighted sums of what the pixels of a line cover.
    fn sum_line<T: AsPrimitive<f32>>(row: &[T], across: &[Cover], channels: usize, sums: &mut [f32]) {
        // A number of channels that is known makes no loop.
        match channels {
            1 => sum_pixels(row, across, 1, sums),
            3 => sum_pixels(row, across, 3, sums),
            4 => sum_pixels(row, across, 4, sums),
            _ => sum_pixels(row, across, channels, sums),
        }
    }
}

#[inline(always)]
fn sum_pixels<T: AsPrimitive<f32>>(row: &[T], across: &[Cover], channels: usize, sums: &mut [f32]) {
    let columns = row.len() / channels;
    let pixel = |line: i64| &row[clamped(line, columns) * channels..][..channels];
    for (cover, sums) in across.iter().zip(sums.chunks_exact_mut(channels)) {
        for (sum, element) in sums.iter_mut().zip(pixel(cover.start)) {
            *sum = element.as_() * cover.first;
        }
        if cover.start + 1 == cover.end {
            continue;
        }
        for line in cover.start + 1..cover.end - 1 {
            sums.iter_mut().zip(pixel(line)).for_each(|(sum, element)| *sum += element.as_());
        }
        for (sum, element) in sums.iter_mut().zip(pixel(cover.end - 1)) {
            *sum += element.as_() * cover.last;
        }
    }
}

widest! {
    /// Adds a line that is multiplied by a number.
    fn add_line(sums: &[f32], weight: f32, target: &mut [f32]) {
        for (target, sum) in target.iter_mut().zip(sums) {
            *target += sum * weight;
        }
    }
}

#[register_kernel(
    device = Cpu,
    host_memory = ["size"],
    T = [i8, u8, i16, u16, i32, i64, f16, bf16, f32, f64],
)]
fn resize_area<T: Pod + AsPrimitive<f32>>(
    attrs: &Attrs<ResizeArea>,
    ctx: &mut KernelContext<'_, ResizeArea>,
) -> Result<()> {
    let ([batch, rows, columns, channels], to) = resized(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    let mut output = ctx.allocate_output_at(0, checked_shape([batch, to[0], to[1], channels].map(Some))?)?;
    if output.num_elements() == 0 {
        return ctx.set_output_at(0, output);
    }
    let scaling = Scaling { align_corners: attrs.align_corners, half_pixel_centers: false };
    let (down, across) = (scaling.step(rows, to[0]), scaling.step(columns, to[1]));
    let scale = (1.0 / f64::from(down * across)) as f32;
    let covers: Vec<Cover> = scratch::collected((0..to[1]).map(|x| Cover::new(x, across)))?;
    let (input, line) = (ctx.input_at(0)?.as_slice::<T>()?, to[1] * channels);
    let cost = 1 + 2 * (rows * columns / (to[0] * to[1]));
    ctx.try_parallel_chunks(output.as_mut_slice::<f32>()?, line, cost, |first, piece| {
        let mut sums = scratch::zeros::<f32>(line)?;
        // The line of which these are the sums: enlarged, the next line of the output needs it again.
        let mut of = None;
        for (number, target) in (first / line..).zip(piece.chunks_exact_mut(line)) {
            let y = number % to[0];
            let cover = Cover::new(y, down);
            let (from, until) = (y as f32 * down, (y as i64 + 1) as f32 * down);
            target.fill(0.0);
            for row in cover.start..cover.end {
                let index = number / to[0] * rows + clamped(row, rows);
                if of != Some(index) {
                    sum_line(&input[index * columns * channels..][..columns * channels], &covers, channels, &mut sums);
                    of = Some(index);
                }
                add_line(&sums, weight(row, from, until, down), target);
            }
            target.iter_mut().for_each(|sum| *sum *= scale);
        }
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}
