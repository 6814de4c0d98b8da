//! TensorFlow's dtypes: their numbers, names and sizes, the sets that specs name, and the Rust type of each.

mod element;
mod narrow;
mod number;
mod string;

pub(crate) use element::sealed::Sealed;
pub use element::{Element, Pod};
pub use half::{bf16, f16};
pub use narrow::{
    Float4E2M1Fn, Float8E4M3B11Fnuz, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Int2, Int4, QInt8,
    QInt16, QInt32, QUInt8, QUInt16, UInt2, UInt4,
};
pub use num_complex::{Complex32, Complex64};
pub use number::Number;
pub use string::TString;

use std::fmt;

macro_rules! data_types {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $proto:literal, $word:literal, $size:literal;)*) => {
        /// The type of a tensor's elements. A reference type is not a dtype of its own here: see
        /// [`ArgDef::is_ref`](crate::op::ArgDef::is_ref).
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum DataType {
            $($(#[$doc])* $variant = $number,)*
        }

        impl DataType {
            /// Every dtype, in the order of TensorFlow's numbers.
            pub const ALL: &'static [DataType] = &[$(DataType::$variant),*];

            /// The name in protobuf text, such as `DT_FLOAT`.
            pub const fn proto_name(self) -> &'static str {
                match self { $(DataType::$variant => $proto,)* }
            }

            /// The word that op specs use, such as `float`.
            pub const fn name(self) -> &'static str {
                match self { $(DataType::$variant => $word,)* }
            }

            /// Bytes of one element in memory; 0 for string, resource and variant, whose elements are objects.
            pub const fn size(self) -> usize {
                match self { $(DataType::$variant => $size,)* }
            }
        }
    };
}

data_types! {
    /// 32-bit IEEE float.
    Float = 1, "DT_FLOAT", "float", 4;
    /// 64-bit IEEE float.
    Double = 2, "DT_DOUBLE", "double", 8;
    /// 32-bit signed integer.
    Int32 = 3, "DT_INT32", "int32", 4;
    /// 8-bit unsigned integer.
    Uint8 = 4, "DT_UINT8", "uint8", 1;
    /// 16-bit signed integer.
    Int16 = 5, "DT_INT16", "int16", 2;
    /// 8-bit signed integer.
    Int8 = 6, "DT_INT8", "int8", 1;
    /// A string of bytes.
    String = 7, "DT_STRING", "string", 0;
    /// Two 32-bit floats.
    Complex64 = 8, "DT_COMPLEX64", "complex64", 8;
    /// 64-bit signed integer.
    Int64 = 9, "DT_INT64", "int64", 8;
    /// One byte, 0 or 1.
    Bool = 10, "DT_BOOL", "bool", 1;
    /// 8-bit signed quantized integer.
    Qint8 = 11, "DT_QINT8", "qint8", 1;
    /// 8-bit unsigned quantized integer.
    Quint8 = 12, "DT_QUINT8", "quint8", 1;
    /// 32-bit signed quantized integer.
    Qint32 = 13, "DT_QINT32", "qint32", 4;
    /// The upper half of a 32-bit float.
    Bfloat16 = 14, "DT_BFLOAT16", "bfloat16", 2;
    /// 16-bit signed quantized integer.
    Qint16 = 15, "DT_QINT16", "qint16", 2;
    /// 16-bit unsigned quantized integer.
    Quint16 = 16, "DT_QUINT16", "quint16", 2;
    /// 16-bit unsigned integer.
    Uint16 = 17, "DT_UINT16", "uint16", 2;
    /// Two 64-bit floats.
    Complex128 = 18, "DT_COMPLEX128", "complex128", 16;
    /// 16-bit IEEE float.
    Half = 19, "DT_HALF", "half", 2;
    /// A handle of a resource such as a variable.
    Resource = 20, "DT_RESOURCE", "resource", 0;
    /// A value of a type known at run time.
    Variant = 21, "DT_VARIANT", "variant", 0;
    /// 32-bit unsigned integer.
    Uint32 = 22, "DT_UINT32", "uint32", 4;
    /// 64-bit unsigned integer.
    Uint64 = 23, "DT_UINT64", "uint64", 8;
    /// 8-bit float: 5 exponent and 2 mantissa bits.
    Float8E5m2 = 24, "DT_FLOAT8_E5M2", "float8_e5m2", 1;
    /// 8-bit float: 4 exponent and 3 mantissa bits, no infinities.
    Float8E4m3fn = 25, "DT_FLOAT8_E4M3FN", "float8_e4m3fn", 1;
    /// 8-bit float: 4 exponent and 3 mantissa bits, no infinities, no negative zero.
    Float8E4m3fnuz = 26, "DT_FLOAT8_E4M3FNUZ", "float8_e4m3fnuz", 1;
    /// 8-bit float: as the former with bias 11.
    Float8E4m3b11fnuz = 27, "DT_FLOAT8_E4M3B11FNUZ", "float8_e4m3b11fnuz", 1;
    /// 8-bit float: 5 exponent and 2 mantissa bits, no infinities, no negative zero.
    Float8E5m2fnuz = 28, "DT_FLOAT8_E5M2FNUZ", "float8_e5m2fnuz", 1;
    /// 4-bit signed integer, one byte an element.
    Int4 = 29, "DT_INT4", "int4", 1;
    /// 4-bit unsigned integer, one byte an element.
    Uint4 = 30, "DT_UINT4", "uint4", 1;
    /// 2-bit signed integer, one byte an element.
    Int2 = 31, "DT_INT2", "int2", 1;
    /// 2-bit unsigned integer, one byte an element.
    Uint2 = 32, "DT_UINT2", "uint2", 1;
    /// 4-bit float, one byte an element: 2 exponent bits and 1 mantissa bit, neither infinities nor NaN.
    Float4E2m1fn = 33, "DT_FLOAT4_E2M1FN", "float4_e2m1fn", 1;
}

