//! The operations on two eights at once in AVX2, whose instructions treat halves of registers alike.
//!
//! Only code behind [`super::are_two`], which asks the processor for AVX2, may make such a value, as functions of [`super::widest_lanes`] do.

use std::arch::x86_64::*;

use super::{Lanes, WideLanes};

#[derive(Clone, Copy)]
pub(crate) struct Sixteen(__m256i);

#[derive(Clone, Copy)]
pub(crate) struct Wide(__m256i, __m256i);

/// Shuffles that make the 24 bytes of eight pixels, first sixteen and then eight: one of a register that has eight reds and eight greens in
/// each half, and one of a register of blues. -1 gives 0.
const PLACES: [[[i8; 32]; 2]; 2] = {
    let mut places = [[[-1; 32]; 2]; 2];
    let mut k = 0;
    while k < 24 {
        let (pixel, color) = ((k / 3) as i8, k % 3);
        let (of, place) = if color == 2 { (1, pixel) } else { (0, pixel + 8 * color as i8) };
        places[k / 16][of][k % 16] = place;
        places[k / 16][of][16 + k % 16] = place;
        k += 1;
    }
    places
};

/// Where the bytes of each colour of sixteen pixels are in each sixteen bytes of the pixels; those that are not there become 0.
const ORIGINS: [[[i8; 16]; 3]; 3] = {
    let mut origins = [[[-1; 16]; 3]; 3];
    let mut k = 0;
    while k < 48 {
        origins[k % 3][k / 16][k / 3] = (k % 16) as i8;
        k += 1;
    }
    origins
};

/// The first eight bytes of each half.
#[inline(always)]
fn first_bytes(x: __m256i) -> __m128i {
    avx2!(_mm256_castsi256_si128(_mm256_permute4x64_epi64::<0b1000>(x)))
}

impl Sixteen {
    /// Samples in the first bytes of each half, and once more in the others.
    #[inline(always)]
    fn bytes(self) -> __m256i {
        avx2!(_mm256_xor_si256(_mm256_packs_epi16(self.0, self.0), _mm256_set1_epi8(-128)))
    }
}

impl Lanes<2> for Sixteen {
    type Wide = Wide;

    #[inline(always)]
    fn new([a, b]: [[i16; 8]; 2]) -> Sixteen {
        avx2!(Sixteen(_mm256_set_m128i(bytemuck::cast(b), bytemuck::cast(a))))
    }

    #[inline(always)]
    fn each(x: [i16; 8]) -> Sixteen {
        avx2!(Sixteen(_mm256_broadcastsi128_si256(bytemuck::cast(x))))
    }

    #[inline(always)]
    fn array(self) -> [[i16; 8]; 2] {
        bytemuck::cast(self.0)
    }

