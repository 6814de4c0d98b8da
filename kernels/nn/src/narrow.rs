//! 16-bit floats, computed as `f32`.

use kernlink::Result;
use kernlink::dtype::Element;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink_kernels_common::number::Computed;

/// A tensor in the wide dtype with the elements of `tensor`: itself if that is its dtype.
pub(super) fn widened<T: Computed>(ctx: Option<&RawContext<'_>>, tensor: &Tensor) -> Result<Tensor> {
    if T::DTYPE == T::Wide::DTYPE {
        return Ok(tensor.clone());
    }
    let mut wide = Tensor::alloc(T::Wide::DTYPE, tensor.shape().clone())?;
    let source = tensor.as_slice::<T>()?;
    let widen = |first: usize, piece: &mut [T::Wide]| {
        T::widen_all(&source[first..], piece);
    };
    let target = wide.as_mut_slice::<T::Wide>()?;
    match ctx {
        Some(ctx) => ctx.parallel_chunks(target, 64, 1, widen),
        None => widen(0, target),
    }
    Ok(wide)
}

/// Has `compute` write `output` in the wide dtype, and rounds it if that is another.
pub(super) fn computed<T: Computed>(
    ctx: &RawContext<'_>,
    output: &mut Tensor,
    compute: impl FnOnce(&mut Tensor) -> Result<()>,
) -> Result<()> {
    if T::DTYPE == T::Wide::DTYPE {
        return compute(output);
    }
    let mut wide = Tensor::alloc(T::Wide::DTYPE, output.shape().clone())?;
    compute(&mut wide)?;
    let source = wide.as_slice::<T::Wide>()?;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, 64, 1, |first, piece| {
        T::narrow_all(&source[first..], piece);
    });
    Ok(())
}

/// Has `compute` write the gradient that is a sum of products of two tensors' elements; 0 where one of them is empty.
pub(super) fn gradient<T: Computed>(
    ctx: &RawContext<'_>,
    [first, second]: [&Tensor; 2],
    output: &mut Tensor,
    compute: impl FnOnce(&Tensor, &Tensor, &mut Tensor) -> Result<()>,
) -> Result<()> {
    if output.num_elements() == 0 || first.num_elements() == 0 || second.num_elements() == 0 {
        output.as_mut_slice::<T>()?.fill(T::ZERO);
        return Ok(());
    }
    let (first, second) = (widened::<T>(Some(ctx), first)?, widened::<T>(Some(ctx), second)?);
    computed::<T>(ctx, output, |output| compute(&first, &second, output))
}
