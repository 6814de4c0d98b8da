//! Products of matrices of bytes on processors that have no instruction for four of them, but for two numbers of 16 bits.
//!
//! Bytes become words of two neighbours along the inner dimension, each of 16 bits. The right operand lies in panels of columns,
//! the left in blocks of rows; a tile of the product, as many rows and columns, stays in registers.

use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_kernels_common::gemm::Matrix;
use kernlink_kernels_common::int8::Byte;

/// Rows of a tile.
const ROWS: usize = 6;
/// Columns of a tile.
const COLUMNS: usize = 16;

/// The words of a panel for two neighbours along the inner dimension.
type Words = [[i32; 8]; 2];

/// A right operand in panels.
pub(crate) struct Panels(Vec<Words>);

/// Whether this processor has the instructions.
pub(crate) fn are_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Two numbers of 16 bits.
#[inline(always)]
fn word(low: i32, high: i32) -> i32 {
    low & 0xffff | high << 16
}

impl Panels {
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(crate) fn new<B: Byte>(ctx: &RawContext<'_>, b: Matrix<'_, B>, k: usize, n: usize) -> Result<Panels> {
        ensure!(are_available(), Internal, "this processor has no products of pairs");
        let depth = k.div_ceil(2);
        let mut words: Vec<Words> = scratch::zeros(depth.saturating_mul(n.div_ceil(COLUMNS)))?;
        if depth == 0 {
            return Ok(Panels(words));
        }
        ctx.parallel_chunks(&mut words, depth, COLUMNS, |first, words| {
            for (panel, words) in words.chunks_mut(depth).enumerate() {
                let left = (first / depth + panel) * COLUMNS;
                let count = COLUMNS.min(n - left);
                for (pair, words) in words.iter_mut().enumerate() {
                    let row = |row: usize| b.data.get(row * b.row_stride + left * b.column_stride..).unwrap_or(&[]);
                    let (low, high) = (row(2 * pair), if 2 * pair + 1 < k { row(2 * pair + 1) } else { &[] });
                    let words = words.as_flattened_mut();
                    if let (1, Some(low), Some(high), COLUMNS) =
                        (b.column_stride, low.first_chunk::<COLUMNS>(), high.first_chunk::<COLUMNS>(), count)
                    {
                        for ((word_at, &low), &high) in words.iter_mut().zip(low).zip(high) {
                            *word_at = word(low.into(), high.into());
                        }
                        continue;
                    }
                    for (column, word_at) in words[..count].iter_mut().enumerate() {
                        let at = |row: &[B]| row.get(column * b.column_stride).map_or(0, |&number| number.into());
                        *word_at = word(at(low), at(high));
                    }
                }
            }
        });
        Ok(Panels(words))
    }

    /// `c = a b` for an `a` of `m` rows, where [`are_available`].
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(crate) fn multiply<A: Byte>(
        &self,
        ctx: &RawContext<'_>,
        [m, k, n]: [usize; 3],
        a: Matrix<'_, A>,
        c: &mut [i32],
    ) -> Result<()> {
        let depth = k.div_ceil(2);
        if depth == 0 {
            c.fill(0);
            return Ok(());
        }
        let mut blocks: Vec<[i32; ROWS]> = scratch::zeros(depth.saturating_mul(m.div_ceil(ROWS)))?;
        ctx.parallel_chunks(&mut blocks, depth, ROWS, |first, blocks| {
            for (block, words) in blocks.chunks_mut(depth).enumerate() {
                let top = (first / depth + block) * ROWS;
                for row in 0..ROWS.min(m - top) {
                    let data = &a.data[(top + row) * a.row_stride..];
                    let at = |inner: usize| if inner < k { data[inner * a.column_stride].into() } else { 0 };
                    for (pair, words) in words.iter_mut().enumerate() {
                        words[row] = word(at(2 * pair), at(2 * pair + 1));
                    }
                }
            }
        });
        ctx.parallel_chunks(c, ROWS * n, k / 32 + 1, |first, c| {
            for (block, c) in c.chunks_mut(ROWS * n).enumerate() {
                let words = &blocks[(first / (ROWS * n) + block) * depth..][..depth];
                for (panel, left) in self.0.chunks(depth).zip((0..n).step_by(COLUMNS)) {
                    let sums = tile(words, panel);
                    for (c, sums) in c.chunks_mut(n).zip(&sums) {
                        let c = &mut c[left..];
                        let count = COLUMNS.min(c.len());
                        c[..count].copy_from_slice(&sums[..count]);
                    }
                }
            }
        });
        Ok(())
    }
}

/// The tile of a block of rows and a panel of columns.
#[inline(always)]
fn tile(rows: &[[i32; ROWS]], panel: &[Words]) -> [[i32; COLUMNS]; ROWS] {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            __m256i, _mm256_add_epi32, _mm256_madd_epi16, _mm256_set1_epi32, _mm256_setzero_si256,
        };

        #[target_feature(enable = "avx2")]
        fn with_avx2(rows: &[[i32; ROWS]], panel: &[Words]) -> [[i32; COLUMNS]; ROWS] {
            let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
            for (rows, words) in rows.iter().zip(panel) {
                let words: [__m256i; 2] = [bytemuck::cast(words[0]), bytemuck::cast(words[1])];
                for (sums, &row) in sums.iter_mut().zip(rows) {
                    let row = _mm256_set1_epi32(row);
                    sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(row, words[0]));
                    sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(row, words[1]));
                }
            }
            bytemuck::cast(sums)
        }
        // SAFETY: panels are only made where the processor has the features.
        unsafe { with_avx2(rows, panel) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (rows, panel);
        unreachable!("there are no panels without the instructions")
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_sums_of_products() {
        if !are_available() {
            return;
        }
        let number = |index: usize| (index * 7919 % 256) as i32;
        let pair = |index: usize| word(number(2 * index), -number(2 * index + 1));
        let rows: Vec<[i32; ROWS]> = (0..9).map(|inner| std::array::from_fn(|row| pair(inner * ROWS + row))).collect();
        let panel: Vec<Words> = (0..9)
            .map(|inner| {
                std::array::from_fn(|half| {
                    std::array::from_fn(|column| pair(500 + inner * COLUMNS + half * 8 + column))
                })
            })
            .collect();
        let parts = |word: i32| [i32::from(word as i16), word >> 16];
        for (row, sums) in tile(&rows, &panel).iter().enumerate() {
            for (column, &found) in sums.iter().enumerate() {
                let products = rows.iter().zip(&panel).map(|(rows, words)| {
                    let (x, y) = (parts(rows[row]), parts(words[column / 8][column % 8]));
                    x[0] * y[0] + x[1] * y[1]
                });
                assert_eq!(found, products.sum::<i32>(), "{row}, {column}");
            }
        }
    }
}
