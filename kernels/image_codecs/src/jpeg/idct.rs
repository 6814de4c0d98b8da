//! From coefficients to samples: libjpeg's inverse transforms, with the widths of numbers that its vector code has, so that
//! coefficients that are too large for a transform give what they give there.
//!
//! The fast one is Arai's, Agui's and Nakajima's (T. IEICE E-71(11), 1988), the accurate one Loeffler's, Ligtenberg's and
//! Moschytz's (ICASSP 1989), as are those to smaller blocks.

use super::header::Quantizers;
use super::rows::rows;
use crate::lanes::{Eight, Lanes, WideLanes, are_two, widest_lanes};

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

    /// Whether two blocks at once take less time than one after the other.
    pub(crate) fn takes_two(self) -> bool {
        self.size() == 8 && are_two()
    }

    /// Writes the samples of a block to `plane` from `at` on, whose rows are `stride` apart.
    #[inline]
    pub(crate) fn apply(self, block: &Block, multipliers: &Block, plane: &mut [u8], at: usize, stride: usize) {
        match self {
            Transform::Fast => write([at], fast::<Eight, 1>([block], multipliers), plane, stride),
            Transform::Accurate => write([at], accurate::<Eight, 1>([block], multipliers), plane, stride),
            Transform::Half => write([at], half(block, multipliers).map(|row| [row]), plane, stride),
            Transform::Quarter => write([at], quarter(block, multipliers).map(|row| [row]), plane, stride),
            Transform::Mean => plane[at] = mean(block, multipliers),
        }
    }

    /// As [`Transform::apply`] for each of two blocks, from where it is to be written; for a transform that [takes
    /// two](Transform::takes_two).
    #[inline]
    pub(crate) fn apply_to_two(
        self,
        blocks: [(usize, &Block); 2],
        multipliers: &Block,
        plane: &mut [u8],
        stride: usize,
    ) {
        debug_assert_eq!(self.size(), 8);
        if self == Transform::Fast {
            two::<true>(blocks, multipliers, plane, stride);
        } else {
            two::<false>(blocks, multipliers, plane, stride);
        }
    }
}

widest_lanes! {
    fn two<L, N, const IS_FAST: bool>(
        blocks: [(usize, &Block); 2],
        multipliers: &Block,
        plane: &mut [u8],
        stride: usize,
    ) {
        for blocks in blocks.as_chunks::<N>().0 {
            let (at, blocks) = (blocks.map(|(at, _)| at), blocks.map(|(_, block)| block));
            let samples = if IS_FAST { fast::<L, N>(blocks, multipliers) } else { accurate::<L, N>(blocks, multipliers) };
            write(at, samples, plane, stride);
        }
    }
}

/// Writes the rows of blocks' samples.
#[inline(always)]
fn write<const N: usize, const SIZE: usize>(
    at: [usize; N],
    rows: [[[u8; SIZE]; N]; SIZE],
    plane: &mut [u8],
    stride: usize,
) {
    for (row, of_blocks) in rows.iter().enumerate() {
        for (at, samples) in at.iter().zip(of_blocks) {
            plane[at + row * stride..][..SIZE].copy_from_slice(samples);
        }
    }
}

#[inline(always)]
fn dequantized<L: Lanes<N>, const N: usize>(coefficients: [L; 8], multipliers: &Block) -> [L; 8] {
    let multipliers = multipliers.as_chunks::<8>().0;
    std::array::from_fn(|k| coefficients[k].low_product(L::each(multipliers[k])))
}

/// Products with a constant of 8 bits of fraction, of which the sum of 16 bits keeps what it can.
#[inline(always)]
fn times<L: Lanes<N>, const N: usize>(a: L, factor: i16) -> L {
    a.left::<2>().high_product(L::all(factor << 6))
}

