//! RaggedRange, RaggedGather, RaggedTensorToSparse, RaggedFillEmptyRows.

use std::ops::Range;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_geometry::integers::{ensure_scalar, scalar};
use kernlink_geometry::sequence::Progression;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::elements::{ensure_vector, i64s, take};
use super::fill::{Rows, fill_empty_rows};

/// Output `output` of `int32` or `int64`, a vector of these splits.
pub(super) fn splits_output(
    ctx: &RawContext<'_>,
    output: usize,
    length: usize,
    splits: impl Iterator<Item = i64>,
) -> Result<Tensor> {
    let mut tensor = ctx.allocate_output_at(output, [length])?;
    set_splits(&mut tensor, splits)?;
    Ok(tensor)
}

/// A vector of splits, of `int32` or `int64`.
pub(super) fn splits_tensor(dtype: DataType, length: usize, splits: impl Iterator<Item = i64>) -> Result<Tensor> {
    let mut tensor = Tensor::zeros(dtype, [length])?;
    set_splits(&mut tensor, splits)?;
    Ok(tensor)
}

fn set_splits(tensor: &mut Tensor, splits: impl Iterator<Item = i64>) -> Result<()> {
    match tensor.dtype() {
        DataType::Int32 => tensor.as_mut_slice::<i32>()?.iter_mut().zip(splits).for_each(|(slot, n)| *slot = n as i32),
        _ => tensor.as_mut_slice::<i64>()?.iter_mut().zip(splits).for_each(|(slot, n)| *slot = n),
    }
    Ok(())
}

/// Fails unless the tensor is a vector of splits that begin with 0, never fall, and end with `values`.
#[track_caller]
pub(super) fn ensure_exact_splits(tensor: &Tensor, values: usize) -> Result<()> {
    ensure_vector(tensor, "ragged splits")?;
    let splits = i64s(tensor)?;
    let (Some(&first), Some(&last)) = (splits.first(), splits.last()) else {
        bail!(InvalidArgument, "Invalid ragged splits: ragged splits must have at least one split, but is empty");
    };
    ensure!(first == 0, InvalidArgument, "Invalid ragged splits: the first element must be 0 but is {first}");
    ensure!(splits.is_sorted(), InvalidArgument, "Invalid ragged splits: they must not decrease");
    ensure!(
        last == values as i64,
        InvalidArgument,
        "Invalid ragged splits: the last element must be the number of ragged values ({values}) but is {last}"
    );
    Ok(())
}

#[register_kernel(device = Cpu, op = ops::RaggedRange, Tsplits = [int32, int64], T = [f32, f64, i32, i64])]
fn ragged_range<T: Progression>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let inputs = [ctx.input(O::STARTS)?, ctx.input(O::LIMITS)?, ctx.input(O::DELTAS)?];
    let mut rows = None;
    for (input, name) in inputs.into_iter().zip(["starts", "limits", "deltas"]) {
        ensure!(input.rank() <= 1, InvalidArgument, "{name} must be a scalar or vector");
        if let Some(&size) = input.shape().first() {
            ensure!(
                rows.is_none_or(|rows| rows == size),
                InvalidArgument,
                "starts, limits, and deltas must have the same shape"
            );
            rows = Some(size);
        }
    }
    let rows = rows.unwrap_or(1);
    let steps = inputs.map(|input| input.rank());
    let [starts, limits, deltas] = inputs.map(|input| input.as_slice::<T>());
    let (starts, limits, deltas) = (starts?, limits?, deltas?);
    let at = |row: usize| (starts[row * steps[0]], limits[row * steps[1]], deltas[row * steps[2]]);

    let greatest = match ctx.output_dtype_at(0)? {
        DataType::Int32 => i32::MAX as u64,
        _ => i64::MAX as u64,
    };
    let mut splits = scratch::room(rows.saturating_add(1))?;
    splits.push(0i64);
    let mut total = 0u64;
    for row in 0..rows {
        let (start, limit, delta) = at(row);
        ensure!(delta != T::ZERO, InvalidArgument, "Requires delta != 0");
        let empty = (delta > T::ZERO && limit < start) || (delta < T::ZERO && limit > start);
        let count = if empty { Some(0) } else { T::steps(start, limit, delta).map(i64::unsigned_abs) };
        let Some(count) = count.filter(|&count| count <= greatest) else {
            bail!(InvalidArgument, "Requires ((limit - start) / delta) <= {greatest}");
        };
        ensure!(
            count <= greatest - total,
            InvalidArgument,
            "The total range size overflowed. Consider using int64 instead of int32 for row_splits_dtype."
        );
        total += count;
        splits.push(total as i64);
    }
    let mut values = ctx.allocate_output(O::RT_DENSE_VALUES, [total as usize])?;
    let slots = values.as_mut_slice::<T>()?;
    for (row, ends) in splits.windows(2).enumerate() {
        let (mut value, _, delta) = at(row);
        for slot in &mut slots[ends[0] as usize..ends[1] as usize] {
            *slot = value;
            value = value.wrapping_add(delta);
        }
    }
    let splits = splits_output(ctx, 0, splits.len(), splits.iter().copied())?;
    ctx.set_output(O::RT_NESTED_SPLITS, splits)?;
    ctx.set_output(O::RT_DENSE_VALUES, values)
}

