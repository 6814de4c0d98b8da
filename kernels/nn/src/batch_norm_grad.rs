//! FusedBatchNormGrad, FusedBatchNormGradV2 and FusedBatchNormGradV3.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::channels::{Layout, Norm};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{FusedBatchNormGrad, FusedBatchNormGradV2, FusedBatchNormGradV3};

use super::vector::widest;

/// The five outputs. All versions share the order of inputs and outputs.
#[register_kernel(device = Cpu, op = FusedBatchNormGrad, T = [f32], state = |ctx| Norm::from_attrs(ctx.attrs))]
#[register_kernel(
    device = Cpu,
    op = [FusedBatchNormGradV2, FusedBatchNormGradV3],
    T = [f16, bf16, f32],
    U = [f32],
)]
fn fused_batch_norm_grad<T: Computed<Wide = f32>>(norm: &Norm, ctx: &mut RawContext<'_>) -> Result<()> {
    let (gradient, x) = (ctx.input_at(0)?.shape().clone(), ctx.input_at(1)?.shape());
    let vector = |index: usize| ctx.input_at(index).map(Tensor::shape);
    let layout = norm.backward(x, &gradient, [vector(2)?, vector(3)?, vector(4)?])?;
    for index in [3, 4] {
        ctx.set_output_at(index, Tensor::zeros(DataType::Float, [0])?)?;
    }
    if gradient.num_elements() == 0 {
        for index in [1, 2] {
            ctx.set_output_at(index, Tensor::zeros(DataType::Float, [layout.channels])?)?;
        }
        let nothing = ctx.allocate_output_at(0, gradient)?;
        return ctx.set_output_at(0, nothing);
    }
    let mean = ctx.input_at(3)?.clone();
    let mean = mean.as_slice::<f32>()?;
    let (dy, x) = (ctx.input_at(0)?.as_slice::<T>()?, ctx.input_at(1)?.as_slice::<T>()?);
    let sums = totals(ctx, dy, x, &layout, mean)?;
    let (offset, product) = sums.split_at(layout.channels);
    let variance = ctx.input_at(4)?.as_slice::<f32>()?.iter();
    let inverse: Vec<f64> =
        scratch::collected(variance.map(|&variance| 1.0 / f64::from(variance + norm.epsilon).sqrt()))?;
    let scale = ctx.input_at(2)?.as_slice::<f32>()?;
    let count = layout.count() as f64;
    let factor: Vec<f32> =
        scratch::collected(scale.iter().zip(&inverse).map(|(&scale, inverse)| (f64::from(scale) * inverse) as f32))?;
    let scale_gradient: Vec<f32> =
        scratch::collected(product.iter().zip(&inverse).map(|(product, inverse)| (product * inverse) as f32))?;
    let offset_gradient: Vec<f32> = scratch::collected(offset.iter().map(|&sum| sum as f32))?;
    let center: Vec<f32> = scratch::collected(offset.iter().map(|sum| (sum / count) as f32))?;
    let slope: Vec<f32> = scratch::collected(
        product.iter().zip(&inverse).map(|(product, inverse)| (product / count * inverse * inverse) as f32),
    )?;
    let line = Line { factor: &factor, center: &center, mean, slope: &slope };

    let x = ctx.input_at(1)?.clone();
    let x = x.as_slice::<T>()?;
    let mut output = match ctx.forward_input_at(0, 0, &gradient) {
        Some(gradient) => gradient,
        None => ctx.allocate_output_at(0, gradient)?,
    };
    // What was forwarded is no input any more.
    let source = ctx.input_at(0).ok().map(|dy| dy.as_slice::<T>()).transpose()?;
    let unit = if layout.inner == 1 { layout.channels } else { layout.inner };
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, unit, 1, |first, piece| {
        if let Some(source) = source {
            piece.copy_from_slice(&source[first..first + piece.len()]);
        }
        let x = &x[first..first + piece.len()];
        match (norm.training, layout.inner) {
            (false, 1) => scale_rows(piece, line.factor),
            (false, inner) => scale_planes(piece, line.factor, inner, first / unit),
            (true, 1) => apply_rows(piece, x, &line),
            (true, inner) => apply_planes(piece, x, &line, inner, first / unit),
        }
    });
    ctx.set_output_at(0, output)?;
    ctx.set_output_at(1, Tensor::vector(&scale_gradient)?)?;
    ctx.set_output_at(2, Tensor::vector(&offset_gradient)?)
}

/// What is done to each channel: `factor * (dy - center - (x - mean) * slope)`.
#[derive(Clone, Copy)]
struct Line<'a> {
    factor: &'a [f32],
    center: &'a [f32],
    mean: &'a [f32],
    slope: &'a [f32],
}

widest! {
    fn scale_rows<T: Computed<Wide = f32>>(target: &mut [T], factor: &[f32]) {
        for row in target.chunks_exact_mut(factor.len()) {
            row.iter_mut().zip(factor).for_each(|(dy, &factor)| *dy = T::narrow(dy.widen() * factor));
        }
    }
}

widest! {
    /// Runs of `inner` elements of a channel each, the first being run number `first`.
    fn scale_planes<T: Computed<Wide = f32>>(target: &mut [T], factor: &[f32], inner: usize, first: usize) {
        for (index, plane) in target.chunks_exact_mut(inner).enumerate() {
            let factor = factor[(first + index) % factor.len()];
            plane.iter_mut().for_each(|dy| *dy = T::narrow(dy.widen() * factor));
        }
    }
}

