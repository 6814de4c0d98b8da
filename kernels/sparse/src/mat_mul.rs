//! SparseTensorDenseMatMul and SparseMatMul.

use std::borrow::Cow;

use kernlink::dtype::{DataType, Number, bf16};
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_kernels_common::gemm::{Matrix, Sizes, Target, gemm};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::elements::{ensure_matrix, ensure_vector, i64s, sort_stably_by_key};

#[register_kernel(
    device = Cpu,
    op = ops::SparseTensorDenseMatMul,
    host_memory = ["a_shape"],
    Tindices = [int32, int64],
    T = [bf16, Complex64, Complex32, f64, f32, f16, i32],
)]
fn sparse_tensor_dense_mat_mul<T: Computed>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (a_indices, a_values) = (ctx.input(O::A_INDICES)?, ctx.input(O::A_VALUES)?);
    let (a_shape, b) = (ctx.input(O::A_SHAPE)?, ctx.input(O::B)?);
    ensure_matrix(b, "Tensor 'b'")?;
    ensure_vector(a_shape, "Tensor 'a_shape'")?;
    let &[rows, columns] = a_shape.as_slice::<i64>()? else {
        bail!(InvalidArgument, "Tensor 'a_shape' must have 2 elements");
    };
    ensure_vector(a_values, "Tensor 'a_values'")?;
    ensure_matrix(a_indices, "Tensor 'a_indices'")?;
    ensure!(
        a_indices.shape()[0] == a_values.num_elements(),
        InvalidArgument,
        "Number of rows of a_indices does not match number of entries in a_values"
    );
    ensure!(
        a_indices.shape()[1] == 2,
        InvalidArgument,
        "Number of columns of a_indices does not match number of entries in a_shape"
    );
    let (left, inner) = if attrs.adjoint_a { (columns, rows) } else { (rows, columns) };
    let (b_inner, right) = (b.shape()[usize::from(attrs.adjoint_b)], b.shape()[usize::from(!attrs.adjoint_b)]);
    ensure!(
        b_inner as i64 == inner,
        InvalidArgument,
        "Cannot multiply A and B because inner dimension does not match: {inner} vs. {b_inner}.  Did you forget a \
         transpose?  Dimensions of A: [{rows}, {columns}).  Dimensions of B: {}",
        b.shape()
    );
    let mut product = ctx.allocate_output(O::PRODUCT, Shape::from_dims(&[left, right as i64])?)?;
    if product.num_elements() > 0 {
        let mut entries = entries::<T>(a_indices, a_values.as_slice()?, attrs.adjoint_a, left, inner)?;
        if !entries.is_sorted_by_key(|entry| entry.m) {
            // Those of a row stay in their order.
            sort_stably_by_key(&mut entries, |entry| entry.m)?;
        }
        let transposed;
        let b = b.as_slice::<T>()?;
        let b = if attrs.adjoint_b {
            transposed = adjoint(b, right, b_inner)?;
            &transposed
        } else {
            b
        };
        multiply(ctx, &entries, b, right, &mut product)?;
    }
    ctx.set_output(O::PRODUCT, product)
}

/// An element of the sparse matrix: `a` times row `k` of the dense one is a part of row `m` of the product.
#[derive(Clone, Copy)]
struct Entry<T> {
    m: usize,
    k: usize,
    a: T,
}

fn entries<T: Computed>(indices: &Tensor, a: &[T], adjoint: bool, left: i64, inner: i64) -> Result<Vec<Entry<T>>> {
    let (m_column, k_column) = (usize::from(adjoint), usize::from(!adjoint));
    let indices = i64s(indices)?;
    let entry = |(i, (index, &a)): (usize, (&[i64], &T))| {
        let (m, k) = (index[m_column], index[k_column]);
        ensure!(
            (0..inner).contains(&k),
            InvalidArgument,
            "k ({k}) from index[{i},{k_column}] out of bounds (>={inner})"
        );
        ensure!((0..left).contains(&m), InvalidArgument, "m ({m}) from index[{i},{m_column}] out of bounds (>={left})");
        Ok(Entry { m: m as usize, k: k as usize, a: if adjoint { a.conj() } else { a } })
    };
    scratch::collected_ok(indices.chunks_exact(2).zip(a).enumerate().map(entry))
}

