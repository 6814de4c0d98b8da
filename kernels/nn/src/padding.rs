//! Inputs of convolutions with the padding of their columns written out, so that rows of filters see neighbours.

use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};
use kernlink_ops::shapes::Axis;

use super::space::Geometry;

/// A copy of an input with the padding of its columns, for which `geometry` is changed, so that it has
/// [whole rows](Geometry::has_whole_rows). `None` if it has them without; if no copy can have them; or if the copy is far larger than
/// the input or does not fit in memory: all can be done without it.
///
/// # Errors
/// None of its own.
pub(super) fn pad_columns(ctx: &RawContext<'_>, geometry: &mut Geometry, input: &[f32]) -> Result<Option<Tensor>> {
    /// Elements of a copy besides four times those of the input.
    const SMALL: usize = 1 << 16;
    let (axis, depth) = (geometry.columns, geometry.in_depth);
    if geometry.has_whole_rows() || axis.dilation != 1 || geometry.groups() != 1 {
        return Ok(None);
    }
    let width = axis.start(axis.output.saturating_sub(1)) + (axis.before + axis.window) as i64;
    let width = (width.max(0) as usize).max(axis.input + axis.before);
    let lines = geometry.input_lines();
    if lines.saturating_mul(width).saturating_mul(depth) > input.len().saturating_mul(4).saturating_add(SMALL) {
        return Ok(None);
    }
    let mut padded = match Tensor::zeros(DataType::Float, [lines, width, depth]) {
        Err(error) if error.code() == Code::ResourceExhausted => return Ok(None),
        padded => padded?,
    };
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

#[cfg(test)]
mod tests {
    use super::super::space::ONE_PLANE;
    use super::*;
    use kernlink::op::{OpDef, Signature};
    use kernlink_ops::shapes::Padding;

    #[test]
    fn copies_have_whole_rows_and_are_not_far_larger() {
        let signature = Signature::default();
        let ctx = RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], None);
        let geometry = |size, window, stride, dilation, padding| {
            let axis = Axis::new(size, window, stride, dilation, padding).unwrap();
            let (rows, columns) = (Axis::new(2, 1, 1, 1, Padding::Valid).unwrap(), axis);
            Geometry { batch: 3, planes: ONE_PLANE, rows, columns, in_depth: 2, patch_depth: 2, out_depth: 1 }
        };
        for (size, window, stride, padding) in [
            (5, 3, 1, Padding::Same),
            (6, 3, 2, Padding::Same),
            (1, 7, 1, Padding::Same),
            (4, 2, 3, Padding::Explicit((1, 6))),
            (3, 2, 1, Padding::Explicit((5, 0))),
        ] {
            let mut padded = geometry(size, window, stride, 1, padding);
            let before = padded;
            let input: Vec<f32> = (1..).take(3 * 2 * size * 2).map(|i| i as f32).collect();
            let copy = pad_columns(&ctx, &mut padded, &input).unwrap().unwrap();
            assert!(padded.has_whole_rows() && !before.has_whole_rows());
            let copy = copy.as_slice::<f32>().unwrap();
            for line in 0..6 {
                for (output, tap) in
                    (0..before.columns.output).flat_map(|output| (0..window).map(move |tap| (output, tap)))
                {
                    let column = padded.columns.at(output, tap).unwrap();
                    let expected = before.columns.at(output, tap).map_or([0.0; 2], |column| {
                        let at = (line * size + column) * 2;
                        [input[at], input[at + 1]]
                    });
                    assert_eq!(copy[(line * padded.columns.input + column) * 2..][..2], expected);
                }
            }
        }
        let is_none = |size, window, dilation, padding| {
            let mut geometry = geometry(size, window, 1, dilation, padding);
            pad_columns(&ctx, &mut geometry, &vec![0.0; 3 * 2 * size * 2]).unwrap().is_none()
        };
        assert!(is_none(5, 3, 1, Padding::Valid) && is_none(5, 1, 1, Padding::Explicit((2, 2))));
        assert!(is_none(5, 3, 2, Padding::Same) && is_none(5, 100_000, 1, Padding::Same));
    }
}
