//! DynamicStitch, ParallelDynamicStitch: rows of several tensors, in places that indices in host memory say.

use kernlink::device::Device as _;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::stitch::stitched;

use super::fill::fill;
use super::mover::Mover;
use super::scatter::scatter_to;
use crate::refusal::Refusal;

/// Both ops: the first half of the inputs are indices, the second half data.
pub(super) fn stitch(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    /// Of rows that are left out: no tensor has so many.
    const NOWHERE: i32 = -1;
    let (shape, row) = stitched(ctx)?;
    let (count, rows) = (ctx.num_inputs() / 2, shape[0]);
    let output = on.output(ctx, 0, shape)?;
    if output.num_elements() > 0 {
        // Of rows for one place the last stays: the others are not written, so that it does not matter who comes first.
        let mut taken = vec![false; rows];
        let mut places = Vec::with_capacity(count);
        for i in (0..count).rev() {
            let mut own = ctx.input_at(i)?.as_slice::<i32>()?.to_vec();
            for place in own.iter_mut().rev() {
                if std::mem::replace(&mut taken[*place as usize], true) {
                    *place = NOWHERE;
                }
            }
            places.push(own);
        }
        if taken.contains(&false) {
            fill(on, &output, [0; 2])?;
        }
        for (i, places) in places.iter().rev().enumerate() {
            if places.iter().any(|&place| place != NOWHERE) {
                let indices = on.gpu.to_device(&Tensor::vector(places)?)?;
                let how = (None, Refusal::NONE);
                scatter_to(on, how, [&indices, ctx.input_at(count + i)?, &output], &[rows], row)?;
            }
        }
    }
    ctx.set_output_at(0, output)
}
