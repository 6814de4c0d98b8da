//! Printing the parts of an op as the specs that declare them.

use std::fmt;

use kernlink_spec::{float_text, func_text, list_text, shape_text, string_text, tensor_text};

use super::{AllowedValues, ArgDef, ArgType, AttrDef, AttrDefault, OpDef};
use crate::dtype::{DataType, NUMBER_TYPES, QUANTIZED_TYPES, REAL_NUMBER_TYPES};

/// The spec of the argument: `values: N * T`.
impl fmt::Display for ArgDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, if self.is_ref { "Ref(" } else { "" })?;
        if let Some(number) = &self.number_attr {
            write!(f, "{number} * ")?;
        }
        match &self.ty {
            ArgType::Fixed(dtype) => write!(f, "{dtype}")?,
            ArgType::Attr(attr) | ArgType::ListAttr(attr) => f.write_str(attr)?,
        }
        f.write_str(if self.is_ref { ")" } else { "" })
    }
}

/// The spec of the attr: `T: {float, int32} = DT_FLOAT`.
///
/// [`OpDefBuilder::attr`](super::OpDefBuilder::attr) makes the same attr of it, but for its documentation, which has
/// no place in a spec.
impl fmt::Display for AttrDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match &self.allowed {
            Some(allowed) if self.ty.list => write!(f, "list({allowed})")?,
            Some(allowed) => write!(f, "{allowed}")?,
            None => write!(f, "{}", self.ty)?,
        }
        if let Some(minimum) = self.minimum {
            write!(f, " >= {minimum}")?;
        }
        if let Some(default) = &self.default {
            write!(f, " = {default}")?;
        }
        Ok(())
    }
}

/// As specs write them: `{float, int32}`, `{'SAME', 'VALID'}`, or the name of a set, such as `numbertype`.
impl fmt::Display for AllowedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllowedValues::Types(types) => {
                let sets = [
                    (NUMBER_TYPES, "numbertype"),
                    (REAL_NUMBER_TYPES, "realnumbertype"),
                    (QUANTIZED_TYPES, "quantizedtype"),
                ];
                match sets.into_iter().find(|(set, _)| **set == **types) {
                    Some((_, set)) => f.write_str(set),
                    None => {
                        let names: Vec<&str> = types.iter().map(|dtype| dtype.name()).collect();
                        write!(f, "{{{}}}", names.join(", "))
                    }
                }
            }
            AllowedValues::Strings(strings) => {
                let strings: Vec<_> = strings.iter().map(|string| string_text(string.as_bytes())).collect();
                write!(f, "{{{}}}", strings.join(", "))
            }
        }
    }
}

/// As specs write them, behind `=`. A tensor or function that no spec can state is a `?`.
impl fmt::Display for AttrDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tensor = |bytes: &[u8]| tensor_text(bytes).unwrap_or_else(|| "?".to_owned());
        let func = |bytes: &[u8]| func_text(bytes).unwrap_or_else(|| "?".to_owned());
        let dtype = |dtype: &DataType| dtype.proto_name().to_owned();
        let text = match self {
            AttrDefault::String(bytes) => string_text(bytes),
            AttrDefault::Int(value) => value.to_string(),
            AttrDefault::Float(value) => float_text(*value),
            AttrDefault::Bool(value) => value.to_string(),
            AttrDefault::Type(value) => dtype(value),
            AttrDefault::Shape(dims) => shape_text(dims.as_deref()),
            AttrDefault::Tensor(bytes) => tensor(bytes),
            AttrDefault::Func(bytes) => func(bytes),
            AttrDefault::ListString(items) => list_text(items.iter().map(|bytes| string_text(bytes))),
            AttrDefault::ListInt(items) => list_text(items.iter().map(i64::to_string)),
            AttrDefault::ListFloat(items) => list_text(items.iter().map(|value| float_text(*value))),
            AttrDefault::ListBool(items) => list_text(items.iter().map(bool::to_string)),
            AttrDefault::ListType(items) => list_text(items.iter().map(dtype)),
            AttrDefault::ListShape(items) => list_text(items.iter().map(|dims| shape_text(dims.as_deref()))),
            AttrDefault::ListTensor(items) => list_text(items.iter().map(|bytes| tensor(bytes))),
            AttrDefault::ListFunc(items) => list_text(items.iter().map(|bytes| func(bytes))),
        };
        f.write_str(&text)
    }
}

/// One line that says what the op is, without its documentation:
/// `Op<name=AddV2; signature=x: T, y: T -> z: T; attr=T: {float, int32}>`.
impl fmt::Display for OpDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args = |args: &[ArgDef]| args.iter().map(ArgDef::to_string).collect::<Vec<_>>().join(", ");
        write!(f, "Op<name={}; signature={} -> {}", self.name, args(&self.inputs), args(&self.outputs))?;
        for attr in self.attrs.iter() {
            write!(f, "; attr={attr}")?;
        }
        let flags = [
            (self.is_commutative, "is_commutative"),
            (self.is_aggregate, "is_aggregate"),
            (self.is_stateful, "is_stateful"),
            (self.allows_uninitialized_input, "allows_uninitialized_input"),
            (self.is_distributed_communication, "is_distributed_communication"),
        ];
        for (_, flag) in flags.iter().filter(|(set, _)| *set) {
            write!(f, "; {flag}=true")?;
        }
        f.write_str(">")
    }
}
