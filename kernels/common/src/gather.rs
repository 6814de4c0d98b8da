//! Rows by index: what gathering comes down to, for tensors and for variables.

use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::indices::{Gathered, gathered, gathered_nd};
use kernlink_geometry::integers::position;

use super::rows::{row_of, take_rows};

/// Gathers from `params` along `axis` what `indices` names, batch by batch over the first `batch_dims` dimensions, for
/// output 0.
///
/// # Errors
/// INVALID_ARGUMENT if shapes do not fit or an index is out of range; RESOURCE_EXHAUSTED if there is not enough memory.
pub fn gather(
    ctx: &RawContext<'_>,
    params: &Tensor,
    indices: &Tensor,
    axis: Option<i64>,
    batch_dims: i64,
) -> Result<Tensor> {
    let Gathered { shape, batch_dims, outer, size, inner, picked } =
        gathered(params.shape(), indices.shape(), axis, batch_dims)?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    if output.num_elements() == 0 {
        return Ok(output);
    }

    let picks = indices.to_i64_vec()?;
    if let Some(bad) = picks.iter().position(|&index| index < 0 || index as usize >= size) {
        return Err(Error::invalid_argument(format!(
            "indices{} = {} is not in [0, {size})",
            position(indices.shape(), bad),
            picks[bad]
        )));
    }
    if outer == 1 && batch_dims == 0 {
        take_rows(ctx, &mut output, params, inner, &|row| Some(picks[row] as usize))?;
    } else {
        take_rows(ctx, &mut output, params, inner, &|row| {
            let (block, pick) = (row / picked, row % picked);
            Some(block * size + picks[block / outer * picked + pick] as usize)
        })?;
    }
    Ok(output)
}

/// Gathers from `params` what the vectors in `indices` name, for output 0. Unless `lenient`, none is out of range.
///
/// # Errors
/// INVALID_ARGUMENT if shapes do not fit or an index is out of range; RESOURCE_EXHAUSTED if there is not enough memory.
pub fn gather_nd(ctx: &RawContext<'_>, params: &Tensor, indices: &Tensor, lenient: bool) -> Result<Tensor> {
    let (shape, depth) = gathered_nd(params.shape(), indices.shape())?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    let (indexed, row) = params.shape().split_at(depth);
    let outer = &indices.shape()[..indices.rank() - 1];
    let count: usize = outer.iter().product();
    if count > 0 {
        let indices = indices.to_i64_vec()?;
        let mut rows = scratch::room(count)?;
        for r in 0..count {
            let index = &indices[r * depth..][..depth];
            let row = row_of(index, indexed);
            ensure!(
                row.is_some() || lenient,
                InvalidArgument,
                "indices{} = {index:?} does not index into param shape {}",
                position(outer, r),
                params.shape()
            );
            rows.push(row);
        }
        take_rows(ctx, &mut output, params, row.iter().product(), &|r| rows[r])?;
    }
    Ok(output)
}
