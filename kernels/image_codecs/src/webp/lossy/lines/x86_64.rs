//! The operations by named instructions: on a sixteen in SSE2, which every processor of the architecture has, and on two at once in AVX2,
//! whose instructions treat halves of registers alike.

use std::arch::x86_64::*;

use super::{LinePair, Lines};

#[derive(Clone, Copy)]
pub(crate) struct Line(__m128i);

/// Only code behind [`are_two`](crate::lanes::are_two), which asks the processor for AVX2, may make such a value.
#[derive(Clone, Copy)]
pub(crate) struct WidePair(__m256i);

/// The same names for the instructions of both widths.
mod by_128 {
    pub(super) use std::arch::x86_64::{
        _mm_add_epi16 as add_16, _mm_adds_epi8 as add_saturated, _mm_adds_epu8 as add_samples, _mm_and_si128 as and,
        _mm_andnot_si128 as and_not, _mm_cmpeq_epi8 as equal, _mm_max_epu8 as max, _mm_min_epu8 as min,
        _mm_mulhi_epi16 as high_product, _mm_or_si128 as or, _mm_packs_epi16 as pack, _mm_set1_epi8 as all,
        _mm_set1_epi16 as all_16, _mm_setzero_si128 as zero, _mm_srai_epi16 as right, _mm_srli_epi16 as right_unsigned,
        _mm_sub_epi8 as sub, _mm_subs_epi8 as sub_saturated, _mm_subs_epu8 as sub_samples,
        _mm_unpackhi_epi8 as interleave_high, _mm_unpacklo_epi8 as interleave_low, _mm_xor_si128 as xor,
    };
}
mod by_256 {
    pub(super) use std::arch::x86_64::{
        _mm256_add_epi16 as add_16, _mm256_adds_epi8 as add_saturated, _mm256_adds_epu8 as add_samples,
        _mm256_and_si256 as and, _mm256_andnot_si256 as and_not, _mm256_cmpeq_epi8 as equal, _mm256_max_epu8 as max,
        _mm256_min_epu8 as min, _mm256_mulhi_epi16 as high_product, _mm256_or_si256 as or, _mm256_packs_epi16 as pack,
        _mm256_set1_epi8 as all, _mm256_set1_epi16 as all_16, _mm256_setzero_si256 as zero, _mm256_srai_epi16 as right,
        _mm256_srli_epi16 as right_unsigned, _mm256_sub_epi8 as sub, _mm256_subs_epi8 as sub_saturated,
        _mm256_subs_epu8 as sub_samples, _mm256_unpackhi_epi8 as interleave_high,
        _mm256_unpacklo_epi8 as interleave_low, _mm256_xor_si256 as xor,
    };
}

