//! The elements of products that are multiplied as `f32`.

use kernlink::dtype::{Number, bf16, f16};

use crate::float16::Float16;

/// An element that is multiplied as `f32`, alone or with its neighbour: a word of an operand is the 32 bits that a
/// [tile](crate::tile) multiplies at a time, `f32` or two neighbours in the order of the sum.
pub trait Single: Number {
    /// Its value.
    fn single(self) -> f32;

    /// The values of neighbours.
    fn singles(source: &[Self], target: &mut [f32]);

    /// Rounds results; `accumulate` adds them to what is there.
    fn store(results: &[f32], target: &mut [Self], accumulate: bool);

    /// The elements as they are, if they are `f32`.
    fn as_singles(elements: &[Self]) -> Option<&[f32]> {
        let _ = elements;
        None
    }

    /// Elements in a word: 2 if this processor multiplies pairs of them and adds both products.
    fn per_word() -> usize {
        1
    }

    /// A word of two neighbours, where a word is of two.
    fn pair(first: Self, second: Self) -> f32 {
        let _ = second;
        first.single()
    }

    /// The words of neighbours; the last may lack its second element, which counts as zero.
    fn words(source: &[Self], target: &mut [f32]) {
        Self::singles(source, target);
    }

    /// The elements as words where they lie, if they can be read as such.
    fn as_words(elements: &[Self]) -> Option<&[f32]> {
        Self::as_singles(elements)
    }
}

impl Single for f32 {
    #[inline(always)]
    fn single(self) -> f32 {
        self
    }

    #[inline(always)]
    fn singles(source: &[f32], target: &mut [f32]) {
        target.copy_from_slice(source);
    }

    fn store(results: &[f32], target: &mut [f32], accumulate: bool) {
        for (target, result) in target.iter_mut().zip(results) {
            *target = if accumulate { *target + result } else { *result };
        }
    }

    fn as_singles(elements: &[f32]) -> Option<&[f32]> {
        Some(elements)
    }
}

macro_rules! single {
    ($t:ty $(, $pairs:item)*) => {
        impl Single for $t {
            #[inline(always)]
            fn single(self) -> f32 {
                self.widened()
            }

            #[inline(always)]
            fn singles(source: &[$t], target: &mut [f32]) {
                assert_eq!(source.len(), target.len());
                // SAFETY: there is room for as many.
                unsafe { Float16::widen(source, target.as_mut_ptr()) }
            }

            fn store(results: &[f32], target: &mut [$t], accumulate: bool) {
                if accumulate {
                    for (target, result) in target.iter_mut().zip(results) {
                        *target = <$t>::nearest(target.widened() + result);
                    }
                } else {
                    <$t>::narrow(results, target);
                }
            }

            $($pairs)*
        }
    };
}
single!(f16);
single!(
    bf16,
    fn per_word() -> usize {
        if has_pairs() { 2 } else { 1 }
    },
    #[inline(always)]
    fn pair(first: bf16, second: bf16) -> f32 {
        f32::from_bits(u32::from(first.to_bits()) | u32::from(second.to_bits()) << 16)
    },
    fn words(source: &[bf16], target: &mut [f32]) {
        if !has_pairs() {
            return Self::singles(source, target);
        }
        let (pairs, rest) = source.as_chunks::<2>();
        for (target, &[first, second]) in target.iter_mut().zip(pairs) {
            *target = Self::pair(first, second);
        }
        if let ([last], Some(target)) = (rest, target.get_mut(pairs.len())) {
            *target = Self::pair(*last, bf16::ZERO);
        }
    },
    fn as_words(elements: &[bf16]) -> Option<&[f32]> {
        if !has_pairs() {
            return None;
        }
        // SAFETY: all bits are values of `f32`.
        let (before, words, _) = unsafe { elements.align_to::<f32>() };
        before.is_empty().then_some(words)
    }
);

/// Whether this processor multiplies pairs of `bf16`.
pub(crate) fn has_pairs() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx512bf16") && std::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    false
}
