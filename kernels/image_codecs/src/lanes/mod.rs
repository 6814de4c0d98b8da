//! Numbers of 16 bits by eights, with the operations that transforms and conversions of colours are made of: one eight at a time, or
//! two where the processor has AVX2.

#[cfg(any(test, not(target_arch = "x86_64")))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "the tests compare with a part"))]
mod arrays;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod sse2;

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use arrays::{Eight, pair_sums};
#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Sixteen;
#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::{Eight, pair_sums};

/// `N` eights of numbers of 16 bits, each of which may be of another block.
pub(crate) trait Lanes<const N: usize>: Copy {
    /// As many numbers of 32 bits.
    type Wide: WideLanes<Narrow = Self>;

    fn new(x: [[i16; 8]; N]) -> Self;

    /// The same numbers in each eight.
    fn each(x: [i16; 8]) -> Self;

    /// The same number everywhere.
    #[inline(always)]
    fn all(x: i16) -> Self {
        Self::each([x; 8])
    }

    /// So many numbers, one after the other.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    fn load(x: &[i16]) -> Self {
        let mut eights = [[0; 8]; N];
        eights.as_flattened_mut().copy_from_slice(&x[..N * 8]);
        Self::new(eights)
    }

    fn array(self) -> [[i16; 8]; N];

    /// Sums that wrap.
    fn add(self, other: Self) -> Self;

    /// Differences that wrap.
    fn sub(self, other: Self) -> Self;

    fn or(self, other: Self) -> Self;

    fn xor(self, other: Self) -> Self;

    /// The low 16 bits of products.
    fn low_product(self, other: Self) -> Self;

    /// The high 16 bits of products.
    fn high_product(self, other: Self) -> Self;

    /// The high 16 bits of products of numbers without a sign.
    fn high_product_unsigned(self, other: Self) -> Self;

    fn left<const BITS: i32>(self) -> Self;

    fn right<const BITS: i32>(self) -> Self;

    /// `self * p + other * q`.
    fn dot(self, p: i16, other: Self, q: i16) -> Self::Wide;

    /// The numbers with bits of fraction, which may go beyond what the numbers leave.
    fn widened<const FRACTION: i32>(self) -> Self::Wide;

    /// Whether all numbers of each eight are 0.
    fn are_zero(self) -> [bool; N];

    /// The eights of `a` where `own` says so, and otherwise those of `b`.
    fn chosen(own: [bool; N], a: Self, b: Self) -> Self;

    /// The columns of each block of eights, of which these are the rows.
    fn transposed(rows: [Self; 8]) -> [Self; 8];

    /// Samples of numbers around 0; those that are none become the nearest.
    fn samples(self) -> [[u8; 8]; N];

    /// Samples as numbers around 0.
    fn centred(samples: [[u8; 8]; N]) -> Self;

    /// Writes the pixels of three colours, which are given as numbers around 0; those that are no samples become the nearest.
    fn pixels(colors: [Self; 3], out: &mut [[u8; 24]; N]);

    /// The three colours of pixels.
    fn colors(pixels: &[[u8; 24]; N]) -> [Self; 3];

    /// Numbers that are bytes, of both in turn.
    fn in_turn(even: Self, odd: Self) -> [[u8; 16]; N];
}

/// Numbers of 32 bits, whose sums wrap.
pub(crate) trait WideLanes: Copy {
    type Narrow;

    /// The same number everywhere.
    fn all(x: i32) -> Self;

    fn add(self, other: Self) -> Self;

    fn sub(self, other: Self) -> Self;

    /// The numbers without their last bits, rounded, as far as 16 bits hold them.
    fn descaled<const BITS: i32>(self) -> Self::Narrow;
}