#[register_kernel(
    device = Cpu,
    Tindices = [int32, int64],
    Tsplits = [int32, int64],
    Tvalues = [numbertype, bool, string],
)]
fn ragged_gather(ctx: &mut KernelContext<'_, ops::RaggedGather>) -> Result<()> {
    type Op = ops::RaggedGather;
    let splits: Vec<_> = ctx.input_list(Op::PARAMS_NESTED_SPLITS).iter().map(i64s).collect::<Result<_>>()?;
    let (values, indices) = (ctx.input(Op::PARAMS_DENSE_VALUES)?, ctx.input(Op::INDICES)?);
    let Some(first) = ctx.input_list(Op::PARAMS_NESTED_SPLITS).get(0) else {
        bail!(InvalidArgument, "params_nested_splits must be non empty");
    };
    ensure!(first.rank() > 0, InvalidArgument, "Split tensors must not be scalars");
    let Some(&height) = values.shape().first() else {
        bail!(InvalidArgument, "params.rank must be nonzero");
    };
    for (dim, own) in splits.iter().enumerate() {
        let below = splits.get(dim + 1).map_or(height, |next| next.len().saturating_sub(1));
        ensure_splits(own, below)?;
    }
    let numbers = i64s(indices)?;
    let rows = splits[0].len() as i64 - 1;
    if let Some(bad) = numbers.iter().find(|index| !(0..rows).contains(index)) {
        bail!(InvalidArgument, "index {bad} is not in [0, {rows})");
    }
    let outputs = ctx.num_outputs() - 1;
    ensure!(
        outputs + 1 == splits.len() + indices.rank(),
        InvalidArgument,
        "OUTPUT_RAGGED_RANK must be {} for indices of rank {}, not {outputs}",
        splits.len() as i64 + indices.rank() as i64 - 1,
        indices.rank()
    );

    let mut tensors = Vec::with_capacity(outputs);
    // The dimensions of the indices become ragged ones with rows of equal length.
    let mut rows = 1usize;
    for sizes in indices.shape().windows(2) {
        rows *= sizes[0];
        let length = sizes[1] as i64;
        tensors.push(splits_output(ctx, tensors.len(), rows + 1, (0..).map(|row| row * length))?);
    }
    // Then each ragged dimension of the input: the rows from `ranges`, whose splits lead to those of the next.
    let mut ranges: Vec<Range<usize>> = scratch::collected(numbers.iter().map(|&n| n as usize..n as usize + 1))?;
    for (dim, own) in splits.iter().enumerate() {
        if dim > 0 || indices.rank() > 0 {
            let count: usize = ranges.iter().map(Range::len).sum();
            let mut total = 0;
            let lengths = ranges.iter().cloned().flatten().map(|row| own[row + 1] - own[row]);
            let ends = lengths.map(|length| {
                total += length;
                total
            });
            tensors.push(splits_output(ctx, tensors.len(), count + 1, std::iter::once(0).chain(ends))?);
        }
        ranges.iter_mut().for_each(|range| *range = own[range.start] as usize..own[range.end] as usize);
    }
    let mut shape = values.shape().clone();
    shape.dims_mut()[0] = ranges.iter().map(Range::len).fold(0, usize::saturating_add);
    let row: usize = values.shape()[1..].iter().product();
    let picks: Vec<usize> = if row > 0 {
        // Fails before the list of rows, which is smaller, takes all memory.
        drop(ctx.allocate_output_at(outputs, &shape)?);
        scratch::collected(ranges.into_iter().flatten())?
    } else {
        Vec::new()
    };
    let values = take(ctx, outputs, shape, values, row, &picks)?;
    for (output, tensor) in tensors.into_iter().chain([values]).enumerate() {
        ctx.set_output_at(output, tensor)?;
    }
    Ok(())
}

