//! Products of a matrix and a vector, or a few, which read each element of the matrix once: as fast as memory is.

use std::ops::Range;

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};

use crate::gemm::{Matrix, Shared, Sizes, Target};
use crate::single::Single;

/// A dtype for which these loops beat those of a general product.
pub trait Gemv: Number {
    /// `a * b + c`, rounded once if the processor can.
    fn mul_add(a: Self, b: Self, c: Self) -> Self;
}

impl Gemv for f32 {
    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Gemv for f64 {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

/// `y[j] = Σ x[p] matrix[p, j]` or, if `accumulate`, that added to `y`; whether the matrix lies so that this is done
/// here. It has as many rows as `x` has elements and as many columns as `y` has.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub fn gemv<T: Gemv>(
    ctx: Option<&RawContext<'_>>,
    x: &[T],
    matrix: Matrix<'_, T>,
    y: &mut [T],
    accumulate: bool,
) -> Result<bool> {
    let by_columns = matrix.column_stride == 1;
    if !by_columns && matrix.row_stride != 1 {
        return Ok(false);
    }
    let rows = if by_columns { rows_of_a_block::<T>(x.len(), y.len()) } else { x.len() };
    if rows < x.len() {
        by_blocks(ctx, rows, x, matrix, y, accumulate)?;
        return Ok(true);
    }
    let work = |first: usize, y: &mut [T]| {
        if !accumulate {
            y.fill(T::ZERO);
        }
        if by_columns {
            add_rows(x, &matrix.data[first..], matrix.row_stride, y);
        } else {
            add_dots(x, &matrix.data[first * matrix.column_stride..], matrix.column_stride, y);
        }
    };
    match ctx {
        // Columns in pieces of whole cache lines.
        Some(ctx) => ctx.parallel_chunks(y, if by_columns { 64 } else { 4 }, 1 + x.len() / 8, work),
        None => work(0, y),
    }
    Ok(true)
}

/// How many rows of a matrix are multiplied at a time, each such block into sums of its own: all of them if the matrix is
/// small, or its rows are long.
///
/// Threads that take blocks read memory from one end to the other. Threads that take columns read a part of each row, which
/// is as far from the next as the row is long: such parts meet in few sets of a cache, and leave the others unused. The size
/// depends on that of the matrix alone, so that a product is the same, to the bit, on any number of threads.
fn rows_of_a_block<T>(k: usize, n: usize) -> usize {
    /// Bytes of a row that is long enough to be read in parts.
    const LONG: usize = 32 * 1024;
    /// Elements of a matrix that is worth a second thread.
    const SHARED: usize = 64 * 1024;
    const MOST_BLOCKS: usize = 16;
    const LEAST_ROWS: usize = 64;
    if n * size_of::<T>() >= LONG || k.saturating_mul(n) < SHARED {
        return k;
    }
    k.div_ceil(MOST_BLOCKS).next_multiple_of(4).max(LEAST_ROWS)
}

/// [`gemv`] of a matrix whose rows have no gaps, so many rows at a time. There are several such blocks.
fn by_blocks<T: Gemv>(
    ctx: Option<&RawContext<'_>>,
    rows: usize,
    x: &[T],
    matrix: Matrix<'_, T>,
    y: &mut [T],
    accumulate: bool,
) -> Result<()> {
    let (n, blocks) = (y.len(), x.len().div_ceil(rows));
    let of_block = |block: usize, sums: &mut [T]| {
        let rows = block * rows..x.len().min((block + 1) * rows);
        sums.fill(T::ZERO);
        add_rows(&x[rows.clone()], &matrix.data[rows.start * matrix.row_stride..], matrix.row_stride, sums);
    };
    let add = |y: &mut [T], sums: &[T]| y.iter_mut().zip(sums).for_each(|(y, &sum)| *y = y.wrapping_add(sum));
    let ctx = ctx.filter(|ctx| ctx.threads() > 1);
    // One thread needs the sums of one block at a time, which the first cache holds.
    let mut sums = Tensor::alloc(T::DTYPE, [if ctx.is_some() { blocks } else { 1 }, n])?;
    let sums = sums.as_mut_slice::<T>()?;
    if let Some(ctx) = ctx {
        ctx.parallel_chunks(sums, n, 1 + rows / 8, |first, sums| {
            sums.chunks_exact_mut(n).zip(first / n..).for_each(|(sums, block)| of_block(block, sums));
        });
    }
    for block in 0..blocks {
        let sums = match ctx {
            Some(_) => &sums[block * n..][..n],
            None => {
                of_block(block, sums);
                &*sums
            }
        };
        match block == 0 && !accumulate {
            true => y.copy_from_slice(sums),
            false => add(y, sums),
        }
    }
    Ok(())
}

/// Rows of a left operand of 16-bit floats for which [`few_rows`] beats tiles.
const FEW: usize = 8;

/// Whether a product of 16-bit floats is one for [`few_rows`]: of a few rows by a large matrix whose rows have no gaps.
pub fn is_for_few_rows<T>(sizes: Sizes, b: &Matrix<'_, T>) -> bool {
    let Sizes { m, k, n } = sizes;
    (1..=FEW).contains(&m) && b.column_stride == 1 && k > 0 && n >= 64 && k.saturating_mul(n) >= 64 * 1024
}

/// `c = a b`, or `c += a b` if the target says so, on the threads of `ctx` if there is one, where it [`is_for_few_rows`].
/// The operands are as large as the sizes say.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub fn few_rows<T: Single>(
    ctx: Option<&RawContext<'_>>,
    sizes: Sizes,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: Target<'_, T>,
) -> Result<()> {
    /// Rows of `b` that stay in the cache while all of `a` pass.
    const DEPTH: usize = 32;
    /// Columns of `b` at a time at most: whole cache lines.
    const WIDTH: usize = 1024;
    let Sizes { m, k, n } = sizes;
    let factors = (0..m * k).map(|i| a.data[i / k * a.row_stride + i % k * a.column_stride].single());
    let factors = scratch::collected(factors)?;
    let threads = ctx.map_or(1, RawContext::threads);
    let width = n.div_ceil(threads).next_multiple_of(64).min(WIDTH);
    let target = Shared(c.data.as_mut_ptr());
    let work = |pieces: Range<usize>| {
        let (mut sums, mut block) = (Vec::new(), Vec::new());
        for first in pieces.map(|piece| piece * width) {
            let width = width.min(n - first);
            sums.clear();
            scratch::resize(&mut sums, m * width, 0.0f32)?;
            for depth in (0..k).step_by(DEPTH) {
                let depths = DEPTH.min(k - depth);
                let from = depth * b.row_stride + first;
                scratch::resize(&mut block, depths * width, 0.0f32)?;
                for (row, line) in block.chunks_exact_mut(width).take(depths).enumerate() {
                    T::singles(&b.data[from + row * b.row_stride..][..width], line);
                }
                for (row, sums) in sums.chunks_exact_mut(width).enumerate() {
                    add_rows(&factors[row * k + depth..][..depths], &block, width, sums);
                }
            }
            for (row, sums) in sums.chunks_exact(width).enumerate() {
                // SAFETY: the target has `n` elements in each of its rows, and each piece has columns of its own.
                let target = unsafe { std::slice::from_raw_parts_mut(target.at(row * c.row_stride + first), width) };
                T::store(sums, target, c.accumulate);
            }
        }
        Ok(())
    };
    let pieces = n.div_ceil(width);
    match ctx {
        Some(ctx) => ctx.try_parallel_for(pieces, m * k * width / 8, work),
        None => work(0..pieces),
    }
}