/// Whether two eights at once take less time than one after the other.
#[inline(always)]
pub(crate) fn are_two() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Declares a function of lanes and of how many eights they have, which is compiled for one eight and for two, and picks at run time.
macro_rules! widest_lanes {
    (
        $(#[$meta:meta])*
        $visibility:vis fn $name:ident<$lanes:ident, $count:ident $(, const $constant:ident: $kind:ty)?>($($arg:ident: $ty:ty),* $(,)?)
        $body:block
    ) => {
        $(#[$meta])*
        $visibility fn $name $(<const $constant: $kind>)? ($($arg: $ty),*) {
            #[inline(always)]
            fn body<$lanes: Lanes<$count>, const $count: usize $(, const $constant: $kind)?>($($arg: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            if $crate::lanes::are_two() {
                #[target_feature(enable = "avx2")]
                fn wide $(<const $constant: $kind>)? ($($arg: $ty),*) {
                    body::<$crate::lanes::Sixteen, 2 $(, $constant)?>($($arg),*)
                }
                // SAFETY: the processor has the feature.
                return unsafe { wide$(::<$constant>)?($($arg),*) };
            }
            body::<$crate::lanes::Eight, 1 $(, $constant)?>($($arg),*)
        }
    };
}
pub(crate) use widest_lanes;

#[cfg(target_arch = "x86_64")]
#[cfg(test)]
mod tests {
    use super::*;

    /// Eights of numbers at the edges and between, and of zeros.
    fn eights() -> impl FnMut() -> [i16; 8] {
        let edges = [i16::MIN, i16::MIN + 1, -16384, -255, -128, -1, 0, 1, 127, 128, 255, 4095, 16384, i16::MAX];
        let mut x = 1u64;
        let mut next = move || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let edge = edges[(x >> 33) as usize % edges.len()];
            if x >> 63 == 0 { edge } else { (x >> 40) as i16 }
        };
        move || if next() % 16 == 0 { [0; 8] } else { std::array::from_fn(|_| next()) }
    }

    /// What each operation gives.
    fn outcomes<L: Lanes<N>, const N: usize>(a: [[i16; 8]; N], b: [[i16; 8]; N]) -> Vec<[[i16; 8]; N]> {
        let (x, y) = (L::new(a), L::new(b));
        // Sums wrap, and what is too large for 16 bits becomes the nearest.
        let wide = || x.dot(-20995, y, 16819).add(x.widened::<13>()).sub(y.dot(32767, x, -32768));
        let same = L::Wide::all(20000).add(L::each([5; 8]).widened::<2>());
        let mut all = vec![
            x.add(y),
            x.sub(y),
            x.or(y),
            x.xor(y),
            x.high_product_unsigned(y),
            x.low_product(y),
            x.high_product(y),
            x.left::<2>(),
            x.right::<5>(),
        ];
        all.extend([
            L::load(b.as_flattened()),
            L::all(-7),
            L::each([1, -2, 3, -4, 5, -6, 7, -8]),
            same.descaled::<1>(),
        ]);
        all.extend([wide().descaled::<11>(), wide().descaled::<18>(), L::chosen(a.map(|eight| eight[0] < 0), x, y)]);
        all.push(L::chosen(x.are_zero(), L::all(1), L::all(0)));
        let bytes = a.map(|eight| eight.map(|x| x as u8));
        all.push(L::centred(bytes));
        let rows = std::array::from_fn(|k| if k % 2 == 0 { x.add(L::all(k as i16)) } else { y.sub(L::all(k as i16)) });
        all.extend(L::transposed(rows));
        let mut all: Vec<[[i16; 8]; N]> = all.into_iter().map(L::array).collect();
        all.push(x.samples().map(|samples| samples.map(i16::from)));
        let (even, odd) =
            (L::new(bytes.map(|bytes| bytes.map(i16::from))), L::new(b.map(|eight| eight.map(|x| x & 0xFF))));
        let in_turn = L::in_turn(even, odd);
        all.extend([0, 8].map(|at| in_turn.map(|bytes| std::array::from_fn(|k| bytes[at + k].into()))));
        let mut pixels = [[0; 24]; N];
        L::pixels([x, y, x.right::<4>()], &mut pixels);
        all.extend([0, 8, 16].map(|at| pixels.map(|bytes| std::array::from_fn(|k| bytes[at + k].into()))));
        all.extend(L::colors(&pixels).map(L::array));
        all
    }

    #[test]
    fn the_machines_operations_are_those_of_arrays() {
        let mut next = eights();
        for _ in 0..2000 {
            let (a, b) = ([next(), next()], [next(), next()]);
            let expected = [0, 1].map(|k| outcomes::<arrays::Eight, 1>([a[k]], [b[k]]));
            for (k, expected) in expected.iter().enumerate() {
                assert_eq!(outcomes::<Eight, 1>([a[k]], [b[k]]), *expected, "{a:?} {b:?}");
            }
            if are_two() {
                let [first, second] = expected;
                let expected: Vec<_> = first.into_iter().zip(second).map(|([a], [b])| [a, b]).collect();
                assert_eq!(outcomes::<Sixteen, 2>(a, b), expected, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn the_machines_operations_on_one_eight_are_those_of_arrays() {
        let mut next = eights();
        for _ in 0..2000 {
            let (a, b) = (next(), next());
            assert_eq!(Eight::each(a).non_zeros(), arrays::Eight::each(a).non_zeros());
            let bytes: [u8; 16] = std::array::from_fn(|k| [a, b][k / 8][k % 8] as u8);
            assert_eq!(pair_sums(bytes).array(), arrays::pair_sums(bytes).array());
        }
    }
}
