//! CSRSparseMatrixComponents, CSRSparseMatrixToDense, CSRSparseMatrixToSparseTensor, DenseToCSRSparseMatrix,
//! SparseMatrixNNZ, SparseMatrixTranspose, SparseTensorToCSRSparseMatrix.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_geometry::integers::{index_text, scalar};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::super::coo::Coo;
use super::super::elements::ensure_matrix;
use super::{Csr, Rows, by_dtype, ensure_count, ensure_rows, joined, of_each};

/// The matrices whose elements have these indices, which lie within the shape, in this order.
fn from_indices(indices: &[i64], sizes: &[i64], values: Tensor) -> Result<Csr> {
    let rank = sizes.len();
    let (count, rows) = match *sizes {
        [rows, _] => (1, rows),
        [count, rows, _] => (count, rows),
        _ => bail!(InvalidArgument, "SparseTensor must have rank 2 or 3; but indices has rank: {rank}"),
    };
    let greatest = i64::from(i32::MAX);
    ensure!(
        count < greatest,
        InvalidArgument,
        "dense_shape batch_size must be < Int32Max, but the input value is {count}"
    );
    let pointers = rows.saturating_add(1).saturating_mul(count);
    ensure!(
        pointers <= greatest,
        InvalidArgument,
        "The csr row index size, computed based on the dense_shape, must be <= Int32Max, but is too large. Current \
         value is {pointers}"
    );
    ensure_count(values.num_elements())?;
    let (count, rows, elements) = (count as usize, rows as usize, values.num_elements());
    let mut row_ptrs = Tensor::zeros(DataType::Int32, [pointers as usize])?;
    let mut col_inds = Tensor::zeros(DataType::Int32, [elements])?;
    let mut batches = scratch::room(count + 1)?;
    batches.push(0);
    let pointers = row_ptrs.as_mut_slice::<i32>()?;
    for ((n, index), slot) in indices.chunks_exact(rank).enumerate().zip(col_inds.as_mut_slice::<i32>()?) {
        let batch = if rank == 3 { index[0] as usize } else { 0 };
        ensure!(
            batch + 1 >= batches.len(),
            InvalidArgument,
            "indices[{n}] = {} is out of order: matrices come one after the other",
            index_text(index)
        );
        while batches.len() <= batch {
            batches.push(n);
        }
        pointers[batch * (rows + 1) + index[rank - 2] as usize + 1] += 1;
        let Ok(column) = i32::try_from(index[rank - 1]) else {
            bail!(InvalidArgument, "indices[{n}] = {}: columns above {} have no number", index_text(index), i32::MAX);
        };
        *slot = column;
    }
    batches.resize(count + 1, elements);
    for matrix in pointers.chunks_exact_mut(rows + 1) {
        let mut total = 0;
        for pointer in matrix {
            total += *pointer;
            *pointer = total;
        }
    }
    Ok(Csr { dense_shape: sizes.to_vec(), batches, row_ptrs, col_inds, values })
}

#[register_kernel(device = Cpu, T = [float, double, complex64, complex128])]
fn from_sparse_tensor(ctx: &mut KernelContext<'_, ops::SparseTensorToCSRSparseMatrix>) -> Result<()> {
    type Op = ops::SparseTensorToCSRSparseMatrix;
    let (indices, values) = (ctx.input(Op::INDICES)?, ctx.input(Op::VALUES)?.clone());
    let coo = Coo::new(indices, &values, ctx.input(Op::DENSE_SHAPE)?)?;
    coo.shape()?;
    coo.ensure_within()?;
    from_indices(indices.as_slice()?, coo.sizes, values.clone())?.set(ctx)
}

#[register_kernel(device = Cpu, T = [f32, f64, Complex32, Complex64])]
fn from_dense<T: Computed>(ctx: &mut KernelContext<'_, ops::DenseToCSRSparseMatrix>) -> Result<()> {
    type Op = ops::DenseToCSRSparseMatrix;
    let (dense, indices) = (ctx.input(Op::DENSE_INPUT)?, ctx.input(Op::INDICES)?);
    let rank = dense.rank();
    ensure!(
        rank == 2 || rank == 3,
        InvalidArgument,
        "params must have rank == 2 or 3; but saw shape: {}",
        dense.shape()
    );
    ensure_matrix(indices, "indices")?;
    ensure!(
        indices.shape()[1] == rank,
        InvalidArgument,
        "indices.shape[1] must be equal to the rank of params, but saw: {} vs. {rank}",
        indices.shape()[1]
    );
    let (elements, strides) = (dense.as_slice::<T>()?, dense.shape().strides());
    let indices = indices.as_slice::<i64>()?;
    let pick = |(n, index): (usize, &[i64])| {
        let within = index.iter().zip(dense.shape().iter()).all(|(&index, &size)| (0..size as i64).contains(&index));
        ensure!(
            within,
            InvalidArgument,
            "indices[{n}] = {} does not index into param shape {}",
            index_text(index),
            dense.shape()
        );
        Ok(elements[index.iter().zip(&strides).map(|(&index, stride)| index as usize * stride).sum::<usize>()])
    };
    let picked: Vec<T> = scratch::collected_ok(indices.chunks_exact(rank).enumerate().map(pick))?;
    from_indices(indices, &dense.shape().to_i64(), Tensor::vector(&picked)?)?.set(ctx)
}

