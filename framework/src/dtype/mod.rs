//! TensorFlow's dtypes: their numbers, names and sizes, the sets that specs name, and the Rust type of each.

mod element;
mod narrow;
mod number;
mod scalar;
mod string;
mod wrapping;

pub(crate) use element::sealed::Sealed;
pub use element::{Element, Pod, types};
pub use half::{bf16, f16};
#[doc(hidden)]
pub use kernlink_spec::for_each_dtype;
pub use narrow::*;
pub use num_complex::{Complex32, Complex64};
pub use number::{Number, RealNumber};
pub use scalar::{Scalar, ScalarElement};
pub use string::TString;
pub use wrapping::Wrapping;

use std::fmt;

use kernlink_spec::{Kind, NUMBER, QUANTIZED, REAL_NUMBER};

macro_rules! data_types {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $number:literal $word:ident $proto_name:ident, $kind:ident $element:ident, $field:ident;
    )*) => {
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
                match self { $(DataType::$variant => stringify!($proto_name),)* }
            }

            /// The word that op specs use, such as `float`.
            pub const fn name(self) -> &'static str {
                match self { $(DataType::$variant => stringify!($word),)* }
            }

            /// Bytes of one element in memory; 0 for string, resource and variant, whose elements are objects.
            pub const fn size(self) -> usize {
                match self { $(DataType::$variant => size_of_element!($kind $element),)* }
            }

            /// What the elements are.
            pub(crate) const fn kind(self) -> Kind {
                match self { $(DataType::$variant => Kind::$kind,)* }
            }
        }
    };
}

macro_rules! size_of_element {
    (Object $element:ident) => {
        0
    };
    ($kind:ident $element:ident) => {
        size_of::<$element>()
    };
}

for_each_dtype!(data_types);

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
        DataType::from_number(kernlink_spec::dtype_from_word(word)?.number)
    }

    /// Whether elements are plain bytes: neither strings nor resources nor variants.
    pub const fn is_pod(self) -> bool {
        self.size() != 0
    }

    /// Whether elements are floating-point numbers, complex ones excluded.
    pub const fn is_floating(self) -> bool {
        self.kind().is_one_of(&[Kind::Float, Kind::SmallFloat])
    }

    /// Whether elements are complex numbers.
    pub const fn is_complex(self) -> bool {
        self.kind().is_one_of(&[Kind::Complex])
    }

    /// Whether elements are integers, quantized ones excluded.
    pub const fn is_integer(self) -> bool {
        self.kind().is_one_of(&[Kind::Integer, Kind::SmallInteger])
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

/// How many dtypes are of some kinds.
const fn count(kinds: &[Kind]) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < DataType::ALL.len() {
        count += DataType::ALL[index].kind().is_one_of(kinds) as usize;
        index += 1;
    }
    count
}

/// The dtypes of some kinds, in the order of their numbers.
const fn of_kinds<const COUNT: usize>(kinds: &[Kind]) -> [DataType; COUNT] {
    let mut dtypes = [DataType::Float; COUNT];
    let (mut count, mut index) = (0, 0);
    while count < COUNT {
        if DataType::ALL[index].kind().is_one_of(kinds) {
            dtypes[count] = DataType::ALL[index];
            count += 1;
        }
        index += 1;
    }
    dtypes
}

/// `realnumbertype` in specs.
pub const REAL_NUMBER_TYPES: &[DataType] = &of_kinds::<{ count(REAL_NUMBER) }>(REAL_NUMBER);

/// `quantizedtype` in specs.
pub const QUANTIZED_TYPES: &[DataType] = &of_kinds::<{ count(QUANTIZED) }>(QUANTIZED);

/// `numbertype` (or `numerictype`) in specs.
pub const NUMBER_TYPES: &[DataType] = &of_kinds::<{ count(NUMBER) }>(NUMBER);

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
