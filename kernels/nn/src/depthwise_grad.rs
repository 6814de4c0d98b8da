//! DepthwiseConv2dNativeBackpropInput and DepthwiseConv2dNativeBackpropFilter.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::depthwise::{Depthwise, Geometry};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{DepthwiseConv2dNativeBackpropFilter, DepthwiseConv2dNativeBackpropInput};

use super::convolve_grad::{Phase, crop, phases, scatter};
use super::depthwise::{SumProducts, by_lines};
use super::images::{channels_last, output_images};
use super::narrow::gradient;
use super::space::{self, ONE_PLANE};
use super::vector::widest;

fn of_input<T: SumProducts>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    filter: &Tensor,
    gradient: &Tensor,
    output: &mut Tensor,
) -> Result<()> {
    if geometry.multiplier == 1 {
        return mirrored::<T>(ctx, geometry, filter, gradient, output);
    }
    let (filter, gradient) = (filter.as_slice::<T>()?, gradient.as_slice::<T>()?);
    let depth = geometry.in_depth;
    let (length, height) = (geometry.columns.input * depth, geometry.rows.output);
    let flow = geometry.columns.output * depth * geometry.multiplier;
    let taps = geometry.rows.window * geometry.columns.window;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, length, taps * geometry.multiplier, |first, piece| {
        for (index, target) in piece.chunks_exact_mut(length).enumerate() {
            let (image, line) =
                ((first / length + index) / geometry.rows.input, (first / length + index) % geometry.rows.input);
            multiplied(geometry, filter, &gradient[image * height * flow..][..height * flow], line, target);
        }
    });
    Ok(())
}

widest! {
    /// A line of the input's gradient where input channels have several output channels.
    fn multiplied<T: Number>(geometry: &Geometry, filter: &[T], image: &[T], line: usize, target: &mut [T]) {
        let (rows, columns, depth, multiplier) =
            (&geometry.rows, &geometry.columns, geometry.in_depth, geometry.multiplier);
        target.fill(T::ZERO);
        for row_tap in 0..rows.window {
            let place = (line + rows.before).checked_sub(row_tap * rows.dilation).filter(|place| place % rows.stride == 0);
            let Some(row) = place.map(|place| place / rows.stride).filter(|&row| row < rows.output) else { continue };
            for column in 0..columns.output {
                let flow = &image[(row * columns.output + column) * depth * multiplier..][..depth * multiplier];
                for column_tap in columns.taps(column) {
                    let Some(x) = columns.at(column, column_tap) else { continue };
                    let factors = &filter[(row_tap * columns.window + column_tap) * depth * multiplier..];
                    let each = flow.chunks_exact(multiplier).zip(factors.chunks_exact(multiplier));
                    for (target, (flow, factors)) in target[x * depth..][..depth].iter_mut().zip(each) {
                        for (&flow, &factor) in flow.iter().zip(factors) {
                            *target = target.wrapping_add(flow.wrapping_mul(factor));
                        }
                    }
                }
            }
        }
    }
}

/// The input's gradient where each channel has one filter: it is a depthwise convolution itself, with the filter
/// mirrored; with strides several.
fn mirrored<T: SumProducts>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    filter: &Tensor,
    gradient: &Tensor,
    output: &mut Tensor,
) -> Result<()> {
    let depth = geometry.in_depth;
    let (rows, columns) = (phases(&geometry.rows)?, phases(&geometry.columns)?);
    let outputs = [geometry.rows.output, geometry.columns.output];
    let plane = &Phase::ONE;
    let whole = space::Geometry {
        batch: gradient.shape()[0],
        planes: ONE_PLANE,
        rows: geometry.rows,
        columns: geometry.columns,
        in_depth: depth,
        patch_depth: depth,
        out_depth: depth,
    };
    let of_phase = |row: &Phase, column: &Phase, output: &mut Tensor| {
        let skipped = [0, row.skipped(outputs[0]), column.skipped(outputs[1])];
        let turned = Geometry {
            batch: whole.batch,
            rows: row.axis(outputs[0], skipped[1]),
            columns: column.axis(outputs[1], skipped[2]),
            in_depth: depth,
            multiplier: 1,
        };
        let elements = filter.as_slice::<T>()?;
        let mut mirrored = Tensor::alloc(T::DTYPE, [row.taps, column.taps, depth])?;
        for (tap, target) in mirrored.as_mut_slice::<T>()?.chunks_exact_mut(depth).enumerate() {
            let (y, x) = (row.mirrored(tap / column.taps), column.mirrored(tap % column.taps));
            target.copy_from_slice(&elements[(y * geometry.columns.window + x) * depth..][..depth]);
        }
        if skipped == [0; 3] {
            return by_lines::<T>(ctx, &turned, gradient, &mirrored, output, None);
        }
        by_lines::<T>(ctx, &turned, &crop(&whole, skipped, gradient.as_slice::<T>()?)?, &mirrored, output, None)
    };
    let seen = |phase: &Phase, outputs: usize| phase.taps > 0 && phase.skipped(outputs) < outputs;
    if let ([row], [column]) = (&rows[..], &columns[..])
        && seen(row, outputs[0])
        && seen(column, outputs[1])
    {
        return of_phase(row, column, output);
    }
    output.as_mut_slice::<T>()?.fill(<T as Number>::ZERO);
    for row in rows.iter().filter(|row| seen(row, outputs[0])) {
        for column in columns.iter().filter(|column| seen(column, outputs[1])) {
            let mut part = Tensor::alloc(T::DTYPE, [whole.batch, row.count, column.count, depth])?;
            of_phase(row, column, &mut part)?;
            scatter(ctx, &whole, [plane, row, column], part.as_slice::<T>()?, output.as_mut_slice::<T>()?);
        }
    }
    Ok(())
}

