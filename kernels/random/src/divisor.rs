//! Remainders by a divisor that many numbers have, without division.

/// A divisor of 32 bits.
///
/// After Granlund and Montgomery, "Division by Invariant Integers using Multiplication" (1994), figure 4.1.
#[derive(Clone, Copy)]
pub(super) struct Divisor32 {
    divisor: u32,
    factor: u32,
    shifts: [u32; 2],
}

/// A divisor of 64 bits, as [`Divisor32`].
#[derive(Clone, Copy)]
pub(super) struct Divisor64 {
    divisor: u64,
    factor: u64,
    shifts: [u32; 2],
}

macro_rules! divisor {
    ($name:ident, $t:ty, $wide:ty) => {
        impl $name {
            /// What divides by `divisor`, which is not 0.
            pub(super) fn new(divisor: $t) -> $name {
                // 2^bits is the least power of two that is not below the divisor.
                let bits = divisor.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1);
                let excess = (1 << bits) - <$wide>::from(divisor);
                let factor = ((excess << <$t>::BITS) / <$wide>::from(divisor) + 1) as $t;
                $name { divisor, factor, shifts: [bits.min(1), bits.saturating_sub(1)] }
            }

            /// `number % divisor`.
            #[inline(always)]
            pub(super) fn remainder(self, number: $t) -> $t {
                let product = (<$wide>::from(self.factor) * <$wide>::from(number) >> <$t>::BITS) as $t;
                let [first, second] = self.shifts;
                let quotient = (product + ((number - product) >> first)) >> second;
                number - quotient * self.divisor
            }
        }
    };
}
divisor!(Divisor32, u32, u64);
divisor!(Divisor64, u64, u128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_are_those_of_division() {
        let mut bits = 1u64;
        let mut random = move || {
            bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            bits.rotate_left(29) >> (bits >> 58)
        };
        let ends = (0..64).flat_map(|bit| [1 << bit, (1 << bit) + 1, (1u64 << bit).wrapping_sub(1), !0 << bit]);
        let numbers = ends.chain((0..300).map(|_| random())).collect::<Vec<_>>();
        for &divisor in numbers.iter().filter(|&&divisor| divisor != 0) {
            let wide = Divisor64::new(divisor);
            let narrow = (divisor as u32 != 0).then(|| Divisor32::new(divisor as u32));
            for &number in &numbers {
                assert_eq!(wide.remainder(number), number % divisor, "{number} by {divisor}");
                if let Some(narrow) = narrow {
                    let (number, divisor) = (number as u32, divisor as u32);
                    assert_eq!(narrow.remainder(number), number % divisor, "{number} by {divisor}");
                }
            }
        }
    }
}
