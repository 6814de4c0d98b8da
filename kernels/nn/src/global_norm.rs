//! BatchNormWithGlobalNormalization.

use kernlink::dtype::Number;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::BatchNormWithGlobalNormalization;

#[register_kernel(device = Cpu, op = BatchNormWithGlobalNormalization, T = [f16, f32, f64])]
fn global_norm<T: Number + Into<f64>>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let wide = |x: &T| -> f64 { (*x).into() };
    let (epsilon, scale) = (f64::from(attrs.variance_epsilon), attrs.scale_after_normalization);
    let input = ctx.input_at(0)?;
    let shape = input.shape();
    ensure!(shape.rank() == 4, InvalidArgument, "t must be 4-dimensional, not {shape}");
    let depth = shape[3];
    let mut vectors = [&[][..]; 4];
    for (index, (slot, name)) in vectors.iter_mut().zip(["m", "v", "beta", "gamma"]).enumerate() {
        let vector = ctx.input_at(index + 1)?;
        ensure!(
            vector.rank() == 1 && vector.num_elements() == depth,
            InvalidArgument,
            "{name} must have shape [{depth}], not {}",
            vector.shape()
        );
        *slot = vector.as_slice::<T>()?;
    }
    let [mean, variance, beta, gamma] = vectors;
    let factors = variance
        .iter()
        .zip(gamma)
        .map(|(variance, gamma)| (if scale { wide(gamma) } else { 1.0 }) / (wide(variance) + epsilon).sqrt());
    let factors: Vec<f64> = scratch::collected(factors)?;
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
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
