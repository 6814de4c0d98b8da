//! The operations in SSE2, which every x86-64 has.

use std::arch::x86_64::*;

use super::{Lanes, WideLanes};

#[derive(Clone, Copy)]
pub(crate) struct Eight(__m128i);

#[derive(Clone, Copy)]
pub(crate) struct Wide(__m128i, __m128i);

impl Eight {
    #[inline(always)]
    pub(crate) fn non_zeros(self) -> u8 {
        sse2!({
            let bytes = _mm_packs_epi16(self.0, self.0);
            !_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) as u8
        })
    }
}

impl Lanes<1> for Eight {
    type Wide = Wide;

    #[inline(always)]
    fn new(x: [[i16; 8]; 1]) -> Eight {
        Eight(bytemuck::cast(x))
    }

    #[inline(always)]
    fn each(x: [i16; 8]) -> Eight {
        Eight(bytemuck::cast(x))
    }

    #[inline(always)]
    fn array(self) -> [[i16; 8]; 1] {
        bytemuck::cast(self.0)
    }

    #[inline(always)]
    fn add(self, other: Eight) -> Eight {
        sse2!(Eight(_mm_add_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Eight) -> Eight {
        sse2!(Eight(_mm_sub_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn or(self, other: Eight) -> Eight {
        sse2!(Eight(_mm_or_si128(self.0, other.0)))
    }

    #[inline(always)]
    fn high_product_unsigned(self, other: Eight) -> Eight {
        sse2!(Eight(_mm_mulhi_epu16(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Eight) -> Eight {
        sse2!(Eight(_mm_xor_si128(self.0, other.0)))
    }

    #[inline(always)]
    fn low_product(self, other: Eight) -> Eight {
        sse2!(Eight(_mm_mullo_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn high_product(self, other: Eight) -> Eight {
        sse2!(Eight(_mm_mulhi_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn left<const BITS: i32>(self) -> Eight {
        sse2!(Eight(_mm_slli_epi16::<BITS>(self.0)))
    }

    #[inline(always)]
    fn right<const BITS: i32>(self) -> Eight {
        sse2!(Eight(_mm_srai_epi16::<BITS>(self.0)))
    }

    #[inline(always)]
    fn dot(self, p: i16, other: Eight, q: i16) -> Wide {
        sse2!({
            let factors = _mm_set1_epi32(i32::from(p) & 0xFFFF | i32::from(q) << 16);
            Wide(
                _mm_madd_epi16(_mm_unpacklo_epi16(self.0, other.0), factors),
                _mm_madd_epi16(_mm_unpackhi_epi16(self.0, other.0), factors),
            )
        })
    }

    #[inline(always)]
    fn widened<const FRACTION: i32>(self) -> Wide {
        sse2!({
            let zero = _mm_setzero_si128();
            let wide = |x| _mm_slli_epi32::<FRACTION>(_mm_srai_epi32::<16>(x));
            Wide(wide(_mm_unpacklo_epi16(zero, self.0)), wide(_mm_unpackhi_epi16(zero, self.0)))
        })
    }

    #[inline(always)]
    fn are_zero(self) -> [bool; 1] {
        sse2!([_mm_movemask_epi8(_mm_cmpeq_epi16(self.0, _mm_setzero_si128())) == 0xFFFF])
    }

    #[inline(always)]
    fn chosen([own]: [bool; 1], a: Eight, b: Eight) -> Eight {
        if own { a } else { b }
    }

    #[inline(always)]
    fn transposed(rows: [Eight; 8]) -> [Eight; 8] {
        sse2!({
            let [a, b, c, d, e, f, g, h] = rows.map(|row| row.0);
            let pairs = |x, y| [_mm_unpacklo_epi16(x, y), _mm_unpackhi_epi16(x, y)];
            let ([ab, ab_high], [cd, cd_high]) = (pairs(a, b), pairs(c, d));
            let ([ef, ef_high], [gh, gh_high]) = (pairs(e, f), pairs(g, h));
            let fours = |x, y| [_mm_unpacklo_epi32(x, y), _mm_unpackhi_epi32(x, y)];
            let [[a, b], [c, d]] = [fours(ab, cd), fours(ab_high, cd_high)];
            let [[e, f], [g, h]] = [fours(ef, gh), fours(ef_high, gh_high)];
            let eights = |x, y| [_mm_unpacklo_epi64(x, y), _mm_unpackhi_epi64(x, y)];
            let [[a, b], [c, d], [e, f], [g, h]] = [eights(a, e), eights(b, f), eights(c, g), eights(d, h)];
            [a, b, c, d, e, f, g, h].map(Eight)
        })
    }

    #[inline(always)]
    fn samples(self) -> [[u8; 8]; 1] {
        sse2!({
            let bytes = _mm_xor_si128(_mm_packs_epi16(self.0, self.0), _mm_set1_epi8(-128));
            [(_mm_cvtsi128_si64(bytes) as u64).to_le_bytes()]
        })
    }

    #[inline(always)]
    fn centred([samples]: [[u8; 8]; 1]) -> Eight {
        sse2!({
            let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(samples));
            Eight(_mm_sub_epi16(_mm_unpacklo_epi8(bytes, _mm_setzero_si128()), _mm_set1_epi16(128)))
        })
    }

    #[inline(always)]
    fn pixels([red, green, blue]: [Eight; 3], [out]: &mut [[u8; 24]; 1]) {
        sse2!({
            let samples = |x: Eight| _mm_xor_si128(_mm_packs_epi16(x.0, x.0), _mm_set1_epi8(-128));
            let two = _mm_unpacklo_epi8(samples(red), samples(green));
            let one = _mm_unpacklo_epi8(samples(blue), _mm_setzero_si128());
            // Four bytes for each pixel, of which the last are left out: first those of pairs, then those between pairs.
            let twelve = |x| {
                let first = _mm_and_si128(x, _mm_set1_epi64x(0xFF_FFFF));
                let second = _mm_and_si128(_mm_srli_epi64::<8>(x), _mm_set1_epi64x(0xFFFF_FF00_0000));
                let pairs = _mm_or_si128(first, second);
                let low = _mm_and_si128(pairs, _mm_set_epi64x(0, -1));
                _mm_or_si128(low, _mm_srli_si128::<2>(_mm_xor_si128(pairs, low)))
            };
            let (low, high) = (twelve(_mm_unpacklo_epi16(two, one)), twelve(_mm_unpackhi_epi16(two, one)));
            let (first, rest) = out.split_at_mut(16);
            let joined: [u8; 16] = bytemuck::cast(_mm_or_si128(low, _mm_slli_si128::<12>(high)));
            first.copy_from_slice(&joined);
            rest.copy_from_slice(&_mm_cvtsi128_si64(_mm_srli_si128::<4>(high)).to_le_bytes());
        });
    }

    #[inline(always)]
    fn colors([pixels]: &[[u8; 24]; 1]) -> [Eight; 3] {
        let (low, high) = pixels.split_at(16);
        let (low, high) = (low.first_chunk::<16>(), high.first_chunk::<8>());
        let (low, high) = (low.copied().unwrap_or_default(), high.copied().unwrap_or_default());
        sse2!({
            // 24 bytes of which the first half and the second take turns, three times: byte `i` comes to place `8 * i % 23`, and the last stays.
            let shuffled = |(low, high)| {
                let second = _mm_or_si128(_mm_srli_si128::<12>(low), _mm_slli_si128::<4>(high));
                (_mm_unpacklo_epi8(low, second), _mm_unpackhi_epi8(low, second))
            };
            let once = shuffled((bytemuck::cast(low), _mm_cvtsi64_si128(i64::from_le_bytes(high))));
            let (low, high) = shuffled(shuffled(once));
            let zero = _mm_setzero_si128();
            [_mm_unpacklo_epi8(low, zero), _mm_unpackhi_epi8(low, zero), _mm_unpacklo_epi8(high, zero)].map(Eight)
        })
    }

    #[inline(always)]
    fn in_turn(even: Eight, odd: Eight) -> [[u8; 16]; 1] {
        sse2!([bytemuck::cast(_mm_or_si128(even.0, _mm_slli_epi16::<8>(odd.0)))])
    }
}

impl WideLanes for Wide {
    type Narrow = Eight;

    #[inline(always)]
    fn all(x: i32) -> Wide {
        sse2!(Wide(_mm_set1_epi32(x), _mm_set1_epi32(x)))
    }

    #[inline(always)]
    fn add(self, other: Wide) -> Wide {
        sse2!(Wide(_mm_add_epi32(self.0, other.0), _mm_add_epi32(self.1, other.1)))
    }

    #[inline(always)]
    fn sub(self, other: Wide) -> Wide {
        sse2!(Wide(_mm_sub_epi32(self.0, other.0), _mm_sub_epi32(self.1, other.1)))
    }

    #[inline(always)]
    fn descaled<const BITS: i32>(self) -> Eight {
        sse2!({
            let half = _mm_set1_epi32(1 << (BITS - 1));
            let narrow = |x| _mm_srai_epi32::<BITS>(_mm_add_epi32(x, half));
            Eight(_mm_packs_epi32(narrow(self.0), narrow(self.1)))
        })
    }
}

#[inline(always)]
pub(crate) fn pair_sums(bytes: [u8; 16]) -> Eight {
    sse2!({
        let pairs: __m128i = bytemuck::cast(bytes);
        Eight(_mm_add_epi16(_mm_and_si128(pairs, _mm_set1_epi16(0xFF)), _mm_srli_epi16::<8>(pairs)))
    })
}