/// One pass of the fast transform, over eight columns of each block at once.
#[inline(always)]
fn fast_pass<L: Lanes<N>, const N: usize>(x: [L; 8]) -> [L; 8] {
    let (tmp10, tmp11) = (x[0].add(x[4]), x[0].sub(x[4]));
    let tmp13 = x[2].add(x[6]);
    let tmp12 = times(x[2].sub(x[6]), 362).sub(tmp13);
    let (tmp0, tmp3) = (tmp10.add(tmp13), tmp10.sub(tmp13));
    let (tmp1, tmp2) = (tmp11.add(tmp12), tmp11.sub(tmp12));
    let (z13, z10) = (x[5].add(x[3]), x[5].sub(x[3]));
    let (z11, z12) = (x[1].add(x[7]), x[1].sub(x[7]));
    let tmp7 = z11.add(z13);
    let tmp11 = times(z11.sub(z13), 362);
    // The sum is of numbers that are shifted already, which matters where it does not fit.
    let z5 = times(z10.add(z12), 473);
    let tmp10 = times(z12, 277).sub(z5);
    let tmp12 = times(z10, -413).sub(z10).add(z5);
    let tmp6 = tmp12.sub(tmp7);
    let tmp5 = tmp11.sub(tmp6);
    let tmp4 = tmp10.add(tmp5);
    [
        tmp0.add(tmp7),
        tmp1.add(tmp6),
        tmp2.add(tmp5),
        tmp3.sub(tmp4),
        tmp3.add(tmp4),
        tmp2.sub(tmp5),
        tmp1.sub(tmp6),
        tmp0.sub(tmp7),
    ]
}

#[inline(always)]
fn fast<L: Lanes<N>, const N: usize>(blocks: [&Block; N], multipliers: &Block) -> [[[u8; 8]; N]; 8] {
    let rows = fast_pass::<L, N>(dequantized(rows(blocks), multipliers));
    L::transposed(fast_pass(L::transposed(rows))).map(|row| row.right::<5>().samples())
}

/// The bits of fraction of the accurate transforms' constants.
const FRACTION: i32 = 13;

/// One pass of the accurate transform over eight columns of each block at once, whose sums lose their last `BITS` bits.
#[inline(always)]
fn accurate_pass<L: Lanes<N>, const N: usize, const BITS: i32>(x: [L; 8]) -> [L; 8] {
    let tmp2 = x[2].dot(4433, x[6], 4433 - 15137);
    let tmp3 = x[2].dot(4433 + 6270, x[6], 4433);
    let (tmp0, tmp1) = (x[0].add(x[4]).widened::<FRACTION>(), x[0].sub(x[4]).widened::<FRACTION>());
    let (tmp10, tmp13) = (tmp0.add(tmp3), tmp0.sub(tmp3));
    let (tmp11, tmp12) = (tmp1.add(tmp2), tmp1.sub(tmp2));
    let (z3, z4) = (x[7].add(x[3]), x[5].add(x[1]));
    let odd_z3 = z3.dot(9633 - 16069, z4, 9633);
    let odd_z4 = z3.dot(9633, z4, 9633 - 3196);
    let tmp0 = x[7].dot(2446 - 7373, x[1], -7373).add(odd_z3);
    let tmp1 = x[5].dot(16819 - 20995, x[3], -20995).add(odd_z4);
    let tmp2 = x[3].dot(25172 - 20995, x[5], -20995).add(odd_z3);
    let tmp3 = x[1].dot(12299 - 7373, x[7], -7373).add(odd_z4);
    [
        tmp10.add(tmp3),
        tmp11.add(tmp2),
        tmp12.add(tmp1),
        tmp13.add(tmp0),
        tmp13.sub(tmp0),
        tmp12.sub(tmp1),
        tmp11.sub(tmp2),
        tmp10.sub(tmp3),
    ]
    .map(|sum| sum.descaled::<BITS>())
}

#[inline(always)]
fn accurate<L: Lanes<N>, const N: usize>(blocks: [&Block; N], multipliers: &Block) -> [[[u8; 8]; N]; 8] {
    let coefficients: [L; 8] = rows(blocks);
    let x = dequantized(coefficients, multipliers);
    // Where there are nothing but means of columns, the vector code shifts these in 16 bits.
    let are_means = coefficients[2..].iter().fold(coefficients[1], |all, &row| all.or(row)).are_zero();
    let means = x[0].left::<2>();
    let rows = if are_means == [true; N] {
        [means; 8]
    } else {
        accurate_pass::<L, N, { FRACTION - 2 }>(x).map(|row| L::chosen(are_means, means, row))
    };
    L::transposed(accurate_pass::<L, N, { FRACTION + 2 + 3 }>(L::transposed(rows))).map(L::samples)
}

