//! DepthwiseConv2dNative, by itself and fused with what follows it: each input channel has filters of its own.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::depthwise::{Depthwise, Geometry};
use kernlink_geometry::fusion::Fusion;
use kernlink_kernels_common::fused::{Activated, Fused};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{DepthwiseConv2dNative, FusedDepthwiseConv2dNative};

use super::images::{channels_last, output_images};
use super::narrow::{computed, widened};

#[register_kernel(
    device = Cpu,
    op = DepthwiseConv2dNative,
    T = [f16, bf16, f32, f64],
    state = |ctx| Depthwise::new(ctx.attrs),
)]
fn depthwise<T: Computed<Wide: SumProducts>>(convolution: &Depthwise, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    compute::<T>(convolution, ctx, |_, _| Ok(()))
}

#[register_kernel(
    device = Cpu,
    T = [f16, bf16, f32, f64],
    state = |ctx| Ok((Depthwise::new(ctx.attrs)?, Fusion::new(ctx.attrs, true)?)),
)]
fn fused_depthwise<T: Computed<Wide: SumProducts + Activated>>(
    (convolution, fusion): &(Depthwise, Fusion),
    ctx: &mut KernelContext<'_, FusedDepthwiseConv2dNative>,
) -> Result<()> {
    compute::<T>(convolution, ctx, |ctx, product| {
        let last = |images: &Tensor| channels_last(ctx, convolution.format, images);
        Fused::new::<T>(ctx, fusion, product.shape(), last)?.finish(ctx, product)
    })
}

/// Output 0: the convolution of inputs 0 and 1, of which `finish` makes what is wanted, with channels last.
fn compute<T: Computed<Wide: SumProducts>>(
    convolution: &Depthwise,
    ctx: &mut RawContext<'_>,
    finish: impl FnOnce(&RawContext<'_>, &mut Tensor) -> Result<()>,
) -> Result<()> {
    let input = channels_last(ctx, convolution.format, ctx.input_at(0)?)?;
    let filter = ctx.input_at(1)?;
    let geometry = convolution.forward(input.shape(), filter.shape())?;
    let output = output_images(ctx, convolution.format, geometry.output(), |output| {
        if output.num_elements() == 0 {
            return Ok(());
        }
        let (input, filter) = (widened::<T>(Some(ctx), &input)?, widened::<T>(Some(ctx), filter)?);
        computed::<T>(ctx, output, |output| {
            by_lines::<T::Wide>(ctx, &geometry, &input, &filter, output)?;
            finish(ctx, output)
        })
    })?;
    ctx.set_output_at(0, output)
}

/// Splits the output's lines (all columns and channels of a row) among threads.
pub(super) fn by_lines<T: SumProducts>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    input: &Tensor,
    filter: &Tensor,
    output: &mut Tensor,
) -> Result<()> {
    let (input, filter) = (input.as_slice::<T>()?, filter.as_slice::<T>()?);
    let (rows, columns) = (&geometry.rows, &geometry.columns);
    let length = columns.output * geometry.in_depth * geometry.multiplier;
    let image = rows.input * columns.input * geometry.in_depth;
    let taps = rows.window * columns.window;
    ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, length, taps.div_ceil(32), |first, piece| {
        // As many as there are taps, which no line exceeds.
        let mut line_taps = scratch::room(taps)?;
        for (index, target) in piece.chunks_exact_mut(length).enumerate() {
            let index = first / length + index;
            let (batch, row) = (index / rows.output, index % rows.output);
            let image = &input[batch * image..][..image];
            if geometry.multiplier == 1 {
                line(geometry, image, filter, row, target, &mut line_taps);
            } else {
                multiplied(geometry, image, filter, row, target);
            }
        }
        Ok(())
    })
}

/// Output pixels that share each filter element that is loaded.
const PIXELS: usize = 4;

/// What a tap of the window multiplies: the channels of input pixels, and the filter's.
pub(super) type Tap<'a, T> = (&'a [T], &'a [T]);

/// A line with one output channel to an input channel.
fn line<'a, T: SumProducts>(
    geometry: &Geometry,
    image: &'a [T],
    filter: &'a [T],
    row: usize,
    target: &mut [T],
    taps: &mut Vec<Tap<'a, T>>,
) {
    let (rows, columns, depth) = (&geometry.rows, &geometry.columns, geometry.in_depth);
    let interior = columns.interior();
    let stride = columns.stride * depth;
    let mut column = 0;
    while column < columns.output {
        let together = interior.contains(&column) && interior.end - column >= PIXELS;
        let pixels = if together { PIXELS } else { 1 };
        taps.clear();
        for row_tap in rows.taps(row) {
            let Some(input_row) = rows.at(row, row_tap) else { continue };
            for column_tap in columns.taps(column) {
                let Some(input_column) = columns.at(column, column_tap) else { continue };
                let source = &image[(input_row * columns.input + input_column) * depth..];
                let factors = &filter[(row_tap * columns.window + column_tap) * depth..];
                taps.push((&source[..(pixels - 1) * stride + depth], &factors[..depth]));
            }
        }
        let target = &mut target[column * depth..][..pixels * depth];
        if together {
            T::sum_products::<PIXELS>(taps, stride, target);
        } else {
            T::sum_products::<1>(taps, stride, target);
        }
        column += pixels;
    }
}

