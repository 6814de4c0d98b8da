//! FusedBatchNorm, FusedBatchNormV2 and FusedBatchNormV3, and _FusedBatchNormEx.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::channels::{Layout, Norm, bessel};
use kernlink_geometry::fusion::{Activation, after_norm, ensure_side};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{FusedBatchNorm, FusedBatchNormEx, FusedBatchNormV2, FusedBatchNormV3};

use super::vector::widest;

/// What the ops read from their attrs.
struct BatchNorm {
    norm: Norm,
    factor: f32,
}

impl KernelState for BatchNorm {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { norm: Norm::from_attrs(ctx.attrs)?, factor: ctx.attrs.required("exponential_avg_factor")? })
    }
}

impl BatchNorm {
    /// The five outputs that all versions have. They share the order of inputs and outputs.
    fn compute<T: Computed<Wide = f32>>(&self, ctx: &mut RawContext<'_>, ending: &Ending<'_>) -> Result<()> {
        let shape = ctx.input_at(0)?.shape().clone();
        let running = !self.norm.training || self.factor != 1.0;
        let vector = |index: usize| ctx.input_at(index).map(Tensor::shape);
        let layout = self.norm.forward(&shape, [vector(1)?, vector(2)?, vector(3)?, vector(4)?], running)?;
        let (mean, variance) = (ctx.input_at(3)?.clone(), ctx.input_at(4)?.clone());
        if shape.num_elements() == 0 {
            let y = ctx.allocate_output_at(0, shape)?;
            ctx.set_output_at(0, y)?;
            let mut nothing = Tensor::alloc(DataType::Float, [layout.channels])?;
            nothing.as_mut_slice::<f32>()?.fill(f32::NAN);
            return (1..5).try_for_each(|index| ctx.set_output_at(index, nothing.clone()));
        }
        if !self.norm.training {
            let (mean_values, variances) = (mean.as_slice::<f32>()?, variance.as_slice::<f32>()?);
            self.apply::<T>(ctx, &shape, &layout, [mean_values, variances], ending)?;
            for (index, tensor) in [(1, &mean), (2, &variance), (3, &mean), (4, &variance)] {
                ctx.set_output_at(index, tensor.clone())?;
            }
            return Ok(());
        }
        let x = ctx.input_at(0)?.as_slice::<T>()?;
        let count = layout.count();
        let average = |total: f64| (total / count as f64) as f32;
        let batch_mean: Vec<f32> = scratch::collected(totals(ctx, x, &layout, None)?.into_iter().map(average))?;
        let squares = totals(ctx, x, &layout, Some(&batch_mean))?;
        let batch_variance: Vec<f32> = scratch::collected(squares.into_iter().map(average))?;
        self.apply::<T>(ctx, &shape, &layout, [&batch_mean, &batch_variance], ending)?;
        let adjust = bessel(count);
        let (mut new_mean, mut new_variance) = (scratch::copied(&batch_mean)?, scratch::copied(&batch_variance)?);
        if running {
            let (keep, factor) = (1.0 - self.factor, self.factor);
            for (new, &old) in new_mean.iter_mut().zip(mean.as_slice::<f32>()?) {
                *new = keep * old + factor * *new;
            }
            for (new, &old) in new_variance.iter_mut().zip(variance.as_slice::<f32>()?) {
                *new = keep * old + (factor * adjust) * *new;
            }
        } else {
            new_variance.iter_mut().for_each(|new| *new *= adjust);
        }
        for (index, values) in [(1, new_mean), (2, new_variance), (3, batch_mean), (4, batch_variance)] {
            ctx.set_output_at(index, Tensor::vector(&values)?)?;
        }
        Ok(())
    }

    /// Output 0: `(x - mean) * scale / sqrt(variance + epsilon) + offset`, in place of x if nothing else needs it.
    fn apply<T: Computed<Wide = f32>>(
        &self,
        ctx: &mut RawContext<'_>,
        shape: &Shape,
        layout: &Layout,
        [mean, variance]: [&[f32]; 2],
        ending: &Ending<'_>,
    ) -> Result<()> {
        let scale = ctx.input_at(1)?.as_slice::<f32>()?;
        let factors = variance.iter().zip(scale);
        let factor = |(&variance, &scale): (&f32, &f32)| scale / (variance + self.norm.epsilon).sqrt();
        let factors: Vec<f32> = scratch::collected(factors.map(factor))?;
        let offset = ctx.input_at(2)?.clone();
        let line = Line { mean, factors: &factors, offset: offset.as_slice::<f32>()? };
        let mut y = match ctx.forward_input_at(0, 0, shape) {
            Some(x) => x,
            None => ctx.allocate_output_at(0, shape)?,
        };
        // What was forwarded is no input any more.
        let source = ctx.input_at(0).ok().map(|x| x.as_slice::<T>()).transpose()?;
        let side = ending.side.map(|side| side.as_slice::<T>()).transpose()?;
        let unit = if layout.inner == 1 { layout.channels } else { layout.inner };
        ctx.parallel_chunks(y.as_mut_slice::<T>()?, unit, 1, |first, piece| {
            let source = source.map(|source| &source[first..first + piece.len()]);
            if layout.inner == 1 {
                apply_rows(piece, source, &line);
            } else {
                apply_planes(piece, source, &line, layout.inner, first / unit);
            }
            if let Some(side) = side {
                add(piece, &side[first..][..piece.len()]);
            }
            if ending.rectified {
                rectify(piece);
            }
        });
        ctx.set_output_at(0, y)
    }
}

