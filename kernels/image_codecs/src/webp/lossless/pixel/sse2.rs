//! The operations in SSE2, which every x86-64 has.

use std::arch::x86_64::*;

/// A pixel, in the lowest 32 bits; the others are 0.
#[derive(Clone, Copy)]
pub(in super::super) struct Pixel(__m128i);

impl Pixel {
    #[inline(always)]
    pub(in super::super) fn new(word: u32) -> Pixel {
        Pixel(sse2!(_mm_cvtsi32_si128(word as i32)))
    }

    #[inline(always)]
    pub(in super::super) fn word(self) -> u32 {
        sse2!(_mm_cvtsi128_si32(self.0)) as u32
    }

    #[inline(always)]
    pub(in super::super) fn plus(self, other: Pixel) -> Pixel {
        Pixel(sse2!(_mm_add_epi8(self.0, other.0)))
    }

    #[inline(always)]
    pub(in super::super) fn mean(self, other: Pixel) -> Pixel {
        sse2!({
            let odd = _mm_and_si128(_mm_xor_si128(self.0, other.0), _mm_set1_epi8(1));
            Pixel(_mm_sub_epi8(_mm_avg_epu8(self.0, other.0), odd))
        })
    }

    #[inline(always)]
    pub(in super::super) fn nearer(self, above: Pixel, corner: Pixel) -> Pixel {
        sse2!({
            let (here, there) = (_mm_sad_epu8(self.0, corner.0), _mm_sad_epu8(above.0, corner.0));
            let is_here = _mm_shuffle_epi32::<0>(_mm_cmpgt_epi32(here, there));
            Pixel(_mm_or_si128(_mm_and_si128(is_here, self.0), _mm_andnot_si128(is_here, above.0)))
        })
    }

    /// The components in 16 bits each.
    #[inline(always)]
    fn wide(self) -> __m128i {
        sse2!(_mm_unpacklo_epi8(self.0, _mm_setzero_si128()))
    }

    #[inline(always)]
    fn narrow(wide: __m128i) -> Pixel {
        Pixel(sse2!(_mm_packus_epi16(wide, _mm_setzero_si128())))
    }

    #[inline(always)]
    pub(in super::super) fn gradient(self, above: Pixel, corner: Pixel) -> Pixel {
        let change = sse2!(_mm_sub_epi16(above.wide(), corner.wide()));
        Pixel::narrow(sse2!(_mm_add_epi16(self.wide(), change)))
    }

    #[inline(always)]
    pub(in super::super) fn half_gradient(self, above: Pixel, corner: Pixel) -> Pixel {
        let mean = self.mean(above).wide();
        Pixel::narrow(sse2!({
            let change = _mm_sub_epi16(mean, corner.wide());
            // Rounded to 0: 1 is added to what is below.
            let half = _mm_srai_epi16::<1>(_mm_sub_epi16(change, _mm_srai_epi16::<15>(change)));
            _mm_add_epi16(mean, half)
        }))
    }
}
