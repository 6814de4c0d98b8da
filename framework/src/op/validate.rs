//! Whether an op is well-formed: the rules that hold for every op, wherever it comes from.

use std::collections::BTreeSet;

use kernlink_spec::{dtype_from_word, is_op_name};

use super::{AllowedValues, ArgDef, ArgType, AttrBase, AttrDef, AttrDefault, AttrType, OpDef};
use crate::dtype::DataType;
use crate::error::{Error, Result};

/// The op of nodes whose own op is missing. Nobody else may declare it.
pub(crate) const MISSING_OP: &str = "_MissingOp";

impl OpDef {
    /// Checks the op against all of TensorFlow's rules. What `#[register_op]` and
    /// [`OpDefBuilder`](super::OpDefBuilder) make passes; one that was read from a file or put together by hand may not.
    ///
    /// # Errors
    /// INVALID_ARGUMENT with every rule that the op breaks: its name, repeated names, minimums, allowed values and
    /// defaults of its attrs, what its arguments say of their dtypes and numbers.
    #[track_caller]
    pub fn validate(&self) -> Result<()> {
        let mut faults = Vec::new();
        if !self.is_internal() && !is_op_name(&self.name) {
            faults.push(format!("invalid name: `{}` (did you use CamelCase?)", self.name));
        }
        if self.name == MISSING_OP {
            faults.push("the name is reserved: it stands for ops that are missing".to_owned());
        }
        let mut seen = BTreeSet::new();
        let args = self.inputs.iter().chain(self.outputs.iter()).map(|arg| &*arg.name);
        for name in self.attrs.iter().map(|attr| &*attr.name).chain(args) {
            if !seen.insert(name) {
                faults.push(format!("duplicate name: `{name}`; attrs, inputs and outputs share one name space"));
            }
        }
        for attr in self.attrs.iter() {
            check_attr(attr, &mut faults);
        }
        for (kind, args) in [("input", &self.inputs), ("output", &self.outputs)] {
            for arg in args.iter() {
                self.check_arg(kind, arg, &mut faults);
            }
        }
        if faults.is_empty() {
            return Ok(());
        }
        let faults: Vec<_> = faults.into_iter().map(|fault| format!("op {}: {fault}", self.name)).collect();
        Err(Error::invalid_argument(faults.join("\n")))
    }

    fn check_arg(&self, kind: &str, arg: &ArgDef, faults: &mut Vec<String>) {
        let place = format!("{kind} `{}`", arg.name);
        let find = |attr: &str, faults: &mut Vec<String>| {
            let found = self.attr(attr);
            if found.is_none() {
                faults.push(format!("no attr with name `{attr}` for {place}"));
            }
            found
        };
        if let Some(attr) = arg.number_attr.as_deref().and_then(|number| find(number, faults)) {
            let used = format!("attr `{}` used as length for {place}", attr.name);
            match attr.minimum {
                _ if attr.ty != (AttrType { base: AttrBase::Int, list: false }) => {
                    faults.push(format!("{used} has type {}, which is not int", attr.ty));
                }
                None => faults.push(format!("{used} must have minimum")),
                Some(minimum) if minimum < 0 => faults.push(format!("{used} must have minimum >= 0, not {minimum}")),
                Some(_) => {}
            }
        }
        if arg.number_attr.is_some() && matches!(arg.ty, ArgType::ListAttr(_)) {
            faults.push(format!("can't have both number_attr and type_list_attr for {place}"));
        }
        let (attr, role, list) = match &arg.ty {
            ArgType::Fixed(_) => return,
            ArgType::Attr(attr) => (attr, "type_attr", false),
            ArgType::ListAttr(attr) => (attr, "type_list_attr", true),
        };
        let expected = AttrType { base: AttrBase::Type, list };
        if let Some(attr) = find(attr, faults).filter(|attr| attr.ty != expected) {
            let (name, ty) = (&attr.name, attr.ty);
            faults.push(format!("attr `{name}` used as {role} for {place} has type {ty}, which is not {expected}"));
        }
    }
}

fn check_attr(attr: &AttrDef, faults: &mut Vec<String>) {
    let (name, ty) = (&attr.name, attr.ty);
    if is_dtype_word(name) {
        faults.push(format!("attr can't have name `{name}` that matches a data type"));
    }
    match attr.minimum {
        Some(_) if !ty.list && ty.base != AttrBase::Int => {
            faults.push(format!("attr `{name}` has minimum for unsupported type {ty}"));
        }
        Some(minimum) if ty.list && minimum < 0 => {
            faults.push(format!("attr `{name}` with list type must have a non-negative minimum, not {minimum}"));
        }
        _ => {}
    }
    let suits = match &attr.allowed {
        None => true,
        Some(AllowedValues::Types(_)) => ty.base == AttrBase::Type,
        Some(AllowedValues::Strings(_)) => ty.base == AttrBase::String,
    };
    if !suits {
        faults.push(format!("the allowed values of attr `{name}` are not of its type {ty}"));
    }
    if let Some(default) = &attr.default
        && let Err(fault) = attr.check_value(&default.facts())
    {
        faults.push(format!("default: attr `{name}` {fault}"));
    }
}

