//! Slices of 16-bit floats, to and from `f32`: what is computed in `f32` a block at a time is converted by these.

use kernlink::dtype::{Pod, bf16, f16};

use crate::number::{widen_bf16, widen_f16};
use crate::vector::widest;

/// A 16-bit float.
pub trait Float16: Pod {
    /// The exact value.
    fn widened(self) -> f32;

    /// The nearest number, of two the even one. NaN stays NaN.
    fn nearest(x: f32) -> Self;

    /// The exact values of `source`, written from `target` on.
    ///
    /// # Safety
    /// From `target` on there is room for as many numbers, which nothing else refers to.
    unsafe fn widen(source: &[Self], target: *mut f32);

    /// [`Float16::widen`] of so few that the results are wanted in registers.
    #[inline(always)]
    fn widen_chunk<const N: usize>(chunk: &[Self; N]) -> [f32; N] {
        let mut wide = [0.0; N];
        // SAFETY: there is room for as many numbers.
        unsafe { Self::widen(chunk, wide.as_mut_ptr()) };
        wide
    }

    /// The nearest numbers, as [`Float16::nearest`].
    ///
    /// # Panics
    /// If the lengths differ.
    fn narrow(source: &[f32], target: &mut [Self]);

    /// The value of the nearest number.
    #[inline(always)]
    fn rounded(x: f32) -> f32 {
        Self::nearest(x).widened()
    }

    /// [`Float16::rounded`] of the sum of two such numbers: the lower bits of its NaN are 0.
    #[inline(always)]
    fn rounded_sum(x: f32) -> f32 {
        Self::rounded(x)
    }
}

/// [`Float16::widen`] by `widened`.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn widen_each<T: Float16>(source: &[T], target: *mut f32) {
    for (index, x) in source.iter().enumerate() {
        // SAFETY: by the caller's promise.
        unsafe { target.add(index).write(x.widened()) };
    }
}

/// [`Float16::narrow`] by `nearest`.
#[inline(always)]
fn narrow_each<T: Float16>(source: &[f32], target: &mut [T]) {
    for (target, &x) in target.iter_mut().zip(source) {
        *target = T::nearest(x);
    }
}

impl Float16 for bf16 {
    #[inline(always)]
    fn widened(self) -> f32 {
        widen_bf16(self)
    }

    #[inline(always)]
    fn nearest(x: f32) -> bf16 {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        let quiet = bits >> 16 | 0x40;
        bf16::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { quiet } else { rounded } as u16)
    }

    #[inline(always)]
    fn rounded_sum(x: f32) -> f32 {
        // What is added does not reach the exponent of such a NaN.
        let bits = x.to_bits();
        f32::from_bits(bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000)
    }

    #[inline(always)]
    unsafe fn widen(source: &[bf16], target: *mut f32) {
        // SAFETY: by the caller's promise.
        unsafe { widen_each(source, target) }
    }

    #[inline(always)]
    fn narrow(source: &[f32], target: &mut [bf16]) {
        assert_eq!(source.len(), target.len());
        if source.len() < 32 { narrow_each(source, target) } else { narrow_bf16(source, target) }
    }
}

widest! {
    avx512:
    /// Rounds numbers with wide vectors, without which many at a time gain nothing.
    fn narrow_bf16(source: &[f32], target: &mut [bf16]) {
        let ((chunks, rest), (targets, others)) = (source.as_chunks::<32>(), target.as_chunks_mut::<32>());
        for (target, chunk) in targets.iter_mut().zip(chunks) {
            for lane in 0..32 {
                target[lane] = bf16::nearest(chunk[lane]);
            }
        }
        narrow_each(rest, others);
    }
}

impl Float16 for f16 {
    #[inline(always)]
    fn widened(self) -> f32 {
        widen_f16(self)
    }

    /// After Fabian Giesen's `float_to_half_fast3_rtne`, without branches.
    #[inline(always)]
    fn nearest(x: f32) -> f16 {
        const INFINITY: u32 = 0x7f80_0000;
        /// Adding this to what becomes subnormal leaves the result in the low bits.
        const ALIGN: f32 = f32::from_bits((127 - 15 + 23 - 10 + 1) << 23);
        let sign = x.to_bits() & 0x8000_0000;
        let bits = x.to_bits() ^ sign;
        let special = if bits > INFINITY { 0x7e00 | bits >> 13 & 0x3ff } else { 0x7c00 };
        let subnormal = (f32::from_bits(bits) + ALIGN).to_bits().wrapping_sub(ALIGN.to_bits());
        let normal = bits.wrapping_sub(112 << 23).wrapping_add(0xfff + (bits >> 13 & 1)) >> 13;
        let finite = if bits < 113 << 23 { subnormal } else { normal };
        let magnitude = if bits >= (127 + 16) << 23 { special } else { finite };
        f16::from_bits((magnitude | sign >> 16) as u16)
    }

