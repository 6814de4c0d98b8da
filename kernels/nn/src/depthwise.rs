//! DepthwiseConv2dNative, by itself and fused with what follows it: each input channel has filters of its own.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::depthwise::{Depthwise, Geometry};
use kernlink_geometry::fusion::Fusion;
use kernlink_kernels_common::epilogue::Epilogue;
use kernlink_kernels_common::fused::{Activated, Finish, Fused, Nothing};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::shapes::Axis;
use kernlink_ops::{DepthwiseConv2dNative, FusedDepthwiseConv2dNative, FusedPaddedDepthwiseConv2dNative};

use super::grouped::{self, Groups};
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
    op = [FusedDepthwiseConv2dNative, FusedPaddedDepthwiseConv2dNative],
    T = [f16, bf16, f32, f64],
    state = |ctx| Ok((Depthwise::new(ctx.attrs)?, Fusion::new(ctx.attrs, true)?)),
)]
fn fused_depthwise<T: Computed<Wide: SumProducts + Activated>>(
    (convolution, fusion): &(Depthwise, Fusion),
    ctx: &mut KernelContext<'_, O>,
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

/// So many taps' elements are in the first cache together, wherever they lie, and copying lines for fewer takes longer than what
/// is gained at their ends.
const FEW_TAPS: usize = 9;

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
    let &Geometry { rows, columns, in_depth, multiplier, .. } = geometry;
    let output = output.as_mut_slice::<T>()?;
    // Each input channel is a group whose filters see nothing else.
    let groups = Groups { rows, columns, in_depth, patch_depth: 1, out_depth: geometry.out_depth() };
    if multiplier != 1 || rows.window * columns.window > FEW_TAPS {
        return grouped::by_lines(ctx, &groups, (input, filter), output, finish);
    }
    let window = Window { rows, columns, depth: in_depth, planes: 1, pitch: in_depth, filter, filter_pitch: in_depth };
    let length = columns.output * in_depth;
    let pixels = columns.input * in_depth;
    ctx.try_parallel_chunks(output, length, window.taps().div_ceil(32), |first, piece| {
        let mut taps = scratch::room(window.taps())?;
        for (index, target) in piece.chunks_exact_mut(length).enumerate() {
            let index = first / length + index;
            let (batch, row) = (index / rows.output, index % rows.output);
            let source = |row: usize, _| &input[(batch * rows.input + row) * pixels..][..pixels];
            window.line(source, (index, row), target, &mut taps, finish);
        }
        Ok(())
    })
}

/// What a tap of the window multiplies: the channels of input pixels, and the filter's.
pub(super) type Tap<'a, T> = (&'a [T], &'a [T]);

/// Pixels that see the same taps.
#[derive(Clone, Copy)]
pub(super) struct Pixels<'t, 'a, T> {
    taps: &'t [Tap<'a, T>],
    /// Elements from pixel to pixel in the taps' input.
    stride: usize,
    /// Channels.
    depth: usize,
}

/// A window in which each output channel sees as many planes of input channels of its own.
pub(super) struct Window<'a, T> {
    pub(super) rows: Axis,
    pub(super) columns: Axis,
    /// Channels of the output, and of a pixel in a plane.
    pub(super) depth: usize,
    /// Planes.
    pub(super) planes: usize,
    /// Elements from pixel to pixel of a plane.
    pub(super) pitch: usize,
    /// Factors by row, column, plane and channel.
    pub(super) filter: &'a [T],
    /// Elements from one plane's factors to the next one's.
    pub(super) filter_pitch: usize,
}

impl<'a, T: SumProducts> Window<'a, T> {
    /// Taps that a pixel sees at most.
    pub(super) fn taps(&self) -> usize {
        self.rows.window * self.columns.window * self.planes
    }

