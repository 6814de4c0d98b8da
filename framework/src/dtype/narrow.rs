//! Rust types for the dtypes that Rust and the usual crates lack: quantized, 2- and 4-bit integers, 4- and 8-bit
//! floats.

use super::scalar::{in_range, scalars};

/// Declares a wrapper of a plain integer that holds the element's bits.
macro_rules! wrapper {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $name(pub $inner);
    };
}

/// Declares quantized integers.
macro_rules! quantized {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        wrapper!($(#[$doc])* $name($inner));
        scalars!(Integer: $name, |element: $name| element.0.into(), |value| in_range(value).map($name););
    )*};
}

quantized! {
    /// An element of dtype `qint8`.
    QInt8(i8);
    /// An element of dtype `quint8`.
    QUInt8(u8);
    /// An element of dtype `qint16`.
    QInt16(i16);
    /// An element of dtype `quint16`.
    QUInt16(u16);
    /// An element of dtype `qint32`.
    QInt32(i32);
}

/// Declares integers of less than 8 bits.
macro_rules! small_integers {
    ($($(#[$doc:meta])* $name:ident($inner:ty), $bits:literal bits;)*) => {$(
        wrapper!($(#[$doc])* $name($inner));

        impl $name {
            /// The element whose bits are the lowest of a byte.
            pub fn from_low_bits(byte: u8) -> Self {
                Self(((byte << (8 - $bits)) as $inner) >> (8 - $bits))
            }
        }

        scalars! {
            Integer: $name, |element: $name| element.0.into(), |value: i128| {
                let element = $name::from_low_bits(value as u8);
                (i128::from(element.0) == value).then_some(element)
            };
        }
    )*};
}

small_integers! {
    /// An element of dtype `int4`: −8 to 7, sign-extended in its byte.
    Int4(i8), 4 bits;
    /// An element of dtype `uint4`: 0 to 15.
    UInt4(u8), 4 bits;
    /// An element of dtype `int2`: −2 to 1, sign-extended in its byte.
    Int2(i8), 2 bits;
    /// An element of dtype `uint2`: 0 to 3.
    UInt2(u8), 2 bits;
}

/// What small floats have by the `f32` that has their value.
macro_rules! by_f32 {
    ($name:ident) => {
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.to_f32().fmt(f)
            }
        }

        scalars!(Float: $name, |element: $name| element.to_f32().into(), |value| Some($name::from_f32(value as f32)););
    };
}

/// Declares 8-bit floats with their format and conversions.
macro_rules! float8 {
    ($($(#[$doc:meta])* $name:ident { mantissa: $mantissa:literal, bias: $bias:literal, style: $style:ident };)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
            #[repr(transparent)]
            pub struct $name(pub u8);

            impl $name {
                const FORMAT: Format = Format { mantissa: $mantissa, bias: $bias, style: Style::$style };

                /// The nearest value, ties to even; what is too large becomes infinity, or NaN where there is none.
                pub fn from_f32(value: f32) -> Self {
                    Self(Self::FORMAT.encode(value))
                }

                /// The exact value.
                pub fn to_f32(self) -> f32 {
                    Self::FORMAT.decode(self.0)
                }

                /// The element whose bits are those of a byte.
                pub fn from_low_bits(byte: u8) -> Self {
                    Self(byte)
                }
            }

            by_f32!($name);
        )*
    };
}

float8! {
    /// An element of dtype `float8_e5m2`: IEEE-like, with infinities.
    Float8E5M2 { mantissa: 2, bias: 15, style: Ieee };
    /// An element of dtype `float8_e4m3fn`: no infinities, NaN is `S.1111.111`.
    Float8E4M3Fn { mantissa: 3, bias: 7, style: Finite };
    /// An element of dtype `float8_e4m3fnuz`: no infinities, no negative zero, NaN is 0x80.
    Float8E4M3Fnuz { mantissa: 3, bias: 8, style: FiniteUnsignedZero };
    /// An element of dtype `float8_e4m3b11fnuz`: as [`Float8E4M3Fnuz`] with bias 11.
    Float8E4M3B11Fnuz { mantissa: 3, bias: 11, style: FiniteUnsignedZero };
    /// An element of dtype `float8_e5m2fnuz`: no infinities, no negative zero, NaN is 0x80.
    Float8E5M2Fnuz { mantissa: 2, bias: 16, style: FiniteUnsignedZero };
}

/// An element of dtype `float4_e2m1fn`: 0, 0.5, 1, 1.5, 2, 3, 4 or 6 with a sign, in the low half of its byte.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Float4E2M1Fn(pub u8);

impl Float4E2M1Fn {
    const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

    /// The nearest value, ties to even codes; what is too large becomes 6, and NaN becomes a zero of the
    /// other sign, as in `ml_dtypes`.
    pub fn from_f32(value: f32) -> Self {
        if value.is_nan() {
            return Self(if value.is_sign_negative() { 0 } else { 8 });
        }
        let distance = |code: u8| (Self::MAGNITUDES[usize::from(code)] - value.abs().min(6.0)).abs();
        let nearer = |best: u8, code: u8| {
            let closer =
                distance(code) < distance(best) || (distance(code) == distance(best) && code.is_multiple_of(2));
            if closer { code } else { best }
        };
        Self(u8::from(value.is_sign_negative()) << 3 | (1..8).fold(0, nearer))
    }

    /// The exact value.
    pub fn to_f32(self) -> f32 {
        let magnitude = Self::MAGNITUDES[usize::from(self.0 & 7)];
        if self.0 & 8 == 0 { magnitude } else { -magnitude }
    }

    /// The element whose bits are the lowest of a byte.
    pub fn from_low_bits(byte: u8) -> Self {
        Self(byte & 15)
    }
}

by_f32!(Float4E2M1Fn);

#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// The top exponent holds infinity and NaN.
    Ieee,
    /// The top exponent holds numbers; all ones is NaN.
    Finite,
    /// The top exponent holds numbers; negative zero is NaN.
    FiniteUnsignedZero,
}

/// 2 to a power within ±1022, exactly; the precision of `powi` is not specified.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[derive(Clone, Copy)]
struct Format {
    mantissa: u32,
    bias: i32,
    style: Style,
}

impl Format {
    /// The largest finite code, without the sign bit.
    fn max_finite(self) -> u8 {
        match self.style {
            Style::Ieee => 0x7f - (1 << self.mantissa),
            Style::Finite => 0x7e,
            Style::FiniteUnsignedZero => 0x7f,
        }
    }

    fn nan(self, negative: bool) -> u8 {
        let sign = u8::from(negative) << 7;
        match self.style {
            Style::Ieee => sign | (0x7f & !((1 << (self.mantissa - 1)) - 1)),
            Style::Finite => sign | 0x7f,
            Style::FiniteUnsignedZero => 0x80,
        }
    }

    fn decode(self, bits: u8) -> f32 {
        let (negative, magnitude) = (bits & 0x80 != 0, bits & 0x7f);
        if self.style == Style::FiniteUnsignedZero && bits == 0x80 {
            return f32::NAN;
        }
        let value = if magnitude > self.max_finite() {
            let infinity = self.style == Style::Ieee && magnitude == 0x7f & !((1 << self.mantissa) - 1);
            if infinity { f32::INFINITY } else { f32::NAN }
        } else {
            let exponent = i32::from(magnitude >> self.mantissa);
            let fraction = f32::from(magnitude & ((1 << self.mantissa) - 1));
            // A code below the first binade has its step, without the leading bit.
            let leading = if exponent == 0 { 0.0 } else { (1 << self.mantissa) as f32 };
            let step = power_of_two(exponent.max(1) - self.bias - self.mantissa as i32);
            (fraction + leading) * step as f32
        };
        if negative { -value } else { value }
    }

    fn encode(self, value: f32) -> u8 {
        let negative = value.is_sign_negative();
        if value.is_nan() {
            return self.nan(negative);
        }
        let sign = u8::from(negative) << 7;
        let magnitude = value.abs();
        let overflow = match self.style {
            Style::Ieee => sign | (self.max_finite() + 1),
            Style::Finite | Style::FiniteUnsignedZero => self.nan(negative),
        };
        if magnitude.is_infinite() {
            return overflow;
        }
        // Scaled so that a step between neighbouring codes of the value's binade is 1; halves then round to even.
        let exponent = (magnitude.to_bits() >> 23) as i32 - 127;
        let exponent = exponent.max(1 - self.bias);
        let scaled = f64::from(magnitude) * power_of_two(self.mantissa as i32 - exponent);
        let rounded = scaled.round_ties_even() as i32;
        let code = ((exponent + self.bias - 1) << self.mantissa) + rounded;
        if code > i32::from(self.max_finite()) {
            return overflow;
        }
        if code == 0 && self.style == Style::FiniteUnsignedZero {
            return 0;
        }
        sign | code as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! round_trips {
        ($(
            $(#[$doc:meta])*
            $variant:ident = $number:literal $word:ident $proto_name:ident, $kind:ident $element:ident, $field:ident;
        )*) => {
            $(round_trip!($kind $element);)*
        };
    }

    macro_rules! round_trip {
        (SmallFloat $element:ident) => {
            for byte in 0..=255u8 {
                let element = $element::from_low_bits(byte);
                let value = element.to_f32();
                let survives = value.is_nan() || $element::from_f32(value).0 == element.0;
                assert!(survives, "{} {byte:#x} is {value}", stringify!($element));
            }
        };
        ($kind:ident $element:ident) => {};
    }

    #[test]
    fn every_finite_code_survives_the_round_trip() {
        crate::dtype::for_each_dtype!(round_trips);
    }

    /// `ml_dtypes` 0.5 gives these.
    #[test]
    fn four_bits() {
        let cases =
            [(0.25, 0), (0.26, 1), (0.75, 2), (1.25, 2), (1.75, 4), (2.5, 4), (3.5, 6), (5.0, 6), (5.1, 7), (7.0, 7)];
        for (value, code) in cases {
            assert_eq!(Float4E2M1Fn::from_f32(value).0, code, "{value}");
            assert_eq!(Float4E2M1Fn::from_f32(-value).0, code | 8, "-{value}");
        }
        assert_eq!(Float4E2M1Fn::from_f32(f32::INFINITY).0, 7);
        assert_eq!(Float4E2M1Fn::from_f32(f32::NAN).0, 8);
    }

    #[test]
    fn known_values() {
        assert_eq!(Float8E4M3Fn::from_f32(448.0).to_f32(), 448.0);
        assert!(Float8E4M3Fn::from_f32(480.0).to_f32().is_nan());
        assert_eq!(Float8E5M2::from_f32(1e9).to_f32(), f32::INFINITY);
        assert_eq!(Float8E4M3B11Fnuz::from_f32(30.0).to_f32(), 30.0);
        assert_eq!(Float8E4M3Fn::from_f32(1.0625).to_f32(), 1.0);
        assert_eq!(Float8E4M3Fn::from_f32(1.1875).to_f32(), 1.25);
    }
}
