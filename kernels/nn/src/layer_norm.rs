//! _LayerNorm: vectors of the last dimension, brought to mean 0 and variance 1.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::kernel::KernelContext;
use kernlink::tensor::{Tensor, scratch};
use kernlink_geometry::channels;
use kernlink_kernels_common::number::{Computed, Float};
use kernlink_macros::register_kernel;
use kernlink_ops::LayerNorm;

use super::vector::widest;

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64], state = |ctx| Ok(ctx.attrs().epsilon))]
fn layer_norm<T: Computed<Wide: Float + Number>>(epsilon: &f32, ctx: &mut KernelContext<'_, LayerNorm>) -> Result<()> {
    let (x, scale, offset) = (ctx.input(LayerNorm::X)?, ctx.input(LayerNorm::SCALE)?, ctx.input(LayerNorm::OFFSET)?);
    let shape = x.shape().clone();
    let length = channels::layer_norm(&shape, scale.shape(), offset.shape())?;
    let vector = |vector: &Tensor| -> Result<Vec<T::Wide>> {
        scratch::collected(vector.as_slice::<T>()?.iter().map(|element| element.widen()))
    };
    let (scale, offset) = (vector(scale)?, vector(offset)?);
    let epsilon = <T::Wide as Number>::from_f64(f64::from(*epsilon));
    let mut y = ctx.allocate_output(LayerNorm::Y, shape)?;
    let x = x.as_slice::<T>()?;
    if !x.is_empty() {
        ctx.try_parallel_chunks(y.as_mut_slice::<T>()?, length, 1, |first, piece| {
            piece.copy_from_slice(&x[first..][..piece.len()]);
            for row in piece.chunks_exact_mut(length) {
                T::on_wide(row, |row| normalize(row, &scale, &offset, epsilon))?;
            }
            Ok(())
        })?;
    }
    ctx.set_output(LayerNorm::Y, y)
}

/// A float whose vectors can be normalised.
trait Normalized: Float + Number {}
impl<T: Float + Number> Normalized for T {}

/// Sums kept side by side, so that they fill vectors.
const LANES: usize = 16;

#[inline(always)]
fn sum<T: Normalized>(row: &[T], of: impl Fn(T) -> T) -> T {
    let mut lanes = [T::ZERO; LANES];
    let mut chunks = row.chunks_exact(LANES);
    for chunk in chunks.by_ref() {
        lanes.iter_mut().zip(chunk).for_each(|(lane, &x)| *lane += of(x));
    }
    lanes.iter_mut().zip(chunks.remainder()).for_each(|(lane, &x)| *lane += of(x));
    lanes.into_iter().fold(T::ZERO, |sum, lane| sum + lane)
}

widest! {
    fn normalize<T: Normalized>(row: &mut [T], scale: &[T], offset: &[T], epsilon: T) {
        let count = T::from_f64(row.len() as f64);
        let mean = sum(row, |x| x) / count;
        let variance = sum(row, |x| (x - mean) * (x - mean)) / count;
        let factor = <T as Float>::recip((variance + epsilon).sqrt());
        for ((x, &scale), &offset) in row.iter_mut().zip(scale).zip(offset) {
            *x = (*x - mean) * (factor * scale) + offset;
        }
    }
}