/// Compiles a loop twice: for any processor, and for those with AVX2 and FMA.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident, $body:ident($($argument:ident: $ty:ty),*)) => {
        $(#[$doc])*
        fn $name<T: Gemv>($($argument: $ty),*) {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            {
                #[target_feature(enable = "avx2,fma")]
                fn fused<T: Gemv>($($argument: $ty),*) {
                    $body($($argument),*, T::mul_add);
                }
                if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has both features.
                    return unsafe { fused($($argument),*) };
                }
            }
            $body($($argument),*, |a: T, b: T, c: T| a.wrapping_mul(b).wrapping_add(c));
        }
    };
}

dispatched! {
    /// `y += Σ x[p] row[p]`, with the rows `stride` apart in `rows`.
    add_rows, add_rows_body(x: &[T], rows: &[T], stride: usize, y: &mut [T])
}

dispatched! {
    /// `y[j] += x · row[j]`, with the rows `stride` apart in `rows`.
    add_dots, add_dots_body(x: &[T], rows: &[T], stride: usize, y: &mut [T])
}

#[inline(always)]
fn add_rows_body<T: Gemv>(x: &[T], rows: &[T], stride: usize, y: &mut [T], mul_add: impl Fn(T, T, T) -> T) {
    // As many elements of `y` stay in the cache, and four rows at a time spare reading them again.
    const TILE: usize = 4096;
    for (index, y) in y.chunks_mut(TILE).enumerate() {
        let width = y.len();
        let row = |p: usize| &rows[p * stride + index * TILE..][..width];
        let (quads, rest) = x.as_chunks::<4>();
        for (quad, &[a, b, c, d]) in quads.iter().enumerate() {
            let (r0, r1, r2, r3) = (row(4 * quad), row(4 * quad + 1), row(4 * quad + 2), row(4 * quad + 3));
            for j in 0..width {
                let sum = mul_add(b, r1[j], mul_add(a, r0[j], y[j]));
                y[j] = mul_add(d, r3[j], mul_add(c, r2[j], sum));
            }
        }
        for (p, &a) in (4 * quads.len()..).zip(rest) {
            for (y, &element) in y.iter_mut().zip(row(p)) {
                *y = mul_add(a, element, *y);
            }
        }
    }
}

