//! Attr values of nodes: what a node says beside its inputs.

use std::collections::BTreeMap;
use std::fmt;

use crate::dtype::{DataType, TString};
use crate::error::{Error, Result};
use crate::shape::PartialShape;
use crate::tensor::Tensor;

pub use kernlink_spec::{AttrType, Base as AttrBase};

/// The value of an attr.
#[derive(Clone, Debug)]
pub enum AttrValue {
    /// A byte string.
    String(TString),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f32),
    /// A bool.
    Bool(bool),
    /// A dtype.
    Type(DataType),
    /// A partial shape.
    Shape(PartialShape),
    /// A tensor.
    Tensor(Tensor),
    /// A function.
    Func(FunctionRef),
    /// A list of byte strings.
    ListString(Vec<TString>),
    /// A list of integers.
    ListInt(Vec<i64>),
    /// A list of floats.
    ListFloat(Vec<f32>),
    /// A list of bools.
    ListBool(Vec<bool>),
    /// A list of dtypes.
    ListType(Vec<DataType>),
    /// A list of partial shapes.
    ListShape(Vec<PartialShape>),
    /// A list of tensors.
    ListTensor(Vec<Tensor>),
    /// A list of functions.
    ListFunc(Vec<FunctionRef>),
    /// A list without elements, of any type.
    EmptyList,
    /// Inside a function: takes the value of the function's attr with this name.
    Placeholder(String),
}

/// The name of a function and the attrs that it is called with.
#[derive(Clone, Debug, Default)]
pub struct FunctionRef {
    /// The function's name.
    pub name: String,
    /// The attrs.
    pub attrs: BTreeMap<String, AttrValue>,
}

impl AttrValue {
    /// Whether an attr of type `ty` may have this value.
    pub fn has_type(&self, ty: AttrType) -> bool {
        match self {
            AttrValue::EmptyList => ty.list,
            AttrValue::Placeholder(_) => true,
            _ => self.ty() == Some(ty),
        }
    }

    /// The functions that the value is, or that are in it if it is a list; not those in their attrs.
    pub fn functions(&self) -> &[FunctionRef] {
        match self {
            AttrValue::Func(function) => std::slice::from_ref(function),
            AttrValue::ListFunc(functions) => functions,
            _ => &[],
        }
    }
}

impl fmt::Display for AttrValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
            f.write_str("[")?;
            for (i, item) in items.iter().enumerate() {
                write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
            }
            f.write_str("]")
        }
        match self {
            AttrValue::String(text) => write!(f, "{text:?}"),
            AttrValue::Int(value) => write!(f, "{value}"),
            AttrValue::Float(value) => write!(f, "{value}"),
            AttrValue::Bool(value) => write!(f, "{value}"),
            AttrValue::Type(dtype) => write!(f, "{}", dtype.proto_name()),
            AttrValue::Shape(shape) => write!(f, "{shape}"),
            AttrValue::Tensor(tensor) => write!(f, "Tensor<{tensor}>"),
            AttrValue::Func(function) => f.write_str(&function.name),
            AttrValue::ListString(items) => write!(f, "{items:?}"),
            AttrValue::ListInt(items) => list(f, items),
            AttrValue::ListFloat(items) => list(f, items),
            AttrValue::ListBool(items) => list(f, items),
            AttrValue::ListType(items) => list(f, &items.iter().map(|t| t.proto_name()).collect::<Vec<_>>()),
            AttrValue::ListShape(items) => list(f, items),
            AttrValue::ListTensor(items) => list(f, items),
            AttrValue::ListFunc(items) => list(f, &items.iter().map(|t| &t.name).collect::<Vec<_>>()),
            AttrValue::EmptyList => f.write_str("[]"),
            AttrValue::Placeholder(name) => write!(f, "${name}"),
        }
    }
}

/// The attrs of a node, by name.
#[derive(Clone, Debug, Default)]
pub struct AttrMap(BTreeMap<String, AttrValue>);

impl AttrMap {
    /// No attrs.
    pub const fn new() -> AttrMap {
        AttrMap(BTreeMap::new())
    }

    /// The attr with this name.
    pub fn get(&self, name: &str) -> Option<&AttrValue> {
        self.0.get(name)
    }

