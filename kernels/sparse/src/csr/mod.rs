//! Sparse matrices in rows, as variants: `SparseMatrix*` and `CSRSparseMatrix*`.

mod cholesky;
mod convert;
mod ordering;
mod product;

use std::ops::Range;

use kernlink::dtype::{DataType, Element};
use kernlink::error::{Error, Result};
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, Variant, VariantValue, scratch};
use kernlink::{bail, ensure};

/// A sparse matrix, or several of one shape: compressed sparse rows.
struct Csr {
    /// `[rows, columns]`, with the number of matrices in front if there may be several.
    dense_shape: Vec<i64>,
    /// Where the elements of each matrix begin, and where the last end.
    batches: Vec<usize>,
    /// `int32`: of each matrix in turn where each row begins among the matrix's elements, and where the last ends.
    row_ptrs: Tensor,
    /// `int32`: the column of each element.
    col_inds: Tensor,
    values: Tensor,
}

impl VariantValue for Csr {
    fn type_name(&self) -> &'static str {
        "tensorflow::CSRSparseMatrix"
    }
}

/// Evaluates a generic expression with the Rust type of a matrix's values.
///
/// The attr that says it is called `type`, which is no name for a generic parameter.
macro_rules! by_dtype {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            kernlink::dtype::DataType::Float => {
                type $t = f32;
                $body
            }
            kernlink::dtype::DataType::Double => {
                type $t = f64;
                $body
            }
            kernlink::dtype::DataType::Complex64 => {
                type $t = kernlink::dtype::Complex32;
                $body
            }
            _ => {
                type $t = kernlink::dtype::Complex64;
                $body
            }
        }
    };
}
use by_dtype;

/// One matrix of a [`Csr`].
#[derive(Clone, Copy)]
struct Matrix<'a, T> {
    rows: usize,
    columns: usize,
    row_ptrs: &'a [i32],
    col_inds: &'a [i32],
    values: &'a [T],
}

impl<'a, T: Copy> Matrix<'a, T> {
    /// The elements of a row.
    fn range(&self, row: usize) -> Range<usize> {
        self.row_ptrs[row] as usize..self.row_ptrs[row + 1] as usize
    }

    /// The columns and values of a row.
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, T)> + use<'a, T> {
        let range = self.range(row);
        self.col_inds[range.clone()].iter().zip(&self.values[range]).map(|(&column, &value)| (column as usize, value))
    }
}

impl Csr {
    /// The matrix in input `index`.
    fn at<'c>(ctx: &'c RawContext<'_>, index: usize) -> Result<&'c Csr> {
        let tensor = ctx.input_at(index)?;
        ensure!(
            tensor.rank() == 0,
            InvalidArgument,
            "input {index} must be a scalar variant, not of shape {}",
            tensor.shape()
        );
        tensor.as_slice::<Variant>()?[0]
            .get()
            .ok_or_else(|| Error::invalid_argument(format!("Could not retrieve Variant input {index}")))
    }

    /// As [`Csr::at`]; fails unless the values are of this dtype.
    fn of_dtype<'c>(ctx: &'c RawContext<'_>, index: usize, dtype: DataType) -> Result<&'c Csr> {
        let csr = Csr::at(ctx, index)?;
        ensure!(
            csr.values.dtype() == dtype,
            InvalidArgument,
            "Asked for a CSRSparseMatrix of type {dtype} but saw dtype: {}",
            csr.values.dtype()
        );
        Ok(csr)
    }

    /// The number of matrices, which is 1 if there may be only one.
    fn count(&self) -> usize {
        self.batches.len() - 1
    }

    /// How many elements a matrix has on the average.
    fn mean_elements(&self) -> usize {
        self.values.num_elements() / self.count().max(1)
    }

    /// Whether there may be several matrices.
    fn is_batched(&self) -> bool {
        self.dense_shape.len() == 3
    }

    /// The rows and columns of each matrix.
    fn sizes(&self) -> [usize; 2] {
        match self.dense_shape[..] {
            [.., rows, columns] => [rows as usize, columns as usize],
            _ => [0, 0],
        }
    }

    /// The number of rows, which equals that of columns.
    fn square_size(&self) -> Result<usize> {
        let [rows, columns] = self.sizes();
        ensure!(rows == columns, InvalidArgument, "sparse matrix must be square; got: {rows} != {columns}");
        Ok(rows)
    }