    /// Writes line `row` of an image's output, line `index` of all images', and what `finish` makes of it. `source(row, plane)`
    /// is a line of the image's input.
    pub(super) fn line(
        &self,
        source: impl Fn(usize, usize) -> &'a [T],
        (index, row): (usize, usize),
        target: &mut [T],
        taps: &mut Vec<Tap<'a, T>>,
        finish: Option<&dyn Finish<T>>,
    ) {
        let &Window { rows, columns, depth, planes, pitch, filter, filter_pitch } = self;
        let start = index * columns.output * depth;
        let epilogue = finish.map(|finish| finish.epilogue(start)).unwrap_or_default();
        let interior = columns.interior();
        let stride = columns.stride * pitch;
        let mut column = 0;
        while column < columns.output {
            // Pixels that see all columns of the window are alike.
            let pixels = if interior.contains(&column) { interior.end - column } else { 1 };
            taps.clear();
            for row_tap in rows.taps(row) {
                let Some(input_row) = rows.at(row, row_tap) else { continue };
                for column_tap in columns.taps(column) {
                    let Some(input_column) = columns.at(column, column_tap) else { continue };
                    for plane in 0..planes {
                        let source = &source(input_row, plane)[input_column * pitch..];
                        let tap = (row_tap * columns.window + column_tap) * planes + plane;
                        let factors = &filter[tap * filter_pitch..][..depth];
                        taps.push((&source[..(pixels - 1) * stride + depth], factors));
                    }
                }
            }
            let target = &mut target[column * depth..][..pixels * depth];
            T::sum_products(Pixels { taps, stride, depth }, target, epilogue.from_row(column * depth));
            column += pixels;
        }
        finish.filter(|finish| finish.has_rest()).inspect(|finish| finish.finish_rest(start, target));
    }
}

/// The inner loop.
pub(super) trait SumProducts: Activated {
    /// For each pixel of `target`, which holds the channels of one after the other, writes what `epilogue` makes of the sums
    /// over the taps of each channel's products.
    fn sum_products(pixels: Pixels<'_, '_, Self>, target: &mut [Self], epilogue: Epilogue<'_, Self>) {
        let Pixels { taps, stride, depth } = pixels;
        for (pixel, target) in target.chunks_exact_mut(depth).enumerate() {
            target.fill(<Self as Number>::ZERO);
            for (source, factors) in taps {
                let products = source[pixel * stride..].iter().zip(*factors);
                for (target, (&element, &factor)) in target.iter_mut().zip(products) {
                    *target += element * factor;
                }
            }
            epilogue.from_row(pixel * depth).finish_row(target);
        }
    }
}

impl SumProducts for f64 {}

impl SumProducts for f32 {
    fn sum_products(pixels: Pixels<'_, '_, f32>, target: &mut [f32], epilogue: Epilogue<'_, f32>) {
        let Pixels { taps, stride, depth } = pixels;
        let Some(last) = (target.len() / depth.max(1)).checked_sub(1) else { return };
        let fits = |(source, factors): &Tap<'_, f32>| source.len() >= last * stride + depth && factors.len() >= depth;
        assert!(taps.iter().all(fits), "every tap has elements for every pixel");
        assert!(epilogue.covers(last + 1, depth, depth), "the epilogue has elements for every pixel");
        #[cfg(target_arch = "x86_64")]
        {
            if std::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has the feature, taps and epilogue were checked above.
                return unsafe { avx512::sum_products(pixels, target, epilogue) };
            }
            if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") && depth >= avx2::STEP {
                // SAFETY: the processor has the features, taps and epilogue were checked above.
                return unsafe { avx2::sum_products(pixels, target, epilogue) };
            }
        }
        for (pixel, target) in target.chunks_exact_mut(depth).enumerate() {
            for (channel, target) in target.iter_mut().enumerate() {
                let products = taps.iter().map(|(source, factors)| source[pixel * stride + channel] * factors[channel]);
                *target = products.fold(0.0, |sum, product| sum + product);
            }
            epilogue.from_row(pixel * depth).finish_row(target);
        }
    }
}