/// The conjugate transpose of a matrix.
fn adjoint<T: Computed>(matrix: &[T], rows: usize, columns: usize) -> Result<Vec<T>> {
    let mut transposed = scratch::filled(T::ZERO, matrix.len())?;
    for (r, row) in matrix.chunks_exact(columns.max(1)).enumerate() {
        for (c, x) in row.iter().enumerate() {
            transposed[c * rows + r] = x.conj();
        }
    }
    Ok(transposed)
}

/// Adds up the entries, which are sorted by row, in the product, which has `width` columns.
fn multiply<T: Computed>(
    ctx: &RawContext<'_>,
    entries: &[Entry<T>],
    b: &[T],
    width: usize,
    product: &mut Tensor,
) -> Result<()> {
    let product = product.as_mut_slice::<T>()?;
    let rows = product.len() / width;
    // Whole rows, so that each is one thread's.
    let cost = (entries.len() * 2).div_ceil(rows).max(1);
    ctx.try_parallel_chunks(product, width, cost, |first, piece| {
        let mut sums = scratch::filled(T::Wide::ZERO, width)?;
        let first = first / width;
        let mut rest = &entries[entries.partition_point(|entry| entry.m < first)..];
        for (m, row) in (first..).zip(piece.chunks_exact_mut(width)) {
            sums.fill(T::Wide::ZERO);
            while let Some((entry, others)) = rest.split_first()
                && entry.m == m
            {
                add_row(&mut sums, entry.a, &b[entry.k * width..][..width]);
                rest = others;
            }
            row.iter_mut().zip(&sums).for_each(|(slot, &sum)| *slot = T::narrow(sum));
        }
        Ok(())
    })
}

#[inline(always)]
fn add_row<T: Computed>(sums: &mut [T::Wide], a: T, b: &[T]) {
    let a = a.widen();
    for (sum, &b) in sums.iter_mut().zip(b) {
        *sum = sum.wrapping_add(a.wrapping_mul(b.widen()));
    }
}

#[register_kernel(
    device = Cpu,
    Ta = [float, bfloat16],
    Tb = [float, bfloat16],
    state = |ctx| Ok([ctx.attrs().transpose_a, ctx.attrs().transpose_b]),
)]
fn sparse_mat_mul(transpose: &[bool; 2], ctx: &mut KernelContext<'_, ops::SparseMatMul>) -> Result<()> {
    type Op = ops::SparseMatMul;
    let (a, b) = (ctx.input(Op::A)?, ctx.input(Op::B)?);
    ensure!(a.rank() == 2, InvalidArgument, "a is not a matrix");
    ensure!(b.rank() == 2, InvalidArgument, "b is not a matrix");
    let [ta, tb] = transpose.map(usize::from);
    let sizes = Sizes { m: a.shape()[ta], k: a.shape()[1 - ta], n: b.shape()[1 - tb] };
    ensure!(sizes.k == b.shape()[tb], InvalidArgument, "Matrix size incompatible: a: {}, b: {}", a.shape(), b.shape());
    let mut product = ctx.allocate_output(Op::PRODUCT, [sizes.m, sizes.n])?;
    if sizes.k == 0 {
        product.as_mut_slice::<f32>()?.fill(0.0);
    } else if product.num_elements() > 0 {
        let (a_wide, b_wide) = (widened(a)?, widened(b)?);
        let matrix = |data, tensor: &Tensor, transposed| match transposed {
            true => Matrix::transposed(data, tensor.shape()[1]),
            false => Matrix::rows(data, tensor.shape()[1]),
        };
        let (left, right) = (matrix(&a_wide, a, transpose[0]), matrix(&b_wide, b, transpose[1]));
        let target = Target { data: product.as_mut_slice()?, row_stride: sizes.n, accumulate: false };
        gemm(ctx, sizes, left, right, target)?;
    }
    ctx.set_output(Op::PRODUCT, product)
}

/// The elements as `f32`.
fn widened(tensor: &Tensor) -> Result<Cow<'_, [f32]>> {
    Ok(match tensor.dtype() {
        DataType::Float => tensor.as_slice::<f32>()?.into(),
        _ => scratch::collected(tensor.as_slice::<bf16>()?.iter().map(|x| x.to_f32()))?.into(),
    })
}