/// Fails unless the splits are sorted and point into `0..=limit`.
fn ensure_splits(splits: &[i64], limit: usize) -> Result<()> {
    let (Some(&first), Some(&last)) = (splits.first(), splits.last()) else {
        bail!(InvalidArgument, "Ragged splits may not be empty");
    };
    ensure!(first >= 0, InvalidArgument, "Ragged splits must be non-negative");
    ensure!(splits.is_sorted(), InvalidArgument, "Ragged splits must be sorted");
    ensure!(last <= limit as i64, InvalidArgument, "Ragged splits must not point past values");
    Ok(())
}

#[register_kernel(device = Cpu, op = ops::RaggedTensorToSparse, Tsplits = [int32, int64])]
fn ragged_tensor_to_sparse(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let splits: Vec<_> = ctx.input_list(O::RT_NESTED_SPLITS).iter().map(i64s).collect::<Result<_>>()?;
    let values = ctx.input(O::RT_DENSE_VALUES)?;
    let Some(&height) = values.shape().first() else {
        bail!(InvalidArgument, "rt_dense_values must have at least one dimension");
    };
    for (dim, own) in splits.iter().enumerate() {
        let below = splits.get(dim + 1).map_or(height as i64, |next| next.len() as i64 - 1);
        ensure_splits(own, usize::MAX >> 1)?;
        ensure!(own[0] == 0, InvalidArgument, "First value of ragged splits must be 0.");
        ensure!(
            own.last() == Some(&below),
            InvalidArgument,
            "Final value of ragged splits must match the length the corresponding ragged values."
        );
    }
    let ragged = splits.len();
    let inner = &values.shape()[1..];
    let elements = values.num_elements();
    let mut indices = ctx.allocate_output(O::SPARSE_INDICES, [elements, ragged + values.rank()])?;
    let rows = indices.as_mut_slice::<i64>()?.chunks_exact_mut(ragged + values.rank());
    // The position in each ragged dimension, counted over the whole tensor.
    let mut position = vec![0usize; ragged + 1];
    let per_value: usize = inner.iter().product();
    for (n, row) in rows.enumerate() {
        let (value, mut rest) = (n / per_value, n % per_value);
        position[ragged] = value;
        for dim in (0..ragged).rev() {
            while position[dim + 1] as i64 >= splits[dim][position[dim] + 1] {
                position[dim] += 1;
            }
            row[dim + 1] = position[dim + 1] as i64 - splits[dim][position[dim]];
        }
        row[0] = position[0] as i64;
        for (slot, &size) in row[ragged + 1..].iter_mut().zip(inner).rev() {
            *slot = (rest % size) as i64;
            rest /= size;
        }
    }
    let longest = |own: &[i64]| own.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
    let mut sizes = vec![splits[0].len() as i64 - 1];
    sizes.extend(splits.iter().map(|own| longest(own)));
    sizes.extend(inner.iter().map(|&size| size as i64));
    let values = values.clone().reshaped([elements])?;
    ctx.set_output(O::SPARSE_INDICES, indices)?;
    ctx.set_output(O::SPARSE_VALUES, values)?;
    ctx.set_output(O::SPARSE_DENSE_SHAPE, Tensor::vector(&sizes)?)
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64, resource, string, variant])]
fn ragged_fill_empty_rows(ctx: &mut KernelContext<'_, ops::RaggedFillEmptyRows>) -> Result<()> {
    type Op = ops::RaggedFillEmptyRows;
    let (rows, values) = (ctx.input(Op::VALUE_ROWIDS)?.clone(), ctx.input(Op::VALUES)?);
    let count = scalar(ctx.input(Op::NROWS)?, "nrows")?;
    ensure_vector(&rows, "value_rowids")?;
    ensure_vector(values, "values")?;
    ensure!(
        rows.num_elements() == values.num_elements(),
        InvalidArgument,
        "The length of `values` ({}) must match the first dimension of `value_rowids` ({}).",
        values.num_elements(),
        rows.num_elements()
    );
    ensure_scalar(ctx.input(Op::DEFAULT_VALUE)?, "default_value")?;
    fill_empty_rows(ctx, &Rows { indices: rows.as_slice()?, columns: 1, count }, true)
}