/// [`SumProducts::sum_products`] for AVX-512: a vector of channels of several pixels at a time, so that they share each
/// filter element that is loaded.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use kernlink_kernels_common::epilogue::avx512::{load, store};
    use kernlink_kernels_common::epilogue::finish_vectors;

    use super::{Epilogue, Pixels};

    /// Channels of a vector.
    const STEP: usize = 16;

    /// # Safety
    /// The processor has AVX-512. Each tap has `depth` filter elements, and as many input elements for each pixel of
    /// `target`, which lie `stride` elements apart.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn sum_products(pixels: Pixels<'_, '_, f32>, target: &mut [f32], epilogue: Epilogue<'_, f32>) {
        let (mut rest, mut start, mut epilogue) = (target, 0, epilogue);
        while !rest.is_empty() {
            let count = match rest.len() / pixels.depth {
                8.. => 8,
                4.. => 4,
                2.. => 2,
                _ => 1,
            };
            let (target, more) = rest.split_at_mut((count * pixels.depth).min(rest.len()));
            // SAFETY: the caller's promise; `start` is where the first of these pixels lies.
            unsafe {
                match count {
                    8 => group::<8, 1>(pixels, start, target, epilogue),
                    4 => group::<4, 2>(pixels, start, target, epilogue),
                    2 => group::<2, 4>(pixels, start, target, epilogue),
                    _ => group::<1, 8>(pixels, start, target, epilogue),
                }
            }
            epilogue = epilogue.from_row(target.len());
            (rest, start) = (more, start + count * pixels.stride);
        }
    }

    /// # Safety
    /// As [`sum_products`], for `P` pixels, of which the first lies at `start` in the taps' input; `V` vectors of channels are
    /// summed up together.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn group<const P: usize, const V: usize>(
        pixels: Pixels<'_, '_, f32>,
        start: usize,
        target: &mut [f32],
        epilogue: Epilogue<'_, f32>,
    ) {
        let whole = pixels.depth / STEP * STEP;
        let together = whole / (V * STEP) * (V * STEP);
        // SAFETY: the caller's promise.
        unsafe {
            for channel in (0..together).step_by(V * STEP) {
                vectors::<P, V, true>(pixels, start, channel, target, epilogue);
            }
            for channel in (together..whole).step_by(STEP) {
                vectors::<P, 1, true>(pixels, start, channel, target, epilogue);
            }
            if whole < pixels.depth {
                vectors::<P, 1, false>(pixels, start, whole, target, epilogue);
            }
        }
    }

    /// The channels from `channel` on: `V` `WHOLE` vectors of them, or the last ones.
    ///
    /// # Safety
    /// As [`group`].
    #[inline]
    #[target_feature(enable = "avx512f")]
    #[expect(clippy::needless_range_loop, reason = "what is indexed are registers")]
    unsafe fn vectors<const P: usize, const V: usize, const WHOLE: bool>(
        pixels: Pixels<'_, '_, f32>,
        start: usize,
        channel: usize,
        target: &mut [f32],
        epilogue: Epilogue<'_, f32>,
    ) {
        let Pixels { taps, stride, depth } = pixels;
        let mask = if WHOLE { u16::MAX } else { u16::MAX >> (STEP - (depth - channel)) };
        let mut sums = [[_mm512_setzero_ps(); V]; P];
        // SAFETY: the caller's promise; channels beyond `depth` are masked.
        unsafe {
            for (source, factors) in taps {
                for v in 0..V {
                    let channel = channel + v * STEP;
                    let factors = load(mask, factors.as_ptr().wrapping_add(channel));
                    let source = source.as_ptr().wrapping_add(start + channel);
                    for pixel in 0..P {
                        let element = load(mask, source.wrapping_add(pixel * stride));
                        sums[pixel][v] = _mm512_fmadd_ps(element, factors, sums[pixel][v]);
                    }
                }
            }
            let epilogue = epilogue.from_column(channel);
            finish_vectors!(&epilogue, sums: [[_; V]; P], last: mask, stride: depth);
            for (target, sums) in target.chunks_exact_mut(depth).zip(&sums) {
                for v in 0..V {
                    store(mask, target.as_mut_ptr().wrapping_add(channel + v * STEP), sums[v]);
                }
            }
        }
    }
}

