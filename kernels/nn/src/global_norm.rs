//! BatchNormWithGlobalNormalization and its gradient.

use kernlink::dtype::Number;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::{BatchNormWithGlobalNormalization, BatchNormWithGlobalNormalizationGrad};

/// The input that is normalised, and the vectors that follow it.
fn channels<'a, T: Number, const N: usize>(ctx: &'a RawContext<'_>, names: [&str; N]) -> Result<[&'a [T]; N]> {
    let shape = ctx.input_at(0)?.shape();
    ensure!(shape.rank() == 4, InvalidArgument, "t must be 4-dimensional, not {shape}");
    let depth = shape[3];
    let mut vectors = [&[][..]; N];
    for (index, (slot, name)) in vectors.iter_mut().zip(names).enumerate() {
        let vector = ctx.input_at(index + 1)?;
        ensure!(
            vector.rank() == 1 && vector.num_elements() == depth,
            InvalidArgument,
            "{name} must have shape [{depth}], not {}",
            vector.shape()
        );
        *slot = vector.as_slice::<T>()?;
    }
    Ok(vectors)
}

#[register_kernel(device = Cpu, op = BatchNormWithGlobalNormalization, T = [f16, f32, f64])]
fn global_norm<T: Number + Into<f64>>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let wide = |x: &T| -> f64 { (*x).into() };
    let (epsilon, scale) = (f64::from(attrs.variance_epsilon), attrs.scale_after_normalization);
    let [mean, variance, beta, gamma] = channels::<T, 4>(ctx, ["m", "v", "beta", "gamma"])?;
    let (input, depth) = (ctx.input_at(0)?, mean.len());
    let factors = variance
        .iter()
        .zip(gamma)
        .map(|(variance, gamma)| (if scale { wide(gamma) } else { 1.0 }) / (wide(variance) + epsilon).sqrt());
    let factors: Vec<f64> = scratch::collected(factors)?;
    let mut output = ctx.allocate_output_at(0, input.shape().clone())?;
    let elements = input.as_slice::<T>()?;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, depth, 2, |first, piece| {
        let rows = elements[first..].chunks_exact(depth.max(1));
        for (target, row) in piece.chunks_exact_mut(depth.max(1)).zip(rows) {
            for (channel, (target, x)) in target.iter_mut().zip(row).enumerate() {
                let centered = wide(x) - wide(&mean[channel]);
                *target = T::from_f64(centered * factors[channel] + wide(&beta[channel]));
            }
        }
    });
    ctx.set_output_at(0, output)
}

/// With `r = 1 / √(v + ε)`, and `s` for gamma or one: `dx = g s r`, `db = Σ g`, `dm = -s r Σ g`,
/// `dg = r Σ g (t - m)` or zero, `dv = -s r³ / 2 Σ g (t - m)`.
#[register_kernel(device = Cpu, op = BatchNormWithGlobalNormalizationGrad, T = [f16, f32, f64])]
fn global_norm_grad<T: Number + Into<f64>>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let wide = |x: &T| -> f64 { (*x).into() };
    let (epsilon, scale) = (f64::from(attrs.variance_epsilon), attrs.scale_after_normalization);
    let [mean, variance, gamma] = channels::<T, 3>(ctx, ["m", "v", "gamma"])?;
    let (input, flow, depth) = (ctx.input_at(0)?, ctx.input_at(4)?, mean.len());
    ensure!(
        flow.shape() == input.shape(),
        InvalidArgument,
        "backprop must have the shape of t, {}, not {}",
        input.shape(),
        flow.shape()
    );
    let (elements, flows) = (input.as_slice::<T>()?, flow.as_slice::<T>()?);
    let mut sums: Vec<f64> = scratch::zeros(depth)?;
    let mut weighted: Vec<f64> = scratch::zeros(depth)?;
    for (row, flow) in elements.chunks_exact(depth.max(1)).zip(flows.chunks_exact(depth.max(1))) {
        for (channel, (x, flow)) in row.iter().zip(flow).enumerate() {
            sums[channel] += wide(flow);
            weighted[channel] += wide(flow) * (wide(x) - wide(&mean[channel]));
        }
    }
    let shape = mean.len();
    let mut vectors = Vec::with_capacity(4);
    for output in 1..5 {
        vectors.push(ctx.allocate_output_at(output, [shape])?);
    }
    let mut factors: Vec<f64> = scratch::zeros(depth)?;
    for channel in 0..depth {
        let root = 1.0 / (wide(&variance[channel]) + epsilon).sqrt();
        let factor = if scale { wide(&gamma[channel]) } else { 1.0 } * root;
        factors[channel] = factor;
        let found = [
            -factor * sums[channel],
            -0.5 * factor * root * root * weighted[channel],
            sums[channel],
            if scale { root * weighted[channel] } else { 0.0 },
        ];
        for (vector, found) in vectors.iter_mut().zip(found) {
            vector.as_mut_slice::<T>()?[channel] = T::from_f64(found);
        }
    }
    let mut output = ctx.allocate_output_at(0, input.shape().clone())?;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, depth, 2, |first, piece| {
        let rows = flows[first..].chunks_exact(depth.max(1));
        for (target, row) in piece.chunks_exact_mut(depth.max(1)).zip(rows) {
            for ((target, flow), factor) in target.iter_mut().zip(row).zip(&factors) {
                *target = T::from_f64(wide(flow) * factor);
            }
        }
    });
    ctx.set_output_at(0, output)?;
    vectors.into_iter().enumerate().try_for_each(|(index, vector)| ctx.set_output_at(index + 1, vector))
}
