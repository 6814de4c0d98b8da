//! The transpose of a matrix of `f32`, for operands that are read along the other dimension.

/// Rows and columns of a block, of which both sides are whole lines of the cache.
const SIDE: usize = 16;

/// Writes row `r` of a matrix as column `r` of another: `target[c * target_stride + r] = source[r * source_stride + c]` for
/// all of its `rows` and `columns`.
///
/// # Panics
/// If the slices do not hold both matrices.
pub fn transpose(
    (source, source_stride): (&[f32], usize),
    (target, target_stride): (&mut [f32], usize),
    [rows, columns]: [usize; 2],
) {
    if rows == 0 || columns == 0 {
        return;
    }
    let source = &source[..(rows - 1) * source_stride + columns];
    let target = &mut target[..(columns - 1) * target_stride + rows];
    for row in (0..rows).step_by(SIDE) {
        for column in (0..columns).step_by(SIDE) {
            let (height, width) = (SIDE.min(rows - row), SIDE.min(columns - column));
            let from = &source[row * source_stride + column..];
            let to = &mut target[column * target_stride + row..];
            #[cfg(target_arch = "x86_64")]
            if (height, width) == (SIDE, SIDE) {
                // SAFETY: the slices above hold the block, as all of its rows and columns exist.
                unsafe { x86::block((from.as_ptr(), source_stride), (to.as_mut_ptr(), target_stride)) };
                continue;
            }
            for column in 0..width {
                for row in 0..height {
                    to[column * target_stride + row] = from[row * source_stride + column];
                }
            }
        }
    }
}

/// By vectors of four, which every processor of the architecture has.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::SIDE;

    /// # Safety
    /// There are `SIDE` rows of `SIDE` elements, as far apart as the strides say, to read and to write.
    pub(super) unsafe fn block(
        (source, source_stride): (*const f32, usize),
        (target, target_stride): (*mut f32, usize),
    ) {
        for column in (0..SIDE).step_by(4) {
            for row in (0..SIDE).step_by(4) {
                // SAFETY: the four rows and columns from here on are within the block.
                unsafe {
                    let from = source.add(row * source_stride + column);
                    let [mut a, mut b, mut c, mut d] = [
                        _mm_loadu_ps(from),
                        _mm_loadu_ps(from.add(source_stride)),
                        _mm_loadu_ps(from.add(2 * source_stride)),
                        _mm_loadu_ps(from.add(3 * source_stride)),
                    ];
                    _MM_TRANSPOSE4_PS(&mut a, &mut b, &mut c, &mut d);
                    let to = target.add(column * target_stride + row);
                    _mm_storeu_ps(to, a);
                    _mm_storeu_ps(to.add(target_stride), b);
                    _mm_storeu_ps(to.add(2 * target_stride), c);
                    _mm_storeu_ps(to.add(3 * target_stride), d);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_finds_its_place_and_no_other_is_touched() {
        for [rows, columns] in [[0, 3], [3, 0], [1, 1], [4, 4], [16, 16], [15, 17], [33, 16], [40, 35]] {
            for gap in [0, 3] {
                let (source_stride, target_stride) = (columns + gap, rows + gap);
                // No longer than they must be.
                let length = |lines: usize, each: usize, stride: usize| lines.saturating_sub(1) * stride + each;
                let source: Vec<f32> = (0..length(rows, columns, source_stride)).map(|i| i as f32).collect();
                let mut target = vec![-1.0; length(columns, rows, target_stride)];
                transpose((&source, source_stride), (&mut target, target_stride), [rows, columns]);
                for (i, &found) in target.iter().enumerate() {
                    let (column, row) = (i / target_stride.max(1), i % target_stride.max(1));
                    let expected = if row < rows { (row * source_stride + column) as f32 } else { -1.0 };
                    let is_empty = rows == 0 || columns == 0;
                    assert_eq!(found, if is_empty { -1.0 } else { expected }, "{rows} x {columns}, {gap} between, {i}");
                }
            }
        }
    }
}