#[inline(always)]
fn add_dots_body<T: Gemv>(x: &[T], rows: &[T], stride: usize, y: &mut [T], mul_add: impl Fn(T, T, T) -> T) {
    const LANES: usize = 16;
    let row = |j: usize| &rows[j * stride..][..x.len()];
    let (x_chunks, x_rest) = x.as_chunks::<LANES>();
    let (quads, rest) = y.as_chunks_mut::<4>();
    let rest_from = 4 * quads.len();
    for (quad, y) in quads.iter_mut().enumerate() {
        let four: [(&[[T; LANES]], &[T]); 4] = std::array::from_fn(|j| row(4 * quad + j).as_chunks::<LANES>());
        let mut sums = [[T::ZERO; LANES]; 4];
        let chunks = x_chunks.iter().zip(four[0].0).zip(four[1].0).zip(four[2].0).zip(four[3].0);
        for ((((x, r0), r1), r2), r3) in chunks {
            for lane in 0..LANES {
                sums[0][lane] = mul_add(x[lane], r0[lane], sums[0][lane]);
                sums[1][lane] = mul_add(x[lane], r1[lane], sums[1][lane]);
                sums[2][lane] = mul_add(x[lane], r2[lane], sums[2][lane]);
                sums[3][lane] = mul_add(x[lane], r3[lane], sums[3][lane]);
            }
        }
        for (j, y) in y.iter_mut().enumerate() {
            *y = y.wrapping_add(dot_rest(folded(sums[j]), x_rest, four[j].1, &mul_add));
        }
    }
    for (j, y) in rest.iter_mut().enumerate() {
        let (chunks, row_rest) = row(rest_from + j).as_chunks::<LANES>();
        let mut sums = [T::ZERO; LANES];
        for (x, row) in x_chunks.iter().zip(chunks) {
            for lane in 0..LANES {
                sums[lane] = mul_add(x[lane], row[lane], sums[lane]);
            }
        }
        *y = y.wrapping_add(dot_rest(folded(sums), x_rest, row_rest, &mul_add));
    }
}

#[inline(always)]
fn folded<T: Gemv, const LANES: usize>(mut lanes: [T; LANES]) -> T {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = lanes[lane].wrapping_add(lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

#[inline(always)]
fn dot_rest<T: Gemv>(sum: T, x: &[T], row: &[T], mul_add: &impl Fn(T, T, T) -> T) -> T {
    x.iter().zip(row).fold(sum, |sum, (&x, &element)| mul_add(x, element, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_agree_with_the_definition() {
        for (m, k, n) in [(1, 1100, 64), (2, 37, 2000), (8, 700, 100), (3, 1, 70_000)] {
            let a: Vec<f32> = (0..m * k).map(|i| (i % 5) as f32).collect();
            let b: Vec<f32> = (0..k * n).map(|i| (i % 7) as f32).collect();
            let (sizes, b) = (Sizes { m, k, n }, Matrix::rows(&b, n));
            assert!(is_for_few_rows(sizes, &b));
            let mut c = vec![1.0f32; m * (n + 1)];
            let target = Target { data: &mut c, row_stride: n + 1, accumulate: true };
            few_rows(None, sizes, Matrix::rows(&a, k), b, target).unwrap();
            for (index, &element) in c.iter().enumerate() {
                let (i, j) = (index / (n + 1), index % (n + 1));
                let sum = || (0..k).map(|p| a[i * k + p] * b.data[p * n + j]).sum::<f32>();
                assert_eq!(element, 1.0 + if j < n { sum() } else { 0.0 });
            }
        }
    }

    #[test]
    fn both_layouts_agree_with_the_definition() {
        for (k, n) in [(1, 1), (3, 5), (37, 70), (64, 4), (130, 2050), (1030, 64), (2051, 70), (70, 9000), (5, 0)] {
            let x: Vec<f32> = (0..k).map(|p| (p % 5) as f32).collect();
            let b: Vec<f32> = (0..k * n).map(|i| (i % 7) as f32).collect();
            for matrix in [Matrix::rows(&b, n), Matrix::transposed(&b, k)] {
                let expected: Vec<f32> = (0..n)
                    .map(|j| (0..k).map(|p| x[p] * b[p * matrix.row_stride + j * matrix.column_stride]).sum())
                    .collect();
                let mut y = vec![f32::NAN; n];
                assert!(gemv(None, &x, matrix, &mut y, false).unwrap());
                assert_eq!(y, expected);
                assert!(gemv(None, &x, matrix, &mut y, true).unwrap());
                assert!(y.iter().zip(&expected).all(|(y, expected)| *y == 2.0 * expected));
            }
        }
    }
}
