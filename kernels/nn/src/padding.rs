//! Inputs of convolutions with the padding of their columns written out.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink_ops::shapes::Axis;

use super::space::Geometry;

/// A copy of an input with the padding of its columns, for which `geometry` is changed, so that what a filter's row sees are
/// neighbours everywhere; none where that is so without, or cannot be.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn pad_columns(ctx: &RawContext<'_>, geometry: &mut Geometry, input: &[f32]) -> Result<Option<Tensor>> {
    let (axis, depth) = (geometry.columns, geometry.in_depth);
    let inside = axis.interior() == (0..axis.output);
    if inside || axis.window < 2 || axis.dilation != 1 || geometry.groups() != 1 {
        return Ok(None);
    }
    let width = axis.start(axis.output.saturating_sub(1)) + (axis.before + axis.window) as i64;
    let width = (width.max(0) as usize).max(axis.input + axis.before);
    if width > 2 * (axis.input + axis.window) + 64 {
        return Ok(None);
    }
    let lines = geometry.input_lines();
    let mut padded = Tensor::zeros(DataType::Float, [lines, width, depth])?;
    ctx.parallel_chunks(padded.as_mut_slice::<f32>()?, width * depth, 1, |first, piece| {
        let line = axis.input * depth;
        let source = &input[first / (width * depth) * line..];
        for (target, source) in piece.chunks_exact_mut(width * depth).zip(source.chunks_exact(line.max(1))) {
            target[axis.before * depth..][..line].copy_from_slice(source);
        }
    });
    geometry.columns = Axis { input: width, before: 0, ..axis };
    Ok(Some(padded))
}