fn of_filter<T: Number>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    input: &Tensor,
    gradient: &Tensor,
    output: &mut Tensor,
) -> Result<()> {
    /// Elements of all the gradients that are added at the end.
    const PARTS: usize = 1 << 22;
    let lines = gradient.shape()[0] * geometry.rows.output;
    let length = output.num_elements();
    // Follows from the sizes alone, so that the result does not depend on the number of threads.
    let parts = (PARTS / length).clamp(1, 32).min(lines);
    let (input, gradient) = (input.as_slice::<T>()?, gradient.as_slice::<T>()?);
    let mut scratch = Tensor::zeros(T::DTYPE, [parts, length])?;
    let sums = scratch.as_mut_slice::<T>()?;
    let cost = (gradient.len() / (parts * geometry.in_depth * geometry.multiplier)).div_ceil(8);
    ctx.parallel_chunks(sums, length, cost, |first, piece| {
        for (index, sums) in piece.chunks_exact_mut(length).enumerate() {
            let part = first / length + index;
            add_lines(geometry, input, gradient, part * lines / parts..(part + 1) * lines / parts, sums);
        }
    });
    let output = output.as_mut_slice::<T>()?;
    output.fill(T::ZERO);
    for sums in sums.chunks_exact(length) {
        output.iter_mut().zip(sums).for_each(|(target, &sum)| *target = target.wrapping_add(sum));
    }
    Ok(())
}

/// Adds what some lines of output pixels give to the filter's gradient.
fn add_lines<T: Number>(
    geometry: &Geometry,
    input: &[T],
    gradient: &[T],
    lines: std::ops::Range<usize>,
    sums: &mut [T],
) {
    let (rows, columns, depth) = (&geometry.rows, &geometry.columns, geometry.in_depth);
    let channels = depth * geometry.multiplier;
    for line in lines {
        let (image, row) = (line / rows.output, line % rows.output);
        for row_tap in rows.taps(row) {
            let Some(y) = rows.at(row, row_tap) else { continue };
            for column_tap in 0..columns.window {
                let seen = columns.outputs(column_tap);
                let Some(x) = columns.at(seen.start, column_tap).filter(|_| !seen.is_empty()) else { continue };
                let pixels = SeenPixels {
                    source: &input[((image * rows.input + y) * columns.input + x) * depth..],
                    stride: columns.stride * depth,
                    flow: &gradient[(line * columns.output + seen.start) * channels..][..seen.len() * channels],
                    channels,
                    count: seen.len(),
                };
                let sums = &mut sums[(row_tap * columns.window + column_tap) * channels..][..channels];
                if geometry.multiplier == 1 {
                    add_products(pixels, sums);
                } else {
                    add_multiplied(pixels, geometry.multiplier, sums);
                }
            }
        }
    }
}

/// Pixels of a line that one tap of the window sees.
#[derive(Clone, Copy)]
struct SeenPixels<'a, T> {
    source: &'a [T],
    /// Elements from pixel to pixel of `source`.
    stride: usize,
    /// What flows back into each.
    flow: &'a [T],
    /// Elements from pixel to pixel of `flow`.
    channels: usize,
    count: usize,
}

