//! `OpDef`: the declaration of an op, as data that can stand in read-only memory.

use std::borrow::Cow;

use crate::attr::{AttrType, AttrValue};
use crate::dtype::DataType;
use crate::error::Result;
use crate::shape::PartialShape;

/// Text that is constant in a declared op and owned in one that was read from a file.
pub type Str = Cow<'static, str>;

/// A list that is constant in a declared op and owned in one that was read from a file.
pub type List<T> = Cow<'static, [T]>;

/// The declaration of an op: its name, inputs, outputs, attrs and flags.
#[derive(Clone, Debug, PartialEq)]
pub struct OpDef {
    /// CamelCase, `Namespace>Name`, or `_Internal`.
    pub name: Str,
    /// Inputs, in order.
    pub inputs: List<ArgDef>,
    /// Outputs, in order.
    pub outputs: List<ArgDef>,
    /// Attrs, in order of declaration.
    pub attrs: List<AttrDef>,
    /// One line of documentation.
    pub summary: Str,
    /// The documentation below the summary.
    pub description: Str,
    /// `op(a, b) == op(b, a)` for all inputs.
    pub is_commutative: bool,
    /// Takes at least two inputs of one type to one output of that type, in any order and grouping.
    pub is_aggregate: bool,
    /// Has state or effects: is never folded, merged or run twice.
    pub is_stateful: bool,
    /// May be given a reference to an uninitialised tensor.
    pub allows_uninitialized_input: bool,
    /// May return UNAVAILABLE as its own error.
    pub is_distributed_communication: bool,
    /// From which GraphDef version on the op may not be used.
    pub deprecation: Option<Deprecation>,
}

/// Since when an op is deprecated, and what replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deprecation {
    /// The first GraphDef version in which the op is refused.
    pub version: i32,
    /// What to use instead.
    pub explanation: Str,
}

/// An input or output of an op: one tensor, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgDef {
    /// snake_case name.
    pub name: Str,
    /// Documentation.
    pub description: Str,
    /// The dtype, or the attr that holds it.
    pub ty: ArgType,
    /// For `N * T`: the int attr that holds the number of tensors.
    pub number_attr: Option<Str>,
    /// Whether the tensor is passed by reference (`Ref(T)`).
    pub is_ref: bool,
}

/// How an argument's dtype is stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgType {
    /// Always this dtype.
    Fixed(DataType),
    /// The dtype that the named `type` attr holds.
    Attr(Str),
    /// One tensor for each dtype that the named `list(type)` attr holds.
    ListAttr(Str),
}

impl ArgDef {
    /// Whether the argument is a list of tensors (`N * T` or `list(type)`).
    pub const fn is_list(&self) -> bool {
        self.number_attr.is_some() || matches!(self.ty, ArgType::ListAttr(_))
    }
}

/// An attr of an op.
#[derive(Clone, Debug, PartialEq)]
pub struct AttrDef {
    /// The attr's name.
    pub name: Str,
    /// The type of its value.
    pub ty: AttrType,
    /// The value that it has when a node leaves it out; without one it must be given.
    pub default: Option<AttrDefault>,
    /// Documentation.
    pub description: Str,
    /// For int the least value, for lists the least length.
    pub minimum: Option<i64>,
    /// The values that are allowed.
    pub allowed: Option<AllowedValues>,
}

/// The values that an attr may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedValues {
    /// For `type` and `list(type)`.
    Types(List<DataType>),
    /// For `string` and `list(string)`.
    Strings(List<Str>),
}

/// The default of an attr. Tensors and functions are kept as serialized protobufs. Two defaults are equal if they are to
/// the bit: NaN equals itself, and 0 is not −0.
#[derive(Clone, Debug)]
pub enum AttrDefault {
    /// A byte string.
    String(List<u8>),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f32),
    /// A bool.
    Bool(bool),
    /// A dtype.
    Type(DataType),
    /// A shape: dimensions with −1 for unknown ones, or `None` for unknown rank.
    Shape(Option<List<i64>>),
    /// A serialized `TensorProto`.
    Tensor(List<u8>),
    /// A serialized `NameAttrList`.
    Func(List<u8>),
    /// A list of byte strings.
    ListString(List<List<u8>>),
    /// A list of integers.
    ListInt(List<i64>),
    /// A list of floats.
    ListFloat(List<f32>),
    /// A list of bools.
    ListBool(List<bool>),
    /// A list of dtypes.
    ListType(List<DataType>),
    /// A list of shapes.
    ListShape(List<Option<List<i64>>>),
    /// A list of serialized `TensorProto`s.
    ListTensor(List<List<u8>>),
    /// A list of serialized `NameAttrList`s.
    ListFunc(List<List<u8>>),
}

