//! The transpose of a matrix of plain elements, for operands that are read along the other dimension.

use bytemuck::NoUninit;

/// Rows and columns of a block, of which both sides are whole lines of the cache.
const SIDE: usize = 16;

/// Rows and columns of what registers turn at a time.
const QUAD: usize = 4;

/// Writes row `r` of a matrix as column `r` of another: `target[c * target_stride + r] = source[r * source_stride + c]` for
/// all of its `rows` and `columns`. Elements of 4 bytes, and with AVX those of 8, are turned in registers.
///
/// # Panics
/// If the slices do not hold both matrices.
pub fn transpose<T: NoUninit>(
    (source, source_stride): (&[T], usize),
    (target, target_stride): (&mut [T], usize),
    [rows, columns]: [usize; 2],
) {
    if rows == 0 || columns == 0 {
        return;
    }
    let end = |lines: usize, stride: usize, each: usize| (lines - 1).checked_mul(stride)?.checked_add(each);
    assert!(end(rows, source_stride, columns).is_some_and(|end| end <= source.len()), "a source that is too small");
    assert!(end(columns, target_stride, rows).is_some_and(|end| end <= target.len()), "a target that is too small");
    let turn = Turn { source_stride, target_stride, rows, columns };
    let (source, target) = (source.as_ptr(), target.as_mut_ptr());
    // SAFETY: the slices hold both matrices; the processor has what is asked for.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        match size_of::<T>() {
            4 => {
                return turn
                    .each_block(source, target, |from, stride, to, by| x86::quad_of_words(from, stride, to, by));
            }
            8 if std::is_x86_feature_detected!("avx") => return x86::by_avx(&turn, source, target),
            _ => {}
        }
        turn.each_block(source, target, |source, source_stride, target, target_stride| {
            for column in 0..QUAD {
                for row in 0..QUAD {
                    *target.add(column * target_stride + row) = *source.add(row * source_stride + column);
                }
            }
        });
    }
}

/// How two matrices lie.
struct Turn {
    source_stride: usize,
    target_stride: usize,
    rows: usize,
    columns: usize,
}

