//! Functions of `f32` by AVX-512 instructions that scale by powers of two and multiply and add at once: as accurate as those
//! for all processors, not the same to the bit.

use std::arch::x86_64::*;

/// `exp(x)`.
#[inline]
#[target_feature(enable = "avx512f")]
fn exp(x: __m512) -> __m512 {
    let constant = |x: f64| _mm512_set1_ps(x as f32);
    // The second operand is the result if one is NaN. Beyond the bounds the result is 0 or infinite.
    let x = _mm512_min_ps(constant(89.0), _mm512_max_ps(constant(-104.0), x));
    let n = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(_mm512_mul_ps(
        x,
        constant(std::f64::consts::LOG2_E),
    ));
    let r = _mm512_fnmadd_ps(n, constant(super::LN_2.0), x);
    let r = _mm512_fnmadd_ps(n, constant(super::LN_2.1), r);
    let mut p = constant(super::real::EXP_M1_REDUCED[0]);
    for coefficient in &super::real::EXP_M1_REDUCED[1..] {
        p = _mm512_fmadd_ps(p, r, constant(*coefficient));
    }
    let below = _mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r);
    _mm512_scalef_ps(_mm512_add_ps(below, constant(1.0)), n)
}

/// `1 / (1 + exp(-x))`.
#[inline]
#[target_feature(enable = "avx512f")]
fn sigmoid_of(x: __m512) -> __m512 {
    let one = _mm512_set1_ps(1.0);
    _mm512_div_ps(one, _mm512_add_ps(one, exp(_mm512_sub_ps(_mm512_setzero_ps(), x))))
}

/// `x / (1 + exp(-x))`, rounded as a product with [`sigmoid_of`].
#[inline]
#[target_feature(enable = "avx512f")]
fn swish_of(x: __m512) -> __m512 {
    _mm512_mul_ps(x, sigmoid_of(x))
}

/// Writes what `f` makes of each element.
///
/// # Safety
/// The processor has AVX-512; `source` and `target` have `count` elements, and are the same or do not overlap.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn each(source: *const f32, target: *mut f32, count: usize, f: unsafe fn(__m512) -> __m512) {
    for at in (0..count / 16 * 16).step_by(16) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_ps(target.add(at), f(_mm512_loadu_ps(source.add(at)))) };
    }
    let (whole, rest) = (count / 16 * 16, count % 16);
    if rest > 0 {
        let mask = (1 << rest) - 1;
        // SAFETY: the mask names the elements that there are; the processor has AVX-512.
        unsafe { _mm512_mask_storeu_ps(target.add(whole), mask, f(_mm512_maskz_loadu_ps(mask, source.add(whole)))) };
    }
}

/// `1 / (1 + exp(-x))` of each element.
///
/// # Safety
/// The processor has AVX-512; `source` and `target` have `count` elements, and are the same or do not overlap.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn sigmoid(source: *const f32, target: *mut f32, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { each(source, target, count, sigmoid_of) }
}

/// `x / (1 + exp(-x))` of each element.
///
/// # Safety
/// The processor has AVX-512; `source` and `target` have `count` elements, and are the same or do not overlap.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn swish(source: *const f32, target: *mut f32, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { each(source, target, count, swish_of) }
}
