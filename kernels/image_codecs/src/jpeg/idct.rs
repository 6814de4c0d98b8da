//! From coefficients to samples: libjpeg's inverse transforms, with the widths of numbers that its vector code has, so that
//! coefficients that are too large for a transform give what they give there.
//!
//! The fast one is Arai's, Agui's and Nakajima's (T. IEICE E-71(11), 1988), the accurate one Loeffler's, Ligtenberg's and
//! Moschytz's (ICASSP 1989), as are those to smaller blocks.

use super::header::Quantizers;

/// A block's coefficients or multipliers, in natural order.
pub(crate) type Block = [i16; 64];

/// What a component's coefficients are transformed by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Transform {
    /// To 8 x 8 samples, in sums of 16 bits.
    Fast,
    /// To 8 x 8 samples.
    Accurate,
    /// To 4 x 4 samples.
    Half,
    /// To 2 x 2 samples.
    Quarter,
    /// To one sample.
    Mean,
}

/// How the columns of the fast transform are scaled, with 14 bits of fraction.
const SCALES: [[i64; 8]; 8] = [
    [16384, 22725, 21407, 19266, 16384, 12873, 8867, 4520],
    [22725, 31521, 29692, 26722, 22725, 17855, 12299, 6270],
    [21407, 29692, 27969, 25172, 21407, 16819, 11585, 5906],
    [19266, 26722, 25172, 22654, 19266, 15137, 10426, 5315],
    [16384, 22725, 21407, 19266, 16384, 12873, 8867, 4520],
    [12873, 17855, 16819, 15137, 12873, 10114, 6967, 3552],
    [8867, 12299, 11585, 10426, 8867, 6967, 4799, 2446],
    [4520, 6270, 5906, 5315, 4520, 3552, 2446, 1247],
];

impl Transform {
    /// How many samples there are of a block, in each direction.
    pub(crate) fn size(self) -> usize {
        match self {
            Transform::Fast | Transform::Accurate => 8,
            Transform::Half => 4,
            Transform::Quarter => 2,
            Transform::Mean => 1,
        }
    }

    /// What coefficients are multiplied by first.
    pub(crate) fn multipliers(self, quantizers: &Quantizers) -> Block {
        std::array::from_fn(|at| match self {
            Transform::Fast => {
                // libjpeg takes the factors as signed numbers of 16 bits.
                let product = i64::from(quantizers[at] as i16) * SCALES[at / 8][at % 8];
                ((product + (1 << 11)) >> 12) as i16
            }
            _ => quantizers[at] as i16,
        })
    }

    /// Writes the samples of a block to `plane` from `at` on, whose rows are `stride` apart.
    #[inline]
    pub(crate) fn apply(self, block: &Block, multipliers: &Block, plane: &mut [u8], at: usize, stride: usize) {
        match self {
            Transform::Fast => write(&fast(block, multipliers), plane, at, stride),
            Transform::Accurate => write(&accurate(block, multipliers), plane, at, stride),
            Transform::Half => write(&half(block, multipliers), plane, at, stride),
            Transform::Quarter => write(&quarter(block, multipliers), plane, at, stride),
            Transform::Mean => plane[at] = mean(block, multipliers),
        }
    }
}

#[inline(always)]
fn write<const N: usize>(samples: &[[u8; N]; N], plane: &mut [u8], at: usize, stride: usize) {
    for (row, samples) in samples.iter().enumerate() {
        plane[at + row * stride..][..N].copy_from_slice(samples);
    }
}

type Lane = [i16; 8];

#[inline(always)]
fn zip(a: Lane, b: Lane, f: impl Fn(i16, i16) -> i16) -> Lane {
    std::array::from_fn(|k| f(a[k], b[k]))
}

#[inline(always)]
fn add(a: Lane, b: Lane) -> Lane {
    zip(a, b, i16::wrapping_add)
}

#[inline(always)]
fn sub(a: Lane, b: Lane) -> Lane {
    zip(a, b, i16::wrapping_sub)
}

/// Products with a constant of 8 bits of fraction, of which the sum of 16 bits keeps what it can.
#[inline(always)]
fn times(a: Lane, factor: i32) -> Lane {
    a.map(|a| ((i32::from(a.wrapping_shl(2)) * (factor << 6)) >> 16) as i16)
}

/// Row `k` of a block.
#[inline(always)]
fn row(block: &Block, k: usize) -> Lane {
    block.as_chunks::<8>().0[k]
}

