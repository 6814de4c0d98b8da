//! The inverse transforms (RFC 6386, section 14). Where libwebp computes in numbers of 16 bits, sums of damaged files wrap here, too.

use super::predict::{Block, STRIDE};

/// What √2 cos(π / 8) is more than 1, and √2 sin(π / 8), with 16 bits of fraction.
const COSINE: i16 = 20091;
const SINE: i16 = (35468 - 65536) as i16;

/// Adds what the coefficients stand for to four rows of samples.
#[inline(always)]
pub(super) fn add_transformed(block: &[i16; 16], samples: &mut Block) {
    for (changes, to) in transformed(block).iter().zip(samples.chunks_mut(STRIDE)) {
        for (to, &change) in to.iter_mut().zip(changes) {
            *to = i16::from(*to).wrapping_add(change).clamp(0, 255) as u8;
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
use arrays::transformed;
#[cfg(target_arch = "x86_64")]
use sse2::transformed;

#[cfg(any(test, not(target_arch = "x86_64")))]
mod arrays {
    use super::{COSINE, SINE};

    fn more(x: i16, factor: i16) -> i16 {
        x.wrapping_add(((i32::from(x) * i32::from(factor)) >> 16) as i16)
    }

    /// Transforms columns, and turns rows and columns.
    fn pass(rows: [[i16; 4]; 4]) -> [[i16; 4]; 4] {
        std::array::from_fn(|column| {
            let [p, q, r, s] = rows.map(|row| row[column]);
            let (a, b) = (p.wrapping_add(r), p.wrapping_sub(r));
            let c = more(q, SINE).wrapping_sub(more(s, COSINE));
            let d = more(q, COSINE).wrapping_add(more(s, SINE));
            [a.wrapping_add(d), b.wrapping_add(c), b.wrapping_sub(c), a.wrapping_sub(d)]
        })
    }

    /// What the samples change by.
    pub(super) fn transformed(block: &[i16; 16]) -> [[i16; 4]; 4] {
        let rows = block.as_chunks::<4>().0;
        let mut columns = pass([rows[0], rows[1], rows[2], rows[3]]);
        columns[0] = columns[0].map(|x| x.wrapping_add(4));
        pass(columns).map(|row| row.map(|x| x >> 3))
    }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    use super::{COSINE, SINE};

    /// Transforms columns of rows, of which each value holds two, and turns rows and columns.
    #[inline(always)]
    fn pass([first, second]: [__m128i; 2]) -> [__m128i; 2] {
        sse2!({
            let swapped = |x| _mm_shuffle_epi32::<0b0100_1110>(x);
            let more = |x, factor| _mm_add_epi16(x, _mm_mulhi_epi16(x, _mm_set1_epi16(factor)));
            let (even, odd) = (_mm_unpacklo_epi64(first, second), _mm_unpackhi_epi64(first, second));
            let other = swapped(even);
            let sum_and_difference = _mm_unpacklo_epi64(_mm_add_epi16(even, other), _mm_sub_epi16(even, other));
            let (sine, cosine) = (more(odd, SINE), swapped(more(odd, COSINE)));
            let turned = _mm_unpacklo_epi64(swapped(_mm_add_epi16(sine, cosine)), _mm_sub_epi16(sine, cosine));
            let first = _mm_add_epi16(sum_and_difference, turned);
            let second = swapped(_mm_sub_epi16(sum_and_difference, turned));
            let (low, high) = (_mm_unpacklo_epi16(first, second), _mm_unpackhi_epi16(first, second));
            [_mm_unpacklo_epi16(low, high), _mm_unpackhi_epi16(low, high)]
        })
    }

    /// What the samples change by.
    #[inline(always)]
    pub(super) fn transformed(block: &[i16; 16]) -> [[i16; 4]; 4] {
        let [first, second] = pass(bytemuck::cast(*block));
        let [first, second] = sse2!(pass([_mm_add_epi16(first, _mm_set_epi64x(0, 0x0004_0004_0004_0004)), second]));
        bytemuck::cast(sse2!([_mm_srai_epi16::<3>(first), _mm_srai_epi16::<3>(second)]))
    }
}

/// [`add_transformed`] of a block of which only the first, the second and the fifth coefficient may not be 0; sums do not wrap.
#[inline(always)]
pub(super) fn add_few(block: &[i16; 16], samples: &mut Block) {
    let [mean, across, down] = [block[0], block[1], block[4]].map(i32::from);
    let parts = |x: i32| {
        let (cosine, sine) = (x + ((x * i32::from(COSINE)) >> 16), x + ((x * i32::from(SINE)) >> 16));
        [cosine, sine, -sine, -cosine]
    };
    let (across, down) = (parts(across), parts(down));
    for (to, down) in samples.chunks_mut(STRIDE).zip(down) {
        for (to, across) in to.iter_mut().zip(across) {
            *to = (i32::from(*to) + ((mean + 4 + down + across) >> 3)).clamp(0, 255) as u8;
        }
    }
}

/// [`add_transformed`] of a block of which only the first coefficient is not 0.
#[inline(always)]
pub(super) fn add_mean(mean: i16, samples: &mut Block) {
    let change = (mean.saturating_add(4)) >> 3;
    for to in samples.chunks_mut(STRIDE) {
        for to in &mut to[..4] {
            *to = (i16::from(*to) + change).clamp(0, 255) as u8;
        }
    }
}

/// The first coefficients of 16 blocks, of their transform.
pub(super) fn means(block: &[i16; 16]) -> [i16; 16] {
    let pass = |[p, q, r, s]: [i32; 4]| {
        let (a, b, c, d) = (p + s, q + r, q - r, p - s);
        [a + b, d + c, a - b, d - c]
    };
    let mut between = [[0; 4]; 4];
    for k in 0..4 {
        let column = pass([0, 4, 8, 12].map(|row| i32::from(block[row + k])));
        (0..4).for_each(|row| between[row][k] = column[row]);
    }
    let mut means = [0; 16];
    for (to, row) in means.as_chunks_mut::<4>().0.iter_mut().zip(between) {
        *to = pass([row[0] + 3, row[1], row[2], row[3]]).map(|x| (x >> 3) as i16);
    }
    means
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    #[test]
    fn the_machines_transform_is_that_of_arrays() {
        let mut x = 1u64;
        for round in 0..10_000 {
            let block: [i16; 16] = std::array::from_fn(|_| {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Small ones, and such that sums wrap.
                ((x >> 33) as i16) >> (round % 16)
            });
            assert_eq!(super::sse2::transformed(&block), super::arrays::transformed(&block), "{block:?}");
        }
    }
}
