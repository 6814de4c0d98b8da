//! The operations on two sixteens at once in AVX2, whose instructions treat halves of registers alike.
//!
//! Whoever makes such a value has asked the processor ([`are_two`](crate::lanes::are_two)): nothing else can be done with the type.

use std::arch::x86_64::*;

use super::{Line, Lines, TwoLines};

macro_rules! avx2 {
    ($body:expr) => {
        // SAFETY: whoever has or makes a value runs where AVX2 is; no instruction accesses memory.
        unsafe { $body }
    };
}

#[derive(Clone, Copy)]
pub(crate) struct Two(__m256i);

impl TwoLines for Two {
    #[inline(always)]
    fn new([low, high]: [Line; 2]) -> Two {
        avx2!(Two(_mm256_set_m128i(high.0, low.0)))
    }

    #[inline(always)]
    fn lines(self) -> [Line; 2] {
        avx2!([Line(_mm256_castsi256_si128(self.0)), Line(_mm256_extracti128_si256::<1>(self.0))])
    }

    #[inline(always)]
    fn columns(mut rows: [Two; 8]) -> [Two; 8] {
        // Of each half of a value, the columns of eight rows; then the halves of two columns change places.
        for _ in 0..3 {
            rows = interleaved(rows);
        }
        swapped(rows)
    }

    #[inline(always)]
    fn rows(columns: [Two; 8]) -> [Two; 8] {
        // After seven rounds everything is where it was.
        let mut columns = swapped(columns);
        for _ in 0..4 {
            columns = interleaved(columns);
        }
        columns
    }
}

/// One of the rounds after which neighbours come from different values.
#[inline(always)]
fn interleaved(before: [Two; 8]) -> [Two; 8] {
    let mut after = before;
    for k in 0..4 {
        let (a, b) = (before[k].0, before[k + 4].0);
        after[2 * k] = avx2!(Two(_mm256_unpacklo_epi8(a, b)));
        after[2 * k + 1] = avx2!(Two(_mm256_unpackhi_epi8(a, b)));
    }
    after
}

/// The second and the third eight samples of each value in each other's place.
#[inline(always)]
fn swapped(mut all: [Two; 8]) -> [Two; 8] {
    for both in &mut all {
        *both = avx2!(Two(_mm256_permute4x64_epi64::<0b11_01_10_00>(both.0)));
    }
    all
}

impl Two {
    /// Numbers without their lowest bits: as samples, whose bits are moved and those from the next sample left out, around the new middle.
    #[inline(always)]
    fn without<const BITS: i32>(self) -> Two {
        avx2!({
            let moved = _mm256_srli_epi16::<BITS>(self.centred().0);
            let own = _mm256_and_si256(moved, _mm256_set1_epi8((0xFF >> BITS) as i8));
            Two(_mm256_sub_epi8(own, _mm256_set1_epi8((0x80 >> BITS) as i8)))
        })
    }
}

impl Lines for Two {
    #[inline(always)]
    fn all(sample: u8) -> Two {
        avx2!(Two(_mm256_set1_epi8(sample as i8)))
    }

    #[inline(always)]
    fn difference(self, other: Two) -> Two {
        avx2!(Two(_mm256_or_si256(_mm256_subs_epu8(self.0, other.0), _mm256_subs_epu8(other.0, self.0))))
    }

    #[inline(always)]
    fn larger(self, other: Two) -> Two {
        avx2!(Two(_mm256_max_epu8(self.0, other.0)))
    }

    #[inline(always)]
    fn at_most(self, other: Two) -> Two {
        avx2!(Two(_mm256_cmpeq_epi8(_mm256_min_epu8(self.0, other.0), self.0)))
    }

    #[inline(always)]
    fn plus(self, other: Two) -> Two {
        avx2!(Two(_mm256_adds_epu8(self.0, other.0)))
    }

    #[inline(always)]
    fn half(self) -> Two {
        avx2!(Two(_mm256_and_si256(_mm256_srli_epi16::<1>(self.0), _mm256_set1_epi8(0x7F))))
    }

    #[inline(always)]
    fn and(self, other: Two) -> Two {
        avx2!(Two(_mm256_and_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn and_not(self, other: Two) -> Two {
        avx2!(Two(_mm256_andnot_si256(other.0, self.0)))
    }

    #[inline(always)]
    fn or(self, other: Two) -> Two {
        avx2!(Two(_mm256_or_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn centred(self) -> Two {
        avx2!(Two(_mm256_xor_si256(self.0, _mm256_set1_epi8(-128))))
    }

    #[inline(always)]
    fn moved(self, by: Two) -> Two {
        avx2!(Two(_mm256_adds_epi8(self.0, by.0)))
    }

    #[inline(always)]
    fn moved_back(self, by: Two) -> Two {
        avx2!(Two(_mm256_subs_epi8(self.0, by.0)))
    }

    #[inline(always)]
    fn eighth(self) -> Two {
        self.without::<3>()
    }

    #[inline(always)]
    fn signed_half(self) -> Two {
        self.without::<1>()
    }

    #[inline(always)]
    fn parts(self) -> [Two; 3] {
        avx2!({
            // The numbers in the high halves of 16 bits.
            let zero = _mm256_setzero_si256();
            let (low, high) = (_mm256_unpacklo_epi8(zero, self.0), _mm256_unpackhi_epi8(zero, self.0));
            let (nine, half) = (_mm256_set1_epi16(9 << 8), _mm256_set1_epi16(63));
            let (low_ninth, high_ninth) = (_mm256_mulhi_epi16(low, nine), _mm256_mulhi_epi16(high, nine));
            let (third, third_high) = (_mm256_add_epi16(low_ninth, half), _mm256_add_epi16(high_ninth, half));
            let (second, second_high) = (_mm256_add_epi16(third, low_ninth), _mm256_add_epi16(third_high, high_ninth));
            let (first, first_high) = (_mm256_add_epi16(second, low_ninth), _mm256_add_epi16(second_high, high_ninth));
            let narrow = |low, high| Two(_mm256_packs_epi16(_mm256_srai_epi16::<7>(low), _mm256_srai_epi16::<7>(high)));
            [narrow(first, first_high), narrow(second, second_high), narrow(third, third_high)]
        })
    }

    #[inline(always)]
    fn turned(mut lines: [Two; 16]) -> [Two; 16] {
        // Each round doubles how many neighbours come from different lines: after four, all do.
        for _ in 0..4 {
            let before = lines;
            for k in 0..8 {
                let (a, b) = (before[k].0, before[k + 8].0);
                lines[2 * k] = avx2!(Two(_mm256_unpacklo_epi8(a, b)));
                lines[2 * k + 1] = avx2!(Two(_mm256_unpackhi_epi8(a, b)));
            }
        }
        lines
    }
}