#[inline(always)]
fn dequantized(block: &Block, multipliers: &Block) -> [Lane; 8] {
    std::array::from_fn(|k| zip(row(block, k), row(multipliers, k), i16::wrapping_mul))
}

#[inline(always)]
fn transposed<T: Copy>(rows: [[T; 8]; 8]) -> [[T; 8]; 8] {
    std::array::from_fn(|a| std::array::from_fn(|b| rows[b][a]))
}

/// One pass of the fast transform, over eight columns at once.
#[inline(always)]
fn fast_pass(x: [Lane; 8]) -> [Lane; 8] {
    let (tmp10, tmp11) = (add(x[0], x[4]), sub(x[0], x[4]));
    let tmp13 = add(x[2], x[6]);
    let tmp12 = sub(times(sub(x[2], x[6]), 362), tmp13);
    let (tmp0, tmp3) = (add(tmp10, tmp13), sub(tmp10, tmp13));
    let (tmp1, tmp2) = (add(tmp11, tmp12), sub(tmp11, tmp12));
    let (z13, z10) = (add(x[5], x[3]), sub(x[5], x[3]));
    let (z11, z12) = (add(x[1], x[7]), sub(x[1], x[7]));
    let tmp7 = add(z11, z13);
    let tmp11 = times(sub(z11, z13), 362);
    // The sum is of numbers that are shifted already, which matters where it does not fit.
    let z5 = times(add(z10, z12), 473);
    let tmp10 = sub(times(z12, 277), z5);
    let tmp12 = add(sub(times(z10, -413), z10), z5);
    let tmp6 = sub(tmp12, tmp7);
    let tmp5 = sub(tmp11, tmp6);
    let tmp4 = add(tmp10, tmp5);
    [
        add(tmp0, tmp7),
        add(tmp1, tmp6),
        add(tmp2, tmp5),
        sub(tmp3, tmp4),
        add(tmp3, tmp4),
        sub(tmp2, tmp5),
        sub(tmp1, tmp6),
        sub(tmp0, tmp7),
    ]
}

/// A sample of a number around 0.
#[inline(always)]
fn sample(x: i32) -> u8 {
    (x + 128).clamp(0, 255) as u8
}

fn fast(block: &Block, multipliers: &Block) -> [[u8; 8]; 8] {
    let x = dequantized(block, multipliers);
    let columns = fast_pass(transposed(fast_pass(x)));
    transposed(columns.map(|lane| lane.map(|x| sample(i32::from(x >> 5)))))
}

const BITS: u32 = 13;

#[inline(always)]
fn descaled(x: i32, bits: u32) -> i32 {
    x.wrapping_add(1 << (bits - 1)) >> bits
}

/// One pass of the accurate transform, of one column or row.
#[inline(always)]
fn accurate_pass(x: [i16; 8]) -> [i32; 8] {
    let wide = |k: usize| i32::from(x[k]);
    let sum = |a: usize, b: usize| i32::from(x[a].wrapping_add(x[b]));
    let (z2, z3) = (wide(2), wide(6));
    let tmp2 = z2 * 4433 + z3 * (4433 - 15137);
    let tmp3 = z2 * (4433 + 6270) + z3 * 4433;
    let tmp0 = sum(0, 4) << BITS;
    let tmp1 = i32::from(x[0].wrapping_sub(x[4])) << BITS;
    let (tmp10, tmp13) = (tmp0.wrapping_add(tmp3), tmp0.wrapping_sub(tmp3));
    let (tmp11, tmp12) = (tmp1.wrapping_add(tmp2), tmp1.wrapping_sub(tmp2));
    let (z3, z4) = (sum(7, 3), sum(5, 1));
    let odd_z3 = z3.wrapping_mul(9633 - 16069).wrapping_add(z4.wrapping_mul(9633));
    let odd_z4 = z3.wrapping_mul(9633).wrapping_add(z4.wrapping_mul(9633 - 3196));
    let tmp0 = (wide(7) * (2446 - 7373)).wrapping_add(wide(1) * -7373).wrapping_add(odd_z3);
    let tmp1 = (wide(5) * (16819 - 20995)).wrapping_add(wide(3) * -20995).wrapping_add(odd_z4);
    let tmp2 = (wide(3) * (25172 - 20995)).wrapping_add(wide(5) * -20995).wrapping_add(odd_z3);
    let tmp3 = (wide(1) * (12299 - 7373)).wrapping_add(wide(7) * -7373).wrapping_add(odd_z4);
    [
        tmp10.wrapping_add(tmp3),
        tmp11.wrapping_add(tmp2),
        tmp12.wrapping_add(tmp1),
        tmp13.wrapping_add(tmp0),
        tmp13.wrapping_sub(tmp0),
        tmp12.wrapping_sub(tmp1),
        tmp11.wrapping_sub(tmp2),
        tmp10.wrapping_sub(tmp3),
    ]
}

