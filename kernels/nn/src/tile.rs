//! The innermost loop of `f32` products: a tile of the result in registers, rows of the left operand wherever they
//! lie in memory, the right operand packed into panels.
//!
//! A row of the left operand is a list of segments of equal length, each behind a pointer of its own. One segment
//! makes an ordinary matrix; one segment for each tap of a filter makes a convolution that copies nothing.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::tensor::Tensor;

/// Rows of a tile.
pub(crate) const ROWS: usize = 6;
/// Columns of a tile, and of a panel.
pub(crate) const COLUMNS: usize = 16;

/// For one segment, where it begins in each row of a tile.
pub(crate) type Segment = [*const f32; ROWS];

/// The elements of the panels of a `k x n` matrix; saturates.
pub(crate) fn panels_len(k: usize, n: usize) -> usize {
    n.div_ceil(COLUMNS).saturating_mul(COLUMNS).saturating_mul(k)
}

/// A row-major matrix of `k` rows and `n` columns, `stride` elements from row to row, as panels of [`COLUMNS`]
/// columns: `[panel][row][column]`, zeros beyond the last column.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(crate) fn pack(matrix: &[f32], stride: usize, k: usize, n: usize) -> Result<Tensor> {
    let mut packed = Tensor::alloc(DataType::Float, [panels_len(k, n)])?;
    let elements = packed.as_mut_slice::<f32>()?;
    for (panel, target) in elements.chunks_exact_mut((COLUMNS * k).max(1)).enumerate() {
        let first = panel * COLUMNS;
        let width = COLUMNS.min(n - first);
        for (row, target) in target.chunks_exact_mut(COLUMNS).enumerate() {
            let source = &matrix[row * stride + first..][..width];
            target[..width].copy_from_slice(source);
            target[width..].fill(0.0);
        }
    }
    Ok(packed)
}

/// The rows of a left operand, their right operand and where the products go.
#[derive(Clone, Copy)]
pub(crate) struct Strip<'a> {
    /// For each tile of [`ROWS`] rows, the `per_row` segments of its rows. The last tile may have fewer rows.
    pub(crate) segments: &'a [Segment],
    /// Segments of a row.
    pub(crate) per_row: usize,
    /// Elements of a segment.
    pub(crate) length: usize,
    /// Rows in all.
    pub(crate) rows: usize,
    /// A panel of the right operand.
    pub(crate) panel: &'a [f32],
    /// Elements from row to row of the result.
    pub(crate) stride: usize,
    /// Columns of the panel that are wanted, 1 to [`COLUMNS`].
    pub(crate) columns: usize,
}

/// Writes rows times panel to `c`, tile by tile.
///
/// # Safety
/// `segments` holds `per_row` segments for each tile; each pointer of a row in `rows` is followed by `length`
/// elements; the elements of `c` that `rows`, `stride` and `columns` say exist and nothing else accesses them meanwhile.
pub(crate) unsafe fn multiply(strip: &Strip<'_>, c: *mut f32) {
    debug_assert!(strip.panel.len() >= strip.per_row * strip.length * COLUMNS);
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has the features; the rest is the caller's promise.
        return unsafe { multiply_avx2(strip, c) };
    }
    // SAFETY: the caller's promise.
    unsafe { each_tile::<false>(strip, c) }
}

/// # Safety
/// As [`multiply`]; the processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn multiply_avx2(strip: &Strip<'_>, c: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { each_tile::<true>(strip, c) }
}

/// # Safety
/// As [`multiply`]; the processor has AVX2 and FMA if `WIDE` says so.
#[inline(always)]
unsafe fn each_tile<const WIDE: bool>(strip: &Strip<'_>, c: *mut f32) {
    let mut spare = [0.0f32; ROWS * COLUMNS];
    let narrow = strip.columns < COLUMNS;
    for (index, segments) in strip.segments.chunks_exact(strip.per_row).enumerate() {
        let rows = ROWS.min(strip.rows - index * ROWS);
        let c = c.wrapping_add(index * ROWS * strip.stride);
        let (target, stride) = if narrow { (spare.as_mut_ptr(), COLUMNS) } else { (c, strip.stride) };
        let (length, panel) = (strip.length, strip.panel.as_ptr());
        // SAFETY: the caller's promise; a narrow tile goes to `spare`, which has room for a whole one.
        unsafe {
            match rows {
                1 => whole::<1, WIDE>(segments, length, panel, target, stride),
                2 => whole::<2, WIDE>(segments, length, panel, target, stride),
                3 => whole::<3, WIDE>(segments, length, panel, target, stride),
                4 => whole::<4, WIDE>(segments, length, panel, target, stride),
                5 => whole::<5, WIDE>(segments, length, panel, target, stride),
                _ => whole::<ROWS, WIDE>(segments, length, panel, target, stride),
            }
            if narrow {
                for row in 0..rows {
                    let from = target.add(row * COLUMNS);
                    std::ptr::copy_nonoverlapping(from, c.add(row * strip.stride), strip.columns);
                }
            }
        }
    }
}

