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

    /// Whether a literal without a suffix has this type: `i32` and `f64`, but no type that wraps them.
    #[doc(hidden)]
    const IS_OF_LITERALS: bool = false;
}

/// An [`Element`] that is plain bytes.
///
/// # Safety
/// The type has no padding, no pointers and no destructor, an alignment of at most 8, and exactly
/// `DTYPE.size()` bytes. Every bit pattern is valid unless `DTYPE` is [`DataType::Bool`], whose buffers hold only 0
/// and 1.
pub unsafe trait Pod: Element + Copy + ScalarElement {}

macro_rules! elements {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $number:literal $word:ident $proto_name:ident, $kind:ident $element:ident, $field:ident;
    )*) => {
        $(element!($kind $element $variant);)*
    };
}

macro_rules! element {
    (Object $element:ident $variant:ident) => {};
    ($kind:ident $element:ident $variant:ident) => {
        impl sealed::Sealed for $element {}
        impl Element for $element {
            const DTYPE: DataType = DataType::$variant;
            const IS_OF_LITERALS: bool = matches!(DataType::$variant, DataType::Int32 | DataType::Double);
        }
        // SAFETY: a primitive, or a transparent wrapper or pair of primitives; the alignment is asserted below.
        unsafe impl Pod for $element {}
        const _: () = assert!(align_of::<$element>() <= 8);
    };
}

for_each_dtype!(elements);

impl sealed::Sealed for TString {}
impl Element for TString {
    const DTYPE: DataType = DataType::String;
}

/// The Rust types of elements that are plain bytes, by the names that the table of dtypes has.
#[doc(hidden)]
pub mod types {
    pub use core::primitive::{bool, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64};

    pub use super::super::narrow::*;
    pub use super::super::{Complex32, Complex64, bf16, f16};
}

/// Calls a generic function with the Rust type of a dtype that is plain bytes.
///
/// `dispatch_pod!(dtype, T => fill::<T>(tensor))` evaluates to `Some(result)`, or `None` for string, resource and
/// variant.
#[macro_export]
macro_rules! dispatch_pod {
    ($dtype:expr, $t:ident => $body:expr) => {
        $crate::dtype::for_each_dtype!($crate::__dispatch_pod: $dtype, $t, $body)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch_pod {
    ([$dtype:expr, $t:ident, $body:expr] $(
        $(#[$doc:meta])*
        $variant:ident = $number:literal $word:ident $proto_name:ident, $kind:ident $element:ident, $field:ident;
    )*) => {
        match $dtype {
            $($crate::dtype::DataType::$variant => $crate::__dispatch_pod!($kind $element, $t, $body),)*
            #[allow(unreachable_patterns, reason = "other crates need it")]
            _ => ::std::option::Option::None,
        }
    };
    (Object $element:ident, $t:ident, $body:expr) => { ::std::option::Option::None };
    ($kind:ident $element:ident, $t:ident, $body:expr) => {{
        type $t = $crate::dtype::types::$element;
        ::std::option::Option::Some($body)
    }};
}