impl DataType {
    /// The number that protobufs hold.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The dtype with this number. Reference numbers (above 100) and 0 are no dtypes.
    pub fn from_number(number: i32) -> Option<DataType> {
        DataType::ALL.iter().copied().find(|dtype| dtype.number() == number)
    }

    /// The dtype that an op spec's word names, such as `float` or `float32`.
    pub fn from_name(word: &str) -> Option<DataType> {
        let word = match word {
            "float32" => "float",
            "float64" => "double",
            "float16" => "half",
            other => other,
        };
        DataType::ALL.iter().copied().find(|dtype| dtype.name() == word)
    }

    /// Whether elements are plain bytes: neither strings nor resources nor variants.
    pub const fn is_pod(self) -> bool {
        self.size() != 0
    }

    /// Whether elements are floating-point numbers, complex ones excluded.
    pub const fn is_floating(self) -> bool {
        use DataType::*;
        matches!(
            self,
            Float
                | Double
                | Half
                | Bfloat16
                | Float8E5m2
                | Float8E4m3fn
                | Float8E4m3fnuz
                | Float8E4m3b11fnuz
                | Float8E5m2fnuz
                | Float4E2m1fn
        )
    }

    /// Whether elements are complex numbers.
    pub const fn is_complex(self) -> bool {
        matches!(self, DataType::Complex64 | DataType::Complex128)
    }

    /// Whether elements are integers, quantized ones excluded.
    pub const fn is_integer(self) -> bool {
        use DataType::*;
        matches!(self, Int8 | Int16 | Int32 | Int64 | Uint8 | Uint16 | Uint32 | Uint64 | Int4 | Uint4 | Int2 | Uint2)
    }

    /// `==` that constant evaluation can use.
    pub const fn equals(self, other: DataType) -> bool {
        self as u8 == other as u8
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `realnumbertype` in specs.
pub const REAL_NUMBER_TYPES: &[DataType] = &[
    DataType::Float,
    DataType::Double,
    DataType::Int32,
    DataType::Uint8,
    DataType::Int16,
    DataType::Int8,
    DataType::Int64,
    DataType::Bfloat16,
    DataType::Uint16,
    DataType::Half,
    DataType::Uint32,
    DataType::Uint64,
];

/// `quantizedtype` in specs.
pub const QUANTIZED_TYPES: &[DataType] =
    &[DataType::Qint8, DataType::Quint8, DataType::Qint32, DataType::Qint16, DataType::Quint16];

/// `numbertype` (or `numerictype`) in specs.
pub const NUMBER_TYPES: &[DataType] = &[
    DataType::Float,
    DataType::Double,
    DataType::Int32,
    DataType::Uint8,
    DataType::Int16,
    DataType::Int8,
    DataType::Complex64,
    DataType::Int64,
    DataType::Qint8,
    DataType::Quint8,
    DataType::Qint32,
    DataType::Bfloat16,
    DataType::Qint16,
    DataType::Quint16,
    DataType::Uint16,
    DataType::Complex128,
    DataType::Half,
    DataType::Uint32,
    DataType::Uint64,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_back() {
        for &dtype in DataType::ALL {
            assert_eq!(DataType::from_number(dtype.number()), Some(dtype));
            assert_eq!(DataType::from_name(dtype.name()), Some(dtype));
        }
        assert_eq!(DataType::from_number(0), None);
        assert_eq!(DataType::from_number(101), None);
        assert_eq!(DataType::from_name("float32"), Some(DataType::Float));
    }
}
