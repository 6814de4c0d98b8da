//! From samples to coefficients: libjpeg's accurate transform, which is Loeffler's, Ligtenberg's and Moschytz's (ICASSP 1989), and
//! its rounding.

use super::header::Quantizers;
use super::idct::Block;
use crate::lanes::{Eight, Lanes, WideLanes, widest_lanes};

/// The bits of fraction of the constants.
const FRACTION: i32 = 13;

/// One pass over eight columns of each block at once, of which `even` says how sums without a constant are scaled. The others lose `BITS` bits.
#[inline(always)]
fn pass<L: Lanes<N>, const N: usize, const BITS: i32>(x: [L; 8], even: impl Fn(L) -> L) -> [L; 8] {
    let sum = |a: usize, b: usize| x[a].add(x[b]);
    let (s0, s1, s2, s3) = (sum(0, 7), sum(1, 6), sum(2, 5), sum(3, 4));
    let difference = |a: usize, b: usize| x[a].sub(x[b]);
    let (tmp7, tmp6, tmp5, tmp4) = (difference(0, 7), difference(1, 6), difference(2, 5), difference(3, 4));
    let (e0, e3) = (s0.add(s3), s0.sub(s3));
    let (e1, e2) = (s1.add(s2), s1.sub(s2));
    let (z3, z4) = (tmp4.add(tmp6), tmp5.add(tmp7));
    let odd_z3 = z3.dot(9633 - 16069, z4, 9633);
    let odd_z4 = z3.dot(9633, z4, 9633 - 3196);
    [
        even(e0.add(e1)),
        tmp7.dot(12299 - 7373, tmp4, -7373).add(odd_z4).descaled::<BITS>(),
        e3.dot(4433 + 6270, e2, 4433).descaled::<BITS>(),
        tmp6.dot(25172 - 20995, tmp5, -20995).add(odd_z3).descaled::<BITS>(),
        even(e0.sub(e1)),
        tmp5.dot(16819 - 20995, tmp6, -20995).add(odd_z4).descaled::<BITS>(),
        e3.dot(4433, e2, 4433 - 15137).descaled::<BITS>(),
        tmp4.dot(2446 - 7373, tmp7, -7373).add(odd_z3).descaled::<BITS>(),
    ]
}

widest_lanes! {
    /// Writes the coefficients of a row of blocks, whose samples a strip of eight lines of `width` samples holds, divided.
    pub(crate) fn transform<L, N>(strip: &[u8], width: usize, divisors: &Divisors, blocks: &mut [Block]) {
        let (several, rest) = blocks.as_chunks_mut::<N>();
        let first = several.len() * N;
        for (at, blocks) in several.iter_mut().enumerate() {
            coefficients::<L, N>(strip, at * N * 8, width, divisors, blocks);
        }
        for (at, blocks) in rest.as_chunks_mut::<1>().0.iter_mut().enumerate() {
            coefficients::<Eight, 1>(strip, (first + at) * 8, width, divisors, blocks);
        }
    }
}

/// Line `y` of blocks beside each other. Without closures, which the compiler leaves as calls.
#[inline(always)]
fn line<L: Lanes<N>, const N: usize>(plane: &[u8], at: usize, stride: usize, y: usize) -> L {
    let samples = plane[at + y * stride..].as_chunks::<8>().0.first_chunk::<N>();
    L::centred(*samples.expect("a strip holds whole blocks"))
}

