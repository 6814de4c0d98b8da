//! _ScaledMaskedSoftmax: what attention takes of its scores, in one go over their rows.

use kernlink::dtype::DataType;
use kernlink::kernel::KernelContext;
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_geometry::broadcast::Broadcast;
use kernlink_geometry::loss::ensure_classes;
use kernlink_macros::register_kernel;
use kernlink_ops::ScaledMaskedSoftmax;

use super::softmax::{Normalize, together};
use super::vector::widest;

/// As many groups of dimensions as broadcast in a sum.
const LIMIT: usize = 5;

#[register_kernel(device = Cpu, T = [f32], state = |ctx| Ok(ctx.attrs().scale))]
fn scaled_masked_softmax(scale: &f32, ctx: &mut KernelContext<'_, ScaledMaskedSoftmax>) -> Result<()> {
    /// Nanoseconds an element takes, or so.
    const COST: usize = 2;
    let masks = ctx.input_list(ScaledMaskedSoftmax::MASK);
    ensure!(masks.len() <= 1, InvalidArgument, "there may be one mask, not {}", masks.len());
    let mask: Option<Tensor> = masks.iter().next().cloned();
    let own = ctx.input(ScaledMaskedSoftmax::LOGITS)?.shape().clone();
    let shape = match &mask {
        Some(mask) => Broadcast::new([&own, mask.shape()], LIMIT)?.shape,
        None => own.clone(),
    };
    ensure_classes(&shape)?;
    let classes = shape.last().copied().unwrap_or(1);
    let places = Places::new(&shape, [&own, mask.as_ref().map_or(&own, Tensor::shape)])?;
    let forwarded = ctx.forward_input(ScaledMaskedSoftmax::LOGITS, ScaledMaskedSoftmax::SOFTMAX, &shape);
    let is_forwarded = forwarded.is_some();
    let mut output = match forwarded {
        Some(output) => output,
        None => Tensor::alloc(DataType::Float, shape)?,
    };
    if output.num_elements() > 0 {
        // What was forwarded is no input any more.
        let logits = match is_forwarded {
            true => None,
            false => Some(ctx.input(ScaledMaskedSoftmax::LOGITS)?.as_slice::<f32>()?),
        };
        let mask = mask.as_ref().map(|mask| mask.as_slice::<f32>()).transpose()?;
        ctx.try_parallel_chunks(output.as_mut_slice::<f32>()?, classes, COST, |first, piece| {
            let mut number = first / classes;
            for rows in piece.chunks_mut(together(classes)) {
                for row in rows.chunks_exact_mut(classes) {
                    let [at, mask_at] = places.of(number);
                    match logits.map(|logits| &logits[at..]) {
                        Some(logits) if places.widths[0] == classes => row.copy_from_slice(&logits[..classes]),
                        Some(logits) => row.fill(logits[0]),
                        None => {}
                    }
                    scaled(row, *scale, mask.map(|mask| &mask[mask_at..][..places.widths[1]]));
                    number += 1;
                }
                f32::normalize(rows, classes, false);
            }
            Ok(())
        })?;
    }
    ctx.set_output(ScaledMaskedSoftmax::SOFTMAX, output)
}

widest! {
    /// Logits to their scale, and the mask added, which has an element for each or one for all.
    fn scaled(row: &mut [f32], scale: f32, mask: Option<&[f32]>) {
        match mask {
            Some(&[mask]) => {
                for logit in row {
                    *logit = *logit * scale + mask;
                }
            }
            Some(mask) => {
                for (logit, &mask) in row.iter_mut().zip(mask) {
                    *logit = *logit * scale + mask;
                }
            }
            None => {
                for logit in row {
                    *logit *= scale;
                }
            }
        }
    }
}

/// Where the rows of two operands are that broadcast to an output.
struct Places {
    /// The output's dimensions but the last, innermost first, each with the elements from one index to the next in the
    /// operands.
    outer: Vec<(usize, [usize; 2])>,
    /// The sizes of the operands' last dimensions.
    widths: [usize; 2],
}

impl Places {
    /// Of operands that broadcast to `output`, which has at least one dimension.
    fn new(output: &Shape, operands: [&Shape; 2]) -> Result<Places> {
        let mut sizes = operands.map(|shape| shape.iter().rev().copied());
        let widths = sizes.each_mut().map(|sizes| sizes.next().unwrap_or(1));
        let mut distance = widths;
        let outer = output.iter().rev().skip(1).map(|&size| {
            let mut steps = [0; 2];
            for operand in 0..2 {
                let own = sizes[operand].next().unwrap_or(1);
                if own != 1 {
                    steps[operand] = distance[operand];
                }
                distance[operand] = distance[operand].saturating_mul(own);
            }
            (size, steps)
        });
        Ok(Places { outer: scratch::collected(outer)?, widths })
    }

    /// The first element of each operand's row for a row of the output.
    fn of(&self, row: usize) -> [usize; 2] {
        let (mut rest, mut places) = (row, [0; 2]);
        for &(size, steps) in &self.outer {
            let index = rest % size;
            rest /= size;
            places[0] += index * steps[0];
            places[1] += index * steps[1];
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_where_broadcasting_has_them() {
        let shape = |dims: &[usize]| Shape::from(dims);
        let (own, mask) = (shape(&[2, 3, 4, 5]), shape(&[2, 1, 1, 5]));
        let places = Places::new(&own, [&own, &mask]).unwrap();
        assert_eq!(places.widths, [5, 5]);
        assert_eq!([0, 11, 12, 23].map(|row| places.of(row)), [[0, 0], [55, 0], [60, 5], [115, 5]]);
        let (output, mask) = (shape(&[3, 2, 4]), shape(&[3, 1, 4]));
        let places = Places::new(&output, [&shape(&[2, 1]), &mask]).unwrap();
        assert_eq!(places.widths, [1, 4]);
        assert_eq!([0, 1, 2, 5].map(|row| places.of(row)), [[0, 0], [1, 0], [0, 4], [1, 8]]);
        assert_eq!(Places::new(&shape(&[4]), [&shape(&[4]), &shape(&[])]).unwrap().of(0), [0, 0]);
    }
}
