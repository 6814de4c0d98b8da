//! SparseMatrixMatMul and SparseMatrixSparseMatMul.

use std::marker::PhantomData;

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::convert::transposed;
use super::{Csr, Matrix, Rows, by_dtype, ensure_rows, joined, of_each};

/// How a factor is taken.
#[derive(Clone, Copy)]
struct Form {
    transpose: bool,
    conjugate: bool,
}

impl Form {
    fn new(transpose: bool, adjoint: bool, name: &str) -> Result<Form> {
        ensure!(
            !(transpose && adjoint),
            InvalidArgument,
            "Only one of adjoint_{name} and transpose_{name} may be true."
        );
        Ok(Form { transpose: transpose || adjoint, conjugate: adjoint })
    }

    /// `[rows, columns]` of the factor whose matrix has these sizes.
    fn sizes(self, [rows, columns]: [usize; 2]) -> [usize; 2] {
        if self.transpose { [columns, rows] } else { [rows, columns] }
    }
}

/// Matrix `n` in a form: its own arrays, or those in `made`, where they are put.
fn formed<'a, T: Computed>(csr: &'a Csr, n: usize, form: Form, made: &'a mut Option<Rows<T>>) -> Result<Matrix<'a, T>> {
    if !form.transpose {
        return csr.matrix(n);
    }
    let [rows, columns] = form.sizes(csr.sizes());
    let made = made.insert(transposed(csr, n, form.conjugate)?);
    Ok(Matrix { rows, columns, row_ptrs: &made.row_ptrs, col_inds: &made.col_inds, values: &made.values })
}

struct MatMul<T> {
    a: Form,
    b: Form,
    transpose_output: bool,
    conjugate_output: bool,
    element: PhantomData<fn() -> T>,
}

