//! _ScaledMaskedSoftmax: what attention takes of its scores, in one go over their rows.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::KernelContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::loss::{ensure_one_mask, masked};
use kernlink_geometry::rows::Rows;
use kernlink_macros::register_kernel;
use kernlink_ops::ScaledMaskedSoftmax;

use super::softmax::{Normalize, together};
use super::vector::widest;

#[register_kernel(device = Cpu, T = [f32], state = |ctx| Ok(ctx.attrs().scale))]
fn scaled_masked_softmax(scale: &f32, ctx: &mut KernelContext<'_, ScaledMaskedSoftmax>) -> Result<()> {
    /// Nanoseconds an element takes, or so.
    const COST: usize = 2;
    let masks = ctx.input_list(ScaledMaskedSoftmax::MASK);
    ensure_one_mask(masks.len())?;
    let mask: Option<Tensor> = masks.iter().next().cloned();
    let own = ctx.input(ScaledMaskedSoftmax::LOGITS)?.shape().clone();
    let shape = masked(&own, mask.as_ref().map(Tensor::shape))?;
    let classes = shape.last().copied().unwrap_or(1);
    let places = Rows::new(&shape, [&own, mask.as_ref().map_or(&own, Tensor::shape)])?;
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
