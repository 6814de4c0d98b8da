//! The dtypes: a table from which all else that is said of every dtype is made, and the words and sets of specs.

/// Calls a macro with the facts of every dtype, in the order of TensorFlow's numbers.
///
/// `for_each_dtype!(m)` calls `m!` with the rows, and `for_each_dtype!(m: a b)` with `[a b]` before them. A row is
///
/// ```text
/// Variant = number word PROTO_NAME, Kind RustType, field_of_TensorProto;
/// ```
///
/// after a doc comment: `Variant` is the framework's `DataType`, `word` the name in specs, `Kind` a [`Kind`] of this
/// crate, and `RustType` that of an element.
#[macro_export]
macro_rules! for_each_dtype {
    ($($then:ident)::+ $(: $($args:tt)*)?) => {
        $($then)::+! {
            $([$($args)*])?
            /// 32-bit IEEE float.
            Float = 1 float DT_FLOAT, Float f32, float_val;
            /// 64-bit IEEE float.
            Double = 2 double DT_DOUBLE, Float f64, double_val;
            /// 32-bit signed integer.
            Int32 = 3 int32 DT_INT32, Integer i32, int_val;
            /// 8-bit unsigned integer.
            Uint8 = 4 uint8 DT_UINT8, Integer u8, int_val;
            /// 16-bit signed integer.
            Int16 = 5 int16 DT_INT16, Integer i16, int_val;
            /// 8-bit signed integer.
            Int8 = 6 int8 DT_INT8, Integer i8, int_val;
            /// A string of bytes.
            String = 7 string DT_STRING, Object TString, string_val;
            /// Two 32-bit floats.
            Complex64 = 8 complex64 DT_COMPLEX64, Complex Complex32, scomplex_val;
            /// 64-bit signed integer.
            Int64 = 9 int64 DT_INT64, Integer i64, int64_val;
            /// One byte, 0 or 1.
            Bool = 10 bool DT_BOOL, Bool bool, bool_val;
            /// 8-bit signed quantized integer.
            Qint8 = 11 qint8 DT_QINT8, Quantized QInt8, int_val;
            /// 8-bit unsigned quantized integer.
            Quint8 = 12 quint8 DT_QUINT8, Quantized QUInt8, int_val;
            /// 32-bit signed quantized integer.
            Qint32 = 13 qint32 DT_QINT32, Quantized QInt32, int_val;
            /// The upper half of a 32-bit float.
            Bfloat16 = 14 bfloat16 DT_BFLOAT16, Float bf16, half_val;
            /// 16-bit signed quantized integer.
            Qint16 = 15 qint16 DT_QINT16, Quantized QInt16, int_val;
            /// 16-bit unsigned quantized integer.
            Quint16 = 16 quint16 DT_QUINT16, Quantized QUInt16, int_val;
            /// 16-bit unsigned integer.
            Uint16 = 17 uint16 DT_UINT16, Integer u16, int_val;
            /// Two 64-bit floats.
            Complex128 = 18 complex128 DT_COMPLEX128, Complex Complex64, dcomplex_val;
            /// 16-bit IEEE float.
            Half = 19 half DT_HALF, Float f16, half_val;
            /// A handle of a resource such as a variable.
            Resource = 20 resource DT_RESOURCE, Object ResourceHandle, resource_handle_val;
            /// A value of a type known at run time.
            Variant = 21 variant DT_VARIANT, Object Variant, variant_val;
            /// 32-bit unsigned integer.
            Uint32 = 22 uint32 DT_UINT32, Integer u32, uint32_val;
            /// 64-bit unsigned integer.
            Uint64 = 23 uint64 DT_UINT64, Integer u64, uint64_val;
            /// 8-bit float: 5 exponent and 2 mantissa bits.
            Float8E5m2 = 24 float8_e5m2 DT_FLOAT8_E5M2, SmallFloat Float8E5M2, float8_val;
            /// 8-bit float: 4 exponent and 3 mantissa bits, no infinities.
            Float8E4m3fn = 25 float8_e4m3fn DT_FLOAT8_E4M3FN, SmallFloat Float8E4M3Fn, float8_val;
            /// 8-bit float: 4 exponent and 3 mantissa bits, no infinities, no negative zero.
            Float8E4m3fnuz = 26 float8_e4m3fnuz DT_FLOAT8_E4M3FNUZ, SmallFloat Float8E4M3Fnuz, float8_val;
            /// 8-bit float: as the former with bias 11.
            Float8E4m3b11fnuz = 27 float8_e4m3b11fnuz DT_FLOAT8_E4M3B11FNUZ, SmallFloat Float8E4M3B11Fnuz, float8_val;
            /// 8-bit float: 5 exponent and 2 mantissa bits, no infinities, no negative zero.
            Float8E5m2fnuz = 28 float8_e5m2fnuz DT_FLOAT8_E5M2FNUZ, SmallFloat Float8E5M2Fnuz, float8_val;
            /// 4-bit signed integer, one byte an element.
            Int4 = 29 int4 DT_INT4, SmallInteger Int4, int_val;
            /// 4-bit unsigned integer, one byte an element.
            Uint4 = 30 uint4 DT_UINT4, SmallInteger UInt4, int_val;
            /// 2-bit signed integer, one byte an element.
            Int2 = 31 int2 DT_INT2, SmallInteger Int2, int_val;
            /// 2-bit unsigned integer, one byte an element.
            Uint2 = 32 uint2 DT_UINT2, SmallInteger UInt2, int_val;
            /// 4-bit float, one byte an element: 2 exponent bits and 1 mantissa bit, neither infinities nor NaN.
            Float4E2m1fn = 33 float4_e2m1fn DT_FLOAT4_E2M1FN, SmallFloat Float4E2M1Fn, float8_val;
        }
    };
}

