//! Steps that store elements from a wide type.

use kernlink::dtype::{Complex32, Complex64, DataType, Float8E4M3Fn, Float8E5M2, Int4, UInt4, bf16, f16};

use kernlink_kernels_common::float16::Float16;
use kernlink_kernels_common::truncate::Truncate;
use kernlink_kernels_common::widest;

use super::convert::round_to_odd;
use super::load::each;
use super::{Step, Wide};

/// A wide type, and what becomes of it.
trait Source: Copy + PartialEq {
    const ZERO: Self;
    fn f32(self) -> f32;
    /// An `f32` that rounds to an 8-bit float as the value itself does.
    fn for_float8(self) -> f32 {
        self.f32()
    }
    fn f64(self) -> f64;
    fn i32(self) -> i32;
    fn i64(self) -> i64;
    fn u64(self) -> u64;
    /// Whether `i32` has the same low bits as `i64`.
    fn fits_i32(self) -> bool;
}

macro_rules! floats {
    ($($t:ty, $float8:expr);*) => {$(
        impl Source for $t {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn f32(self) -> f32 { self as f32 }
            #[inline(always)]
            fn for_float8(self) -> f32 { $float8(self) }
            #[inline(always)]
            fn f64(self) -> f64 { self as f64 }
            #[inline(always)]
            fn i32(self) -> i32 { self.to_i32() }
            #[inline(always)]
            fn i64(self) -> i64 { self.to_i64() }
            #[inline(always)]
            fn u64(self) -> u64 { self.to_u64() }
            #[inline(always)]
            fn fits_i32(self) -> bool { self.abs() < 2_147_483_648.0 }
        }
    )*};
}
floats!(f32, std::convert::identity; f64, round_to_odd);

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Source for $t {
            const ZERO: Self = 0;
            #[inline(always)]
            fn f32(self) -> f32 { self as f32 }
            #[inline(always)]
            fn f64(self) -> f64 { self as f64 }
            #[inline(always)]
            fn i32(self) -> i32 { self as i32 }
            #[inline(always)]
            fn i64(self) -> i64 { self as i64 }
            #[inline(always)]
            fn u64(self) -> u64 { self as u64 }
            #[inline(always)]
            fn fits_i32(self) -> bool { true }
        }
    )*};
}
integers!(i32, i64, u64);

/// Stores `f16`.
///
/// # Safety
/// As [`Step`].
unsafe fn narrow<M: Source>(source: *const u8, target: *mut u8, length: usize) {
    // SAFETY: by the caller's promise.
    unsafe {
        narrow_slice::<M>(
            std::slice::from_raw_parts(source.cast(), length),
            std::slice::from_raw_parts_mut(target.cast(), length),
        );
    }
}

widest! {
    fn narrow_slice<M: Source>(source: &[M], target: &mut [f16]) {
        let mut single = [0.0; 64];
        for (source, target) in source.chunks(64).zip(target.chunks_mut(64)) {
            for (single, &x) in single.iter_mut().zip(source) {
                *single = x.f32();
            }
            f16::narrow(&single[..source.len()], target);
        }
    }
}

/// Stores `u32`.
///
/// # Safety
/// As [`Step`].
unsafe fn wrap<M: Source>(source: *const u8, target: *mut u8, length: usize) {
    // SAFETY: by the caller's promise.
    unsafe {
        wrap_slice::<M>(
            std::slice::from_raw_parts(source.cast(), length),
            std::slice::from_raw_parts_mut(target.cast(), length),
        );
    }
}

widest! {
    /// The low bits of integers. Those of 64 bits, which few vectors have, are made only where some float needs them.
    fn wrap_slice<M: Source>(source: &[M], target: &mut [u32]) {
        for (source, target) in source.chunks(64).zip(target.chunks_mut(64)) {
            let mut fit = true;
            for x in source {
                fit &= x.fits_i32();
            }
            if fit {
                for (target, &x) in target.iter_mut().zip(source) {
                    *target = x.i32() as u32;
                }
            } else {
                for (target, &x) in target.iter_mut().zip(source) {
                    *target = x.i64() as u32;
                }
            }
        }
    }
}

/// The step that stores elements of a wide type as a dtype.
pub(super) fn to(wide: Wide, dtype: DataType) -> Option<Step> {
    match wide {
        Wide::F32 => step::<f32>(dtype),
        Wide::F64 => step::<f64>(dtype),
        Wide::I32 => step::<i32>(dtype),
        Wide::I64 => step::<i64>(dtype),
        Wide::U64 => step::<u64>(dtype),
    }
}

fn step<M: Source>(dtype: DataType) -> Option<Step> {
    macro_rules! store {
        ($target:ty, |$x:ident| $body:expr) => {{
            /// # Safety
            /// As [`Step`].
            unsafe fn store<M: Source>(source: *const u8, target: *mut u8, length: usize) {
                // SAFETY: by the caller's promise.
                unsafe { each(source, target, length, |$x: M| -> $target { $body }) }
            }
            store::<M> as Step
        }};
    }
    Some(match dtype {
        DataType::Float => store!(f32, |x| x.f32()),
        DataType::Double => store!(f64, |x| x.f64()),
        DataType::Half => narrow::<M>,
        DataType::Bfloat16 => store!(bf16, |x| bf16::nearest(x.f32())),
        DataType::Float8E5m2 => store!(Float8E5M2, |x| Float8E5M2::from_f32(x.for_float8())),
        DataType::Float8E4m3fn => store!(Float8E4M3Fn, |x| Float8E4M3Fn::from_f32(x.for_float8())),
        DataType::Complex64 => store!(Complex32, |x| Complex32::new(x.f32(), 0.0)),
        DataType::Complex128 => store!(Complex64, |x| Complex64::new(x.f64(), 0.0)),
        DataType::Int8 | DataType::Uint8 => store!(u8, |x| x.i32() as u8),
        DataType::Int16 | DataType::Uint16 => store!(u16, |x| x.i32() as u16),
        DataType::Int32 => store!(i32, |x| x.i32()),
        DataType::Uint32 => wrap::<M>,
        DataType::Int64 => store!(i64, |x| x.i64()),
        DataType::Uint64 => store!(u64, |x| x.u64()),
        DataType::Bool => store!(bool, |x| x != M::ZERO),
        DataType::Int4 => store!(Int4, |x| Int4(((x.i32() << 4) as i8) >> 4)),
        DataType::Uint4 => store!(UInt4, |x| UInt4(x.i32() as u8 & 0xf)),
        _ => return None,
    })
}