/// The operations of a type, whose instructions have names in a module and are safe as a macro says.
macro_rules! operations {
    ($line:ident, $by:ident, $safe:ident) => {
        impl $line {
            /// Numbers without their lowest bits: as samples, whose bits are moved and those from the next sample left out, around the new
            /// middle.
            #[inline(always)]
            fn without<const BITS: i32>(self) -> $line {
                $safe!({
                    let moved = $by::right_unsigned::<BITS>(self.centred().0);
                    let own = $by::and(moved, $by::all((0xFF >> BITS) as i8));
                    $line($by::sub(own, $by::all((0x80 >> BITS) as i8)))
                })
            }
        }

        impl Lines for $line {
            #[inline(always)]
            fn all(sample: u8) -> $line {
                $safe!($line($by::all(sample as i8)))
            }

            #[inline(always)]
            fn difference(self, other: $line) -> $line {
                $safe!($line($by::or($by::sub_samples(self.0, other.0), $by::sub_samples(other.0, self.0))))
            }

            #[inline(always)]
            fn larger(self, other: $line) -> $line {
                $safe!($line($by::max(self.0, other.0)))
            }

            #[inline(always)]
            fn at_most(self, other: $line) -> $line {
                $safe!($line($by::equal($by::min(self.0, other.0), self.0)))
            }

            #[inline(always)]
            fn plus(self, other: $line) -> $line {
                $safe!($line($by::add_samples(self.0, other.0)))
            }

            #[inline(always)]
            fn half(self) -> $line {
                $safe!($line($by::and($by::right_unsigned::<1>(self.0), $by::all(0x7F))))
            }

            #[inline(always)]
            fn and(self, other: $line) -> $line {
                $safe!($line($by::and(self.0, other.0)))
            }

            #[inline(always)]
            fn and_not(self, other: $line) -> $line {
                $safe!($line($by::and_not(other.0, self.0)))
            }

            #[inline(always)]
            fn or(self, other: $line) -> $line {
                $safe!($line($by::or(self.0, other.0)))
            }

            #[inline(always)]
            fn centred(self) -> $line {
                $safe!($line($by::xor(self.0, $by::all(-128))))
            }

            #[inline(always)]
            fn moved(self, by: $line) -> $line {
                $safe!($line($by::add_saturated(self.0, by.0)))
            }

            #[inline(always)]
            fn moved_back(self, by: $line) -> $line {
                $safe!($line($by::sub_saturated(self.0, by.0)))
            }

            #[inline(always)]
            fn eighth(self) -> $line {
                self.without::<3>()
            }

            #[inline(always)]
            fn signed_half(self) -> $line {
                self.without::<1>()
            }

            #[inline(always)]
            fn parts(self) -> [$line; 3] {
                $safe!({
                    // The numbers in the high halves of 16 bits.
                    let low = $by::interleave_low($by::zero(), self.0);
                    let high = $by::interleave_high($by::zero(), self.0);
                    let (nine, half) = ($by::all_16(9 << 8), $by::all_16(63));
                    let (low_ninth, high_ninth) = ($by::high_product(low, nine), $by::high_product(high, nine));
                    let third = [$by::add_16(low_ninth, half), $by::add_16(high_ninth, half)];
                    let second = [$by::add_16(third[0], low_ninth), $by::add_16(third[1], high_ninth)];
                    let first = [$by::add_16(second[0], low_ninth), $by::add_16(second[1], high_ninth)];
                    let narrow = |[low, high]: [_; 2]| $line($by::pack($by::right::<7>(low), $by::right::<7>(high)));
                    [narrow(first), narrow(second), narrow(third)]
                })
            }

            #[inline(always)]
            fn transposed(mut lines: [$line; 16]) -> [$line; 16] {
                // Each round doubles how many neighbours come from different lines: after four, all do.
                for _ in 0..4 {
                    let before = lines;
                    for k in 0..8 {
                        let (a, b) = (before[k].0, before[k + 8].0);
                        lines[2 * k] = $safe!($line($by::interleave_low(a, b)));
                        lines[2 * k + 1] = $safe!($line($by::interleave_high(a, b)));
                    }
                }
                lines
            }
        }
    };
}

operations!(Line, by_128, sse2);
operations!(WidePair, by_256, avx2);

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
}

impl LinePair for WidePair {
    #[inline(always)]
    fn new([low, high]: [Line; 2]) -> WidePair {
        avx2!(WidePair(_mm256_set_m128i(high.0, low.0)))
    }

    #[inline(always)]
    fn lines(self) -> [Line; 2] {
        avx2!([Line(_mm256_castsi256_si128(self.0)), Line(_mm256_extracti128_si256::<1>(self.0))])
    }

    #[inline(always)]
    fn pairs_transposed(mut rows: [WidePair; 8]) -> [WidePair; 8] {
        // Of each half of a value, the columns of eight rows; then the halves of two columns change places.
        for _ in 0..3 {
            rows = interleaved(rows);
        }
        swapped(rows)
    }

    #[inline(always)]
    fn pairs_transposed_back(columns: [WidePair; 8]) -> [WidePair; 8] {
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
fn interleaved(before: [WidePair; 8]) -> [WidePair; 8] {
    let mut after = before;
    for k in 0..4 {
        let (a, b) = (before[k].0, before[k + 4].0);
        after[2 * k] = avx2!(WidePair(_mm256_unpacklo_epi8(a, b)));
        after[2 * k + 1] = avx2!(WidePair(_mm256_unpackhi_epi8(a, b)));
    }
    after
}

/// The second and the third eight samples of each value in each other's place.
#[inline(always)]
fn swapped(mut all: [WidePair; 8]) -> [WidePair; 8] {
    for both in &mut all {
        *both = avx2!(WidePair(_mm256_permute4x64_epi64::<0b11_01_10_00>(both.0)));
    }
    all
}
