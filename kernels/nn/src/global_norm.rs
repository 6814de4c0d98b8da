//! BatchNormWithGlobalNormalization.

use std::marker::PhantomData;

use kernlink::dtype::{Pod, f16};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::BatchNormWithGlobalNormalization;

/// A float that is computed as `f64`.
trait Real: Pod {
    fn wide(self) -> f64;
    fn round(value: f64) -> Self;
}

macro_rules! real {
    ($($t:ty, $wide:expr, $round:expr);+) => {$(
        impl Real for $t {
            fn wide(self) -> f64 {
                $wide(self)
            }
            fn round(value: f64) -> $t {
                $round(value)
            }
        }
    )+};
}
real!(f16, f16::to_f64, f16::from_f64; f32, f64::from, |value| value as f32; f64, std::convert::identity, std::convert::identity);

struct GlobalNormKernel<T> {
    epsilon: f64,
    scale: bool,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [f16, f32, f64])]
impl<T: Real> OpKernel<BatchNormWithGlobalNormalization> for GlobalNormKernel<T> {
    fn new(ctx: &KernelConstruction<'_, BatchNormWithGlobalNormalization>) -> Result<Self> {
        let attrs = ctx.attrs();
        let (epsilon, scale) = (attrs.variance_epsilon.into(), attrs.scale_after_normalization);
        Ok(Self { epsilon, scale, element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, BatchNormWithGlobalNormalization>) -> Result<()> {
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
        let factors = variance.iter().zip(gamma).map(|(variance, gamma)| {
            (if self.scale { gamma.wide() } else { 1.0 }) / (variance.wide() + self.epsilon).sqrt()
        });
        let factors: Vec<f64> = factors.collect();
        let mut output = ctx.allocate_output_at(0, shape.clone())?;
        let elements = input.as_slice::<T>()?;
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, depth, 2, |first, piece| {
            let rows = elements[first..].chunks_exact(depth.max(1));
            for (target, row) in piece.chunks_exact_mut(depth.max(1)).zip(rows) {
                for (channel, (target, x)) in target.iter_mut().zip(row).enumerate() {
                    let centered = x.wide() - mean[channel].wide();
                    *target = T::round(centered * factors[channel] + beta[channel].wide());
                }
            }
        });
        ctx.set_output_at(0, output)
    }
}