    /// Where row pointers of a matrix are.
    fn row_range(&self, n: usize) -> Range<usize> {
        let length = self.sizes()[0] + 1;
        n * length..(n + 1) * length
    }

    /// Where elements of a matrix are.
    fn range(&self, n: usize) -> Range<usize> {
        self.batches[n]..self.batches[n + 1]
    }

    /// Matrix `n`, if the values are `T`.
    fn matrix<T: Element>(&self, n: usize) -> Result<Matrix<'_, T>> {
        let [rows, columns] = self.sizes();
        Ok(Matrix {
            rows,
            columns,
            row_ptrs: &self.row_ptrs.as_slice()?[self.row_range(n)],
            col_inds: &self.col_inds.as_slice()?[self.range(n)],
            values: &self.values.as_slice()?[self.range(n)],
        })
    }

    /// The pattern of matrix `n`.
    fn pattern(&self, n: usize) -> Result<Matrix<'_, i32>> {
        let [rows, columns] = self.sizes();
        let col_inds = &self.col_inds.as_slice()?[self.range(n)];
        Ok(Matrix {
            rows,
            columns,
            row_ptrs: &self.row_ptrs.as_slice()?[self.row_range(n)],
            col_inds,
            values: col_inds,
        })
    }

    /// Makes this output 0.
    fn set(self, ctx: &mut RawContext<'_>) -> Result<()> {
        ctx.set_output_at(0, Tensor::scalar(Variant::new(self)))
    }
}

/// A matrix that is being made, row by row.
struct Rows<T> {
    /// Where each row begins, and where the last ends.
    row_ptrs: Vec<i32>,
    col_inds: Vec<i32>,
    values: Vec<T>,
}

/// Matrices, of this shape each and as many as `dense_shape` says, as one.
fn joined<T: Element>(dense_shape: Vec<i64>, parts: &[Rows<T>]) -> Result<Csr> {
    let total = parts.iter().fold(0usize, |total, part| total.saturating_add(part.values.len()));
    ensure_count(total)?;
    let mut batches = vec![0];
    let rows = parts.iter().map(|part| part.row_ptrs.len()).sum::<usize>();
    let mut row_ptrs = Tensor::zeros(DataType::Int32, [rows])?;
    let mut col_inds = Tensor::zeros(DataType::Int32, [total])?;
    let mut values = Tensor::zeros(T::DTYPE, [total])?;
    let (mut row, mut at) = (0, 0);
    for part in parts {
        row_ptrs.as_mut_slice::<i32>()?[row..][..part.row_ptrs.len()].copy_from_slice(&part.row_ptrs);
        col_inds.as_mut_slice::<i32>()?[at..][..part.col_inds.len()].copy_from_slice(&part.col_inds);
        values.as_mut_slice::<T>()?[at..][..part.values.len()].clone_from_slice(&part.values);
        row += part.row_ptrs.len();
        at += part.values.len();
        batches.push(at);
    }
    Ok(Csr { dense_shape, batches, row_ptrs, col_inds, values })
}

/// What `make` makes of each of `count` matrices, on several threads if it is worth it; `cost` is that of one.
///
/// # Errors
/// That of the first matrix that fails.
fn of_each<T: Send>(
    ctx: &RawContext<'_>,
    count: usize,
    cost: usize,
    make: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut made: Vec<Option<T>> = scratch::collected((0..count).map(|_| None))?;
    ctx.try_parallel_chunks(&mut made, 1, cost, |first, made| {
        for (n, made) in (first..).zip(made) {
            *made = Some(make(n)?);
        }
        Ok(())
    })?;
    scratch::collected(made.into_iter().flatten())
}

/// Fails if so many elements cannot be numbered.
fn ensure_count(elements: usize) -> Result<()> {
    if i32::try_from(elements).is_err() {
        bail!(InvalidArgument, "a sparse matrix of {elements} elements has more than {}", i32::MAX);
    }
    Ok(())
}

/// Fails if so many matrices of so many rows have more rows than there are numbers.
fn ensure_rows(rows: usize, count: usize) -> Result<()> {
    let pointers = rows.saturating_add(1).saturating_mul(count);
    ensure!(
        i32::try_from(pointers).is_ok(),
        InvalidArgument,
        "{count} matrices of {rows} rows have more than {} row pointers",
        i32::MAX
    );
    Ok(())
}
