//! The operations as loops over arrays: for machines that have no code of their own here, and as what that code is tested by.

use super::{Lanes, WideLanes};

/// Eight numbers of 16 bits.
#[derive(Clone, Copy)]
pub(crate) struct Eight([i16; 8]);

/// Eight numbers of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct Wide([i32; 8]);

impl Eight {
    #[inline(always)]
    fn zip(self, other: Eight, f: impl Fn(i16, i16) -> i16) -> Eight {
        Eight(std::array::from_fn(|k| f(self.0[k], other.0[k])))
    }

    /// A bit for each number, the first the lowest: whether it is not 0.
    #[inline(always)]
    pub(crate) fn non_zeros(self) -> u8 {
        (0..8).map(|k| u8::from(self.0[k] != 0) << k).sum()
    }
}

impl Lanes<1> for Eight {
    type Wide = Wide;

    #[inline(always)]
    fn new([x]: [[i16; 8]; 1]) -> Eight {
        Eight(x)
    }

    #[inline(always)]
    fn each(x: [i16; 8]) -> Eight {
        Eight(x)
    }

    #[inline(always)]
    fn array(self) -> [[i16; 8]; 1] {
        [self.0]
    }

    #[inline(always)]
    fn add(self, other: Eight) -> Eight {
        self.zip(other, i16::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, other: Eight) -> Eight {
        self.zip(other, i16::wrapping_sub)
    }

    #[inline(always)]
    fn or(self, other: Eight) -> Eight {
        self.zip(other, |a, b| a | b)
    }

    #[inline(always)]
    fn xor(self, other: Eight) -> Eight {
        self.zip(other, |a, b| a ^ b)
    }

    #[inline(always)]
    fn high_product_unsigned(self, other: Eight) -> Eight {
        self.zip(other, |a, b| ((u32::from(a as u16) * u32::from(b as u16)) >> 16) as i16)
    }

    #[inline(always)]
    fn low_product(self, other: Eight) -> Eight {
        self.zip(other, i16::wrapping_mul)
    }

    #[inline(always)]
    fn high_product(self, other: Eight) -> Eight {
        self.zip(other, |a, b| ((i32::from(a) * i32::from(b)) >> 16) as i16)
    }

    #[inline(always)]
    fn left<const BITS: i32>(self) -> Eight {
        Eight(self.0.map(|x| x << BITS))
    }

    #[inline(always)]
    fn right<const BITS: i32>(self) -> Eight {
        Eight(self.0.map(|x| x >> BITS))
    }

    #[inline(always)]
    fn dot(self, p: i16, other: Eight, q: i16) -> Wide {
        let product = |a: i16, b: i16| i32::from(a) * i32::from(b);
        Wide(std::array::from_fn(|k| product(self.0[k], p).wrapping_add(product(other.0[k], q))))
    }

    #[inline(always)]
    fn widened<const FRACTION: i32>(self) -> Wide {
        Wide(self.0.map(|x| i32::from(x) << FRACTION))
    }

    #[inline(always)]
    fn are_zero(self) -> [bool; 1] {
        [self.0 == [0; 8]]
    }

    #[inline(always)]
    fn chosen([own]: [bool; 1], a: Eight, b: Eight) -> Eight {
        if own { a } else { b }
    }

    #[inline(always)]
    fn transposed(rows: [Eight; 8]) -> [Eight; 8] {
        std::array::from_fn(|a| Eight(std::array::from_fn(|b| rows[b].0[a])))
    }

    #[inline(always)]
    fn samples(self) -> [[u8; 8]; 1] {
        [self.0.map(|x| (i32::from(x) + 128).clamp(0, 255) as u8)]
    }

    #[inline(always)]
    fn centred([samples]: [[u8; 8]; 1]) -> Eight {
        Eight(samples.map(|sample| i16::from(sample) - 128))
    }

    #[inline(always)]
    fn pixels(colors: [Eight; 3], [out]: &mut [[u8; 24]; 1]) {
        let samples = colors.map(Eight::samples);
        *out = std::array::from_fn(|k| samples[k % 3][0][k / 3]);
    }

    #[inline(always)]
    fn colors([pixels]: &[[u8; 24]; 1]) -> [Eight; 3] {
        std::array::from_fn(|color| Eight(std::array::from_fn(|pixel| pixels[pixel * 3 + color].into())))
    }

    #[inline(always)]
    fn in_turn(even: Eight, odd: Eight) -> [[u8; 16]; 1] {
        [std::array::from_fn(|k| [even, odd][k % 2].0[k / 2] as u8)]
    }
}

impl WideLanes for Wide {
    type Narrow = Eight;

    #[inline(always)]
    fn all(x: i32) -> Wide {
        Wide([x; 8])
    }

    #[inline(always)]
    fn add(self, other: Wide) -> Wide {
        Wide(std::array::from_fn(|k| self.0[k].wrapping_add(other.0[k])))
    }

    #[inline(always)]
    fn sub(self, other: Wide) -> Wide {
        Wide(std::array::from_fn(|k| self.0[k].wrapping_sub(other.0[k])))
    }

    #[inline(always)]
    fn descaled<const BITS: i32>(self) -> Eight {
        let narrow = |x: i32| x.wrapping_add(1 << (BITS - 1)) >> BITS;
        Eight(self.0.map(|x| narrow(x).clamp(i16::MIN.into(), i16::MAX.into()) as i16))
    }
}

/// The sum of each byte of an even index and the next.
#[inline(always)]
pub(crate) fn pair_sums(bytes: [u8; 16]) -> Eight {
    Eight(std::array::from_fn(|k| i16::from(bytes[2 * k]) + i16::from(bytes[2 * k + 1])))
}
