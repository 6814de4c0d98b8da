//! What arithmetic asks of a dtype beside [`Number`].

use std::mem::MaybeUninit;

use kernlink::dtype::{Complex32, Complex64, Number, bf16, f16};
use kernlink::error::Result;
use kernlink::tensor::scratch;

use crate::float16::Float16;

pub use num_complex::ComplexFloat;
pub use num_traits::{AsPrimitive, Float};

/// A number, and the dtype that its sums and functions are computed in.
pub trait Computed: Number {
    /// `f32` for 16-bit floats, the dtype itself for others.
    type Wide: Computed<Wide = Self::Wide>;

    /// The exact value.
    fn widen(self) -> Self::Wide;

    /// The exact values, which may be found together at less cost.
    #[inline(always)]
    fn widen_chunk<const N: usize>(chunk: &[Self; N]) -> [Self::Wide; N] {
        let mut wide = [Self::Wide::ZERO; N];
        for (wide, x) in wide.iter_mut().zip(chunk) {
            *wide = x.widen();
        }
        wide
    }

    /// The nearest value.
    fn narrow(wide: Self::Wide) -> Self;

    /// The exact values of as many elements as both have.
    fn widen_all(source: &[Self], target: &mut [Self::Wide]) {
        for (target, element) in target.iter_mut().zip(source) {
            *target = element.widen();
        }
    }

    /// The nearest values of as many elements as both have.
    fn narrow_all(source: &[Self::Wide], target: &mut [Self]) {
        for (target, &wide) in target.iter_mut().zip(source) {
            *target = Self::narrow(wide);
        }
    }

    /// What `f` returns for the elements in the wide dtype, which become what it makes of them.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    fn on_wide<R>(elements: &mut [Self], f: impl FnOnce(&mut [Self::Wide]) -> R) -> Result<R>;

    /// As [`Computed::on_wide`], of numbers that lie elsewhere, written to `target`.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// If the lengths differ.
    fn on_wide_from<R>(source: &[Self], target: &mut [Self], f: impl FnOnce(&mut [Self::Wide]) -> R) -> Result<R>;

    /// The complex conjugate, which of a real number is the number itself.
    #[inline(always)]
    fn conj(self) -> Self {
        self
    }
}

macro_rules! computed_as_they_are {
    ($($t:ty $(, $conj:ident)?);*) => {$(
        impl Computed for $t {
            type Wide = $t;
            #[inline(always)]
            fn widen(self) -> $t { self }
            #[inline(always)]
            fn narrow(wide: $t) -> $t { wide }
            #[inline(always)]
            fn on_wide<R>(elements: &mut [$t], f: impl FnOnce(&mut [$t]) -> R) -> Result<R> { Ok(f(elements)) }
            #[inline(always)]
            fn on_wide_from<R>(source: &[$t], target: &mut [$t], f: impl FnOnce(&mut [$t]) -> R) -> Result<R> {
                target.copy_from_slice(source);
                Ok(f(target))
            }
            $(
                #[inline(always)]
                fn conj(self) -> $t { <$t>::$conj(&self) }
            )?
        }
    )*};
}
computed_as_they_are!(f32; f64; i8; i16; i32; i64; u8; u16; u32; u64; Complex32, conj; Complex64, conj);

/// Elements that are widened on the stack.
const NEAR: usize = 2048;

/// Where 16-bit floats are computed on: numbers that start where a cache line does, so that no vector lies in two.
#[repr(align(64))]
struct Room {
    near: [MaybeUninit<f32>; NEAR],
    far: Vec<f32>,
}

impl Room {
    #[inline(always)]
    fn new() -> Room {
        Room { near: [MaybeUninit::uninit(); NEAR], far: Vec::new() }
    }

    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory for many.
    #[inline(always)]
    fn widened<T: Float16>(&mut self, source: &[T]) -> Result<&mut [f32]> {
        if source.len() > NEAR {
            self.far = scratch::zeros(source.len())?;
            // SAFETY: there are as many numbers.
            unsafe { T::widen(source, self.far.as_mut_ptr()) };
            return Ok(&mut self.far);
        }
        let target = self.near.as_mut_ptr().cast::<f32>();
        // SAFETY: there is room for as many numbers, and they are written before they are numbers to others.
        unsafe {
            T::widen(source, target);
            Ok(std::slice::from_raw_parts_mut(target, source.len()))
        }
    }
}