impl AttrDefault {
    /// The value; `None` for tensors and functions, which are serialized protobufs.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a shape with too many elements.
    pub(crate) fn plain_value(&self) -> Result<Option<AttrValue>> {
        let shape = |dims: &Option<List<i64>>| match dims {
            None => Ok(PartialShape::unknown()),
            Some(dims) => PartialShape::from_dims(dims),
        };
        Ok(Some(match self {
            AttrDefault::String(bytes) => AttrValue::String((&**bytes).into()),
            AttrDefault::Int(value) => AttrValue::Int(*value),
            AttrDefault::Float(value) => AttrValue::Float(*value),
            AttrDefault::Bool(value) => AttrValue::Bool(*value),
            AttrDefault::Type(dtype) => AttrValue::Type(*dtype),
            AttrDefault::Shape(dims) => AttrValue::Shape(shape(dims)?),
            AttrDefault::ListString(items) => AttrValue::ListString(items.iter().map(|s| (&**s).into()).collect()),
            AttrDefault::ListInt(items) => AttrValue::ListInt(items.to_vec()),
            AttrDefault::ListFloat(items) => AttrValue::ListFloat(items.to_vec()),
            AttrDefault::ListBool(items) => AttrValue::ListBool(items.to_vec()),
            AttrDefault::ListType(items) => AttrValue::ListType(items.to_vec()),
            AttrDefault::ListShape(items) => AttrValue::ListShape(items.iter().map(shape).collect::<Result<_>>()?),
            AttrDefault::Tensor(_) | AttrDefault::Func(_) | AttrDefault::ListTensor(_) | AttrDefault::ListFunc(_) => {
                return Ok(None);
            }
        }))
    }
}

impl PartialEq for AttrDefault {
    fn eq(&self, other: &AttrDefault) -> bool {
        let same = |a: &f32, b: &f32| a.to_bits() == b.to_bits();
        match (self, other) {
            (AttrDefault::Float(a), AttrDefault::Float(b)) => same(a, b),
            (AttrDefault::ListFloat(a), AttrDefault::ListFloat(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
            }
            (AttrDefault::Int(a), AttrDefault::Int(b)) => a == b,
            (AttrDefault::Bool(a), AttrDefault::Bool(b)) => a == b,
            (AttrDefault::Type(a), AttrDefault::Type(b)) => a == b,
            (AttrDefault::Shape(a), AttrDefault::Shape(b)) => a == b,
            (AttrDefault::String(a), AttrDefault::String(b))
            | (AttrDefault::Tensor(a), AttrDefault::Tensor(b))
            | (AttrDefault::Func(a), AttrDefault::Func(b)) => a == b,
            (AttrDefault::ListInt(a), AttrDefault::ListInt(b)) => a == b,
            (AttrDefault::ListBool(a), AttrDefault::ListBool(b)) => a == b,
            (AttrDefault::ListType(a), AttrDefault::ListType(b)) => a == b,
            (AttrDefault::ListShape(a), AttrDefault::ListShape(b)) => a == b,
            (AttrDefault::ListString(a), AttrDefault::ListString(b))
            | (AttrDefault::ListTensor(a), AttrDefault::ListTensor(b))
            | (AttrDefault::ListFunc(a), AttrDefault::ListFunc(b)) => a == b,
            _ => false,
        }
    }
}

impl OpDef {
    /// An op without inputs, outputs, attrs, flags and documentation, to start from.
    pub const EMPTY: OpDef = OpDef {
        name: Cow::Borrowed(""),
        inputs: Cow::Borrowed(&[]),
        outputs: Cow::Borrowed(&[]),
        attrs: Cow::Borrowed(&[]),
        summary: Cow::Borrowed(""),
        description: Cow::Borrowed(""),
        is_commutative: false,
        is_aggregate: false,
        is_stateful: false,
        allows_uninitialized_input: false,
        is_distributed_communication: false,
        deprecation: None,
    };

    /// The attr with this name.
    pub fn attr(&self, name: &str) -> Option<&AttrDef> {
        self.attrs.iter().find(|attr| attr.name == name)
    }

    /// The index of the input with this name.
    pub fn input_index(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|arg| arg.name == name)
    }

    /// The index of the output with this name.
    pub fn output_index(&self, name: &str) -> Option<usize> {
        self.outputs.iter().position(|arg| arg.name == name)
    }

    /// Whether the attr's value follows from the inputs of a node, so that wrappers never ask for it.
    pub fn is_inferred(&self, attr: &str) -> bool {
        self.inputs.iter().any(|arg| {
            arg.number_attr.as_deref() == Some(attr)
                || matches!(&arg.ty, ArgType::Attr(name) | ArgType::ListAttr(name) if name == attr)
        })
    }

    /// Whether the op's name begins with `_`: it is made by the runtime, not by users.
    pub fn is_internal(&self) -> bool {
        self.name.starts_with('_')
    }
}

/// The op with this name, in a list that is sorted by name.
pub fn find_op<'a>(ops: &'a [OpDef], name: &str) -> Option<&'a OpDef> {
    ops.binary_search_by(|op| (*op.name).cmp(name)).ok().map(|at| &ops[at])
}
