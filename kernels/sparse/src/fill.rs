//! SparseFillEmptyRows and its gradient.

use kernlink::dtype::Number;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::scratch;
use kernlink_geometry::integers::ensure_scalar;
use kernlink_kernels_common::strided::fill;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::elements::{ensure_matrix, ensure_vector, scatter, zeros};

/// The rows of which elements are made: their numbers, a row of `columns` each of which the first counts.
pub(super) struct Rows<'a> {
    pub(super) indices: &'a [i64],
    pub(super) columns: usize,
    pub(super) count: i64,
}

/// Gives every empty row an element. Inputs 1 and 3 are the values and the default; the outputs are those of
/// `SparseFillEmptyRows`, of which the first has the shape `[n]` if `flat` or else `[n, columns]`.
pub(super) fn fill_empty_rows(ctx: &mut RawContext<'_>, rows: &Rows<'_>, flat: bool) -> Result<()> {
    let Rows { indices, columns, count } = *rows;
    let elements = indices.len() / columns;
    ensure!(count >= 0, InvalidArgument, "the number of rows cannot be {count}");
    let count = count as usize;
    let mut is_empty = ctx.allocate_output_at(2, [count])?;
    let mut places = ctx.allocate_output_at(3, [elements])?;
    ensure!(
        count > 0 || elements == 0,
        InvalidArgument,
        "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {elements}"
    );

    // First the number of each row's elements, then where the row begins.
    let mut begins = zeros::<i64>(count)?;
    let begins = begins.as_mut_slice::<i64>()?;
    let (mut ordered, mut last) = (true, 0);
    for (n, index) in indices.chunks_exact(columns).enumerate() {
        let row = index[0];
        ensure!(row >= 0 && (row as usize) < count, InvalidArgument, "indices({n}, 0) is invalid: {row} >= {count}");
        begins[row as usize] += 1;
        ordered &= row >= last;
        last = row;
    }
    let mut total = 0;
    let mut empty_rows = 0;
    for (begin, is_empty) in begins.iter_mut().zip(is_empty.as_mut_slice::<bool>()?) {
        *is_empty = *begin == 0;
        empty_rows += usize::from(*is_empty);
        let length = (*begin).max(1);
        *begin = total;
        total += length;
    }

    let map = places.as_mut_slice::<i64>()?;
    if empty_rows == 0 && ordered {
        map.iter_mut().zip(0..).for_each(|(slot, place)| *slot = place);
        let (indices, values) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
        ctx.set_output_at(0, indices)?;
        ctx.set_output_at(1, values)?;
    } else {
        let total = total as usize;
        let shape: &[usize] = if flat { &[total] } else { &[total, columns] };
        let mut filled = ctx.allocate_output_at(0, shape)?;
        let mut values = ctx.allocate_output_at(1, [total])?;
        let filled_rows = filled.as_mut_slice::<i64>()?;
        for (row, (&begin, &is_empty)) in begins.iter().zip(is_empty.as_slice::<bool>()?).enumerate() {
            if is_empty {
                let index = &mut filled_rows[begin as usize * columns..][..columns];
                index.fill(0);
                index[0] = row as i64;
            }
        }
        let mut moved = scratch::room(elements)?;
        for (index, slot) in indices.chunks_exact(columns).zip(map) {
            let begin = &mut begins[index[0] as usize];
            let place = *begin as usize;
            *begin += 1;
            filled_rows[place * columns..][..columns].copy_from_slice(index);
            *slot = place as i64;
            moved.push(place);
        }
        if empty_rows > 0 {
            fill(ctx, &mut values, ctx.input_at(3)?)?;
        }
        scatter(&mut values, ctx.input_at(1)?, 0, &moved)?;
        ctx.set_output_at(0, filled)?;
        ctx.set_output_at(1, values)?;
    }
    ctx.set_output_at(2, is_empty)?;
    ctx.set_output_at(3, places)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["dense_shape"],
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn sparse_fill_empty_rows(ctx: &mut KernelContext<'_, ops::SparseFillEmptyRows>) -> Result<()> {
    type Op = ops::SparseFillEmptyRows;
    let (indices, values) = (ctx.input(Op::INDICES)?.clone(), ctx.input(Op::VALUES)?);
    let shape = ctx.input(Op::DENSE_SHAPE)?;
    ensure_vector(shape, "dense_shape")?;
    ensure_matrix(&indices, "indices")?;
    ensure_vector(values, "values")?;
    ensure!(
        indices.shape()[0] == values.num_elements(),
        InvalidArgument,
        "The length of `values` ({}) must match the first dimension of `indices` ({}).",
        values.num_elements(),
        indices.shape()[0]
    );
    ensure!(
        indices.shape()[1] == shape.num_elements(),
        InvalidArgument,
        "The length of `dense_shape` ({}) must match the second dimension of `indices` ({}).",
        shape.num_elements(),
        indices.shape()[1]
    );
    ensure_scalar(ctx.input(Op::DEFAULT_VALUE)?, "default_value")?;
    let &[count, ..] = shape.as_slice::<i64>()? else {
        kernlink::bail!(InvalidArgument, "Dense shape cannot be empty.");
    };
    let rows = Rows { indices: indices.as_slice()?, columns: indices.shape()[1], count };
    fill_empty_rows(ctx, &rows, false)
}

/// The gradient of `fill_empty_rows`.
#[register_kernel(
    device = Cpu,
    op = [ops::SparseFillEmptyRowsGrad, ops::RaggedFillEmptyRowsGrad],
    T = [realnumbertype, Complex64, Complex32],
)]
fn fill_empty_rows_grad<T: Number>(ctx: &mut RawContext<'_>) -> Result<()> {
    let (map, grad) = (ctx.input_at(0)?, ctx.input_at(1)?);
    ensure_vector(map, "reverse_index_map")?;
    ensure_vector(grad, "grad_values")?;
    let grad = grad.as_slice::<T>()?;
    let mut values = ctx.allocate_output_at(0, map.shape())?;
    let mut is_value = scratch::zeros::<bool>(grad.len())?;
    for (slot, &place) in values.as_mut_slice::<T>()?.iter_mut().zip(map.as_slice::<i64>()?) {
        let found = usize::try_from(place).ok().filter(|&place| place < grad.len());
        let Some(found) = found else {
            kernlink::bail!(
                InvalidArgument,
                "Elements in reverse index must be in [0, {}) but got {place}",
                grad.len()
            );
        };
        *slot = grad[found];
        is_value[found] = true;
    }
    let added = grad.iter().zip(&is_value).filter(|&(_, &is_value)| !is_value);
    let default = added.fold(T::ZERO, |sum, (&grad, _)| sum.wrapping_add(grad));
    ctx.set_output_at(0, values)?;
    ctx.set_output_at(1, kernlink::tensor::Tensor::scalar(default))
}