    #[inline(always)]
    unsafe fn widen(source: &[f16], target: *mut f32) {
        #[cfg(target_arch = "x86_64")]
        if x86::has_avx512() {
            // SAFETY: the processor has AVX-512 and F16C; the rest by the caller's promise.
            return unsafe { x86::widen_sixteen(source, target) };
        } else if x86::has_f16c() {
            // SAFETY: the processor has F16C; the rest by the caller's promise.
            return unsafe { x86::widen(source, target) };
        }
        // SAFETY: by the caller's promise.
        unsafe { widen_each(source, target) }
    }

    #[inline(always)]
    fn widen_chunk<const N: usize>(chunk: &[f16; N]) -> [f32; N] {
        let mut wide = [0.0; N];
        #[cfg(target_arch = "x86_64")]
        if x86::has_f16c() {
            // With what loops for AVX2 have, so that it becomes a part of them.
            // SAFETY: the processor has F16C, and there is room for as many numbers.
            unsafe { x86::widen(chunk, wide.as_mut_ptr()) };
            return wide;
        }
        // SAFETY: there is room for as many numbers.
        unsafe { widen_each(chunk, wide.as_mut_ptr()) };
        wide
    }

    #[inline(always)]
    fn narrow(source: &[f32], target: &mut [f16]) {
        assert_eq!(source.len(), target.len());
        #[cfg(target_arch = "x86_64")]
        if x86::has_avx512() {
            // SAFETY: the processor has AVX-512 and F16C.
            return unsafe { x86::narrow_sixteen(source, target) };
        } else if x86::has_f16c() {
            // SAFETY: the processor has F16C.
            return unsafe { x86::narrow(source, target) };
        }
        narrow_each(source, target);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps,
        _mm256_cvtps_ph, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_storeu_ps, _mm256_storeu_si256, _mm512_cvtph_ps,
        _mm512_cvtps_ph, _mm512_loadu_ps, _mm512_storeu_ps,
    };

    use super::{f16, narrow_each, widen_each};

    /// Whether the processor has instructions that convert `f16`.
    #[inline(always)]
    pub(super) fn has_f16c() -> bool {
        is_x86_feature_detected!("avx") && is_x86_feature_detected!("f16c")
    }

    /// Whether it converts 16 of them at a time.
    #[inline(always)]
    pub(super) fn has_avx512() -> bool {
        is_x86_feature_detected!("avx512f") && has_f16c()
    }

    /// As [`Float16::widen`], 16 at a time.
    ///
    /// # Safety
    /// As there.
    #[inline]
    #[target_feature(enable = "avx512f,f16c")]
    pub(super) unsafe fn widen_sixteen(source: &[f16], target: *mut f32) {
        let (chunks, rest) = source.as_chunks::<16>();
        for (index, chunk) in chunks.iter().enumerate() {
            // SAFETY: the chunk has 32 bytes, and by the caller's promise there is room for its numbers.
            unsafe {
                let halves = _mm256_loadu_si256(chunk.as_ptr().cast::<__m256i>());
                _mm512_storeu_ps(target.add(16 * index), _mm512_cvtph_ps(halves));
            }
        }
        // SAFETY: as above.
        unsafe { widen(rest, target.add(16 * chunks.len())) };
    }