/// What is done to output 0 at the end.
#[derive(Default)]
struct Ending<'a> {
    /// What is added, in the shape of the output.
    side: Option<&'a Tensor>,
    /// Whether only the positive part stays.
    rectified: bool,
}

widest! {
    fn add<T: Computed<Wide = f32>>(target: &mut [T], side: &[T]) {
        target.iter_mut().zip(side).for_each(|(y, side)| *y = T::narrow(y.widen() + side.widen()));
    }
}

widest! {
    fn rectify<T: Computed<Wide = f32>>(target: &mut [T]) {
        target.iter_mut().for_each(|y| {
            let wide = y.widen();
            // NaN stays NaN.
            *y = if wide > 0.0 || wide.is_nan() { *y } else { T::ZERO };
        });
    }
}

/// What is done to each channel.
#[derive(Clone, Copy)]
struct Line<'a> {
    mean: &'a [f32],
    factors: &'a [f32],
    offset: &'a [f32],
}

widest! {
    /// Rows of channels, from `source` or from the target itself.
    fn apply_rows<T: Computed<Wide = f32>>(target: &mut [T], source: Option<&[T]>, line: &Line<'_>) {
        let channels = line.mean.len();
        let parameters = || line.mean.iter().zip(line.factors).zip(line.offset);
        match source {
            Some(source) => {
                for (row, source) in target.chunks_exact_mut(channels).zip(source.chunks_exact(channels)) {
                    for ((y, x), ((&mean, &factor), &offset)) in row.iter_mut().zip(source).zip(parameters()) {
                        *y = T::narrow((x.widen() - mean) * factor + offset);
                    }
                }
            }
            None => {
                for row in target.chunks_exact_mut(channels) {
                    for (y, ((&mean, &factor), &offset)) in row.iter_mut().zip(parameters()) {
                        *y = T::narrow((y.widen() - mean) * factor + offset);
                    }
                }
            }
        }
    }
}

widest! {
    /// Runs of `inner` elements of a channel each, the first being run number `first`.
    fn apply_planes<T: Computed<Wide = f32>>(
        target: &mut [T],
        source: Option<&[T]>,
        line: &Line<'_>,
        inner: usize,
        first: usize,
    ) {
        if let Some(source) = source {
            target.copy_from_slice(source);
        }
        for (index, plane) in target.chunks_exact_mut(inner).enumerate() {
            let channel = (first + index) % line.mean.len();
            let (mean, factor, offset) = (line.mean[channel], line.factors[channel], line.offset[channel]);
            plane.iter_mut().for_each(|y| *y = T::narrow((y.widen() - mean) * factor + offset));
        }
    }
}

