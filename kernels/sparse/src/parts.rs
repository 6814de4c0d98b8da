//! SparseReorder, SparseSlice, SparseConcat, SparseSplit.

use kernlink::error::{Error, Result};
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_geometry::integers::scalar;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::coo::Coo;
use super::elements::{ensure_vector, scatter, take};

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64, resource, string, variant])]
fn sparse_reorder(ctx: &mut KernelContext<'_, ops::SparseReorder>) -> Result<()> {
    type Op = ops::SparseReorder;
    let (indices, values) = (ctx.input(Op::INPUT_INDICES)?, ctx.input(Op::INPUT_VALUES)?);
    let coo = Coo::new(indices, values, ctx.input(Op::INPUT_SHAPE)?)?;
    let (indices, values) = if coo.is_valid() {
        (indices.clone(), values.clone())
    } else {
        let order = coo.sorted_by(&(0..coo.rank()).collect::<Vec<_>>())?;
        let sorted = take(ctx, 0, indices.shape(), indices, coo.rank(), &order)?;
        (sorted, take(ctx, 1, values.shape(), values, 1, &order)?)
    };
    ctx.set_output(Op::OUTPUT_INDICES, indices)?;
    ctx.set_output(Op::OUTPUT_VALUES, values)
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64, resource, string, variant])]
fn sparse_slice(ctx: &mut KernelContext<'_, ops::SparseSlice>) -> Result<()> {
    type Op = ops::SparseSlice;
    let values = ctx.input(Op::VALUES)?;
    let coo = Coo::new(ctx.input(Op::INDICES)?, values, ctx.input(Op::SHAPE)?)?;
    let block = |input, name: &str| {
        ensure_vector(input, name)?;
        let values = input.as_slice::<i64>()?;
        ensure!(
            values.len() == coo.rank(),
            InvalidArgument,
            "Expected {name} to be a vector of length {} but got length {}",
            coo.rank(),
            values.len()
        );
        Ok(values)
    };
    let start = block(ctx.input(Op::START)?, "start")?;
    let size = block(ctx.input(Op::SIZE)?, "size")?;
    coo.shape()?;
    let left = |((&input, &start), &size): ((&i64, &i64), &i64)| match start {
        start if start < input.saturating_sub(size) => size,
        start if start < input => input.saturating_sub(start),
        _ => 0,
    };
    let sizes: Vec<i64> = coo.sizes.iter().zip(start).zip(size).map(left).collect();
    Shape::from_dims(&sizes)?;

    let ranges: Vec<_> = start.iter().zip(size).map(|(&start, &size)| start..start.saturating_add(size)).collect();
    let within = |&n: &usize| ranges.iter().zip(coo.index(n)).all(|(range, index)| range.contains(index));
    let picks: Vec<usize> = scratch::collected((0..coo.len()).filter(within))?;
    let mut indices = ctx.allocate_output(Op::OUTPUT_INDICES, [picks.len(), coo.rank()])?;
    let from = picks.iter().flat_map(|&n| coo.index(n).iter().zip(start).map(|(&index, &start)| index - start));
    indices.as_mut_slice::<i64>()?.iter_mut().zip(from).for_each(|(slot, index)| *slot = index);
    let values = take(ctx, 1, [picks.len()], values, 1, &picks)?;
    ctx.set_output(Op::OUTPUT_INDICES, indices)?;
    ctx.set_output(Op::OUTPUT_VALUES, values)?;
    ctx.set_output(Op::OUTPUT_SHAPE, Tensor::vector(&sizes)?)
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64, resource, string, variant])]
fn sparse_concat(attrs: &Attrs<ops::SparseConcat>, ctx: &mut KernelContext<'_, ops::SparseConcat>) -> Result<()> {
    type Op = ops::SparseConcat;
    let (indices, values) = (ctx.input_list(Op::INDICES), ctx.input_list(Op::VALUES));
    let parts = indices.iter().zip(values.iter()).zip(ctx.input_list(Op::SHAPES).iter());
    let parts = parts.map(|((indices, values), shape)| Coo::new(indices, values, shape));
    let parts: Vec<Coo<'_>> = parts.collect::<Result<_>>()?;
    for part in &parts {
        part.shape().map_err(|_| Error::internal("Encountered overflow from large input shape."))?;
    }
    let (axis, sizes) = joined_shape(&parts, attrs.concat_dim)?;
    Shape::from_dims(&sizes)?;

    let rank = sizes.len();
    let elements: usize = parts.iter().map(Coo::len).sum();
    let mut shifted = scratch::room(elements.saturating_mul(rank))?;
    let mut offset = 0i64;
    for part in &parts {
        for n in 0..part.len() {
            shifted.extend_from_slice(part.index(n));
            let place = shifted.len() - rank + axis;
            shifted[place] = shifted[place].wrapping_add(offset);
        }
        offset += part.sizes[axis];
    }
    let mut order: Vec<usize> = scratch::collected(0..elements)?;
    order.sort_unstable_by_key(|&n| (&shifted[n * rank..][..rank], n));
    let mut places = scratch::zeros(elements)?;
    let mut joined = ctx.allocate_output(Op::OUTPUT_INDICES, [elements, rank])?;
    for ((place, &n), row) in order.iter().enumerate().zip(joined.as_mut_slice::<i64>()?.chunks_exact_mut(rank)) {
        places[n] = place;
        row.copy_from_slice(&shifted[n * rank..][..rank]);
    }
    let mut output = ctx.allocate_output(Op::OUTPUT_VALUES, [elements])?;
    let mut rest = places.as_slice();
    for (part, values) in parts.iter().zip(values.iter()) {
        let own;
        (own, rest) = rest.split_at(part.len());
        scatter(&mut output, values, 0, own)?;
    }
    ctx.set_output(Op::OUTPUT_INDICES, joined)?;
    ctx.set_output(Op::OUTPUT_VALUES, output)?;
    ctx.set_output(Op::OUTPUT_SHAPE, Tensor::vector(&sizes)?)
}

