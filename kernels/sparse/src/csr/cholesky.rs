//! SparseMatrixSparseCholesky.

use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_kernels_common::number::{ComplexFloat, Computed};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::{Csr, Matrix, Rows, by_dtype, ensure_count, joined, of_each};

const NONE: usize = usize::MAX;

#[register_kernel(device = Cpu, type = [float, double, complex64, complex128])]
fn sparse_cholesky(
    attrs: &Attrs<ops::SparseMatrixSparseCholesky>,
    ctx: &mut KernelContext<'_, ops::SparseMatrixSparseCholesky>,
) -> Result<()> {
    by_dtype!(attrs.r#type, T => cholesky::<T>(ctx))
}

fn cholesky<T: Computed + ComplexFloat>(ctx: &mut RawContext<'_>) -> Result<()> {
    let csr = Csr::of_dtype(ctx, 0, T::DTYPE)?;
    let size = csr.square_size()?;
    let permutation = ctx.input_at(1)?;
    let rank = csr.dense_shape.len();
    ensure!(
        permutation.rank() + 1 == rank,
        InvalidArgument,
        "sparse matrix must have the same rank as permutation; got: {rank} != {} + 1.",
        permutation.rank()
    );
    ensure!(
        permutation.shape()[rank - 2] == size,
        InvalidArgument,
        "permutation must have the same number of elements in each batch as the number of rows in sparse matrix; got: \
         {} != {size}",
        permutation.shape()[rank - 2]
    );
    ensure!(
        permutation.num_elements() == csr.count() * size,
        InvalidArgument,
        "permutation must have the same batch size as sparse matrix; got: {} != {}",
        permutation.shape()[0],
        csr.count()
    );
    let permutation = permutation.as_slice::<i32>()?;
    // As if the factor had no more elements than the matrix: each is added to those of its row.
    let elements = csr.mean_elements();
    let cost = elements.saturating_mul(10 + elements / size.max(1));
    let parts = of_each(ctx, csr.count(), cost, |n| {
        let places = inverse(&permutation[n * size..][..size])?;
        match factor(csr.matrix::<T>(n)?, &places)? {
            Some(rows) => Ok(rows),
            None => bail!(
                InvalidArgument,
                "Sparse Cholesky factorization failed for batch index {n}. The input might not be valid."
            ),
        }
    })?;
    joined(csr.dense_shape.clone(), &parts)?.set(ctx)
}

/// Where each number stands in a permutation.
fn inverse(permutation: &[i32]) -> Result<Vec<usize>> {
    let mut places = scratch::filled(NONE, permutation.len())?;
    for (place, &number) in permutation.iter().enumerate() {
        match usize::try_from(number).ok().and_then(|number| places.get_mut(number)) {
            Some(slot) if *slot == NONE => *slot = place,
            _ => bail!(
                InvalidArgument,
                "permutation must have each of the numbers below {} once, but has {number} again or beyond",
                permutation.len()
            ),
        }
    }
    Ok(places)
}

/// A lower triangle: where each row begins and where the last ends, then columns and values.
type Lower<T> = (Vec<usize>, Vec<(usize, T)>);

/// The lower triangle of a matrix whose row `i` becomes row `places[i]`, and so the columns.
/// Only the lower triangle is read.
fn permuted<T: Computed>(matrix: Matrix<'_, T>, places: &[usize]) -> Result<Lower<T>> {
    let lower = |row: usize| matrix.row(row).filter(move |&(column, _)| column <= row);
    let mut ends = scratch::zeros::<usize>(matrix.rows + 1)?;
    for row in 0..matrix.rows {
        for (column, _) in lower(row) {
            ends[places[row].max(places[column]) + 1] += 1;
        }
    }
    for row in 0..matrix.rows {
        ends[row + 1] += ends[row];
    }
    let mut next: Vec<usize> = scratch::copied(&ends)?;
    let mut entries = scratch::filled((0, T::ZERO), ends[matrix.rows])?;
    for row in 0..matrix.rows {
        for (column, value) in lower(row) {
            let (row, column) = (places[row], places[column]);
            let slot = &mut entries[next[row.max(column)]];
            next[row.max(column)] += 1;
            *slot = if row < column { (row, value.conj()) } else { (column, value) };
        }
    }
    Ok((ends, entries))
}

/// The lower triangular factor of a permuted matrix, row by row; nothing if the matrix is not positive definite.
///
/// Row `k` has elements wherever column `i` of a row before it leads to `k` in the elimination tree, whether or not they are
/// zero. (T. A. Davis, Direct Methods for Sparse Linear Systems, chapter 4.)
fn factor<T: Computed + ComplexFloat>(matrix: Matrix<'_, T>, places: &[usize]) -> Result<Option<Rows<T>>> {
    let size = matrix.rows;
    let (ends, entries) = permuted(matrix, places)?;
    let parents = elimination_tree(size, &ends, &entries)?;
    let mut row_ptrs = scratch::room(size + 1)?;
    row_ptrs.push(0i32);
    let (mut col_inds, mut values): (Vec<i32>, Vec<T>) = (Vec::new(), Vec::new());
    // The elements below the diagonal of each column so far, and the diagonal.
    let mut columns: Vec<Vec<(usize, T)>> = scratch::filled(Vec::new(), size)?;
    let mut diagonal: Vec<T> = scratch::filled(T::ZERO, size)?;
    let mut sums: Vec<T> = scratch::filled(T::ZERO, size)?;
    let mut met = scratch::filled(NONE, size)?;
    let mut pattern: Vec<usize> = Vec::new();
    for k in 0..size {
        pattern.clear();
        met[k] = k;
        let mut pivot = T::ZERO;
        for &(column, value) in &entries[ends[k]..ends[k + 1]] {
            if column == k {
                pivot += value;
                continue;
            }
            sums[column] += value;
            let mut node = column;
            while met[node] != k {
                met[node] = k;
                scratch::push(&mut pattern, node)?;
                node = parents[node];
            }
        }
        pattern.sort_unstable();
        for &i in &pattern {
            let value = sums[i] / diagonal[i];
            sums[i] = T::ZERO;
            for &(row, below) in &columns[i] {
                sums[row] -= Computed::conj(below) * value;
            }
            pivot -= Computed::conj(value) * value;
            scratch::push(&mut columns[i], (k, value))?;
            scratch::push(&mut col_inds, i as i32)?;
            scratch::push(&mut values, value)?;
        }
        // Of a complex number the real part.
        let square = pivot.as_f64();
        if square <= 0.0 {
            return Ok(None);
        }
        diagonal[k] = T::from_f64(square.sqrt());
        scratch::push(&mut col_inds, k as i32)?;
        scratch::push(&mut values, diagonal[k])?;
        ensure_count(values.len())?;
        row_ptrs.push(values.len() as i32);
    }
    Ok(Some(Rows { row_ptrs, col_inds, values }))
}

/// Of each column the first row below the diagonal in which the factor has an element.
fn elimination_tree<T>(size: usize, ends: &[usize], entries: &[(usize, T)]) -> Result<Vec<usize>> {
    let mut parents = scratch::filled(NONE, size)?;
    // Shortcuts towards the root.
    let mut ancestors = scratch::filled(NONE, size)?;
    for k in 0..size {
        for &(column, _) in &entries[ends[k]..ends[k + 1]] {
            let mut node = column;
            while node < k {
                let next = std::mem::replace(&mut ancestors[node], k);
                if next == NONE {
                    parents[node] = k;
                }
                node = next;
            }
        }
    }
    Ok(parents)
}