/// Writes the coefficients of blocks beside each other whose samples `plane` holds from `at` on, divided.
#[inline(always)]
fn coefficients<L: Lanes<N>, const N: usize>(
    plane: &[u8],
    at: usize,
    stride: usize,
    divisors: &Divisors,
    blocks: &mut [Block; N],
) {
    let line = |y| line(plane, at, stride, y);
    let samples: [L; 8] = [line(0), line(1), line(2), line(3), line(4), line(5), line(6), line(7)];
    // Sums are kept four times as large between the passes.
    let x = pass::<L, N, { FRACTION - 2 }>(L::transposed(samples), |x| x.left::<2>());
    let two = L::all(2);
    let x = pass::<L, N, { FRACTION + 2 }>(L::transposed(x), |x| x.add(two).right::<2>());
    for (k, x) in x.into_iter().enumerate() {
        for (block, quotients) in blocks.iter_mut().zip(divisors.divide(k, x).array()) {
            block.as_chunks_mut::<8>().0[k] = quotients;
        }
    }
}

/// What coefficients are divided by: eight times the quantisation table, as they are eight times too large.
pub(crate) struct Divisors {
    rows: [Row; 8],
}

/// What a row is divided by: half of it, its inverse, and by what that is too large.
#[derive(Clone, Copy)]
struct Row {
    halves: [i16; 8],
    inverses: [i16; 8],
    scales: [i16; 8],
}

impl Divisors {
    /// Inverses of 16 bits: after Granlund and Montgomery (PLDI 1994), the quotient of a number of 15 bits is the high half of its
    /// product with the inverse, rounded up, shifted by the bits of the divisor. The shift is a product, too.
    pub(crate) fn new(quantizers: &Quantizers) -> Divisors {
        let numbers = quantizers.map(|quantizer| {
            let divisor = u32::from(quantizer) * 8;
            // A power of two has an inverse that needs one bit less.
            let bits = if divisor.is_power_of_two() { divisor.ilog2() - 1 } else { divisor.ilog2() };
            [divisor / 2, (1u32 << (16 + bits)).div_ceil(divisor), 1 << (16 - bits)].map(|x| x as i16)
        });
        let row = |k: usize, number: usize| std::array::from_fn(|x| numbers[k * 8 + x][number]);
        let rows = |k| Row { halves: row(k, 0), inverses: row(k, 1), scales: row(k, 2) };
        Divisors { rows: std::array::from_fn(rows) }
    }

    /// The quotients of row `k` of each block, rounded to the nearest and halves away from 0.
    #[inline(always)]
    fn divide<L: Lanes<N>, const N: usize>(&self, k: usize, x: L) -> L {
        let Row { halves, inverses, scales } = self.rows[k];
        let sign = x.right::<15>();
        let dividend = x.xor(sign).sub(sign).add(L::each(halves));
        dividend.high_product_unsigned(L::each(inverses)).high_product_unsigned(L::each(scales)).xor(sign).sub(sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_blocks_have_the_coefficients_of_each() {
        let mut state = 1u64;
        let strip: [u8; 8 * 56] = std::array::from_fn(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Between the ends, and at them.
            if state >> 62 == 0 { (state >> 61) as u8 * 255 } else { (state >> 40) as u8 }
        });
        let divisors = Divisors::new(&std::array::from_fn(|k| 1 + k as u16 % 41));
        let (mut found, mut expected) = ([[0; 64]; 7], [[[0; 64]]; 7]);
        transform(&strip, 56, &divisors, &mut found);
        for (column, block) in expected.iter_mut().enumerate() {
            coefficients::<Eight, 1>(&strip, column * 8, 56, &divisors, block);
        }
        assert_eq!(found.as_slice(), expected.as_flattened());
    }

    #[test]
    fn quotients_are_rounded_to_the_nearest() {
        for quantizer in 1..=255u16 {
            let (divisors, divisor) = (Divisors::new(&[quantizer; 64]), i32::from(quantizer) * 8);
            for x in (-30000..=30000i32).step_by(8) {
                let eight: [i16; 8] = std::array::from_fn(|k| (x + k as i32) as i16);
                let expected = eight.map(|x| {
                    let x = i32::from(x);
                    ((x.abs() + divisor / 2) / divisor * x.signum()) as i16
                });
                assert_eq!(divisors.divide(3, Eight::each(eight)).array(), [expected], "{x} by {divisor}");
            }
        }
    }
}
