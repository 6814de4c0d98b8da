//! ScaleAndTranslate and its gradient.

use kernlink::dtype::Pod;
use kernlink::kernel::{KernelContext, RawConstruction, RawContext};
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_geometry::integers::checked_shape;
use kernlink_geometry::resize::{images, pair, resized};
use kernlink_kernels_common::number::AsPrimitive;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{ScaleAndTranslate, ScaleAndTranslateGrad};

use super::spans::{Kernel, Move, Spans};

/// What the attrs say.
#[derive(Clone, Copy)]
struct Way {
    kernel: Kernel,
    antialias: bool,
}

impl Way {
    fn new(ctx: &RawConstruction<'_>) -> Result<Way> {
        let name: String = ctx.attrs.required("kernel_type")?;
        Ok(Way { kernel: Kernel::from_name(&name)?, antialias: ctx.attrs.required("antialias")? })
    }

    fn spans(self, outputs: usize, inputs: usize, way: Move) -> Result<Spans> {
        Spans::new(self.kernel, outputs, inputs, way, self.antialias)
    }
}

/// How rows and columns move: inputs 2 and 3.
fn moves(ctx: &RawContext<'_>) -> Result<[Move; 2]> {
    let scales = pair::<f32>(ctx.input_at(2)?, "scale")?;
    ensure!(
        scales.iter().all(|&scale| scale > 0.0),
        InvalidArgument,
        "Scale must be greater than zero, not {} and {}",
        scales[0],
        scales[1]
    );
    let translations = pair::<f32>(ctx.input_at(3)?, "translation")?;
    Ok([0, 1].map(|axis| Move { scale: scales[axis], translation: translations[axis] }))
}

widest! {
    /// Adds a line that is multiplied by a number.
    fn add_line<T: AsPrimitive<f32>>(line: &[T], weight: f32, sums: &mut [f32]) {
        for (sum, element) in sums.iter_mut().zip(line) {
            *sum += weight * element.as_();
        }
    }
}

widest! {
    /// For each pixel the weighted sum of those of a line.
    fn sum_across(line: &[f32], across: &Spans, channels: usize, target: &mut [f32]) {
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
fn sum_pixels(line: &[f32], across: &Spans, channels: usize, target: &mut [f32]) {
    let columns = line.len() / channels;
    let is_finite = line.iter().all(|element| element.is_finite());
    for (x, target) in target.chunks_exact_mut(channels).enumerate() {
        let (start, weights) = across.at(x, columns);
        target.fill(0.0);
        for (pixel, weight) in line[start * channels..].chunks_exact(channels).zip(weights) {
            target.iter_mut().zip(pixel).for_each(|(sum, element)| *sum += weight * element);
        }
        if !is_finite {
            let zeros = across.zeros(x, columns);
            for pixel in line[zeros.start * channels..zeros.end * channels].chunks_exact(channels) {
                target.iter_mut().zip(pixel).for_each(|(sum, element)| *sum += 0.0 * element);
            }
        }
    }
}

/// Writes images whose rows and columns are sums over spans of those of `input`.
fn gather<T: Pod + AsPrimitive<f32>>(
    ctx: &RawContext<'_>,
    input: &[T],
    [rows, columns, channels]: [usize; 3],
    [down, across]: [&Spans; 2],
    [to_rows, to_columns]: [usize; 2],
    output: &mut [f32],
) -> Result<()> {
    let (line, from) = (to_columns * channels, columns * channels);
    let cost = 1 + across.mean_count().saturating_add(down.mean_count().saturating_mul(columns) / (8 * to_columns));
    // 0 times an element is 0, or NaN.
    let is_finite = input.iter().all(|element| element.as_().is_finite());
    ctx.try_parallel_chunks(output, line, cost, |first, piece| {
        let mut between = scratch::zeros::<f32>(from)?;
        for (number, target) in (first / line..).zip(piece.chunks_exact_mut(line)) {
            let (start, weights) = down.at(number % to_rows, rows);
            between.fill(0.0);
            for (row, &weight) in (number / to_rows * rows + start..).zip(weights) {
                add_line(&input[row * from..][..from], weight, &mut between);
            }
            if !is_finite {
                for row in down.zeros(number % to_rows, rows) {
                    add_line(&input[(number / to_rows * rows + row) * from..][..from], 0.0, &mut between);
                }
            }
            sum_across(&between, across, channels, target);
        }
        Ok(())
    })
}

#[register_kernel(
    device = Cpu,
    host_memory = ["size", "scale", "translation"],
    T = [i8, u8, i16, u16, i32, i64, bf16, f16, f32, f64],
    state = |ctx| Way::new(ctx),
)]
fn scale_and_translate<T: Pod + AsPrimitive<f32>>(
    &way: &Way,
    ctx: &mut KernelContext<'_, ScaleAndTranslate>,
) -> Result<()> {
    let ([batch, rows, columns, channels], to) = resized(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    let [down, across] = moves(ctx)?;
    let mut output = ctx.allocate_output_at(0, checked_shape([batch, to[0], to[1], channels].map(Some))?)?;
    if output.num_elements() > 0 {
        let (down, across) = (way.spans(to[0], rows, down)?, way.spans(to[1], columns, across)?);
        let input = ctx.input_at(0)?.as_slice::<T>()?;
        gather(ctx, input, [rows, columns, channels], [&down, &across], to, output.as_mut_slice()?)?;
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, host_memory = ["scale", "translation"], T = [float], state = |ctx| Way::new(ctx))]
fn scale_and_translate_grad(&way: &Way, ctx: &mut KernelContext<'_, ScaleAndTranslateGrad>) -> Result<()> {
    let [batch, rows, columns, channels] = images(ctx.input_at(0)?.shape(), "input_grad")?;
    let [_, to_rows, to_columns, _] = images(ctx.input_at(1)?.shape(), "original_image")?;
    let [down, across] = moves(ctx)?;
    let mut output = ctx.allocate_output_at(0, checked_shape([batch, to_rows, to_columns, channels].map(Some))?)?;
    let across = way.spans(columns, to_columns, across)?.transposed(to_columns)?;
    let down = way.spans(rows, to_rows, down)?.transposed(to_rows)?;
    if output.num_elements() > 0 {
        let grads = ctx.input_at(0)?.as_slice::<f32>()?;
        let from = [rows, columns, channels];
        gather(ctx, grads, from, [&down, &across], [to_rows, to_columns], output.as_mut_slice()?)?;
    }
    ctx.set_output_at(0, output)
}
