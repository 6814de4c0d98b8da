//! Products of matrices of bytes that stand for what they are above a zero.

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink_kernels_common::gemm::{Matrix, Sizes};
use kernlink_kernels_common::int8::{self, Byte, BytePanels};
use kernlink_kernels_common::widest;

/// The right operand of products, prepared.
pub(crate) struct Right<'a, B> {
    matrix: Matrix<'a, B>,
    panels: Option<BytePanels>,
    /// The sum of each column.
    sums: Vec<i32>,
    /// The zero of each column.
    zeros: Vec<i32>,
    k: usize,
    n: usize,
}

impl<'a, B: Byte> Right<'a, B> {
    /// A matrix of `k` rows and `n` columns, each with a zero, for products with `m` rows.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(crate) fn new(
        ctx: &RawContext<'_>,
        m: usize,
        [k, n]: [usize; 2],
        matrix: Matrix<'a, B>,
        zeros: Vec<i32>,
    ) -> Result<Self> {
        let by_bytes = int8::is_available() && int8::is_worthwhile(Sizes { m, k, n });
        let panels = if by_bytes { Some(BytePanels::new(Some(ctx), matrix, k, n)?) } else { None };
        let mut sums: Vec<i32> = scratch::zeros(n)?;
        for row in 0..k {
            for (column, sum) in sums.iter_mut().enumerate() {
                let element: i32 = matrix.data[row * matrix.row_stride + column * matrix.column_stride].into();
                *sum = sum.wrapping_add(element);
            }
        }
        Ok(Right { matrix, panels, sums, zeros, k, n })
    }
}

/// `c = (a - zero) (b - zeros of b)`, whose sums wrap, for an `a` of `m` rows, each with a zero.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(crate) fn multiply<A: Byte, B: Byte>(
    ctx: &RawContext<'_>,
    m: usize,
    a: Matrix<'_, A>,
    zero: impl Fn(usize) -> i32 + Sync,
    b: &Right<'_, B>,
    c: &mut [i32],
) -> Result<()> {
    let (k, n) = (b.k, b.n);
    if m == 0 || n == 0 {
        return Ok(());
    }
    match &b.panels {
        Some(panels) => int8::multiply(Some(ctx), m, a, panels, c)?,
        None => ctx.parallel_chunks(c, n, k / 4 + 1, |first, c| {
            for (row, c) in c.chunks_mut(n).enumerate() {
                c.fill(0);
                let row = first / n + row;
                for inner in 0..k {
                    let factor = a.data[row * a.row_stride + inner * a.column_stride].into();
                    if b.matrix.column_stride == 1 {
                        add_times(&b.matrix.data[inner * b.matrix.row_stride..][..n], factor, c);
                    } else {
                        for (column, c) in c.iter_mut().enumerate() {
                            let place = inner * b.matrix.row_stride + column * b.matrix.column_stride;
                            *c = c.wrapping_add(factor.wrapping_mul(b.matrix.data[place].into()));
                        }
                    }
                }
            }
        }),
    }
    ctx.parallel_chunks(c, n, k / 16 + 1, |first, c| {
        for (row, c) in c.chunks_mut(n).enumerate() {
            let row = first / n + row;
            let elements = (0..k).map(|inner| a.data[row * a.row_stride + inner * a.column_stride].into());
            let sum: i32 = elements.fold(0, i32::wrapping_add);
            let zero = zero(row);
            correct(c, &b.sums, &b.zeros, zero, sum.wrapping_sub((k as i32).wrapping_mul(zero)));
        }
    });
    Ok(())
}

widest! {
    fn add_times<B: Byte>(b: &[B], factor: i32, c: &mut [i32]) {
        for (c, &b) in c.iter_mut().zip(b) {
            *c = c.wrapping_add(factor.wrapping_mul(b.into()));
        }
    }
}

widest! {
    fn correct(c: &mut [i32], sums: &[i32], zeros: &[i32], zero: i32, above: i32) {
        for ((c, &sum), &of_column) in c.iter_mut().zip(sums).zip(zeros) {
            *c = c.wrapping_sub(sum.wrapping_mul(zero)).wrapping_sub(of_column.wrapping_mul(above));
        }
    }
}
