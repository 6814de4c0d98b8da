//! Elements as values of a few kinds, for what treats all dtypes alike.

use std::convert::identity;

use super::{Complex32, Complex64, bf16, f16};

/// The value of an element that is plain bytes, in the widest type of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A bool.
    Bool(bool),
    /// An integer, quantized ones included.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// A complex number.
    Complex(Complex64),
}

/// An element that is plain bytes, from and to its value.
pub trait ScalarElement: Copy {
    /// The value of the element.
    fn to_scalar(self) -> Scalar;

    /// The element that has a value, to which a float is rounded. `None` if the value is of another kind than the dtype,
    /// or an integer out of its range.
    fn from_scalar(value: Scalar) -> Option<Self>;
}

/// Says how the elements of some types become scalars of a kind, and how they are made of such.
macro_rules! scalars {
    ($($kind:ident: $t:ty, $to:expr, $from:expr;)*) => {$(
        impl $crate::dtype::ScalarElement for $t {
            #[inline]
            fn to_scalar(self) -> $crate::dtype::Scalar {
                $crate::dtype::Scalar::$kind($to(self))
            }

            #[inline]
            fn from_scalar(value: $crate::dtype::Scalar) -> Option<Self> {
                match value {
                    $crate::dtype::Scalar::$kind(value) => $from(value),
                    _ => None,
                }
            }
        }
    )*};
}
pub(super) use scalars;

/// The integer of this value, if there is one.
pub(super) fn in_range<T: TryFrom<i128>>(value: i128) -> Option<T> {
    value.try_into().ok()
}

scalars! {
    Bool: bool, identity, Some;
    Integer: i8, i128::from, in_range;
    Integer: i16, i128::from, in_range;
    Integer: i32, i128::from, in_range;
    Integer: i64, i128::from, in_range;
    Integer: u8, i128::from, in_range;
    Integer: u16, i128::from, in_range;
    Integer: u32, i128::from, in_range;
    Integer: u64, i128::from, in_range;
    Float: f16, f64::from, |value| Some(f16::from_f64(value));
    Float: bf16, f64::from, |value| Some(bf16::from_f64(value));
    Float: f32, f64::from, |value| Some(value as f32);
    Float: f64, identity, Some;
    Complex: Complex32, |element: Complex32| Complex64::new(element.re.into(), element.im.into()),
        |value: Complex64| Some(Complex32::new(value.re as f32, value.im as f32));
    Complex: Complex64, identity, Some;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch_pod;
    use crate::dtype::{DataType, Float8E4M3Fn, Int4, UInt2};

    #[test]
    fn every_default_element_survives() {
        for &dtype in DataType::ALL {
            let same = dispatch_pod!(dtype, T => T::from_scalar(T::default().to_scalar()) == Some(T::default()));
            assert_eq!(same, dtype.is_pod().then_some(true), "{dtype}");
        }
    }

    #[test]
    fn integers_are_in_range_and_floats_rounded() {
        assert_eq!(Int4::from_scalar(Scalar::Integer(-8)), Some(Int4(-8)));
        assert_eq!(Int4::from_scalar(Scalar::Integer(8)), None);
        assert_eq!(UInt2::from_scalar(Scalar::Integer(3)), Some(UInt2(3)));
        assert_eq!(UInt2::from_scalar(Scalar::Integer(-1)), None);
        assert_eq!(u64::from_scalar(Scalar::Integer(u64::MAX.into())), Some(u64::MAX));
        assert_eq!(i32::from_scalar(Scalar::Float(1.0)), None);
        assert_eq!(f32::from_scalar(Scalar::Integer(1)), None);
        assert_eq!(Float8E4M3Fn::from_scalar(Scalar::Float(1.0625)).unwrap().to_f32(), 1.0);
        assert_eq!(bool::from_scalar(Scalar::Bool(true)), Some(true));
    }
}
