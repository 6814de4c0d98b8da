//! Steps that load elements as a wide type.

use kernlink::dtype::{Complex32, Complex64, DataType, Float8E4M3Fn, Float8E5M2, Int4, UInt4, bf16, f16};

use kernlink_kernels_common::float16::Float16;
use kernlink_kernels_common::widest;

use super::{Step, Wide};

/// Converts every element with `f`.
///
/// # Safety
/// As [`Step`], with `A` as source and `B` as target.
#[inline(always)]
pub(super) unsafe fn each<A: Copy, B: Copy>(source: *const u8, target: *mut u8, length: usize, f: impl Fn(A) -> B) {
    // SAFETY: by the caller's promise.
    let (source, target) = unsafe {
        (std::slice::from_raw_parts(source.cast::<A>(), length), std::slice::from_raw_parts_mut(target.cast(), length))
    };
    convert(source, target, f);
}

widest! {
    fn convert<A: Copy, B: Copy, F: Fn(A) -> B>(source: &[A], target: &mut [B], f: F) {
        for (target, &source) in target.iter_mut().zip(source) {
            *target = f(source);
        }
    }
}

/// Loads 16-bit floats.
///
/// # Safety
/// As [`Step`].
unsafe fn widen<T: Float16>(source: *const u8, target: *mut u8, length: usize) {
    // SAFETY: by the caller's promise.
    unsafe { T::widen(std::slice::from_raw_parts(source.cast::<T>(), length), target.cast()) }
}

/// The step that loads elements of a dtype, and as what; no step if they are that already.
pub(super) fn from(dtype: DataType) -> Option<(Option<Step>, Wide)> {
    macro_rules! load {
        ($source:ty => $wide:ty, |$x:ident| $body:expr) => {{
            /// # Safety
            /// As [`Step`].
            unsafe fn load(source: *const u8, target: *mut u8, length: usize) {
                // SAFETY: by the caller's promise.
                unsafe { each(source, target, length, |$x: $source| -> $wide { $body }) }
            }
            Some(load as Step)
        }};
    }
    Some(match dtype {
        DataType::Float => (None, Wide::F32),
        DataType::Half => (Some(widen::<f16>), Wide::F32),
        DataType::Bfloat16 => (load!(bf16 => f32, |x| x.widened()), Wide::F32),
        DataType::Float8E5m2 => (load!(Float8E5M2 => f32, |x| x.to_f32()), Wide::F32),
        DataType::Float8E4m3fn => (load!(Float8E4M3Fn => f32, |x| x.to_f32()), Wide::F32),
        DataType::Complex64 => (load!(Complex32 => f32, |x| x.re), Wide::F32),
        DataType::Double => (None, Wide::F64),
        DataType::Complex128 => (load!(Complex64 => f64, |x| x.re), Wide::F64),
        DataType::Int32 => (None, Wide::I32),
        DataType::Int16 => (load!(i16 => i32, |x| x.into()), Wide::I32),
        DataType::Int8 => (load!(i8 => i32, |x| x.into()), Wide::I32),
        DataType::Uint16 => (load!(u16 => i32, |x| x.into()), Wide::I32),
        DataType::Uint8 | DataType::Bool => (load!(u8 => i32, |x| x.into()), Wide::I32),
        DataType::Int4 => (load!(Int4 => i32, |x| x.0.into()), Wide::I32),
        DataType::Uint4 => (load!(UInt4 => i32, |x| x.0.into()), Wide::I32),
        DataType::Int64 => (None, Wide::I64),
        DataType::Uint32 => (load!(u32 => i64, |x| x.into()), Wide::I64),
        DataType::Uint64 => (None, Wide::U64),
        _ => return None,
    })
}