impl Turn {
    /// Transposes block by block, by `quad` where there are as many rows and columns as it turns.
    ///
    /// # Safety
    /// The pointers are those of the two matrices, and `quad` turns four rows of four elements, which are as far apart as it is told.
    #[inline(always)]
    unsafe fn each_block<T: Copy>(
        &self,
        source: *const T,
        target: *mut T,
        quad: impl Fn(*const T, usize, *mut T, usize),
    ) {
        let &Turn { source_stride, target_stride, rows, columns } = self;
        for first_row in (0..rows).step_by(SIDE) {
            for first_column in (0..columns).step_by(SIDE) {
                let (end_row, end_column) = (rows.min(first_row + SIDE), columns.min(first_column + SIDE));
                for column in (first_column..end_column).step_by(QUAD) {
                    for row in (first_row..end_row).step_by(QUAD) {
                        // SAFETY: the rows and columns from here to the ends are in both matrices.
                        unsafe {
                            let from = source.add(row * source_stride + column);
                            let to = target.add(column * target_stride + row);
                            if row + QUAD <= end_row && column + QUAD <= end_column {
                                quad(from, source_stride, to, target_stride);
                                continue;
                            }
                            for column in 0..QUAD.min(end_column - column) {
                                for row in 0..QUAD.min(end_row - row) {
                                    *to.add(column * target_stride + row) = *from.add(row * source_stride + column);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Turn;

    /// Turns four rows of four elements of 4 bytes, by vectors that every processor of the architecture has.
    ///
    /// # Safety
    /// The elements, which are as far apart as the strides say, are there to read and to write.
    #[inline(always)]
    pub(super) unsafe fn quad_of_words<T>(
        source: *const T,
        source_stride: usize,
        target: *mut T,
        target_stride: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let from = |row: usize| _mm_loadu_ps(source.add(row * source_stride).cast());
            let [mut a, mut b, mut c, mut d] = [from(0), from(1), from(2), from(3)];
            _MM_TRANSPOSE4_PS(&mut a, &mut b, &mut c, &mut d);
            for (column, line) in [a, b, c, d].into_iter().enumerate() {
                _mm_storeu_ps(target.add(column * target_stride).cast(), line);
            }
        }
    }

    /// Transposes elements of 8 bytes.
    ///
    /// # Safety
    /// As [`Turn::each_block`]; the processor has AVX.
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn by_avx<T: Copy>(turn: &Turn, source: *const T, target: *mut T) {
        // SAFETY: the caller's promise.
        unsafe {
            turn.each_block(source, target, |from, source_stride, to, target_stride| {
                quad_of_double_words(from, source_stride, to, target_stride)
            })
        }
    }

    /// Turns four rows of four elements of 8 bytes.
    ///
    /// # Safety
    /// As [`quad_of_words`]; the processor has AVX.
    #[target_feature(enable = "avx")]
    #[inline]
    unsafe fn quad_of_double_words<T>(source: *const T, source_stride: usize, target: *mut T, target_stride: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            // Two elements of a row, and two of the row after the next.
            let two = |row: usize, column: usize| {
                let low = _mm_loadu_pd(source.add(row * source_stride + column).cast());
                let high = _mm_loadu_pd(source.add((row + 2) * source_stride + column).cast());
                _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(low), high)
            };
            let [a, b, c, d] = [two(0, 0), two(1, 0), two(0, 2), two(1, 2)];
            let columns = [
                _mm256_unpacklo_pd(a, b),
                _mm256_unpackhi_pd(a, b),
                _mm256_unpacklo_pd(c, d),
                _mm256_unpackhi_pd(c, d),
            ];
            for (column, line) in columns.into_iter().enumerate() {
                _mm256_storeu_pd(target.add(column * target_stride).cast(), line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    #[test]
    fn every_element_finds_its_place_and_no_other_is_touched() {
        places(|i| i as u16);
        places(|i| i as f32);
        places(|i| i as u64);
        places(|i| [i as f64, -1.0]);
    }

    fn places<T: NoUninit + PartialEq + Debug>(element: impl Fn(usize) -> T) {
        let nothing = element(9999);
        for [rows, columns] in [[0, 3], [3, 0], [1, 1], [4, 4], [5, 3], [16, 16], [15, 17], [33, 16], [40, 35]] {
            for gap in [0, 3] {
                let (source_stride, target_stride) = (columns + gap, rows + gap);
                // No longer than they must be.
                let length = |lines: usize, each: usize, stride: usize| lines.saturating_sub(1) * stride + each;
                let source: Vec<T> = (0..length(rows, columns, source_stride)).map(&element).collect();
                let mut target = vec![nothing; length(columns, rows, target_stride)];
                transpose((&source, source_stride), (&mut target, target_stride), [rows, columns]);
                for (i, &found) in target.iter().enumerate() {
                    let (column, row) = (i / target_stride.max(1), i % target_stride.max(1));
                    let is_place = row < rows && rows > 0 && columns > 0;
                    let expected = if is_place { element(row * source_stride + column) } else { nothing };
                    assert_eq!(found, expected, "{rows} x {columns}, {gap} between, {i}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "a source that is too small")]
    fn a_source_that_is_too_small_is_refused() {
        transpose((&[0u64; 18], 5), (&mut [0; 30], 4), [4, 5]);
    }

    #[test]
    #[should_panic(expected = "a source that is too small")]
    fn a_stride_beyond_all_memory_is_refused() {
        transpose((&[0u64; 20], usize::MAX / 2), (&mut [0; 30], 4), [4, 5]);
    }

    #[test]
    #[should_panic(expected = "a target that is too small")]
    fn a_target_that_is_too_small_is_refused() {
        transpose((&[0u64; 20], 5), (&mut [0; 18], 4), [4, 5]);
    }
}