/// Whether TensorFlow reads the word as a dtype, references included.
fn is_dtype_word(word: &str) -> bool {
    dtype_from_word(word.strip_suffix("_ref").unwrap_or(word)).is_some()
}

/// The properties of an attr's value that the rules depend on.
#[derive(Default)]
pub(crate) struct ValueFacts<'a> {
    /// The value's type; `None` for an empty list of any type.
    pub(crate) ty: Option<AttrType>,
    /// The value of an int.
    pub(crate) int: Option<i64>,
    /// The number of elements of a list.
    pub(crate) length: Option<usize>,
    /// The dtypes, one or a list.
    pub(crate) types: &'a [DataType],
    /// The strings, one or a list.
    pub(crate) strings: Vec<&'a [u8]>,
}

impl AttrDef {
    /// Whether the attr may have a value; if not, why, to follow the attr's name.
    pub(crate) fn check_value(&self, value: &ValueFacts<'_>) -> Result<(), String> {
        let empty_list = value.length == Some(0);
        if value.ty.map_or(!(empty_list && self.ty.list), |ty| ty != self.ty) {
            let found = value.ty.map_or_else(|| "an empty list".to_owned(), |ty| ty.to_string());
            return Err(format!("must be {}, not {found}", self.ty));
        }
        if let Some(minimum) = self.minimum {
            match (value.int, value.length) {
                (Some(value), _) if value < minimum => {
                    return Err(format!("is {value} but must be at least {minimum}"));
                }
                (_, Some(length)) if (length as i64) < minimum => {
                    return Err(format!("has {length} elements but needs at least {minimum}"));
                }
                _ => {}
            }
        }
        let refused = match &self.allowed {
            None => None,
            Some(AllowedValues::Types(allowed)) => {
                let refused = value.types.iter().find(|dtype| !allowed.contains(dtype));
                refused.map(|dtype| (dtype.to_string(), join(allowed.iter())))
            }
            Some(AllowedValues::Strings(allowed)) => {
                let refused = value.strings.iter().find(|text| !allowed.iter().any(|one| one.as_bytes() == **text));
                let quoted = allowed.iter().map(|text| format!("{text:?}"));
                refused.map(|text| (format!("{:?}", String::from_utf8_lossy(text)), join(quoted)))
            }
        };
        match refused {
            None => Ok(()),
            Some((value, allowed)) if self.ty.list => Err(format!("holds {value} but only {allowed} are allowed")),
            Some((value, allowed)) => Err(format!("is {value} but must be one of {allowed}")),
        }
    }
}

fn join<T: std::fmt::Display>(items: impl Iterator<Item = T>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

impl AttrDefault {
    /// The type of the value.
    pub const fn ty(&self) -> AttrType {
        let (base, list) = match self {
            AttrDefault::String(_) => (AttrBase::String, false),
            AttrDefault::Int(_) => (AttrBase::Int, false),
            AttrDefault::Float(_) => (AttrBase::Float, false),
            AttrDefault::Bool(_) => (AttrBase::Bool, false),
            AttrDefault::Type(_) => (AttrBase::Type, false),
            AttrDefault::Shape(_) => (AttrBase::Shape, false),
            AttrDefault::Tensor(_) => (AttrBase::Tensor, false),
            AttrDefault::Func(_) => (AttrBase::Func, false),
            AttrDefault::ListString(_) => (AttrBase::String, true),
            AttrDefault::ListInt(_) => (AttrBase::Int, true),
            AttrDefault::ListFloat(_) => (AttrBase::Float, true),
            AttrDefault::ListBool(_) => (AttrBase::Bool, true),
            AttrDefault::ListType(_) => (AttrBase::Type, true),
            AttrDefault::ListShape(_) => (AttrBase::Shape, true),
            AttrDefault::ListTensor(_) => (AttrBase::Tensor, true),
            AttrDefault::ListFunc(_) => (AttrBase::Func, true),
        };
        AttrType { base, list }
    }

    fn facts(&self) -> ValueFacts<'_> {
        let mut facts = ValueFacts { ty: Some(self.ty()), ..ValueFacts::default() };
        match self {
            AttrDefault::Int(value) => facts.int = Some(*value),
            AttrDefault::Type(dtype) => facts.types = std::slice::from_ref(dtype),
            AttrDefault::String(bytes) => facts.strings = vec![bytes],
            AttrDefault::ListType(list) => (facts.types, facts.length) = (list, Some(list.len())),
            AttrDefault::ListString(list) => {
                facts.strings = list.iter().map(|bytes| &**bytes).collect();
                facts.length = Some(list.len());
            }
            AttrDefault::ListInt(list) => facts.length = Some(list.len()),
            AttrDefault::ListFloat(list) => facts.length = Some(list.len()),
            AttrDefault::ListBool(list) => facts.length = Some(list.len()),
            AttrDefault::ListShape(list) => facts.length = Some(list.len()),
            AttrDefault::ListTensor(list) | AttrDefault::ListFunc(list) => facts.length = Some(list.len()),
            AttrDefault::Float(_)
            | AttrDefault::Bool(_)
            | AttrDefault::Shape(_)
            | AttrDefault::Tensor(_)
            | AttrDefault::Func(_) => {}
        }
        facts
    }
}