/// One pass to four samples of the eight coefficients, of which the fifth says nothing.
#[inline(always)]
fn half_pass<const BITS: i32>(x: [Eight; 8]) -> [Eight; 4] {
    let tmp0 = x[0].widened::<{ FRACTION + 1 }>();
    let tmp2 = x[2].dot(15137, x[6], -6270);
    let (tmp10, tmp12) = (tmp0.add(tmp2), tmp0.sub(tmp2));
    let tmp0 = x[7].dot(-1730, x[5], 11893).add(x[3].dot(-17799, x[1], 8697));
    let tmp2 = x[7].dot(-4176, x[5], -4926).add(x[3].dot(7373, x[1], 20995));
    [tmp10.add(tmp2), tmp12.add(tmp0), tmp12.sub(tmp0), tmp10.sub(tmp2)].map(|sum| sum.descaled::<BITS>())
}

/// The columns of `N` rows.
#[inline(always)]
fn columns<const N: usize>(x: [Eight; N]) -> [Eight; 8] {
    Eight::transposed(std::array::from_fn(|k| x.get(k).copied().unwrap_or(Eight::all(0))))
}

/// The first samples of the first rows.
#[inline(always)]
fn corner<const N: usize>(rows: [Eight; 8]) -> [[u8; N]; N] {
    std::array::from_fn(|k| {
        let [samples] = rows[k].samples();
        std::array::from_fn(|x| samples[x])
    })
}

fn half(block: &Block, multipliers: &Block) -> [[u8; 4]; 4] {
    let x: [Eight; 8] = dequantized(rows([block]), multipliers);
    let (first, second) = (&block[8..32], &block[40..]);
    let rows = if first.iter().chain(second).all(|&x| x == 0) {
        // Nothing but means of columns, which the vector code shifts in 16 bits.
        [x[0].left::<2>(); 4]
    } else {
        half_pass::<{ FRACTION - 2 + 1 }>(x)
    };
    corner(columns(half_pass::<{ FRACTION + 2 + 3 + 1 }>(columns(rows))))
}

/// One pass to two samples of the first and the odd coefficients.
#[inline(always)]
fn quarter_pass<const BITS: i32>(x: [Eight; 8]) -> [Eight; 2] {
    let even = x[0].widened::<{ FRACTION + 2 }>();
    let odd = x[7].dot(-5906, x[5], 6967).add(x[3].dot(-10426, x[1], 29692));
    [even.add(odd), even.sub(odd)].map(|sum| sum.descaled::<BITS>())
}

fn quarter(block: &Block, multipliers: &Block) -> [[u8; 2]; 2] {
    let rows = quarter_pass::<{ FRACTION - 2 + 2 }>(dequantized(rows([block]), multipliers));
    corner(columns(quarter_pass::<{ FRACTION + 2 + 3 + 2 }>(columns(rows))))
}

/// The mean of a block, in the ten bits that libjpeg keeps of it.
fn mean(block: &Block, multipliers: &Block) -> u8 {
    let x = ((i32::from(block[0]) * i32::from(multipliers[0]) + 4) >> 3) & 1023;
    ((if x < 512 { x } else { x - 1024 }) + 128).clamp(0, 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_blocks_have_the_samples_of_each() {
        let mut state = 1u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as i16
        };
        // Dense, with few coefficients, of means of columns, of a mean; small and beyond what a transform holds.
        let mut block = |kind: usize| -> Block {
            let shift = [0, 6, 9][kind / 4 % 3];
            let filled = [64, 3, 8, 1][kind % 4];
            let numbers: Block = std::array::from_fn(|_| next() >> shift);
            std::array::from_fn(|k| if k < filled { numbers[k] } else { 0 })
        };
        let quantizers = std::array::from_fn(|k| 1 + k as u16 % 37);
        for transform in [Transform::Fast, Transform::Accurate] {
            let multipliers = transform.multipliers(&quantizers);
            for kinds in 0..144 {
                let blocks = [(3, &block(kinds / 12)), (8 * 30 + 14, &block(kinds % 12))];
                let [mut one, mut both] = [[0; 16 * 30]; 2];
                for (at, block) in blocks {
                    transform.apply(block, &multipliers, &mut one, at, 30);
                }
                transform.apply_to_two(blocks, &multipliers, &mut both, 30);
                assert_eq!(one, both, "{transform:?}, {kinds}");
            }
        }
    }
}