    /// As [`Float16::narrow`], of slices of one length, 16 at a time.
    #[inline]
    #[target_feature(enable = "avx512f,f16c")]
    pub(super) fn narrow_sixteen(source: &[f32], target: &mut [f16]) {
        let ((chunks, rest), (targets, others)) = (source.as_chunks::<16>(), target.as_chunks_mut::<16>());
        for (target, chunk) in targets.iter_mut().zip(chunks) {
            // SAFETY: the chunk has 64 bytes, the target 32.
            unsafe {
                let halves = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_loadu_ps(chunk.as_ptr()));
                _mm256_storeu_si256(target.as_mut_ptr().cast::<__m256i>(), halves);
            }
        }
        narrow(rest, others);
    }

    /// As [`Float16::widen`].
    ///
    /// # Safety
    /// As there.
    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) unsafe fn widen(source: &[f16], target: *mut f32) {
        let (chunks, rest) = source.as_chunks::<8>();
        for (index, chunk) in chunks.iter().enumerate() {
            // SAFETY: the chunk has 16 bytes, and by the caller's promise there is room for its numbers.
            unsafe {
                let halves = _mm_loadu_si128(chunk.as_ptr().cast::<__m128i>());
                _mm256_storeu_ps(target.add(8 * index), _mm256_cvtph_ps(halves));
            }
        }
        // SAFETY: as above.
        unsafe { widen_each(rest, target.add(8 * chunks.len())) };
    }

    /// As [`Float16::narrow`], of slices of one length.
    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn narrow(source: &[f32], target: &mut [f16]) {
        let ((chunks, rest), (targets, others)) = (source.as_chunks::<8>(), target.as_chunks_mut::<8>());
        for (target, chunk) in targets.iter_mut().zip(chunks) {
            // SAFETY: the chunk has 32 bytes, the target 16.
            unsafe {
                let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(chunk.as_ptr()));
                _mm_storeu_si128(target.as_mut_ptr().cast::<__m128i>(), halves);
            }
        }
        narrow_each(rest, others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrowed<T: Float16>(source: &[f32]) -> Vec<T> {
        let mut target = vec![T::default(); source.len()];
        T::narrow(source, &mut target);
        target
    }

    /// All exponents, with the mantissas that are near ties.
    fn floats() -> Vec<f32> {
        let low = [0u32, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff];
        let high = [0u32, 0x2000, 0x1_0000, 0x40_0000, 0x7f_e000, 0x7f_0000];
        let all = (0..512u32).flat_map(|top| high.map(|high| top << 23 | high));
        all.flat_map(|bits| low.map(|low| f32::from_bits(bits | low)))
            .chain((0..u32::MAX).step_by(99_991).map(f32::from_bits))
            .collect()
    }

    #[test]
    fn slices_are_rounded_as_elements_are() {
        let floats = floats();
        // Lengths and starts that leave a rest.
        for (start, length) in [(0, floats.len()), (1, 7), (3, 8), (5, 29), (0, 0), (2, 1)] {
            let source = &floats[start..start + length];
            for (&x, (half, brain)) in
                source.iter().zip(narrowed::<f16>(source).into_iter().zip(narrowed::<bf16>(source)))
            {
                let (right_half, right_brain) = (f16::from_f32(x), bf16::from_f32(x));
                assert_eq!(half.to_bits(), right_half.to_bits(), "{:#x}", x.to_bits());
                assert_eq!(brain.to_bits(), right_brain.to_bits(), "{:#x}", x.to_bits());
                // The ways of processors with and without instructions for it agree.
                assert_eq!(f16::nearest(x).to_bits(), half.to_bits(), "{:#x}", x.to_bits());
            }
        }
    }

    #[test]
    fn every_number_widens_and_comes_back() {
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let mut wide = vec![0.0; halves.len()];
        // SAFETY: the vectors have one length.
        unsafe { f16::widen(&halves, wide.as_mut_ptr()) };
        for (half, &wide) in halves.iter().zip(&wide) {
            assert!(wide.to_bits() == half.to_f32().to_bits() || half.is_nan(), "{half}");
            assert!(wide.is_nan() == half.is_nan());
            assert!(f16::nearest(wide).to_bits() == half.to_bits() || half.is_nan(), "{half}");
            assert!(f16::rounded(wide).to_bits() == wide.to_bits() || half.is_nan(), "{half}");
        }
    }

    #[test]
    fn sums_are_rounded_as_numbers_are() {
        // All numbers with some, among them those that are infinite and not numbers.
        for other in [0x0000, 0x8000, 0x3f80, 0xbf81, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffff, 0x7f81, 0x0001] {
            for bits in 0..=u16::MAX {
                let sum = bf16::from_bits(bits).widened() + bf16::from_bits(other).widened();
                assert_eq!(bf16::rounded_sum(sum).to_bits(), bf16::rounded(sum).to_bits(), "{bits:#x} + {other:#x}");
            }
        }
    }
}