#[register_kernel(device = Cpu, T = [f32, f64, Complex32, Complex64])]
impl<T: Computed> OpKernel<ops::SparseMatrixMatMul> for MatMul<T> {
    fn new(ctx: &KernelConstruction<'_, ops::SparseMatrixMatMul>) -> Result<Self> {
        let attrs = ctx.attrs();
        Ok(MatMul {
            a: Form::new(attrs.transpose_a, attrs.adjoint_a, "a")?,
            b: Form::new(attrs.transpose_b, attrs.adjoint_b, "b")?,
            transpose_output: attrs.transpose_output,
            conjugate_output: attrs.conjugate_output,
            element: PhantomData,
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::SparseMatrixMatMul>) -> Result<()> {
        let a = Csr::at(ctx, 0)?;
        let b = ctx.input_at(1)?;
        ensure!(
            a.values.dtype() == b.dtype(),
            InvalidArgument,
            "Input types don't match.  a.dtype == {} vs. b.dtype == {}",
            a.values.dtype(),
            b.dtype()
        );
        let rank = a.dense_shape.len();
        ensure!(rank == b.rank(), InvalidArgument, "Ranks of a and b must match, saw: {rank} vs. {}.", b.rank());
        let count = if rank == 3 { b.shape()[0] } else { 1 };
        ensure!(
            a.count() == count,
            InvalidArgument,
            "Batch sizes of a and b must match, saw: {} vs. {count}.",
            a.count()
        );
        let b_sizes = [b.shape()[rank - 2], b.shape()[rank - 1]];
        let [[rows, inner], [b_inner, columns]] = [self.a.sizes(a.sizes()), self.b.sizes(b_sizes)];
        ensure!(
            inner == b_inner,
            InvalidArgument,
            "Inner product dimensions of A and B do not agree.  Their sizes are {inner} and {b_inner}."
        );
        let mut shape = if rank == 3 { vec![count] } else { Vec::new() };
        shape.extend(if self.transpose_output { [columns, rows] } else { [rows, columns] });
        let mut output = ctx.allocate_output_at(0, shape)?;
        if output.num_elements() > 0 {
            self.multiply(ctx, a, b, [rows, inner, columns], &mut output)?;
        }
        ctx.set_output_at(0, output)
    }
}

impl<T: Computed> MatMul<T> {
    fn multiply(
        &self,
        ctx: &RawContext<'_>,
        a: &Csr,
        b: &Tensor,
        [rows, inner, columns]: [usize; 3],
        output: &mut Tensor,
    ) -> Result<()> {
        let (b, size) = (b.as_slice::<T>()?, rows * columns);
        let output = output.as_mut_slice::<T>()?;
        let mut product = if self.transpose_output { scratch::filled(T::ZERO, size)? } else { Vec::new() };
        for (n, slots) in output.chunks_exact_mut(size).enumerate() {
            let own = &b[n * inner * columns..][..inner * columns];
            let turned;
            let factor = if self.b.transpose {
                turned = turn(own, columns, inner, self.b.conjugate)?;
                &turned
            } else {
                own
            };
            let mut made = None;
            let matrix = formed::<T>(a, n, self.a, &mut made)?;
            let target = if self.transpose_output { &mut product } else { &mut *slots };
            let cost = (2 * matrix.values.len()).div_ceil(rows).max(1);
            ctx.parallel_chunks(target, columns, cost, |first, piece| {
                for (row, sums) in (first / columns..).zip(piece.chunks_exact_mut(columns)) {
                    sums.fill(T::ZERO);
                    for (k, value) in matrix.row(row) {
                        for (sum, &b) in sums.iter_mut().zip(&factor[k * columns..][..columns]) {
                            *sum += value * b;
                        }
                    }
                }
            });
            if self.transpose_output {
                for (column, line) in slots.chunks_exact_mut(rows).enumerate() {
                    line.iter_mut().zip(product[column..].iter().step_by(columns)).for_each(|(slot, &x)| *slot = x);
                }
            }
        }
        if self.conjugate_output {
            output.iter_mut().for_each(|x| *x = x.conj());
        }
        Ok(())
    }
}

/// The transpose of a dense matrix, or its conjugate transpose.
fn turn<T: Computed>(matrix: &[T], rows: usize, columns: usize, conjugate: bool) -> Result<Vec<T>> {
    let mut turned = scratch::filled(T::ZERO, matrix.len())?;
    for (r, row) in matrix.chunks_exact(columns.max(1)).enumerate() {
        for (c, &x) in row.iter().enumerate() {
            turned[c * rows + r] = if conjugate { x.conj() } else { x };
        }
    }
    Ok(turned)
}

#[register_kernel(device = Cpu, type = [float, double, complex64, complex128])]
fn sparse_mat_mul(
    attrs: &Attrs<ops::SparseMatrixSparseMatMul>,
    ctx: &mut KernelContext<'_, ops::SparseMatrixSparseMatMul>,
) -> Result<()> {
    let form_a = Form::new(attrs.transpose_a, attrs.adjoint_a, "a")?;
    let form_b = Form::new(attrs.transpose_b, attrs.adjoint_b, "b")?;
    let (a, b) = (Csr::of_dtype(ctx, 0, attrs.r#type)?, Csr::of_dtype(ctx, 1, attrs.r#type)?);
    ensure!(
        a.count() == b.count(),
        InvalidArgument,
        "Batch sizes of A and B do not agree.  Batch sizes are: {} vs. {}",
        a.count(),
        b.count()
    );
    ensure!(
        a.is_batched() == b.is_batched(),
        InvalidArgument,
        "Ranks of A and B do not agree: {} vs. {}",
        a.dense_shape.len(),
        b.dense_shape.len()
    );
    let [[rows, inner], [b_inner, columns]] = [form_a.sizes(a.sizes()), form_b.sizes(b.sizes())];
    ensure!(
        inner == b_inner,
        InvalidArgument,
        "Inner product dimensions of A and B do not agree.  Their sizes are {inner} and {b_inner}."
    );
    ensure_rows(rows, a.count())?;
    let mut sizes = a.dense_shape.clone();
    let last = sizes.len() - 1;
    (sizes[last - 1], sizes[last]) = (rows as i64, columns as i64);
    let products = by_dtype!(attrs.r#type, T => {
        // Each element of the one meets a row of the other.
        let cost = a.mean_elements().saturating_mul(10 + b.mean_elements() / inner.max(1) * 5);
        let parts = of_each(ctx, a.count(), cost, |n| {
            let (mut made_a, mut made_b) = (None, None);
            product(formed::<T>(a, n, form_a, &mut made_a)?, formed(b, n, form_b, &mut made_b)?)
        })?;
        joined(sizes, &parts)?
    });
    products.set(ctx)
}

/// The product of two sparse matrices, each row in the order of the columns. Sums that are zero stay.
fn product<T: Computed>(a: Matrix<'_, T>, b: Matrix<'_, T>) -> Result<Rows<T>> {
    let mut row_ptrs = scratch::room(a.rows + 1)?;
    row_ptrs.push(0i32);
    let (mut col_inds, mut values) = (Vec::new(), Vec::new());
    // The sums of a row; only those whose column was last met in this row count.
    let mut sums = scratch::filled(T::ZERO, b.columns)?;
    let mut last_met = scratch::zeros::<usize>(b.columns)?;
    let mut met: Vec<i32> = Vec::new();
    for row in 0..a.rows {
        met.clear();
        for (k, x) in a.row(row) {
            for (column, y) in b.row(k) {
                if last_met[column] == row + 1 {
                    sums[column] += x * y;
                } else {
                    last_met[column] = row + 1;
                    sums[column] = x * y;
                    scratch::push(&mut met, column as i32)?;
                }
            }
        }
        met.sort_unstable();
        scratch::append(&mut col_inds, &met)?;
        for &column in &met {
            scratch::push(&mut values, sums[column as usize])?;
        }
        super::ensure_count(values.len())?;
        row_ptrs.push(values.len() as i32);
    }
    Ok(Rows { row_ptrs, col_inds, values })
}
