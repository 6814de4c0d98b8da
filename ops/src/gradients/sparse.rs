//! Sparse tensors, of which the values are differentiated.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::{conjugate, long_dims, scalar_like, shape_of, times, unbroadcast};
use crate::*;

/// The order is found again by ordering the numbers of the values.
#[register_gradient(op = SparseReorder)]
fn sparse_reorder_gradient(
    g: &mut GradientScope<'_>,
    input_indices: Value,
    input_shape: Value,
    d_output_values: Value,
) -> Result<(NoGradient, Value, NoGradient)> {
    let (count, zero, one) = (rows_of(g, input_indices)?, g.constant(0i64)?, g.constant(1i64)?);
    let numbers = range(g, zero, count, one).build()?;
    let order = sparse_reorder(g, input_indices, numbers, input_shape).build()?.output_values;
    let back = invert_permutation(g, order).build()?;
    Ok((NoGradient, gather_v2(g, d_output_values, back, 0).build()?, NoGradient))
}

/// How many rows there are, an `int64`.
fn rows_of(g: &mut GradientScope<'_>, indices: Value) -> Result<Value> {
    let dims = shape_of(g, indices);
    let dims = long_dims(g, &dims)?;
    strided_slice(g, dims, &[0i32][..], &[1i32][..], &[1i32][..]).shrink_axis_mask(1).build()
}

#[register_gradient(op = SparseAdd)]
fn sparse_add_gradient(
    g: &mut GradientScope<'_>,
    a_indices: Value,
    b_indices: Value,
    sum_indices: Value,
    d_sum_values: Value,
) -> Result<(NoGradient, Value, NoGradient, NoGradient, Value, NoGradient, NoGradient)> {
    let flow = sparse_add_grad(g, d_sum_values, a_indices, b_indices, sum_indices).build()?;
    Ok((NoGradient, flow.a_val_grad, NoGradient, NoGradient, flow.b_val_grad, NoGradient, NoGradient))
}

#[register_gradient(op = SparseTensorDenseAdd)]
fn sparse_tensor_dense_add_gradient(
    g: &mut GradientScope<'_>,
    a_indices: Value,
    d_output: Value,
) -> Result<(NoGradient, Value, NoGradient, Value)> {
    Ok((NoGradient, gather_nd(g, d_output, a_indices).build()?, NoGradient, d_output))
}

