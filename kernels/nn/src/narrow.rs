//! 16-bit floats, computed as `f32`.

use kernlink::Result;
use kernlink::dtype::{DataType, Pod, bf16, f16};
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;

/// A float that `f32` holds exactly.
pub(super) trait Narrow: Pod {
    /// The exact value.
    fn widen(self) -> f32;
    /// The nearest value.
    fn round(value: f32) -> Self;
}

impl Narrow for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
    #[inline(always)]
    fn round(value: f32) -> f32 {
        value
    }
}

impl Narrow for f16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self.to_f32()
    }
    #[inline(always)]
    fn round(value: f32) -> f16 {
        f16::from_f32(value)
    }
}

impl Narrow for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self.to_f32()
    }
    #[inline(always)]
    fn round(value: f32) -> bf16 {
        bf16::from_f32(value)
    }
}

/// A tensor of `f32` with the elements of `tensor`.
pub(super) fn widened<T: Narrow>(ctx: &RawContext<'_>, tensor: &Tensor) -> Result<Tensor> {
    let mut wide = Tensor::alloc(DataType::Float, tensor.shape().clone())?;
    let source = tensor.as_slice::<T>()?;
    ctx.parallel_chunks(wide.as_mut_slice::<f32>()?, 64, 1, |first, piece| {
        piece.iter_mut().zip(&source[first..]).for_each(|(wide, element)| *wide = element.widen());
    });
    Ok(wide)
}

/// Rounds the elements of `wide` into `target`, a tensor of as many.
pub(super) fn narrowed<T: Narrow>(ctx: &RawContext<'_>, wide: &Tensor, target: &mut Tensor) -> Result<()> {
    let source = wide.as_slice::<f32>()?;
    ctx.parallel_chunks(target.as_mut_slice::<T>()?, 64, 1, |first, piece| {
        piece.iter_mut().zip(&source[first..]).for_each(|(element, &wide)| *element = T::round(wide));
    });
    Ok(())
}
