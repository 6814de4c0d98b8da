//! From samples to coefficients: libjpeg's accurate transform, which is Loeffler's, Ligtenberg's and Moschytz's (ICASSP 1989), and
//! its rounding.

use kernlink_kernels_common::vector::widest;

use super::header::Quantizers;
use super::idct::Block;
use super::lanes::{Eight, Lanes, WideLanes};

/// The bits of fraction of the constants.
const FRACTION: i32 = 13;

/// One pass over eight columns at once, of which `even` says how sums without a constant are scaled. The others lose `BITS` bits.
#[inline(always)]
fn pass<const BITS: i32>(x: [Eight; 8], even: impl Fn(Eight) -> Eight) -> [Eight; 8] {
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

widest! {
    /// Writes the coefficients of a row of blocks, whose samples a strip of eight lines of `width` samples holds, divided.
    pub(crate) fn transform(strip: &[u8], width: usize, divisors: &Divisors, blocks: &mut [Block]) {
        for (column, block) in blocks.iter_mut().enumerate() {
            coefficients(strip, column * 8, width, divisors, block);
        }
    }
}

/// Writes the coefficients of a block whose samples `plane` holds from `at` on, divided.
#[inline(always)]
fn coefficients(plane: &[u8], at: usize, stride: usize, divisors: &Divisors, block: &mut Block) {
    let samples: [Eight; 8] = std::array::from_fn(|y| {
        let row = plane[at + y * stride..].first_chunk();
        Eight::centred([*row.expect("a strip holds whole blocks")])
    });
    // Sums are kept four times as large between the passes.
    let x = pass::<{ FRACTION - 2 }>(Eight::transposed(samples), |x| x.left::<2>());
    let two = Eight::all(2);
    let x = pass::<{ FRACTION + 2 }>(Eight::transposed(x), |x| x.add(two).right::<2>());
    for (k, (row, x)) in block.as_chunks_mut::<8>().0.iter_mut().zip(x).enumerate() {
        [*row] = divisors.divide(k, x).array();
    }
}

/// What coefficients are divided by: eight times the quantisation table, as they are eight times too large.
pub(crate) struct Divisors {
    rows: [Row; 8],
}

/// What a row is divided by: half of it, its inverse, and by what that is too large.
#[derive(Clone, Copy)]
struct Row {
    halves: Eight,
    inverses: Eight,
    scales: Eight,
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
        let row = |k: usize, number: usize| Eight::each(std::array::from_fn(|x| numbers[k * 8 + x][number]));
        let rows = |k| Row { halves: row(k, 0), inverses: row(k, 1), scales: row(k, 2) };
        Divisors { rows: std::array::from_fn(rows) }
    }

    /// The quotients of row `k`, rounded to the nearest and halves away from 0.
    #[inline(always)]
    fn divide(&self, k: usize, x: Eight) -> Eight {
        let Row { halves, inverses, scales } = self.rows[k];
        let sign = x.right::<15>();
        let dividend = x.xor(sign).sub(sign).add(halves);
        dividend.high_product_unsigned(inverses).high_product_unsigned(scales).xor(sign).sub(sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