    /// Sets an attr; returns its former value.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<AttrValue>) -> Option<AttrValue> {
        self.0.insert(name.into(), value.into())
    }

    /// Removes an attr.
    pub fn remove(&mut self, name: &str) -> Option<AttrValue> {
        self.0.remove(name)
    }

    /// The functions that attrs name: [`AttrValue::functions`] of each.
    pub fn functions(&self) -> impl Iterator<Item = &FunctionRef> {
        self.0.values().flat_map(AttrValue::functions)
    }

    /// All attrs, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &AttrValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The attr with this name as a `T`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is none or it has another type.
    #[track_caller]
    pub fn required<T: FromAttrValue>(&self, name: &str) -> Result<T> {
        let value = self.get(name).ok_or_else(|| Error::invalid_argument(format!("attr `{name}` is missing")))?;
        T::from_attr_value(value)
            .ok_or_else(|| Error::invalid_argument(format!("attr `{name}` has an unsuitable value: {value}")))
    }
}

impl FromIterator<(String, AttrValue)> for AttrMap {
    fn from_iter<I: IntoIterator<Item = (String, AttrValue)>>(attrs: I) -> AttrMap {
        AttrMap(attrs.into_iter().collect())
    }
}

/// A Rust type that an attr's value can be read as.
pub trait FromAttrValue: Sized {
    /// The value, or `None` if it has another type.
    fn from_attr_value(value: &AttrValue) -> Option<Self>;
}

/// What the kinds of values have in common, from their Rust types.
macro_rules! kinds {
    ($($t:ty => $variant:ident, $list:ident;)*) => {
        impl AttrValue {
            /// The type of the value; `None` for an empty list of any type and for a placeholder.
            pub fn ty(&self) -> Option<AttrType> {
                match self {
                    $(
                        AttrValue::$variant(_) => Some(AttrType { base: AttrBase::$variant, list: false }),
                        AttrValue::$list(_) => Some(AttrType { base: AttrBase::$variant, list: true }),
                    )*
                    AttrValue::EmptyList | AttrValue::Placeholder(_) => None,
                }
            }

            /// The number of elements of a list; `None` for other values.
            pub fn list_len(&self) -> Option<usize> {
                match self {
                    $(AttrValue::$list(list) => Some(list.len()),)*
                    AttrValue::EmptyList => Some(0),
                    _ => None,
                }
            }
        }
        $(
            impl From<$t> for AttrValue {
                fn from(value: $t) -> AttrValue { AttrValue::$variant(value) }
            }
            impl From<Vec<$t>> for AttrValue {
                fn from(values: Vec<$t>) -> AttrValue { AttrValue::$list(values) }
            }
            impl From<&[$t]> for AttrValue {
                fn from(values: &[$t]) -> AttrValue { AttrValue::$list(values.to_vec()) }
            }
            impl FromAttrValue for $t {
                fn from_attr_value(value: &AttrValue) -> Option<$t> {
                    match value { AttrValue::$variant(value) => Some(value.clone()), _ => None }
                }
            }
            impl FromAttrValue for Vec<$t> {
                fn from_attr_value(value: &AttrValue) -> Option<Vec<$t>> {
                    match value {
                        AttrValue::$list(values) => Some(values.clone()),
                        AttrValue::EmptyList => Some(Vec::new()),
                        _ => None,
                    }
                }
            }
        )*
    };
}

kinds! {
    TString => String, ListString;
    i64 => Int, ListInt;
    f32 => Float, ListFloat;
    bool => Bool, ListBool;
    DataType => Type, ListType;
    PartialShape => Shape, ListShape;
    Tensor => Tensor, ListTensor;
    FunctionRef => Func, ListFunc;
}

impl From<&str> for AttrValue {
    fn from(text: &str) -> AttrValue {
        AttrValue::String(text.into())
    }
}

impl From<String> for AttrValue {
    fn from(text: String) -> AttrValue {
        AttrValue::String(text.into())
    }
}

impl From<Vec<String>> for AttrValue {
    fn from(texts: Vec<String>) -> AttrValue {
        AttrValue::ListString(texts.into_iter().map(TString::from).collect())
    }
}

/// What is not UTF-8, as a serialized message, is replaced; [`TString`] holds all bytes.
impl FromAttrValue for String {
    fn from_attr_value(value: &AttrValue) -> Option<String> {
        match value {
            AttrValue::String(text) => Some(String::from_utf8_lossy(text.as_bytes()).into_owned()),
            _ => None,
        }
    }
}

impl FromAttrValue for Vec<String> {
    fn from_attr_value(value: &AttrValue) -> Option<Vec<String>> {
        let texts: Vec<TString> = Vec::from_attr_value(value)?;
        Some(texts.iter().map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned()).collect())
    }
}
