//! From samples to coefficients: libjpeg's accurate transform, which is Loeffler's, Ligtenberg's and Moschytz's (ICASSP 1989), and
//! its rounding.

use super::header::Quantizers;
use super::idct::Block;

const BITS: u32 = 13;

#[inline(always)]
fn descaled(x: i32, bits: u32) -> i32 {
    (x + (1 << (bits - 1))) >> bits
}

/// One pass, of rows with `IS_FIRST` and of columns else. Sums are kept four times as large between the two.
#[inline(always)]
fn pass<const IS_FIRST: bool>(x: [i32; 8]) -> [i32; 8] {
    let bits = if IS_FIRST { BITS - 2 } else { BITS + 2 };
    let (s0, d0) = (x[0] + x[7], x[0] - x[7]);
    let (s1, d1) = (x[1] + x[6], x[1] - x[6]);
    let (s2, d2) = (x[2] + x[5], x[2] - x[5]);
    let (s3, d3) = (x[3] + x[4], x[3] - x[4]);
    let (e0, e3) = (s0 + s3, s0 - s3);
    let (e1, e2) = (s1 + s2, s1 - s2);
    let even = |x: i32| if IS_FIRST { x << 2 } else { descaled(x, 2) };
    let z1 = (e2 + e3) * 4433;
    let (tmp4, tmp5, tmp6, tmp7) = (d3, d2, d1, d0);
    let (z3, z4) = (tmp4 + tmp6, tmp5 + tmp7);
    let z5 = (z3 + z4) * 9633;
    let (a, b) = ((tmp4 + tmp7) * -7373, (tmp5 + tmp6) * -20995);
    let (z3, z4) = (z3 * -16069 + z5, z4 * -3196 + z5);
    [
        even(e0 + e1),
        descaled(tmp7 * 12299 + a + z4, bits),
        descaled(z1 + e3 * 6270, bits),
        descaled(tmp6 * 25172 + b + z3, bits),
        even(e0 - e1),
        descaled(tmp5 * 16819 + b + z4, bits),
        descaled(z1 - e2 * 15137, bits),
        descaled(tmp4 * 2446 + a + z3, bits),
    ]
}

#[inline(always)]
fn transposed(rows: [[i32; 8]; 8]) -> [[i32; 8]; 8] {
    std::array::from_fn(|a| std::array::from_fn(|b| rows[b][a]))
}

/// The coefficients of a block whose samples `plane` holds from `at` on, divided.
pub(crate) fn coefficients(plane: &[u8], at: usize, stride: usize, divisors: &Divisors) -> Block {
    let rows: [[i32; 8]; 8] = std::array::from_fn(|y| {
        let row = &plane[at + y * stride..][..8];
        std::array::from_fn(|x| i32::from(row[x]) - 128)
    });
    // The columns of eight rows are passed over at once: that suits vectors.
    let rows = transposed(lanes::<true>(transposed(rows)));
    let coefficients = lanes::<false>(rows);
    std::array::from_fn(|k| divisors.divide(k, coefficients[k / 8][k % 8]))
}

/// [`pass`] over each column.
#[inline(always)]
fn lanes<const IS_FIRST: bool>(x: [[i32; 8]; 8]) -> [[i32; 8]; 8] {
    let mut out = [[0; 8]; 8];
    for lane in 0..8 {
        let column = pass::<IS_FIRST>(std::array::from_fn(|k| x[k][lane]));
        for (row, value) in out.iter_mut().zip(column) {
            row[lane] = value;
        }
    }
    out
}

/// What coefficients are divided by: eight times the quantisation table, as they are eight times too large.
pub(crate) struct Divisors {
    halves: [i32; 64],
    inverses: [f32; 64],
    divisors: [i32; 64],
}

impl Divisors {
    pub(crate) fn new(quantizers: &Quantizers) -> Divisors {
        let divisors = quantizers.map(|quantizer| i32::from(quantizer) * 8);
        Divisors { halves: divisors.map(|x| x / 2), inverses: divisors.map(|x| 1.0 / x as f32), divisors }
    }

    /// The quotient, rounded to the nearest and halves away from 0.
    #[inline(always)]
    fn divide(&self, k: usize, x: i32) -> i16 {
        let dividend = x.abs() + self.halves[k];
        // The quotient of floats is off by less than one: the remainder says which way.
        let quotient = (dividend as f32 * self.inverses[k]) as i32;
        let remainder = dividend - quotient * self.divisors[k];
        let quotient = quotient - i32::from(remainder < 0) + i32::from(remainder >= self.divisors[k]);
        (if x < 0 { -quotient } else { quotient }) as i16
    }
}
