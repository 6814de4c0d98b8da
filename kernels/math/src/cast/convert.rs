//! Conversions of single elements, and truncation.

use kernlink::dtype::{Complex32, Complex64, DataType, bf16, f16};

use super::Step;

/// `f64` to the nearest `f32`, but with an odd last bit if it is not exact: rounding this further to a much narrower
/// type gives what rounding the `f64` would.
pub(super) fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || !nearest.is_finite() || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    // The value lies between an even code and its neighbour, which is odd.
    let outwards = f64::from(nearest).abs() < value.abs();
    f32::from_bits(if outwards { nearest.to_bits() + 1 } else { nearest.to_bits() - 1 })
}

/// The step between the two complex dtypes.
pub(super) fn between_complex(from: DataType, to: DataType) -> Option<Step> {
    /// # Safety
    /// As [`Step`].
    unsafe fn widen(source: *const u8, target: *mut u8, length: usize) {
        // SAFETY: by the caller's promise.
        unsafe {
            super::load::each(source, target, length, |x: Complex32| Complex64::new(x.re.into(), x.im.into()));
        }
    }
    /// # Safety
    /// As [`Step`].
    unsafe fn narrow(source: *const u8, target: *mut u8, length: usize) {
        // SAFETY: by the caller's promise.
        unsafe {
            super::load::each(source, target, length, |x: Complex64| Complex32::new(x.re as f32, x.im as f32));
        }
    }
    match (from, to) {
        (DataType::Complex64, DataType::Complex128) => Some(widen),
        (DataType::Complex128, DataType::Complex64) => Some(narrow),
        _ => None,
    }
}

/// Zeroes low bits of elements in place; NaN stays.
pub(super) type Zeroing = unsafe fn(*mut u8, usize, u32);

/// For which dtypes the attr `Truncate` has an effect, and how many low bits it then zeroes.
pub(super) fn truncation(from: DataType, to: DataType) -> Option<(Zeroing, u32)> {
    use DataType::*;
    // Bits of the mantissa, the hidden one included. A complex target has none, says TensorFlow.
    let width = |dtype| match dtype {
        Double | Complex128 => 53,
        Float | Complex64 => 24,
        Half => 11,
        Bfloat16 => 8,
        Float8E4m3fn => 4,
        Float8E5m2 => 3,
        _ => 0,
    };
    let applies = match to {
        Float => matches!(from, Double | Complex128),
        Complex64 => matches!(from, Double | Complex128),
        Half => matches!(from, Double | Float | Complex64 | Complex128),
        Bfloat16 => from == Float,
        Float8E5m2 => matches!(from, Double | Float | Bfloat16 | Half | Float8E4m3fn),
        Float8E4m3fn => matches!(from, Double | Float | Bfloat16 | Half),
        _ => false,
    };
    if !applies {
        return None;
    }
    let target = if (from, to) == (Double, Complex64) { 0 } else { width(to) };
    let zeroing: Zeroing = match from {
        Double => zero_f64::<1>,
        Complex128 => zero_f64::<2>,
        Float => zero_f32::<1>,
        Complex64 => zero_f32::<2>,
        Half => zero_f16,
        Bfloat16 => zero_bf16,
        _ => zero_e4m3fn,
    };
    Some((zeroing, width(from) - target))
}

macro_rules! zeroing {
    ($($name:ident$(<$parts:ident>)?: $bits:ty, |$x:ident| $is_nan:expr;)*) => {$(
        /// # Safety
        /// The pointer points to `length` elements, which nothing else accesses.
        unsafe fn $name$(<const $parts: usize>)?(elements: *mut u8, length: usize, bits: u32) {
            // SAFETY: by the caller's promise.
            for element in unsafe { std::slice::from_raw_parts_mut(elements.cast::<$bits>(), length $(* $parts)?) } {
                let $x = *element;
                if !$is_nan {
                    *element &= <$bits>::MAX << bits;
                }
            }
        }
    )*};
}
zeroing! {
    zero_f64<PARTS>: u64, |x| f64::from_bits(x).is_nan();
    zero_f32<PARTS>: u32, |x| f32::from_bits(x).is_nan();
    zero_f16: u16, |x| f16::from_bits(x).is_nan();
    zero_bf16: u16, |x| bf16::from_bits(x).is_nan();
    zero_e4m3fn: u8, |x| x & 0x7f == 0x7f;
}