/// A tile of `R` rows and [`COLUMNS`] columns.
///
/// # Safety
/// As [`each_tile`].
#[inline(always)]
unsafe fn whole<const R: usize, const WIDE: bool>(
    segments: &[Segment],
    length: usize,
    panel: *const f32,
    c: *mut f32,
    stride: usize,
) {
    #[cfg(target_arch = "x86_64")]
    if WIDE {
        // SAFETY: the caller's promise.
        return unsafe { avx2::<R>(segments, length, panel, c, stride) };
    }
    // SAFETY: the caller's promise.
    unsafe { portable::<R>(segments, length, panel, c, stride) }
}

/// [`whole`] for AVX2 and FMA: two vectors a row.
///
/// # Safety
/// As [`each_tile`].
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<const R: usize>(segments: &[Segment], length: usize, mut panel: *const f32, c: *mut f32, stride: usize) {
    use std::arch::x86_64::*;
    let mut sums = [[_mm256_setzero_ps(); 2]; R];
    // SAFETY: the caller's promise.
    unsafe {
        for segment in segments {
            for p in 0..length {
                let (left, right) = (_mm256_loadu_ps(panel), _mm256_loadu_ps(panel.add(8)));
                // A count that the compiler knows, so that the sums stay in registers.
                for row in 0..R {
                    let factor = _mm256_broadcast_ss(&*segment[row].add(p));
                    sums[row][0] = _mm256_fmadd_ps(factor, left, sums[row][0]);
                    sums[row][1] = _mm256_fmadd_ps(factor, right, sums[row][1]);
                }
                panel = panel.add(COLUMNS);
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            _mm256_storeu_ps(c.add(row * stride), sums[0]);
            _mm256_storeu_ps(c.add(row * stride + 8), sums[1]);
        }
    }
}

/// [`whole`] for every processor.
///
/// # Safety
/// As [`each_tile`].
#[inline(always)]
unsafe fn portable<const R: usize>(
    segments: &[Segment],
    length: usize,
    mut panel: *const f32,
    c: *mut f32,
    stride: usize,
) {
    let mut sums = [[0.0f32; COLUMNS]; R];
    // SAFETY: the caller's promise.
    unsafe {
        for segment in segments {
            for p in 0..length {
                let line = &*panel.cast::<[f32; COLUMNS]>();
                for (sums, row) in sums.iter_mut().zip(segment) {
                    let factor = *row.add(p);
                    for (sum, element) in sums.iter_mut().zip(line) {
                        *sum += factor * element;
                    }
                }
                panel = panel.add(COLUMNS);
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            std::ptr::copy_nonoverlapping(sums.as_ptr(), c.add(row * stride), COLUMNS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_agree_with_the_definition() {
        let (k, n) = (10, 21);
        let a: Vec<f32> = (0..2 * ROWS * k).map(|i| (i % 13) as f32 - 5.0).collect();
        let b: Vec<f32> = (0..k * n).map(|i| (i % 7) as f32 - 3.0).collect();
        let packed = pack(&b, n, k, n).unwrap();
        let panels = packed.as_slice::<f32>().unwrap();
        for rows in 1..=2 * ROWS {
            for (panel, columns) in [(0, COLUMNS), (1, n - COLUMNS)] {
                // Two segments of 5 make a row of 10.
                let segment = |tile: usize, start: usize| -> Segment {
                    std::array::from_fn(|row| a[(tile * ROWS + row) * k + start..].as_ptr())
                };
                let segments = [segment(0, 0), segment(0, 5), segment(1, 0), segment(1, 5)];
                let panel = &panels[panel * k * COLUMNS..][..k * COLUMNS];
                let segments = &segments[..rows.div_ceil(ROWS) * 2];
                let strip = Strip { segments, per_row: 2, length: 5, rows, panel, stride: COLUMNS, columns };
                let mut results = [[7.0f32; 2 * ROWS * COLUMNS]; 2];
                // SAFETY: the operands have the sizes that the strip says.
                unsafe {
                    multiply(&strip, results[0].as_mut_ptr());
                    each_tile::<false>(&strip, results[1].as_mut_ptr());
                }
                for (index, (fast, slow)) in results[0].iter().zip(&results[1]).enumerate() {
                    let (row, column) = (index / COLUMNS, index % COLUMNS);
                    let sum = || (0..k).map(|p| a[row * k + p] * panel[p * COLUMNS + column]).sum::<f32>();
                    let expected = if row < rows && column < columns { sum() } else { 7.0 };
                    assert_eq!((*fast, *slow), (expected, expected), "{rows} rows at {index}");
                }
            }
        }
    }
}
