//! DynamicStitch, ParallelDynamicStitch: rows of several tensors, in places that indices in host memory say.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;

use kernlink::device::Device as _;

use super::fill::fill;
use super::mover::Mover;
use super::scatter::scatter_to;
use crate::refusal::Refusal;

/// Checks the shapes, and returns how many rows there will be: one more than the greatest index.
fn rows(ctx: &RawContext<'_>, count: usize) -> Result<usize> {
    let (first_indices, first) = (ctx.input_at(0)?, ctx.input_at(count)?);
    let mut rows = 0;
    for i in 0..count {
        let (indices, data) = (ctx.input_at(i)?, ctx.input_at(count + i)?);
        ensure!(
            data.shape().starts_with(indices.shape()),
            InvalidArgument,
            "data[{i}].shape = {} does not start with indices[{i}].shape = {}",
            data.shape(),
            indices.shape()
        );
        ensure!(
            data.shape()[indices.rank()..] == first.shape()[first_indices.rank()..],
            InvalidArgument,
            "Need data[0].shape[{}:] = data[{i}].shape[{}:], got data[0].shape = {}, data[{i}].shape = {}",
            first_indices.rank(),
            indices.rank(),
            first.shape(),
            data.shape()
        );
        for &index in indices.as_slice::<i32>()? {
            ensure!((0..i32::MAX).contains(&index), InvalidArgument, "indices[{i}] holds {index}, out of range");
            rows = rows.max(index as usize + 1);
        }
    }
    Ok(rows)
}

/// Both ops: the first half of the inputs are indices, the second half data.
pub(super) fn stitch(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    /// Of rows that are left out: no tensor has so many.
    const NOWHERE: i32 = -1;
    let count = ctx.num_inputs() / 2;
    let rows = rows(ctx, count)?;
    let mut shape = Shape::from([rows]);
    ctx.input_at(count)?.shape()[ctx.input_at(0)?.rank()..].iter().for_each(|&dim| shape.push(dim));
    shape.check()?;
    let row = shape[1..].iter().product();
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