    #[inline(always)]
    fn add(self, other: Sixteen) -> Sixteen {
        avx2!(Sixteen(_mm256_add_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Sixteen) -> Sixteen {
        avx2!(Sixteen(_mm256_sub_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn or(self, other: Sixteen) -> Sixteen {
        avx2!(Sixteen(_mm256_or_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Sixteen) -> Sixteen {
        avx2!(Sixteen(_mm256_xor_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn high_product_unsigned(self, other: Sixteen) -> Sixteen {
        avx2!(Sixteen(_mm256_mulhi_epu16(self.0, other.0)))
    }

    #[inline(always)]
    fn low_product(self, other: Sixteen) -> Sixteen {
        avx2!(Sixteen(_mm256_mullo_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn high_product(self, other: Sixteen) -> Sixteen {
        avx2!(Sixteen(_mm256_mulhi_epi16(self.0, other.0)))
    }

    #[inline(always)]
    fn left<const BITS: i32>(self) -> Sixteen {
        avx2!(Sixteen(_mm256_slli_epi16::<BITS>(self.0)))
    }

    #[inline(always)]
    fn right<const BITS: i32>(self) -> Sixteen {
        avx2!(Sixteen(_mm256_srai_epi16::<BITS>(self.0)))
    }

    #[inline(always)]
    fn dot(self, p: i16, other: Sixteen, q: i16) -> Wide {
        avx2!({
            let factors = _mm256_set1_epi32(i32::from(p) & 0xFFFF | i32::from(q) << 16);
            Wide(
                _mm256_madd_epi16(_mm256_unpacklo_epi16(self.0, other.0), factors),
                _mm256_madd_epi16(_mm256_unpackhi_epi16(self.0, other.0), factors),
            )
        })
    }

    #[inline(always)]
    fn widened<const FRACTION: i32>(self) -> Wide {
        avx2!({
            let zero = _mm256_setzero_si256();
            let wide = |x| _mm256_slli_epi32::<FRACTION>(_mm256_srai_epi32::<16>(x));
            Wide(wide(_mm256_unpacklo_epi16(zero, self.0)), wide(_mm256_unpackhi_epi16(zero, self.0)))
        })
    }

    #[inline(always)]
    fn are_zero(self) -> [bool; 2] {
        let mask = avx2!(_mm256_movemask_epi8(_mm256_cmpeq_epi16(self.0, _mm256_setzero_si256()))) as u32;
        [mask & 0xFFFF == 0xFFFF, mask >> 16 == 0xFFFF]
    }

    #[inline(always)]
    fn chosen(own: [bool; 2], a: Sixteen, b: Sixteen) -> Sixteen {
        match own {
            [true, true] => a,
            [true, false] => avx2!(Sixteen(_mm256_blend_epi32::<0xF0>(a.0, b.0))),
            [false, true] => avx2!(Sixteen(_mm256_blend_epi32::<0x0F>(a.0, b.0))),
            [false, false] => b,
        }
    }

    #[inline(always)]
    fn transposed(rows: [Sixteen; 8]) -> [Sixteen; 8] {
        avx2!({
            let [a, b, c, d, e, f, g, h] = rows.map(|row| row.0);
            let pairs = |x, y| [_mm256_unpacklo_epi16(x, y), _mm256_unpackhi_epi16(x, y)];
            let ([ab, ab_high], [cd, cd_high]) = (pairs(a, b), pairs(c, d));
            let ([ef, ef_high], [gh, gh_high]) = (pairs(e, f), pairs(g, h));
            let fours = |x, y| [_mm256_unpacklo_epi32(x, y), _mm256_unpackhi_epi32(x, y)];
            let [[a, b], [c, d]] = [fours(ab, cd), fours(ab_high, cd_high)];
            let [[e, f], [g, h]] = [fours(ef, gh), fours(ef_high, gh_high)];
            let eights = |x, y| [_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y)];
            let [[a, b], [c, d], [e, f], [g, h]] = [eights(a, e), eights(b, f), eights(c, g), eights(d, h)];
            [a, b, c, d, e, f, g, h].map(Sixteen)
        })
    }

    #[inline(always)]
    fn samples(self) -> [[u8; 8]; 2] {
        bytemuck::cast(first_bytes(self.bytes()))
    }

    #[inline(always)]
    fn centred(samples: [[u8; 8]; 2]) -> Sixteen {
        avx2!({
            let numbers = _mm256_cvtepu8_epi16(bytemuck::cast(samples));
            Sixteen(_mm256_sub_epi16(numbers, _mm256_set1_epi16(128)))
        })
    }

    #[inline(always)]
    fn pixels(colors: [Sixteen; 3], out: &mut [[u8; 24]; 2]) {
        let [red, green, blue] = colors;
        let [starts, ends]: [[[u8; 16]; 2]; 2] = avx2!({
            let red_and_green = _mm256_xor_si256(_mm256_packs_epi16(red.0, green.0), _mm256_set1_epi8(-128));
            let blue = blue.bytes();
            let shuffled = |[two, one]: [[i8; 32]; 2]| {
                let two = _mm256_shuffle_epi8(red_and_green, bytemuck::cast(two));
                bytemuck::cast(_mm256_or_si256(two, _mm256_shuffle_epi8(blue, bytemuck::cast(one))))
            };
            [shuffled(PLACES[0]), shuffled(PLACES[1])]
        });
        for ((out, start), end) in out.iter_mut().zip(starts).zip(ends) {
            out[..16].copy_from_slice(&start);
            out[16..].copy_from_slice(&end[..8]);
        }
    }

    #[inline(always)]
    fn colors(pixels: &[[u8; 24]; 2]) -> [Sixteen; 3] {
        let [first, second, third]: [[u8; 16]; 3] = bytemuck::cast(*pixels);
        let mut colors = [Sixteen::all(0); 3];
        for (color, origins) in colors.iter_mut().zip(ORIGINS) {
            let [in_first, in_second, in_third]: [__m128i; 3] = bytemuck::cast(origins);
            *color = avx2!({
                let of_first = _mm_shuffle_epi8(bytemuck::cast(first), in_first);
                let of_second = _mm_shuffle_epi8(bytemuck::cast(second), in_second);
                let of_third = _mm_shuffle_epi8(bytemuck::cast(third), in_third);
                Sixteen(_mm256_cvtepu8_epi16(_mm_or_si128(_mm_or_si128(of_first, of_second), of_third)))
            });
        }
        colors
    }

    #[inline(always)]
    fn in_turn(even: Sixteen, odd: Sixteen) -> [[u8; 16]; 2] {
        avx2!(bytemuck::cast(_mm256_or_si256(even.0, _mm256_slli_epi16::<8>(odd.0))))
    }
}

impl WideLanes for Wide {
    type Narrow = Sixteen;

    #[inline(always)]
    fn all(x: i32) -> Wide {
        avx2!(Wide(_mm256_set1_epi32(x), _mm256_set1_epi32(x)))
    }

    #[inline(always)]
    fn add(self, other: Wide) -> Wide {
        avx2!(Wide(_mm256_add_epi32(self.0, other.0), _mm256_add_epi32(self.1, other.1)))
    }

    #[inline(always)]
    fn sub(self, other: Wide) -> Wide {
        avx2!(Wide(_mm256_sub_epi32(self.0, other.0), _mm256_sub_epi32(self.1, other.1)))
    }

    #[inline(always)]
    fn descaled<const BITS: i32>(self) -> Sixteen {
        avx2!({
            let half = _mm256_set1_epi32(1 << (BITS - 1));
            let narrow = |x| _mm256_srai_epi32::<BITS>(_mm256_add_epi32(x, half));
            Sixteen(_mm256_packs_epi32(narrow(self.0), narrow(self.1)))
        })
    }
}
