//! DepthwiseConv2dNative, by itself and fused with what follows it: each input channel has filters of its own.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::depthwise::{Depthwise, Geometry};
use kernlink_geometry::fusion::Fusion;
use kernlink_kernels_common::fused::{Activated, Finish, Fused, Nothing};
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
    compute::<T, Nothing>(convolution, ctx, |_, _| Ok(None))
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
    compute::<T, Fused<T::Wide>>(convolution, ctx, |ctx, product| {
        let last = |images: &Tensor| channels_last(ctx, convolution.format, images);
        Fused::new::<T>(ctx, fusion, product, last).map(Some)
    })
}

/// Output 0: the convolution of inputs 0 and 1, and what `fuse` makes of it, given its shape with channels last.
fn compute<T: Computed<Wide: SumProducts>, F: Finish<T::Wide>>(
    convolution: &Depthwise,
    ctx: &mut RawContext<'_>,
    fuse: impl FnOnce(&RawContext<'_>, &Shape) -> Result<Option<F>>,
) -> Result<()> {
    let input = channels_last(ctx, convolution.format, ctx.input_at(0)?)?;
    let filter = ctx.input_at(1)?;
    let geometry = convolution.forward(input.shape(), filter.shape())?;
    let output = output_images(ctx, convolution.format, geometry.output(), |output| {
        if output.num_elements() == 0 {
            return Ok(());
        }
        let finish = fuse(ctx, output.shape())?;
        let finish = finish.as_ref().map(|finish| finish as &dyn Finish<T::Wide>);
        let (input, filter) = (widened::<T>(Some(ctx), &input)?, widened::<T>(Some(ctx), filter)?);
        computed::<T>(ctx, output, |output| by_lines::<T::Wide>(ctx, &geometry, &input, &filter, output, finish))
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
    finish: Option<&dyn Finish<T>>,
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
            if let Some(finish) = finish {
                finish.finish(index * length, target);
            }
        }
        Ok(())
    })
}

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
        // Pixels that see all columns of the window are alike.
        let pixels = if interior.contains(&column) { interior.end - column } else { 1 };
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
        T::sum_products(taps, stride, depth, &mut target[column * depth..][..pixels * depth]);
        column += pixels;
    }
}

/// The inner loop.
pub(super) trait SumProducts: Number {
    /// For each pixel, which lie `stride` elements apart in the taps' input, writes the sums over the taps of each
    /// channel's products. `target` holds the `depth` channels of the pixels one after the other.
    fn sum_products(taps: &[Tap<'_, Self>], stride: usize, depth: usize, target: &mut [Self]) {
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
    fn sum_products(taps: &[Tap<'_, f32>], stride: usize, depth: usize, target: &mut [f32]) {
        let Some(last) = (target.len() / depth.max(1)).checked_sub(1) else { return };
        let fits = |(source, factors): &Tap<'_, f32>| source.len() >= last * stride + depth && factors.len() >= depth;
        assert!(taps.iter().all(fits), "every tap has elements for every pixel");
        #[cfg(target_arch = "x86_64")]
        {
            if std::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has the feature, the taps were checked above.
                return unsafe { avx512::sum_products(taps, stride, depth, target) };
            }
            if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") && depth >= avx2::STEP {
                // SAFETY: the processor has the features, the taps were checked above.
                return unsafe { avx2::sum_products(taps, stride, depth, target) };
            }
        }
        for (pixel, target) in target.chunks_exact_mut(depth).enumerate() {
            for (channel, target) in target.iter_mut().enumerate() {
                let products = taps.iter().map(|(source, factors)| source[pixel * stride + channel] * factors[channel]);
                *target = products.fold(0.0, |sum, product| sum + product);
            }
        }
    }
}

/// [`SumProducts::sum_products`] for AVX-512: a vector of channels of several pixels at a time, so that they share each
/// filter element that is loaded.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::Tap;

    /// Channels of a vector.
    const STEP: usize = 16;