/// For each channel, the sum of its elements, or of their squared distances from `center`.
fn totals<T: Computed<Wide = f32>>(
    ctx: &RawContext<'_>,
    x: &[T],
    layout: &Layout,
    center: Option<&[f32]>,
) -> Result<Vec<f64>> {
    /// Parts whose sums are added at the end, so that the result does not depend on the number of threads.
    const PARTS: usize = 32;
    let Layout { outer, channels, inner } = *layout;
    let parts = PARTS.min(outer);
    let mut scratch = Tensor::zeros(DataType::Double, [parts, channels])?;
    let partial = scratch.as_mut_slice::<f64>()?;
    ctx.try_parallel_chunks(partial, channels, (x.len() / (parts * channels)).div_ceil(8), |first, piece| {
        for (index, sums) in piece.chunks_exact_mut(channels).enumerate() {
            let part = first / channels + index;
            let (start, end) = (part * outer / parts, (part + 1) * outer / parts);
            let slab = &x[start * channels * inner..end * channels * inner];
            if inner == 1 { sum_rows(slab, center, sums)? } else { sum_planes(slab, inner, center, sums) }
        }
        Ok(())
    })?;
    let mut totals = scratch::zeros(channels)?;
    for sums in partial.chunks_exact(channels) {
        totals.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    Ok(totals)
}

/// The summand of an element: itself, or its squared distance from the center.
#[inline(always)]
fn summand(x: f32, center: Option<f32>) -> f32 {
    center.map_or(x, |center| (x - center) * (x - center))
}

widest! {
    /// Rows of channels, some at a time as `f32`.
    fn sum_rows<T: Computed<Wide = f32>>(slab: &[T], center: Option<&[f32]>, sums: &mut [f64]) -> Result<()> {
        const ROWS: usize = 32;
        let channels = sums.len();
        let mut some = scratch::zeros::<f32>(channels)?;
        for rows in slab.chunks(ROWS * channels) {
            some.fill(0.0);
            for row in rows.chunks_exact(channels) {
                match center {
                    None => some.iter_mut().zip(row).for_each(|(sum, x)| *sum += summand(x.widen(), None)),
                    Some(center) => {
                        for ((sum, x), &center) in some.iter_mut().zip(row).zip(center) {
                            *sum += summand(x.widen(), Some(center));
                        }
                    }
                }
            }
            sums.iter_mut().zip(&some).for_each(|(sum, &some)| *sum += f64::from(some));
        }
        Ok(())
    }
}

widest! {
    /// Runs of `inner` elements of a channel each.
    fn sum_planes<T: Computed<Wide = f32>>(slab: &[T], inner: usize, center: Option<&[f32]>, sums: &mut [f64]) {
        const LANES: usize = 16;
        const SOME: usize = 32 * LANES;
        let channels = sums.len();
        for (plane, run) in slab.chunks_exact(inner).enumerate() {
            let channel = plane % channels;
            let center = center.map(|center| center[channel]);
            for some in run.chunks(SOME) {
                let mut lanes = [0.0f32; LANES];
                for chunk in some.chunks(LANES) {
                    lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane += summand(x.widen(), center));
                }
                sums[channel] += lanes.iter().map(|&sum| f64::from(sum)).sum::<f64>();
            }
        }
    }
}

/// [`BatchNorm`] with what follows it in one node.
struct BatchNormEx {
    batch_norm: BatchNorm,
    activation: Activation,
}

impl KernelState for BatchNormEx {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let activation = after_norm(ctx.attrs)?;
        Ok(Self { batch_norm: BatchNorm::new(ctx)?, activation })
    }
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32])]
fn fused_batch_norm_ex<T: Computed<Wide = f32>>(
    node: &BatchNormEx,
    ctx: &mut KernelContext<'_, FusedBatchNormEx>,
) -> Result<()> {
    let side = ctx.input_list(FusedBatchNormEx::SIDE_INPUT).iter().next().cloned();
    if let Some(side) = &side {
        ensure_side(side.shape(), ctx.input(FusedBatchNormEx::X)?.shape())?;
    }
    let rectified = node.activation == Activation::Relu;
    node.batch_norm.compute::<T>(ctx, &Ending { side: side.as_ref(), rectified })?;
    ctx.set_output(FusedBatchNormEx::RESERVE_SPACE_3, Tensor::scalar(0.0f32))
}

#[register_kernel(device = Cpu, op = FusedBatchNorm, T = [f32])]
#[register_kernel(device = Cpu, op = FusedBatchNormV2, T = [f16, bf16, f32], U = [f32])]
fn fused_batch_norm<T: Computed<Wide = f32>>(batch_norm: &BatchNorm, ctx: &mut RawContext<'_>) -> Result<()> {
    batch_norm.compute::<T>(ctx, &Ending::default())
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32], U = [f32])]
fn fused_batch_norm_v3<T: Computed<Wide = f32>>(
    batch_norm: &BatchNorm,
    ctx: &mut KernelContext<'_, FusedBatchNormV3>,
) -> Result<()> {
    batch_norm.compute::<T>(ctx, &Ending::default())?;
    // Only cuDNN reserves space.
    ctx.set_output(FusedBatchNormV3::RESERVE_SPACE_3, Tensor::scalar(0.0f32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_blocks_are_those_of_doubles() {
        let x: Vec<f32> = (0..7 * 1100 * 3).map(|i| 100.0 + (i * 7919 % 1009) as f32 / 500.0).collect();
        let center = [101.0f32, 100.5, 102.0];
        for inner in [1, 7, 1100] {
            for center in [None, Some(&center[..])] {
                let mut expected = [0.0f64; 3];
                for (index, &x) in x.iter().enumerate() {
                    let channel = index / inner % 3;
                    let x = f64::from(x);
                    expected[channel] += center.map_or(x, |center| (x - f64::from(center[channel])).powi(2));
                }
                let mut sums = [0.0; 3];
                if inner == 1 {
                    sum_rows(&x, center, &mut sums).unwrap();
                } else {
                    sum_planes(&x, inner, center, &mut sums);
                }
                for (sum, expected) in sums.iter().zip(expected) {
                    assert!((sum - expected).abs() < 1e-6 * expected, "{inner}: {sum} instead of {expected}");
                }
            }
        }
    }
}
