//! The operations in SSE2, which every processor of the architecture has.

use std::arch::x86_64::*;

use super::Lines;

#[derive(Clone, Copy)]
pub(crate) struct Line(pub(super) __m128i);

impl Line {
    #[inline(always)]
    pub(crate) fn load(samples: &[u8; 16]) -> Line {
        // SAFETY: there are sixteen bytes to read, of any alignment.
        Line(unsafe { _mm_loadu_si128(samples.as_ptr().cast()) })
    }

    #[inline(always)]
    pub(crate) fn load_halves(halves: [&[u8; 8]; 2]) -> Line {
        let [low, high] = halves.map(|half| i64::from_le_bytes(*half));
        sse2!(Line(_mm_set_epi64x(high, low)))
    }

    #[inline(always)]
    pub(crate) fn store(self, samples: &mut [u8; 16]) {
        // SAFETY: there are sixteen bytes to write, of any alignment.
        unsafe { _mm_storeu_si128(samples.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    pub(crate) fn store_halves(self, [low, high]: [&mut [u8; 8]; 2]) {
        // SAFETY: there are eight bytes to write in each place, of any alignment.
        unsafe {
            _mm_storel_epi64(low.as_mut_ptr().cast(), self.0);
            _mm_storel_epi64(high.as_mut_ptr().cast(), _mm_unpackhi_epi64(self.0, self.0));
        }
    }

    /// Numbers without their lowest bits: as samples, whose bits are moved and those from the next sample left out, around the new middle.
    #[inline(always)]
    fn without<const BITS: i32>(self) -> Line {
        sse2!({
            let moved = _mm_srli_epi16::<BITS>(self.centred().0);
            let own = _mm_and_si128(moved, _mm_set1_epi8((0xFF >> BITS) as i8));
            Line(_mm_sub_epi8(own, _mm_set1_epi8((0x80 >> BITS) as i8)))
        })
    }
}

impl Lines for Line {
    #[inline(always)]
    fn all(sample: u8) -> Line {
        sse2!(Line(_mm_set1_epi8(sample as i8)))
    }

    #[inline(always)]
    fn difference(self, other: Line) -> Line {
        sse2!(Line(_mm_or_si128(_mm_subs_epu8(self.0, other.0), _mm_subs_epu8(other.0, self.0))))
    }

    #[inline(always)]
    fn larger(self, other: Line) -> Line {
        sse2!(Line(_mm_max_epu8(self.0, other.0)))
    }

    #[inline(always)]
    fn at_most(self, other: Line) -> Line {
        sse2!(Line(_mm_cmpeq_epi8(_mm_min_epu8(self.0, other.0), self.0)))
    }

    #[inline(always)]
    fn plus(self, other: Line) -> Line {
        sse2!(Line(_mm_adds_epu8(self.0, other.0)))
    }

    #[inline(always)]
    fn half(self) -> Line {
        sse2!(Line(_mm_and_si128(_mm_srli_epi16::<1>(self.0), _mm_set1_epi8(0x7F))))
    }

    #[inline(always)]
    fn and(self, other: Line) -> Line {
        sse2!(Line(_mm_and_si128(self.0, other.0)))
    }

    #[inline(always)]
    fn and_not(self, other: Line) -> Line {
        sse2!(Line(_mm_andnot_si128(other.0, self.0)))
    }

    #[inline(always)]
    fn or(self, other: Line) -> Line {
        sse2!(Line(_mm_or_si128(self.0, other.0)))
    }

    #[inline(always)]
    fn centred(self) -> Line {
        sse2!(Line(_mm_xor_si128(self.0, _mm_set1_epi8(-128))))
    }

    #[inline(always)]
    fn moved(self, by: Line) -> Line {
        sse2!(Line(_mm_adds_epi8(self.0, by.0)))
    }

    #[inline(always)]
    fn moved_back(self, by: Line) -> Line {
        sse2!(Line(_mm_subs_epi8(self.0, by.0)))
    }

    #[inline(always)]
    fn eighth(self) -> Line {
        self.without::<3>()
    }

    #[inline(always)]
    fn signed_half(self) -> Line {
        self.without::<1>()
    }

    #[inline(always)]
    fn parts(self) -> [Line; 3] {
        sse2!({
            // The numbers in the high halves of 16 bits.
            let zero = _mm_setzero_si128();
            let (low, high) = (_mm_unpacklo_epi8(zero, self.0), _mm_unpackhi_epi8(zero, self.0));
            let (nine, half) = (_mm_set1_epi16(9 << 8), _mm_set1_epi16(63));
            let (low_ninth, high_ninth) = (_mm_mulhi_epi16(low, nine), _mm_mulhi_epi16(high, nine));
            let (third, third_high) = (_mm_add_epi16(low_ninth, half), _mm_add_epi16(high_ninth, half));
            let (second, second_high) = (_mm_add_epi16(third, low_ninth), _mm_add_epi16(third_high, high_ninth));
            let (first, first_high) = (_mm_add_epi16(second, low_ninth), _mm_add_epi16(second_high, high_ninth));
            let narrow = |low, high| Line(_mm_packs_epi16(_mm_srai_epi16::<7>(low), _mm_srai_epi16::<7>(high)));
            [narrow(first, first_high), narrow(second, second_high), narrow(third, third_high)]
        })
    }

    #[inline(always)]
    fn turned(mut lines: [Line; 16]) -> [Line; 16] {
        // Each round doubles how many neighbours come from different lines: after four, all do.
        for _ in 0..4 {
            let before = lines;
            for k in 0..8 {
                let (a, b) = (before[k].0, before[k + 8].0);
                lines[2 * k] = sse2!(Line(_mm_unpacklo_epi8(a, b)));
                lines[2 * k + 1] = sse2!(Line(_mm_unpackhi_epi8(a, b)));
            }
        }
        lines
    }
}