#[register_gradient(op = SparseReduceSum)]
fn sparse_reduce_sum_gradient(
    g: &mut GradientScope<'_>,
    input_indices: Value,
    input_shape: Value,
    reduction_axes: Value,
    d_output: Value,
) -> Result<(NoGradient, Value, NoGradient, NoGradient)> {
    let rank = size(g, input_shape).build()?;
    let axes = reshape(g, reduction_axes, &[-1i32][..]).build()?;
    let places = add_v2(g, axes, rank).build()?;
    let places = floor_mod(g, places, rank).build()?;
    let places = expand_dims(g, places, 1).build()?;
    let dtype = g.dtype(input_shape)?;
    let ones = ones_like(g, axes).build()?;
    let ones = cast(g, ones, dtype).build()?;
    let kept = tensor_scatter_update(g, input_shape, places, ones).build()?;
    let flow = reshape(g, d_output, kept).build()?;
    // Where a dimension was summed all indices become zero.
    let one = g.constant(1i64)?;
    let limits = sub(g, kept, one).build()?;
    let indices = minimum(g, input_indices, limits).build()?;
    Ok((NoGradient, gather_nd(g, flow, indices).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = SparseSlice)]
fn sparse_slice_gradient(
    g: &mut GradientScope<'_>,
    indices: Value,
    start: Value,
    output_indices: Value,
    d_output_values: Value,
) -> Result<(NoGradient, Value, NoGradient, NoGradient, NoGradient)> {
    let flow = sparse_slice_grad(g, d_output_values, indices, start, output_indices).build()?;
    Ok((NoGradient, flow, NoGradient, NoGradient, NoGradient))
}

/// A column of the indices of a matrix.
fn column(g: &mut GradientScope<'_>, indices: Value, place: i32) -> Result<Value> {
    gather_v2(g, indices, place, 1).build()
}

#[register_gradient(op = SparseTensorDenseMatMul)]
fn sparse_tensor_dense_mat_mul_gradient(
    g: &mut GradientScope<'_>,
    adjoint_a: bool,
    adjoint_b: bool,
    a_indices: Value,
    a_values: Value,
    a_shape: Value,
    b: Value,
    d_product: Value,
) -> Result<(NoGradient, Value, NoGradient, Value)> {
    let flow = sparse_tensor_dense_mat_mul(g, a_indices, a_values, a_shape, d_product).adjoint_a(!adjoint_a);
    let mut of_b = flow.build()?;
    let mut columns = b;
    if adjoint_b {
        of_b = conjugate_transpose(g, of_b, &[1i32, 0][..]).build()?;
        columns = conjugate_transpose(g, b, &[1i32, 0][..]).build()?;
    }
    // An element is multiplied by one row of `b`, and added to one row of the product.
    let (rows, inner) = if adjoint_a { (1, 0) } else { (0, 1) };
    let (rows, inner) = (column(g, a_indices, rows)?, column(g, a_indices, inner)?);
    let (flow, columns) = (gather_v2(g, d_product, rows, 0).build()?, gather_v2(g, columns, inner, 0).build()?);
    let columns = conjugate(g, columns)?;
    let product = mul(g, flow, columns).build()?;
    let of_values = sum(g, product, &[1i32][..]).build()?;
    // Of the adjoint, it is the conjugate of the element.
    let of_values = if adjoint_a { conjugate(g, of_values)? } else { of_values };
    Ok((NoGradient, of_values, NoGradient, of_b))
}

/// The indices of the elements of a dense tensor that is broadcast to a sparse one's shape. The tensor may be a scalar, so that it
/// counts as the only row of another.
fn broadcast_indices(g: &mut GradientScope<'_>, indices: Value, dense: Value) -> Result<Value> {
    let (of_dense, of_indices) = (shape_of(g, dense), shape_of(g, indices));
    let (dims, all) = (long_dims(g, &of_dense)?, g.dims(&of_indices)?);
    let (rank, one) = (size(g, dims).build()?, g.constant(1i64)?);
    // Those of the last dimensions.
    let all = strided_slice(g, all, &[1i32][..], &[2i32][..], &[1i32][..]).build()?;
    let all = cast(g, all, DataType::Int32).build()?;
    let from = sub(g, all, rank).build()?;
    let from = pad(g, from, &[[1i32, 0]][..]).build()?;
    let own = slice(g, indices, from, &[-1i32, -1][..]).build()?;
    let limits = sub(g, dims, one).build()?;
    let own = minimum(g, own, limits).build()?;
    pad(g, own, &[[0i32, 0], [1, 0]][..]).build()
}

/// The elements of a dense tensor for the values of a sparse one.
fn broadcast_elements(g: &mut GradientScope<'_>, indices: Value, dense: Value) -> Result<Value> {
    let row = expand_dims(g, dense, 0).build()?;
    gather_nd(g, row, indices).build()
}

/// What flows on to elements of a dense tensor by their indices.
fn into_dense(g: &mut GradientScope<'_>, indices: Value, flow: Value, dense: Value) -> Result<Value> {
    let (dense, one) = (shape_of(g, dense), g.constant(vec![1i64])?);
    let dims = long_dims(g, &dense)?;
    let row = concat_v2(g, [one, dims], 0).build()?;
    let row = scatter_nd(g, indices, flow, row).build()?;
    reshape(g, row, dims).build()
}

#[register_gradient(op = SparseDenseCwiseAdd)]
fn sparse_dense_cwise_add_gradient(
    g: &mut GradientScope<'_>,
    sp_indices: Value,
    dense: Value,
    d_output: Value,
) -> Result<(NoGradient, Value, NoGradient, Value)> {
    let indices = broadcast_indices(g, sp_indices, dense)?;
    Ok((NoGradient, d_output, NoGradient, into_dense(g, indices, d_output, dense)?))
}

#[register_gradient(op = SparseDenseCwiseMul)]
fn sparse_dense_cwise_mul_gradient(
    g: &mut GradientScope<'_>,
    sp_indices: Value,
    sp_values: Value,
    dense: Value,
    d_output: Value,
) -> Result<(NoGradient, Value, NoGradient, Value)> {
    let indices = broadcast_indices(g, sp_indices, dense)?;
    let factors = broadcast_elements(g, indices, dense)?;
    let of_dense = times(g, d_output, sp_values)?;
    let of_dense = into_dense(g, indices, of_dense, dense)?;
    Ok((NoGradient, times(g, d_output, factors)?, NoGradient, of_dense))
}

#[register_gradient(op = SparseDenseCwiseDiv)]
fn sparse_dense_cwise_div_gradient(
    g: &mut GradientScope<'_>,
    sp_indices: Value,
    dense: Value,
    output: Value,
    d_output: Value,
) -> Result<(NoGradient, Value, NoGradient, Value)> {
    let indices = broadcast_indices(g, sp_indices, dense)?;
    let divisors = broadcast_elements(g, indices, dense)?;
    let divisors = conjugate(g, divisors)?;
    let of_values = real_div(g, d_output, divisors).build()?;
    let negative = neg(g, of_values).build()?;
    let of_dense = times(g, negative, output)?;
    Ok((NoGradient, of_values, NoGradient, into_dense(g, indices, of_dense, dense)?))
}

#[register_gradient(op = SparseSoftmax)]
fn sparse_softmax_gradient(
    g: &mut GradientScope<'_>,
    sp_indices: Value,
    sp_shape: Value,
    output: Value,
    d_output: Value,
) -> Result<(NoGradient, Value, NoGradient)> {
    let product = mul(g, d_output, output).build()?;
    let sums = sparse_reduce_sum(g, sp_indices, product, sp_shape, &[-1i32][..]).keep_dims(true).build()?;
    let sums = neg(g, sums).build()?;
    let centred = sparse_dense_cwise_add(g, sp_indices, d_output, sp_shape, sums).build()?;
    Ok((NoGradient, mul(g, centred, output).build()?, NoGradient))
}

#[register_gradient(op = SparseFillEmptyRows)]
fn sparse_fill_empty_rows_gradient(
    g: &mut GradientScope<'_>,
    reverse_index_map: Value,
    d_output_values: Value,
) -> Result<(NoGradient, Value, NoGradient, Value)> {
    let flow = sparse_fill_empty_rows_grad(g, reverse_index_map, d_output_values).build()?;
    Ok((NoGradient, flow.d_values, NoGradient, flow.d_default_value))
}

/// What flows back to the values that were there, and to the default for all others.
#[register_gradient(op = [SparseFillEmptyRowsGrad, RaggedFillEmptyRowsGrad])]
fn fill_empty_rows_grad_gradient(
    g: &mut GradientScope<'_>,
    reverse_index_map: Value,
    grad_values: ShapeOf,
    d_d_values: Value,
    d_d_default_value: Value,
) -> Result<(NoGradient, Value)> {
    let dims = g.dims(&grad_values)?;
    let defaults = fill(g, dims, d_d_default_value).build()?;
    let places = expand_dims(g, reverse_index_map, 1).build()?;
    Ok((NoGradient, tensor_scatter_update(g, defaults, places, d_d_values).build()?))
}

#[register_gradient(op = SparseToDense)]
fn sparse_to_dense_gradient(
    g: &mut GradientScope<'_>,
    sparse_indices: Value,
    sparse_values: ShapeOf,
    d_dense: Value,
) -> Result<(NoGradient, NoGradient, Value, Value)> {
    // The indices of a vector may be no matrix, and one value may stand for all.
    let (rank, all) = (rank(g, d_dense).build()?, g.constant(-1i32)?);
    let rows = pack(g, [all, rank]).build()?;
    let indices = reshape(g, sparse_indices, rows).build()?;
    let flow = gather_nd(g, d_dense, indices).build()?;
    // The default is everywhere else.
    let nothing = zeros_like(g, flow).build()?;
    let rest = tensor_scatter_update(g, d_dense, indices, nothing).build()?;
    let rest = reshape(g, rest, &[-1i32][..]).build()?;
    let of_default = sum(g, rest, &[0i32][..]).build()?;
    Ok((NoGradient, NoGradient, unbroadcast(g, flow, &sparse_values)?, of_default))
}

/// A sparse tensor: its indices, its values and its shape.
type Sparse = [Value; 3];

/// To the greater of two values, or the smaller, and to the first where they are equal; a value that is not there is zero.
fn of_extreme(
    g: &mut GradientScope<'_>,
    [a_indices, a_values, a_shape]: Sparse,
    [b_indices, b_values, b_shape]: Sparse,
    output_indices: Value,
    flow: Value,
) -> Result<(Value, Value)> {
    let (nothing_of_a, nothing_of_b) = (zeros_like(g, a_values).build()?, zeros_like(g, b_values).build()?);
    let limit = scalar_like(g, a_values, 0.0)?;
    // Both with the indices of both.
    let a = sparse_add(g, a_indices, a_values, a_shape, b_indices, nothing_of_b, b_shape, limit).build()?.sum_values;
    let b = sparse_add(g, a_indices, nothing_of_a, a_shape, b_indices, b_values, b_shape, limit).build()?.sum_values;
    let is_a = match &*g.op().name {
        "SparseSparseMinimum" => less_equal(g, a, b).build()?,
        _ => greater_equal(g, a, b).build()?,
    };
    let (to_a, to_b) = (select_v2(g, is_a, flow, limit).build()?, select_v2(g, is_a, limit, flow).build()?);
    let of_a = sparse_add_grad(g, to_a, a_indices, b_indices, output_indices).build()?.a_val_grad;
    Ok((of_a, sparse_add_grad(g, to_b, a_indices, b_indices, output_indices).build()?.b_val_grad))
}

#[register_gradient(op = [SparseSparseMaximum, SparseSparseMinimum])]
fn sparse_sparse_extreme_gradient(
    g: &mut GradientScope<'_>,
    a_indices: Value,
    a_values: Value,
    a_shape: Value,
    b_indices: Value,
    b_values: Value,
    b_shape: Value,
    output_indices: Value,
    d_output_values: Value,
) -> Result<(NoGradient, Value, NoGradient, NoGradient, Value, NoGradient)> {
    let (a, b) = ([a_indices, a_values, a_shape], [b_indices, b_values, b_shape]);
    let (of_a, of_b) = of_extreme(g, a, b, output_indices, d_output_values)?;
    Ok((NoGradient, of_a, NoGradient, NoGradient, of_b, NoGradient))
}