#[register_kernel(device = Cpu, type = [float, double, complex64, complex128])]
fn to_dense(
    attrs: &Attrs<ops::CSRSparseMatrixToDense>,
    ctx: &mut KernelContext<'_, ops::CSRSparseMatrixToDense>,
) -> Result<()> {
    by_dtype!(attrs.r#type, T => dense::<T>(ctx))
}

fn dense<T: Computed>(ctx: &mut RawContext<'_>) -> Result<()> {
    let csr = Csr::of_dtype(ctx, 0, T::DTYPE)?;
    let mut output = ctx.allocate_output_at(0, Shape::from_dims(&csr.dense_shape)?)?;
    let slots = output.as_mut_slice::<T>()?;
    let [rows, columns] = csr.sizes();
    if !slots.is_empty() {
        ctx.try_parallel_chunks(slots, columns, 1, |first, piece| {
            for (line, slots) in (first / columns..).zip(piece.chunks_exact_mut(columns)) {
                slots.fill(T::ZERO);
                csr.matrix::<T>(line / rows)?.row(line % rows).for_each(|(column, value)| slots[column] = value);
            }
            Ok(())
        })?;
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, type = [float, double, complex64, complex128])]
fn to_sparse_tensor(ctx: &mut KernelContext<'_, ops::CSRSparseMatrixToSparseTensor>) -> Result<()> {
    type Op = ops::CSRSparseMatrixToSparseTensor;
    let csr = Csr::of_dtype(ctx, 0, ctx.output_dtype(Op::VALUES)?)?;
    let (values, sizes) = (csr.values.clone(), Tensor::vector(&csr.dense_shape)?);
    let rank = csr.dense_shape.len();
    let mut indices = ctx.allocate_output(Op::INDICES, [values.num_elements(), rank])?;
    let mut slots = indices.as_mut_slice::<i64>()?.chunks_exact_mut(rank);
    for n in 0..csr.count() {
        let matrix = csr.pattern(n)?;
        for row in 0..matrix.rows {
            for ((column, _), slot) in matrix.row(row).zip(&mut slots) {
                slot[0] = n as i64;
                slot[rank - 2] = row as i64;
                slot[rank - 1] = column as i64;
            }
        }
    }
    ctx.set_output(Op::INDICES, indices)?;
    ctx.set_output(Op::VALUES, values)?;
    ctx.set_output(Op::DENSE_SHAPE, sizes)
}

#[register_kernel(device = Cpu, host_memory = ["index"], type = [float, double, complex64, complex128])]
fn components(ctx: &mut KernelContext<'_, ops::CSRSparseMatrixComponents>) -> Result<()> {
    type Op = ops::CSRSparseMatrixComponents;
    let csr = Csr::of_dtype(ctx, 0, ctx.output_dtype(Op::VALUES)?)?;
    let index = scalar(ctx.input(Op::INDEX)?, "index")?;
    let Some(n) = usize::try_from(index).ok().filter(|&index| index < csr.count()) else {
        bail!(InvalidArgument, "index ({index}) not in [0, {})", csr.count());
    };
    let (rows, range) = (csr.row_range(n), csr.range(n));
    let row_ptrs = csr.row_ptrs.slice_rows(rows.start, rows.end)?;
    let col_inds = csr.col_inds.slice_rows(range.start, range.end)?;
    let values = csr.values.slice_rows(range.start, range.end)?;
    ctx.set_output(Op::ROW_PTRS, row_ptrs)?;
    ctx.set_output(Op::COL_INDS, col_inds)?;
    ctx.set_output(Op::VALUES, values)
}

#[register_kernel(device = Cpu, host_memory = ["nnz"])]
fn nnz(ctx: &mut KernelContext<'_, ops::SparseMatrixNNZ>) -> Result<()> {
    let csr = Csr::at(ctx, 0)?;
    let counts: Vec<i32> = scratch::collected(csr.batches.windows(2).map(|ends| (ends[1] - ends[0]) as i32))?;
    let counts = Tensor::vector(&counts)?;
    let counts = if csr.is_batched() { counts } else { counts.reshaped(Shape::scalar())? };
    ctx.set_output_at(0, counts)
}

/// The transpose of matrix `n`, or its conjugate transpose. The elements of a row are in the order of the columns.
pub(super) fn transposed<T: Computed>(csr: &Csr, n: usize, conjugate: bool) -> Result<Rows<T>> {
    let matrix = csr.matrix::<T>(n)?;
    let elements = matrix.values.len();
    let mut row_ptrs = scratch::zeros::<i32>(matrix.columns + 1)?;
    for &column in matrix.col_inds {
        row_ptrs[column as usize + 1] += 1;
    }
    for column in 0..matrix.columns {
        row_ptrs[column + 1] += row_ptrs[column];
    }
    let mut next: Vec<i32> = scratch::copied(&row_ptrs)?;
    let mut col_inds = scratch::zeros::<i32>(elements)?;
    let mut values = scratch::filled(T::ZERO, elements)?;
    for row in 0..matrix.rows {
        for (column, value) in matrix.row(row) {
            let place = next[column] as usize;
            next[column] += 1;
            col_inds[place] = row as i32;
            values[place] = if conjugate { value.conj() } else { value };
        }
    }
    Ok(Rows { row_ptrs, col_inds, values })
}

#[register_kernel(device = Cpu, type = [float, double, complex64, complex128])]
fn transpose(
    attrs: &Attrs<ops::SparseMatrixTranspose>,
    ctx: &mut KernelContext<'_, ops::SparseMatrixTranspose>,
) -> Result<()> {
    let csr = Csr::of_dtype(ctx, 0, attrs.r#type)?;
    let mut sizes = csr.dense_shape.clone();
    let last = sizes.len() - 1;
    sizes.swap(last - 1, last);
    ensure_rows(sizes[last - 1] as usize, csr.count())?;
    let turned = by_dtype!(attrs.r#type, T => {
        let cost = csr.mean_elements().saturating_mul(10);
        joined(sizes, &of_each(ctx, csr.count(), cost, |n| transposed::<T>(csr, n, attrs.conjugate))?)?
    });
    turned.set(ctx)
}