/// What the elements of a dtype are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Floating-point numbers of 16 bits and more.
    Float,
    /// Floating-point numbers of 8 bits and less, one byte an element.
    SmallFloat,
    /// Integers of 8 bits and more.
    Integer,
    /// Integers of less than 8 bits, one byte an element.
    SmallInteger,
    /// Integers that stand for numbers of a range.
    Quantized,
    /// Complex numbers.
    Complex,
    /// True or false.
    Bool,
    /// What is more than plain bytes: strings, resources, variants.
    Object,
}

impl Kind {
    /// Whether it is one of `kinds`.
    pub const fn is_one_of(self, kinds: &[Kind]) -> bool {
        let mut index = 0;
        while index < kinds.len() {
            if self as u8 == kinds[index] as u8 {
                return true;
            }
            index += 1;
        }
        false
    }
}

/// A dtype as specs name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dtype {
    /// The number in protobufs.
    pub number: i32,
    /// The word in specs, such as `float`.
    pub name: &'static str,
    /// The name in protobuf text, such as `DT_FLOAT`.
    pub proto_name: &'static str,
    /// The variant of the framework's `DataType`, such as `Float`.
    pub variant: &'static str,
    /// The name of the Rust type of an element, such as `f32`.
    pub element: &'static str,
    /// What the elements are.
    pub kind: Kind,
}

macro_rules! dtypes {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $number:literal $word:ident $proto_name:ident, $kind:ident $element:ident, $field:ident;
    )*) => {
        /// Every dtype, in the order of TensorFlow's numbers.
        pub static DTYPES: &[Dtype] = &[$(Dtype {
            number: $number,
            name: stringify!($word),
            proto_name: stringify!($proto_name),
            variant: stringify!($variant),
            element: stringify!($element),
            kind: Kind::$kind,
        }),*];
    };
}
for_each_dtype!(dtypes);

/// The kinds of `realnumbertype`.
pub const REAL_NUMBER: &[Kind] = &[Kind::Float, Kind::Integer];

/// The kinds of `quantizedtype`.
pub const QUANTIZED: &[Kind] = &[Kind::Quantized];

/// The kinds of `numbertype`.
pub const NUMBER: &[Kind] = &[Kind::Float, Kind::Integer, Kind::Complex, Kind::Quantized];

/// The sets that have names, by the kinds that they hold.
pub const SETS: &[(&str, &[Kind])] =
    &[("numbertype", NUMBER), ("realnumbertype", REAL_NUMBER), ("quantizedtype", QUANTIZED)];

/// The dtype that a word names. Reference types (`float_ref`) have no word here.
pub fn dtype_from_word(word: &str) -> Option<Dtype> {
    let name = match word {
        "float32" => "float",
        "float64" => "double",
        "float16" => "half",
        other => other,
    };
    DTYPES.iter().copied().find(|dtype| dtype.name == name)
}

/// The dtypes of a set that has a name, in TensorFlow's order.
pub fn dtype_set(name: &str) -> Option<Vec<Dtype>> {
    let name = match name {
        "numerictype" => "numbertype",
        "realnumerictype" => "realnumbertype",
        other => other,
    };
    let (_, kinds) = SETS.iter().find(|(set, _)| *set == name)?;
    Some(DTYPES.iter().copied().filter(|dtype| dtype.kind.is_one_of(kinds)).collect())
}

/// What may stand for dtypes: words and sets.
pub(crate) fn dtype_words() -> impl Iterator<Item = &'static str> {
    DTYPES.iter().map(|dtype| dtype.name).chain(SETS.iter().map(|(set, _)| *set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_in_enum_order_and_complete() {
        for (name, count) in [("numbertype", 19), ("realnumbertype", 12), ("quantizedtype", 5), ("numerictype", 19)] {
            let set = dtype_set(name).unwrap();
            assert_eq!(set.len(), count, "{name}");
            assert!(set.windows(2).all(|pair| pair[0].number < pair[1].number), "{name}");
        }
        assert_eq!(dtype_set("anytype"), None);
    }

    #[test]
    fn aliases_name_the_same_dtype() {
        assert_eq!(dtype_from_word("float32"), dtype_from_word("float"));
        assert_eq!(dtype_from_word("float64"), dtype_from_word("double"));
        assert_eq!(dtype_from_word("float16"), dtype_from_word("half"));
        assert_eq!(dtype_from_word("float_ref"), None);
        assert_eq!(dtype_from_word("DT_FLOAT"), None);
    }
}