/// [`SumProducts::sum_products`] for AVX2 and FMA: two vectors of channels of several pixels at a time.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Epilogue, Pixels};

    /// Channels of two vectors.
    pub(super) const STEP: usize = 16;

    /// # Safety
    /// The processor has AVX2 and FMA; `depth` is at least [`STEP`]. Each tap has `depth` filter elements, and as many input
    /// elements for each pixel of `target`, which lie `stride` elements apart.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn sum_products(pixels: Pixels<'_, '_, f32>, target: &mut [f32], epilogue: Epilogue<'_, f32>) {
        let (mut rest, mut start, mut epilogue) = (target, 0, epilogue);
        while !rest.is_empty() {
            let count = if rest.len() / pixels.depth >= 4 { 4 } else { 1 };
            let (target, more) = rest.split_at_mut((count * pixels.depth).min(rest.len()));
            // SAFETY: the caller's promise; `start` is where the first of these pixels lies.
            unsafe {
                match count {
                    4 => group::<4>(pixels, start, target),
                    _ => group::<1>(pixels, start, target),
                }
            }
            for row in target.chunks_exact_mut(pixels.depth) {
                epilogue.finish_row(row);
                epilogue = epilogue.from_row(row.len());
            }
            (rest, start) = (more, start + count * pixels.stride);
        }
    }

    /// # Safety
    /// As [`sum_products`], for `P` pixels, of which the first lies at `start` in the taps' input.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn group<const P: usize>(pixels: Pixels<'_, '_, f32>, start: usize, target: &mut [f32]) {
        let Pixels { taps, stride, depth } = pixels;
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

#[cfg(test)]
mod tests {
    use kernlink_kernels_common::epilogue::End;

    use super::*;

    type Way = unsafe fn(Pixels<'_, '_, f32>, &mut [f32], Epilogue<'_, f32>);

    /// For `f32`, written in each way that the processor has.
    fn each_way(pixels: Pixels<'_, '_, f32>, length: usize, epilogue: Epilogue<'_, f32>) -> Vec<Vec<f32>> {
        let mut ways: Vec<Way> = vec![f32::sum_products];
        #[cfg(target_arch = "x86_64")]
        {
            if std::is_x86_feature_detected!("avx512f") {
                ways.push(avx512::sum_products);
            }
            if std::is_x86_feature_detected!("avx2")
                && std::is_x86_feature_detected!("fma")
                && pixels.depth >= avx2::STEP
            {
                ways.push(avx2::sum_products);
            }
        }
        let sums = ways.into_iter().map(|way| {
            let mut sums = vec![f32::NAN; length];
            // SAFETY: the processor has the features, and the taps have elements for every pixel.
            unsafe { way(pixels, &mut sums, epilogue) };
            sums
        });
        sums.collect()
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
                    let shift: Vec<f32> = (0..depth).map(|channel| channel as f32 - 9.0).collect();
                    let summand: Vec<f32> = (0..pixels * depth).map(|i| (i % 19) as f32 - 9.0).collect();
                    let finished = |index: usize| (sum(index) + shift[index % depth] + summand[index]).clamp(0.0, 6.0);
                    let plain: Vec<f32> = (0..pixels * depth).map(sum).collect();
                    let finished: Vec<f32> = (0..pixels * depth).map(finished).collect();
                    let end = End::Relu(6.0);
                    let epilogue =
                        Epilogue { shift: Some(&shift), summand: Some(&summand), end, ..Epilogue::default() };
                    for (epilogue, expected) in [(Epilogue::default(), plain), (epilogue, finished)] {
                        for found in each_way(Pixels { taps: &taps, stride, depth }, expected.len(), epilogue) {
                            assert_eq!(found, expected, "{pixels} pixels of {depth}, {stride} apart");
                        }
                    }
                }
            }
        }
    }
}
