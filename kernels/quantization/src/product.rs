//! Products of matrices of bytes that stand for what they are above a zero.

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink_kernels_common::gemm::{Matrix, Sizes};
use kernlink_kernels_common::int8::{self, Byte, BytePanels};
use kernlink_kernels_common::widest;

use crate::byte_pairs::{self, Panels};

/// A right operand as the processor's instructions want it.
enum Prepared {
    Fours(BytePanels),
    Pairs(Panels),
    /// As it is.
    Plain,
}

/// Rows of the left operand, and columns of the right, for which the right is worth preparing.
const FEW: usize = 4;

/// The right operand of products, prepared.
pub(crate) struct Right<'a, B> {
    matrix: Matrix<'a, B>,
    prepared: Prepared,
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
        let prepared = if int8::is_available() && int8::is_worthwhile(Sizes { m, k, n }) {
            Prepared::Fours(BytePanels::new(Some(ctx), matrix, k, n)?)
        } else if byte_pairs::are_available() && n >= FEW && (m >= FEW || matrix.column_stride != 1) {
            Prepared::Pairs(Panels::new(ctx, matrix, k, n)?)
        } else {
            Prepared::Plain
        };
        let turned = Matrix { row_stride: matrix.column_stride, column_stride: matrix.row_stride, ..matrix };
        let sums = sums_of_rows(turned, n, k)?;
        Ok(Right { matrix, prepared, sums, zeros, k, n })
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
    match &b.prepared {
        Prepared::Fours(panels) => int8::multiply(Some(ctx), m, a, panels, c)?,
        Prepared::Pairs(panels) => panels.multiply(ctx, [m, k, n], a, c)?,
        Prepared::Plain => ctx.parallel_chunks(c, n, k / 4 + 1, |first, c| {
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
    let sums = sums_of_rows(a, m, k)?;
    ctx.parallel_chunks(c, n, 1, |first, c| {
        for (row, c) in c.chunks_mut(n).enumerate() {
            let row = first / n + row;
            let zero = zero(row);
            correct(c, &b.sums, &b.zeros, zero, sums[row].wrapping_sub((k as i32).wrapping_mul(zero)));
        }
    });
    Ok(())
}

/// The sums, which wrap, of the rows of a matrix.
fn sums_of_rows<B: Byte>(matrix: Matrix<'_, B>, rows: usize, columns: usize) -> Result<Vec<i32>> {
    let Matrix { data, row_stride, column_stride } = matrix;
    let mut sums: Vec<i32> = scratch::zeros(rows)?;
    if row_stride == 1 {
        for column in 0..columns {
            add_times(&data[column * column_stride..][..rows], 1, &mut sums);
        }
        return Ok(sums);
    }
    for (row, target) in sums.iter_mut().enumerate() {
        let data = &data[row * row_stride..];
        *target = if column_stride == 1 {
            sum(&data[..columns])
        } else {
            (0..columns).fold(0, |sum, column| sum.wrapping_add(data[column * column_stride].into()))
        };
    }
    Ok(sums)
}

widest! {
    fn sum<B: Byte>(numbers: &[B]) -> i32 {
        numbers.iter().fold(0, |sum, &number| sum.wrapping_add(number.into()))
    }
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
