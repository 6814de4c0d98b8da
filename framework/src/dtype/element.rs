//! Which Rust type stands for which dtype.

use std::fmt::Debug;

use super::*;

pub(crate) mod sealed {
    /// What no other crate can implement.
    pub trait Sealed {}
}

/// A Rust type that is the element of a tensor. Sealed: the dtypes are TensorFlow's.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the element type of any dtype",
    note = "element types are f32, f64, f16, bf16, i8 to i64, u8 to u64, bool, TString, Complex32, Complex64, and the \
            quantized, 2-bit, 4-bit and 8-bit float types of `kernlink::dtype`"
)]
pub trait Element: sealed::Sealed + Clone + Default + Debug + Send + Sync + 'static {
    /// The dtype whose elements have this type.
    const DTYPE: DataType;
}

/// An [`Element`] that is plain bytes.
///
/// # Safety
/// The type has no padding, no pointers and no destructor, an alignment of at most 8, and exactly
/// `DTYPE.size()` bytes. Every bit pattern is valid unless `DTYPE` is [`DataType::Bool`], whose buffers hold only 0
/// and 1.
pub unsafe trait Pod: Element + Copy {}

macro_rules! elements {
    ($($t:ty => $variant:ident),* $(,)?) => {$(
        impl sealed::Sealed for $t {}
        impl Element for $t {
            const DTYPE: DataType = DataType::$variant;
        }
        // SAFETY: a primitive, or a transparent wrapper or pair of primitives; size and alignment are asserted below.
        unsafe impl Pod for $t {}
        const _: () = assert!(size_of::<$t>() == DataType::$variant.size() && align_of::<$t>() <= 8);
    )*};
}

elements! {
    f32 => Float, f64 => Double, i32 => Int32, u8 => Uint8, i16 => Int16, i8 => Int8, Complex32 => Complex64,
    i64 => Int64, bool => Bool, QInt8 => Qint8, QUInt8 => Quint8, QInt32 => Qint32, bf16 => Bfloat16,
    QInt16 => Qint16, QUInt16 => Quint16, u16 => Uint16, Complex64 => Complex128, f16 => Half, u32 => Uint32,
    u64 => Uint64, Float8E5M2 => Float8E5m2, Float8E4M3Fn => Float8E4m3fn, Float8E4M3Fnuz => Float8E4m3fnuz,
    Float8E4M3B11Fnuz => Float8E4m3b11fnuz, Float8E5M2Fnuz => Float8E5m2fnuz, Int4 => Int4, UInt4 => Uint4,
    Int2 => Int2, UInt2 => Uint2, Float4E2M1Fn => Float4E2m1fn,
}

impl sealed::Sealed for TString {}
impl Element for TString {
    const DTYPE: DataType = DataType::String;
}

/// Calls a generic function with the Rust type of a dtype that is plain bytes.
///
/// `dispatch_pod!(dtype, T => fill::<T>(tensor))` evaluates to `Some(result)`, or `None` for string, resource and
/// variant.
#[macro_export]
macro_rules! dispatch_pod {
    ($dtype:expr, $t:ident => $body:expr) => {
        $crate::dispatch_pod!(@ $dtype, $t, $body,
            Float f32, Double f64, Int32 i32, Uint8 u8, Int16 i16, Int8 i8, Complex64 $crate::dtype::Complex32,
            Int64 i64, Bool bool, Qint8 $crate::dtype::QInt8, Quint8 $crate::dtype::QUInt8,
            Qint32 $crate::dtype::QInt32, Bfloat16 $crate::dtype::bf16, Qint16 $crate::dtype::QInt16,
            Quint16 $crate::dtype::QUInt16, Uint16 u16, Complex128 $crate::dtype::Complex64,
            Half $crate::dtype::f16, Uint32 u32, Uint64 u64, Float8E5m2 $crate::dtype::Float8E5M2,
            Float8E4m3fn $crate::dtype::Float8E4M3Fn, Float8E4m3fnuz $crate::dtype::Float8E4M3Fnuz,
            Float8E4m3b11fnuz $crate::dtype::Float8E4M3B11Fnuz, Float8E5m2fnuz $crate::dtype::Float8E5M2Fnuz,
            Int4 $crate::dtype::Int4, Uint4 $crate::dtype::UInt4, Int2 $crate::dtype::Int2,
            Uint2 $crate::dtype::UInt2, Float4E2m1fn $crate::dtype::Float4E2M1Fn)
    };
    (@ $dtype:expr, $t:ident, $body:expr, $($variant:ident $rust:ty),*) => {
        match $dtype {
            $($crate::dtype::DataType::$variant => { type $t = $rust; ::std::option::Option::Some($body) })*
            _ => ::std::option::Option::None,
        }
    };
}