widest! {
    avx512:
    /// Adds to the sum of each channel the products of all pixels.
    fn add_products<T: Number>(pixels: SeenPixels<'_, T>, sums: &mut [T]) {
        let mut channel = 0;
        // As many sums as registers hold.
        while channel + 64 <= sums.len() {
            add_block::<T, 64>(pixels, channel, sums);
            channel += 64;
        }
        while channel + 16 <= sums.len() {
            add_block::<T, 16>(pixels, channel, sums);
            channel += 16;
        }
        if channel < sums.len() {
            for pixel in 0..pixels.count {
                let source = &pixels.source[pixel * pixels.stride..][channel..sums.len()];
                let flow = &pixels.flow[pixel * pixels.channels..][channel..sums.len()];
                for ((sum, &flow), &element) in sums[channel..].iter_mut().zip(flow).zip(source) {
                    *sum = sum.wrapping_add(flow.wrapping_mul(element));
                }
            }
        }
    }
}

/// [`add_products`] of `B` channels.
#[inline(always)]
fn add_block<T: Number, const B: usize>(pixels: SeenPixels<'_, T>, channel: usize, sums: &mut [T]) {
    let mut block = [T::ZERO; B];
    for pixel in 0..pixels.count {
        let source = &pixels.source[pixel * pixels.stride + channel..][..B];
        let flow = &pixels.flow[pixel * pixels.channels + channel..][..B];
        for index in 0..B {
            block[index] = block[index].wrapping_add(flow[index].wrapping_mul(source[index]));
        }
    }
    for (sum, added) in sums[channel..].iter_mut().zip(block) {
        *sum = sum.wrapping_add(added);
    }
}

widest! {
    /// [`add_products`] where each input channel has `multiplier` output channels.
    fn add_multiplied<T: Number>(pixels: SeenPixels<'_, T>, multiplier: usize, sums: &mut [T]) {
        for pixel in 0..pixels.count {
            let source = &pixels.source[pixel * pixels.stride..];
            let flow = &pixels.flow[pixel * pixels.channels..][..pixels.channels];
            let each = sums.chunks_exact_mut(multiplier).zip(flow.chunks_exact(multiplier)).zip(source);
            for ((sums, flow), &element) in each {
                for (sum, &flow) in sums.iter_mut().zip(flow) {
                    *sum = sum.wrapping_add(flow.wrapping_mul(element));
                }
            }
        }
    }
}

#[register_kernel(
    device = Cpu,
    op = DepthwiseConv2dNativeBackpropInput,
    T = [f16, bf16, f32, f64],
    state = |ctx| Depthwise::new(ctx.attrs),
)]
fn for_input<T: Computed<Wide: SumProducts>>(convolution: &Depthwise, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (filter, dy, sizes) = (ctx.input(O::FILTER)?, ctx.input(O::OUT_BACKPROP)?, ctx.input(O::INPUT_SIZES)?);
    let dy = channels_last(ctx, convolution.format, dy)?;
    let (shape, geometry) = convolution.backward_to_input(sizes, filter.shape(), dy.shape())?;
    let output = output_images(ctx, convolution.format, shape, |output| {
        gradient::<T>(ctx, [filter, &dy], output, |filter, dy, output| {
            of_input::<T::Wide>(ctx, &geometry, filter, dy, output)
        })
    })?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    op = DepthwiseConv2dNativeBackpropFilter,
    T = [f16, bf16, f32, f64],
    state = |ctx| Depthwise::new(ctx.attrs),
)]
fn for_filter<T: Computed<Wide: SumProducts>>(convolution: &Depthwise, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (input, dy, sizes) = (ctx.input(O::INPUT)?, ctx.input(O::OUT_BACKPROP)?, ctx.input(O::FILTER_SIZES)?);
    let (input, dy) = (channels_last(ctx, convolution.format, input)?, channels_last(ctx, convolution.format, dy)?);
    let (shape, geometry) = convolution.backward_to_filter(input.shape(), sizes, dy.shape())?;
    let mut output = ctx.allocate_output(O::OUTPUT, shape)?;
    gradient::<T>(ctx, [&input, &dy], &mut output, |input, dy, output| {
        of_filter::<T::Wide>(ctx, &geometry, input, dy, output)
    })?;
    ctx.set_output(O::OUTPUT, output)
}