macro_rules! computed_as_f32 {
    ($($t:ty: $widen:expr),*) => {$(
        impl Computed for $t {
            type Wide = f32;
            #[inline(always)]
            fn widen(self) -> f32 { $widen(self) }
            #[inline(always)]
            fn widen_chunk<const N: usize>(chunk: &[$t; N]) -> [f32; N] {
                Float16::widen_chunk(chunk)
            }
            #[inline(always)]
            fn narrow(wide: f32) -> $t { <$t>::from_f32(wide) }
            fn widen_all(source: &[$t], target: &mut [f32]) {
                let count = source.len().min(target.len());
                // SAFETY: there is room for as many numbers.
                unsafe { Float16::widen(&source[..count], target.as_mut_ptr()) };
            }
            fn narrow_all(source: &[f32], target: &mut [$t]) {
                let count = source.len().min(target.len());
                <$t as Float16>::narrow(&source[..count], &mut target[..count]);
            }
            fn on_wide<R>(elements: &mut [$t], f: impl FnOnce(&mut [f32]) -> R) -> Result<R> {
                let mut room = Room::new();
                let wide = room.widened(elements)?;
                let result = f(wide);
                <$t>::narrow_all(wide, elements);
                Ok(result)
            }
            fn on_wide_from<R>(source: &[$t], target: &mut [$t], f: impl FnOnce(&mut [f32]) -> R) -> Result<R> {
                assert_eq!(source.len(), target.len());
                let mut room = Room::new();
                let wide = room.widened(source)?;
                let result = f(wide);
                <$t>::narrow_all(wide, target);
                Ok(result)
            }
        }
    )*};
}
computed_as_f32!(f16: widen_f16, bf16: widen_bf16);

/// A number that has quotients.
pub trait Divide: Number {
    /// `self / divisor`; of integers towards zero, wrapping, and 0 if the divisor is.
    fn divide(self, divisor: Self) -> Self;
}

macro_rules! divided {
    ($($t:ty),*; $($integer:ty),*) => {
        $(impl Divide for $t {
            #[inline]
            fn divide(self, divisor: $t) -> $t { self / divisor }
        })*
        $(impl Divide for $integer {
            #[inline]
            fn divide(self, divisor: $integer) -> $integer { if divisor == 0 { 0 } else { self.wrapping_div(divisor) } }
        })*
    };
}
divided!(f32, f64, f16, bf16, Complex32, Complex64; i8, i16, i32, i64, u8, u16, u32, u64);

/// The exact value, without the branch that `half` has for NaN.
#[inline(always)]
pub(crate) fn widen_bf16(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// The exact value, without branches, so that loops over it become vector instructions.
#[inline(always)]
pub(crate) fn widen_f16(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let magnitude = (bits & 0x7fff) << 13;
    // The exponents' biases differ by 112; the product also normalises subnormal numbers.
    let finite = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let special = magnitude | 0x7f80_0000;
    let value = if magnitude >= 0x0f80_0000 { special } else { finite };
    f32::from_bits(value | (bits & 0x8000) << 16)
}

/// What is a fraction of the way between two numbers.
#[inline(always)]
pub fn mixed(a: f32, b: f32, fraction: f32) -> f32 {
    a + (b - a) * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_16_bit_float_widens() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(widen_f16(half).to_bits() == half.to_f32().to_bits() || half.is_nan(), "{bits:#x}");
            assert!(widen_bf16(brain).to_bits() == brain.to_f32().to_bits() || brain.is_nan(), "{bits:#x}");
            assert_eq!(widen_f16(half).is_nan(), half.is_nan());
            assert_eq!(widen_bf16(brain).is_nan(), brain.is_nan());
        }
    }
}