/// The inner loop.
pub(super) trait SumProducts: Number {
    /// For each of `P` pixels, which lie `stride` elements apart in the taps' input, writes the sums over the taps of
    /// each channel's products. `target` holds the channels of the pixels one after the other.
    fn sum_products<const P: usize>(taps: &[Tap<'_, Self>], stride: usize, target: &mut [Self]) {
        let depth = target.len() / P;
        for (pixel, target) in target.chunks_exact_mut(depth).enumerate() {
            target.fill(Self::ZERO);
            for (source, factors) in taps {
                let products = source[pixel * stride..].iter().zip(*factors);
                for (target, (&element, &factor)) in target.iter_mut().zip(products) {
                    *target = target.wrapping_add(element.wrapping_mul(factor));
                }
            }
        }
    }
}

impl SumProducts for f64 {}

impl SumProducts for f32 {
    fn sum_products<const P: usize>(taps: &[Tap<'_, f32>], stride: usize, target: &mut [f32]) {
        let depth = target.len() / P;
        let fits =
            |(source, factors): &Tap<'_, f32>| source.len() >= (P - 1) * stride + depth && factors.len() >= depth;
        assert!(taps.iter().all(fits), "every tap has elements for every pixel");
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the features, the taps were checked above.
            return unsafe { sum_products_avx2::<P>(taps, stride, target) };
        }
        for (pixel, target) in target.chunks_exact_mut(depth).enumerate() {
            sum_channels(taps, pixel * stride, target);
        }
    }
}

/// The sums of the pixel that lies at `offset` in the taps' input.
fn sum_channels(taps: &[Tap<'_, f32>], offset: usize, target: &mut [f32]) {
    for (channel, target) in target.iter_mut().enumerate() {
        let products = taps.iter().map(|(source, factors)| source[offset + channel] * factors[channel]);
        *target = products.fold(0.0, |sum, product| sum + product);
    }
}

/// [`SumProducts::sum_products`] for AVX2 and FMA: two vectors of channels of all pixels at a time.
///
/// # Safety
/// The processor has AVX2 and FMA. Each tap has `(P - 1) * stride + target.len() / P` input elements and
/// `target.len() / P` filter elements.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn sum_products_avx2<const P: usize>(taps: &[Tap<'_, f32>], stride: usize, target: &mut [f32]) {
    use std::arch::x86_64::*;
    const STEP: usize = 16;
    let depth = target.len() / P;
    if depth < STEP {
        for (pixel, target) in target.chunks_exact_mut(depth.max(1)).enumerate() {
            sum_channels(taps, pixel * stride, target);
        }
        return;
    }
    for channel in (0..depth).step_by(STEP) {
        // The last step overlaps the one before rather than leave the vectors half empty.
        let channel = channel.min(depth - STEP);
        let mut sums = [[_mm256_setzero_ps(); 2]; P];
        for (source, factors) in taps {
            // SAFETY: `channel + STEP` is at most `depth`, and the taps have the elements that the caller promises.
            unsafe {
                let factors = factors.as_ptr().add(channel);
                let factors = [_mm256_loadu_ps(factors), _mm256_loadu_ps(factors.add(8))];
                for (pixel, sums) in sums.iter_mut().enumerate() {
                    let source = source.as_ptr().add(pixel * stride + channel);
                    sums[0] = _mm256_fmadd_ps(_mm256_loadu_ps(source), factors[0], sums[0]);
                    sums[1] = _mm256_fmadd_ps(_mm256_loadu_ps(source.add(8)), factors[1], sums[1]);
                }
            }
        }
        for (target, sums) in target.chunks_exact_mut(depth).zip(&sums) {
            // SAFETY: `channel + STEP` is at most `depth`, the length of the chunk.
            unsafe {
                let target = target.as_mut_ptr().add(channel);
                _mm256_storeu_ps(target, sums[0]);
                _mm256_storeu_ps(target.add(8), sums[1]);
            }
        }
    }
}

/// A line for several output channels to an input channel.
fn multiplied<T: Number>(geometry: &Geometry, image: &[T], filter: &[T], row: usize, target: &mut [T]) {
    let (rows, columns, depth) = (&geometry.rows, &geometry.columns, geometry.in_depth);
    let multiplier = geometry.multiplier;
    for (column, target) in target.chunks_exact_mut(depth * multiplier).enumerate() {
        target.fill(T::ZERO);
        for row_tap in rows.taps(row) {
            let Some(input_row) = rows.at(row, row_tap) else { continue };
            for column_tap in columns.taps(column) {
                let Some(input_column) = columns.at(column, column_tap) else { continue };
                let source = &image[(input_row * columns.input + input_column) * depth..][..depth];
                let tap = row_tap * columns.window + column_tap;
                let factors = &filter[tap * depth * multiplier..][..depth * multiplier];
                let each = target.chunks_exact_mut(multiplier).zip(factors.chunks_exact(multiplier)).zip(source);
                for ((target, factors), &element) in each {
                    for (target, &factor) in target.iter_mut().zip(factors) {
                        *target = target.wrapping_add(element.wrapping_mul(factor));
                    }
                }
            }
        }
    }
}
