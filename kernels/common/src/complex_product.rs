//! Products of complex matrices as real ones of twice the depth and width.
//!
//! A row of `a` as it lies in memory, `re im re im ...`, times a matrix that has, for each row of `b`, the row itself and the
//! row times the imaginary unit, is a row of `c` as it lies in memory. That is as many real multiplications as the
//! definition has, and the same sums.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use num_complex::Complex;

use crate::gemm::{Gemm, Matrix, Sizes, Target};

/// With fewer rows or columns the right operand is not worth writing anew.
const LEAST: usize = 8;

/// Whether [`multiply`] pays.
pub(crate) fn is_worthwhile(sizes: Sizes) -> bool {
    let Sizes { m, k, n } = sizes;
    m >= LEAST && n >= LEAST && k > 0 && n.saturating_mul(k) <= usize::MAX / 64
}

/// `c = a b`, or `c += a b` if the target says so. The operands are as large as the sizes say.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(crate) fn multiply<F: Gemm + std::ops::Neg<Output = F>>(
    ctx: Option<&RawContext<'_>>,
    sizes: Sizes,
    a: Matrix<'_, Complex<F>>,
    b: Matrix<'_, Complex<F>>,
    c: Target<'_, Complex<F>>,
) -> Result<()>
where
    Complex<F>: Number,
{
    let Sizes { m, k, n } = sizes;
    let mut copy = Vec::new();
    let (left, left_stride) = if a.column_stride == 1 {
        (a.data, a.row_stride)
    } else {
        scratch::resize(&mut copy, m * k, Complex::<F>::ZERO)?;
        for (row, target) in copy.chunks_exact_mut(k).enumerate() {
            for (p, target) in target.iter_mut().enumerate() {
                *target = a.data[row * a.row_stride + p * a.column_stride];
            }
        }
        (copy.as_slice(), k)
    };
    let mut right = scratch::filled(F::ZERO, 4 * k * n)?;
    let fill = |first: usize, piece: &mut [F]| {
        for (p, rows) in (first / (4 * n)..).zip(piece.chunks_exact_mut(4 * n)) {
            let (row, turned) = rows.split_at_mut(2 * n);
            let (row, turned) = (row.as_chunks_mut::<2>().0, turned.as_chunks_mut::<2>().0);
            for (column, (row, turned)) in row.iter_mut().zip(turned).enumerate() {
                let Complex { re, im } = b.data[p * b.row_stride + column * b.column_stride];
                *row = [re, im];
                *turned = [-im, re];
            }
        }
    };
    match ctx {
        Some(ctx) => ctx.parallel_chunks(&mut right, 4 * n, 1, fill),
        None => fill(0, &mut right),
    }
    let sizes = Sizes { m, k: 2 * k, n: 2 * n };
    let target = Target { data: parts_mut(c.data), row_stride: 2 * c.row_stride, accumulate: c.accumulate };
    let left = Matrix { data: parts(left), row_stride: 2 * left_stride, column_stride: 1 };
    F::run(ctx, sizes, left, Matrix::rows(&right, 2 * n), target)
}

/// The real and imaginary parts in turn.
fn parts<F>(elements: &[Complex<F>]) -> &[F] {
    // SAFETY: `Complex` is `repr(C)`, two parts one after the other.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), 2 * elements.len()) }
}

/// The real and imaginary parts in turn.
fn parts_mut<F>(elements: &mut [Complex<F>]) -> &mut [F] {
    // SAFETY: as above, and all bits that are a part are a part of a number.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), 2 * elements.len()) }
}