widest! {
    fn apply_rows<T: Computed<Wide = f32>>(target: &mut [T], x: &[T], line: &Line<'_>) {
        let channels = line.mean.len();
        for (row, x) in target.chunks_exact_mut(channels).zip(x.chunks_exact(channels)) {
            let parameters = line.factor.iter().zip(line.center).zip(line.mean).zip(line.slope);
            for ((dy, x), (((&factor, &center), &mean), &slope)) in row.iter_mut().zip(x).zip(parameters) {
                *dy = T::narrow(factor * (dy.widen() - center - (x.widen() - mean) * slope));
            }
        }
    }
}

widest! {
    /// Runs of `inner` elements of a channel each, the first being run number `first`.
    fn apply_planes<T: Computed<Wide = f32>>(target: &mut [T], x: &[T], line: &Line<'_>, inner: usize, first: usize) {
        for (index, (plane, x)) in target.chunks_exact_mut(inner).zip(x.chunks_exact(inner)).enumerate() {
            let channel = (first + index) % line.mean.len();
            let (factor, center) = (line.factor[channel], line.center[channel]);
            let (mean, slope) = (line.mean[channel], line.slope[channel]);
            for (dy, x) in plane.iter_mut().zip(x) {
                *dy = T::narrow(factor * (dy.widen() - center - (x.widen() - mean) * slope));
            }
        }
    }
}

/// For each channel the sum of `dy`; then for each channel that of `dy * (x - mean)`.
fn totals<T: Computed<Wide = f32>>(
    ctx: &RawContext<'_>,
    dy: &[T],
    x: &[T],
    layout: &Layout,
    mean: &[f32],
) -> Result<Vec<f64>> {
    /// Parts whose sums are added at the end, so that the result does not depend on the number of threads.
    const PARTS: usize = 32;
    let Layout { outer, channels, inner } = *layout;
    let parts = PARTS.min(outer);
    let mut scratch = Tensor::zeros(DataType::Double, [parts, 2 * channels])?;
    let partial = scratch.as_mut_slice::<f64>()?;
    ctx.try_parallel_chunks(partial, 2 * channels, (x.len() / (parts * channels)).div_ceil(4), |first, piece| {
        for (index, sums) in piece.chunks_exact_mut(2 * channels).enumerate() {
            let part = first / (2 * channels) + index;
            let (start, end) = (part * outer / parts, (part + 1) * outer / parts);
            let slab = start * channels * inner..end * channels * inner;
            let (dy, x) = (&dy[slab.clone()], &x[slab]);
            if inner == 1 { sum_rows(dy, x, mean, sums)? } else { sum_planes(dy, x, inner, mean, sums) }
        }
        Ok(())
    })?;
    let mut totals = scratch::zeros(2 * channels)?;
    for sums in partial.chunks_exact(2 * channels) {
        totals.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    Ok(totals)
}

widest! {
    /// Rows of channels, some at a time as `f32`.
    fn sum_rows<T: Computed<Wide = f32>>(dy: &[T], x: &[T], mean: &[f32], sums: &mut [f64]) -> Result<()> {
        const ROWS: usize = 32;
        let channels = mean.len();
        let mut some = scratch::zeros::<f32>(2 * channels)?;
        for (dy, x) in dy.chunks(ROWS * channels).zip(x.chunks(ROWS * channels)) {
            some.fill(0.0);
            let (offsets, products) = some.split_at_mut(channels);
            for (dy, x) in dy.chunks_exact(channels).zip(x.chunks_exact(channels)) {
                let some = offsets.iter_mut().zip(products.iter_mut());
                for (((offset, product), &mean), (dy, x)) in some.zip(mean).zip(dy.iter().zip(x)) {
                    let dy = dy.widen();
                    *offset += dy;
                    *product += dy * (x.widen() - mean);
                }
            }
            sums.iter_mut().zip(&some).for_each(|(sum, &some)| *sum += f64::from(some));
        }
        Ok(())
    }
}

widest! {
    /// Runs of `inner` elements of a channel each.
    fn sum_planes<T: Computed<Wide = f32>>(dy: &[T], x: &[T], inner: usize, mean: &[f32], sums: &mut [f64]) {
        const LANES: usize = 16;
        const SOME: usize = 32 * LANES;
        let channels = mean.len();
        for (plane, (dy, x)) in dy.chunks_exact(inner).zip(x.chunks_exact(inner)).enumerate() {
            let channel = plane % channels;
            let mean = mean[channel];
            for (dy, x) in dy.chunks(SOME).zip(x.chunks(SOME)) {
                let (mut offsets, mut products) = ([0.0f32; LANES], [0.0f32; LANES]);
                for (dy, x) in dy.chunks(LANES).zip(x.chunks(LANES)) {
                    let lanes = offsets.iter_mut().zip(&mut products);
                    for ((offset, product), (dy, x)) in lanes.zip(dy.iter().zip(x)) {
                        let dy = dy.widen();
                        *offset += dy;
                        *product += dy * (x.widen() - mean);
                    }
                }
                sums[channel] += offsets.iter().map(|&sum| f64::from(sum)).sum::<f64>();
                sums[channels + channel] += products.iter().map(|&sum| f64::from(sum)).sum::<f64>();
            }
        }
    }
}
