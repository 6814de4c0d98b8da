//! Sixteen lines of sixteen samples.

/// Lines of samples.
pub(super) type Lines = [[u8; 16]; 16];

/// The columns of lines.
#[inline(always)]
pub(super) fn turned(lines: Lines) -> Lines {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_unpackhi_epi8, _mm_unpacklo_epi8};

        let mut lines: [__m128i; 16] = bytemuck::cast(lines);
        // Each round doubles how many neighbours come from different lines: after four, all do.
        for _ in 0..4 {
            let before = lines;
            for k in 0..8 {
                // SAFETY: every processor of the architecture has these instructions, which access no memory.
                unsafe {
                    lines[2 * k] = _mm_unpacklo_epi8(before[k], before[k + 8]);
                    lines[2 * k + 1] = _mm_unpackhi_epi8(before[k], before[k + 8]);
                }
            }
        }
        bytemuck::cast(lines)
    }
    #[cfg(not(target_arch = "x86_64"))]
    columns(&lines)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn columns(lines: &Lines) -> Lines {
    std::array::from_fn(|column| std::array::from_fn(|row| lines[row][column]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_lines() {
        let lines: Lines = std::array::from_fn(|row| std::array::from_fn(|column| (16 * row + column) as u8));
        assert_eq!(turned(lines), columns(&lines));
        assert_eq!(turned(lines)[3][5], lines[5][3]);
    }
}