    /// # Safety
    /// The processor has AVX-512. Each tap has `depth` filter elements, and as many input elements for each pixel of
    /// `target`, which lie `stride` elements apart.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn sum_products(taps: &[Tap<'_, f32>], stride: usize, depth: usize, target: &mut [f32]) {
        let (mut rest, mut start) = (target, 0);
        while !rest.is_empty() {
            let pixels = match rest.len() / depth {
                8.. => 8,
                4.. => 4,
                2.. => 2,
                _ => 1,
            };
            let (target, more) = rest.split_at_mut((pixels * depth).min(rest.len()));
            // SAFETY: the caller's promise; `start` is where the first of these pixels lies.
            unsafe {
                match pixels {
                    8 => group::<8>(taps, start, stride, depth, target),
                    4 => group::<4>(taps, start, stride, depth, target),
                    2 => group::<2>(taps, start, stride, depth, target),
                    _ => group::<1>(taps, start, stride, depth, target),
                }
            }
            (rest, start) = (more, start + pixels * stride);
        }
    }

    /// # Safety
    /// As [`sum_products`], for `P` pixels, of which the first lies at `start` in the taps' input.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn group<const P: usize>(
        taps: &[Tap<'_, f32>],
        start: usize,
        stride: usize,
        depth: usize,
        target: &mut [f32],
    ) {
        for channel in (0..depth).step_by(STEP) {
            let mask = u16::MAX >> (STEP - STEP.min(depth - channel));
            let mut sums = [_mm512_setzero_ps(); P];
            for (source, factors) in taps {
                // SAFETY: the caller's promise; channels beyond `depth` are masked.
                unsafe {
                    let factors = _mm512_maskz_loadu_ps(mask, factors.as_ptr().wrapping_add(channel));
                    let source = source.as_ptr().wrapping_add(start + channel);
                    for (pixel, sum) in sums.iter_mut().enumerate() {
                        let elements = _mm512_maskz_loadu_ps(mask, source.wrapping_add(pixel * stride));
                        *sum = _mm512_fmadd_ps(elements, factors, *sum);
                    }
                }
            }
            for (target, &sum) in target.chunks_exact_mut(depth).zip(&sums) {
                // SAFETY: channels beyond `depth`, which is the length of the chunk, are masked.
                unsafe { _mm512_mask_storeu_ps(target.as_mut_ptr().wrapping_add(channel), mask, sum) };
            }
        }
    }
}

/// [`SumProducts::sum_products`] for AVX2 and FMA: two vectors of channels of several pixels at a time.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::Tap;

    /// Channels of two vectors.
    pub(super) const STEP: usize = 16;

    /// # Safety
    /// The processor has AVX2 and FMA; `depth` is at least [`STEP`]. Each tap has `depth` filter elements, and as many input
    /// elements for each pixel of `target`, which lie `stride` elements apart.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn sum_products(taps: &[Tap<'_, f32>], stride: usize, depth: usize, target: &mut [f32]) {
        let (mut rest, mut start) = (target, 0);
        while !rest.is_empty() {
            let pixels = if rest.len() / depth >= 4 { 4 } else { 1 };
            let (target, more) = rest.split_at_mut((pixels * depth).min(rest.len()));
            // SAFETY: the caller's promise; `start` is where the first of these pixels lies.
            unsafe {
                match pixels {
                    4 => group::<4>(taps, start, stride, depth, target),
                    _ => group::<1>(taps, start, stride, depth, target),
                }
            }
            (rest, start) = (more, start + pixels * stride);
        }
    }

    /// # Safety
    /// As [`sum_products`], for `P` pixels, of which the first lies at `start` in the taps' input.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn group<const P: usize>(
        taps: &[Tap<'_, f32>],
        start: usize,
        stride: usize,
        depth: usize,
        target: &mut [f32],
    ) {
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
                        let source = source.as_ptr().add(start + pixel * stride + channel);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// For `f32`, written in each way that the processor has.
    fn each_way(taps: &[Tap<'_, f32>], stride: usize, depth: usize, length: usize) -> Vec<Vec<f32>> {
        let mut ways = vec![vec![f32::NAN; length]];
        f32::sum_products(taps, stride, depth, &mut ways[0]);
        #[cfg(target_arch = "x86_64")]
        {
            let mut add = |way: unsafe fn(&[Tap<'_, f32>], usize, usize, &mut [f32])| {
                let mut sums = vec![f32::NAN; length];
                // SAFETY: the processor has the features, and the taps have elements for every pixel.
                unsafe { way(taps, stride, depth, &mut sums) };
                ways.push(sums);
            };
            if std::is_x86_feature_detected!("avx512f") {
                add(avx512::sum_products);
            }
            if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") && depth >= avx2::STEP {
                add(avx2::sum_products);
            }
        }
        ways
    }

    #[test]
    fn sums_of_products_agree_with_the_definition() {
        for depth in [1, 3, 15, 16, 17, 31, 32, 40] {
            for pixels in [1, 2, 3, 5, 8, 13] {
                for stride in [depth, 2 * depth] {
                    // No longer than they must be, so that nothing beyond is read unseen.
                    let length = (pixels - 1) * stride + depth;
                    let sources: Vec<Vec<f32>> =
                        (0..3).map(|tap| (0..length).map(|i| ((i * 7 + tap) % 11) as f32 - 5.0).collect()).collect();
                    let factors: Vec<Vec<f32>> =
                        (0..3).map(|tap| (0..depth).map(|i| ((i * 5 + tap) % 7) as f32 - 3.0).collect()).collect();
                    let taps: Vec<Tap<'_, f32>> =
                        sources.iter().zip(&factors).map(|(source, factors)| (&source[..], &factors[..])).collect();
                    let sum = |index: usize| -> f32 {
                        let (pixel, channel) = (index / depth, index % depth);
                        taps.iter().map(|(source, factors)| source[pixel * stride + channel] * factors[channel]).sum()
                    };
                    let expected: Vec<f32> = (0..pixels * depth).map(sum).collect();
                    for found in each_way(&taps, stride, depth, expected.len()) {
                        assert_eq!(found, expected, "{pixels} pixels of {depth}, {stride} apart");
                    }
                }
            }
        }
    }
}