#[inline(always)]
fn narrowed(x: i32) -> i16 {
    x.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

fn accurate(block: &Block, multipliers: &Block) -> [[u8; 8]; 8] {
    let x = dequantized(block, multipliers);
    let columns: [[i16; 8]; 8] = if block[8..].iter().all(|&x| x == 0) {
        // Nothing but means of columns, which the vector code shifts in 16 bits.
        x[0].map(|x| [x.wrapping_shl(2); 8])
    } else {
        transposed(x).map(|column| accurate_pass(column).map(|x| narrowed(descaled(x, BITS - 2))))
    };
    transposed(columns).map(|row| accurate_pass(row).map(|x| sample(descaled(x, BITS + 2 + 3).clamp(-32768, 32767))))
}

/// One pass to four samples of the eight coefficients, of which the fifth says nothing.
#[inline(always)]
fn half_pass(x: [i16; 8]) -> [i32; 4] {
    let wide = |k: usize| i32::from(x[k]);
    let tmp0 = wide(0) << (BITS + 1);
    let tmp2 = wide(2) * 15137 - wide(6) * 6270;
    let (tmp10, tmp12) = (tmp0.wrapping_add(tmp2), tmp0.wrapping_sub(tmp2));
    let tmp0 = (wide(7) * -1730 + wide(5) * 11893).wrapping_add((wide(3) * -17799).wrapping_add(wide(1) * 8697));
    let tmp2 = (wide(7) * -4176 - wide(5) * 4926).wrapping_add((wide(3) * 7373).wrapping_add(wide(1) * 20995));
    [tmp10.wrapping_add(tmp2), tmp12.wrapping_add(tmp0), tmp12.wrapping_sub(tmp0), tmp10.wrapping_sub(tmp2)]
}

fn half(block: &Block, multipliers: &Block) -> [[u8; 4]; 4] {
    let x = dequantized(block, multipliers);
    let columns: [[i16; 4]; 8] = if [1, 2, 3, 5, 6, 7].iter().all(|&k| row(block, k) == [0; 8]) {
        // Nothing but means of columns, which the vector code shifts in 16 bits.
        x[0].map(|x| [x.wrapping_shl(2); 4])
    } else {
        transposed(x).map(|column| half_pass(column).map(|x| narrowed(descaled(x, BITS - 2 + 1))))
    };
    std::array::from_fn(|row| {
        half_pass(std::array::from_fn(|column| columns[column][row])).map(|x| sample(descaled(x, BITS + 2 + 3 + 1)))
    })
}

/// One pass to two samples of the first and the odd coefficients.
#[inline(always)]
fn quarter_pass(x: [i16; 8]) -> [i32; 2] {
    let wide = |k: usize| i32::from(x[k]);
    let even = wide(0) << (BITS + 2);
    let odd = (wide(7) * -5906 + wide(5) * 6967).wrapping_add((wide(3) * -10426).wrapping_add(wide(1) * 29692));
    [even.wrapping_add(odd), even.wrapping_sub(odd)]
}

fn quarter(block: &Block, multipliers: &Block) -> [[u8; 2]; 2] {
    let columns = transposed(dequantized(block, multipliers));
    let columns: [[i16; 2]; 8] =
        columns.map(|column| quarter_pass(column).map(|x| narrowed(descaled(x, BITS - 2 + 2))));
    std::array::from_fn(|row| {
        quarter_pass(std::array::from_fn(|column| columns[column][row])).map(|x| sample(descaled(x, BITS + 2 + 3 + 2)))
    })
}

/// The mean of a block, in the ten bits that libjpeg keeps of it.
fn mean(block: &Block, multipliers: &Block) -> u8 {
    let x = descaled(i32::from(block[0]) * i32::from(multipliers[0]), 3) & 1023;
    sample(if x < 512 { x } else { x - 1024 })
}