/// The axis along which the parts are joined, and the sizes of the result.
fn joined_shape(parts: &[Coo<'_>], axis: i64) -> Result<(usize, Vec<i64>)> {
    let Some((first, rest)) = parts.split_first() else {
        bail!(InvalidArgument, "there is nothing to join");
    };
    let rank = first.rank();
    let axis = kernlink_geometry::integers::axis(axis, rank, "Concat dimension")?;
    let mut sizes = first.sizes.to_vec();
    for (part, position) in rest.iter().zip(1..) {
        ensure!(
            part.rank() == rank,
            InvalidArgument,
            "Ranks of all input tensors must match: expected {rank} but got {} at position {position}",
            part.rank()
        );
        for (j, (size, &own)) in sizes.iter_mut().zip(part.sizes).enumerate() {
            if j == axis {
                let Some(sum) = size.checked_add(own) else {
                    bail!(InvalidArgument, "the sizes {size} and {own} for dimension {j} are too large together");
                };
                *size = sum;
            } else {
                ensure!(
                    *size == own,
                    InvalidArgument,
                    "Input shapes must match: expected {size} for dimension {j} but got {own} at position {position}"
                );
            }
        }
    }
    Ok((axis, sizes))
}

struct SparseSplitKernel {
    parts: usize,
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64, resource, string, variant])]
impl OpKernel<ops::SparseSplit> for SparseSplitKernel {
    fn new(ctx: &KernelConstruction<'_, ops::SparseSplit>) -> Result<Self> {
        Ok(Self { parts: usize::try_from(ctx.attrs().num_split).unwrap_or(0) })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::SparseSplit>) -> Result<()> {
        type Op = ops::SparseSplit;
        let values = ctx.input(Op::VALUES)?;
        let coo = Coo::new(ctx.input(Op::INDICES)?, values, ctx.input(Op::SHAPE)?)?;
        coo.ensure_within()?;
        let axis = scalar(ctx.input(Op::SPLIT_DIM)?, "Input axis")?;
        let axis = kernlink_geometry::integers::axis(axis, coo.rank(), "Input axis")?;
        let size = coo.sizes[axis];
        let parts = self.parts as i64;
        ensure!(
            (1..=size).contains(&parts),
            InvalidArgument,
            "Input num_split should be between 1 and the splitting dimension size ({size}), got {parts}"
        );
        coo.shape()?;
        let (short, longer) = (size / parts, size % parts);
        // The first `longer` parts are longer by one.
        let begin = |part: i64| part * short + part.min(longer);
        let part_of = |index: i64| match index - begin(longer) {
            rest if rest < 0 => index / (short + 1),
            rest => longer + rest / short,
        };
        let mut picks = vec![Vec::new(); self.parts];
        for n in 0..coo.len() {
            scratch::push(&mut picks[part_of(coo.index(n)[axis]) as usize], n)?;
        }
        let mut outputs = Vec::with_capacity(self.parts);
        for (part, picks) in (0..).zip(&picks) {
            let mut indices = ctx.allocate_output_at(0, [picks.len(), coo.rank()])?;
            for (row, &n) in indices.as_mut_slice::<i64>()?.chunks_exact_mut(coo.rank()).zip(picks) {
                row.copy_from_slice(coo.index(n));
                row[axis] -= begin(part);
            }
            let values = take(ctx, self.parts, [picks.len()], values, 1, picks)?;
            let mut sizes = coo.sizes.to_vec();
            sizes[axis] = begin(part + 1) - begin(part);
            outputs.push([indices, values, Tensor::vector(&sizes)?]);
        }
        for (part, tensors) in outputs.into_iter().enumerate() {
            for (kind, tensor) in tensors.into_iter().enumerate() {
                ctx.set_output_at(part + kind * self.parts, tensor)?;
            }
        }
        Ok(())
    }
}
