//! Tensors joined along their first dimension.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_kernels_common::tensors::copy_elements;

/// A tensor of this shape with the elements of all `parts` one behind the other; `None` and a number stand for so many
/// zeros, or empty strings.
pub(super) fn join<'t>(
    ctx: &RawContext<'_>,
    dtype: DataType,
    shape: Shape,
    parts: impl Iterator<Item = (Option<&'t Tensor>, usize)> + Clone,
) -> Result<Tensor> {
    shape.check()?;
    let mut parts = parts;
    let total = shape.num_elements();
    let has_gaps = parts.clone().any(|(part, count)| part.is_none() && count > 0);
    if !has_gaps && let Some((Some(only), _)) = parts.clone().find(|&(_, count)| count == total && total > 0) {
        return only.clone().reshaped(shape);
    }
    let mut output = if has_gaps { Tensor::zeros(dtype, shape)? } else { ctx.allocate_temp(dtype, shape)? };
    parts.try_fold(0, |at, (part, count)| {
        if let Some(part) = part {
            copy_elements(&mut output, at, part)?;
        }
        Ok::<_, kernlink::Error>(at + count)
    })?;
    Ok(output)
}
