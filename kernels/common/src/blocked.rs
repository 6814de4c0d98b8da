//! Products of matrices of any dtype, by blocks of the right operand and tiles of the result: for integers, which wrap,
//! and for small products of complex numbers.

use kernlink::dtype::Number;

use crate::gemm::{Matrix, Sizes};
use crate::widest;

/// Rows of the right operand at a time.
const DEPTH: usize = 64;
/// Columns of a block and of a tile.
const WIDTH: usize = 32;
/// Rows of a tile.
const ROWS: usize = 6;

/// Some rows of the right operand, zeros beyond the last column.
type Block<T> = [[T; WIDTH]; DEPTH];

widest! {
    avx512:
    /// Adds the product of factors and the first rows of a block.
    fn add_product<T: Number>(factors: &[[T; DEPTH]; ROWS], block: &[[T; WIDTH]], sums: &mut [[T; WIDTH]; ROWS]) {
        // A copy, so that the sums stay in registers.
        let mut tile = *sums;
        for (p, line) in block.iter().enumerate() {
            for row in 0..ROWS {
                let factor = factors[row][p];
                for column in 0..WIDTH {
                    tile[row][column] = tile[row][column].wrapping_add(factor.wrapping_mul(line[column]));
                }
            }
        }
        *sums = tile;
    }
}

/// `c = a b`, or `c += a b` if asked for: a block of `b` at a time, which stays in the cache while all rows of `a` pass.
///
/// # Safety
/// As [`Gemm::product`](crate::gemm::Gemm::product).
pub(crate) unsafe fn multiply<T: Number>(
    sizes: Sizes,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: *mut T,
    stride: usize,
    add: bool,
) {
    let Sizes { m, k, n } = sizes;
    let mut block: Block<T> = [[T::ZERO; WIDTH]; DEPTH];
    for column in (0..n).step_by(WIDTH) {
        let width = WIDTH.min(n - column);
        for depth in (0..k).step_by(DEPTH) {
            let depths = DEPTH.min(k - depth);
            let replaces = depth == 0 && !add;
            // SAFETY: the caller says that row `row` of `c` has `n` elements that are ours.
            let target = |row: usize| unsafe { std::slice::from_raw_parts_mut(c.add(row * stride + column), width) };
            // A row that reads the block once only takes it straight from `b`.
            if m == 1 && b.column_stride == 1 {
                let target = target(0);
                if replaces {
                    target.fill(T::ZERO);
                }
                for p in depth..depth + depths {
                    let factor = a.data[p * a.column_stride];
                    for (target, &element) in target.iter_mut().zip(&b.data[p * b.row_stride + column..]) {
                        *target = target.wrapping_add(factor.wrapping_mul(element));
                    }
                }
                continue;
            }
            for (p, line) in block[..depths].iter_mut().enumerate() {
                let from = (depth + p) * b.row_stride + column * b.column_stride;
                for (j, element) in line[..width].iter_mut().enumerate() {
                    *element = b.data[from + j * b.column_stride];
                }
                line[width..].fill(T::ZERO);
            }
            for first in (0..m).step_by(ROWS) {
                let rows = ROWS.min(m - first);
                let mut factors = [[T::ZERO; DEPTH]; ROWS];
                let mut sums = [[T::ZERO; WIDTH]; ROWS];
                for row in 0..rows {
                    for (p, factor) in factors[row][..depths].iter_mut().enumerate() {
                        *factor = a.data[(first + row) * a.row_stride + (depth + p) * a.column_stride];
                    }
                    if !replaces {
                        sums[row][..width].copy_from_slice(target(first + row));
                    }
                }
                add_product(&factors, &block[..depths], &mut sums);
                for (row, sums) in sums[..rows].iter().enumerate() {
                    target(first + row).copy_from_slice(&sums[..width]);
                }
            }
        }
    }
}
