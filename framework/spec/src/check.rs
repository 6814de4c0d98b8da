//! What the specs of an op mean together: references resolved, implied minimums filled in, contradictions found.

use crate::arg::{ArgSpec, Word};
use crate::attr::{AttrSpec, AttrType, Base};
use crate::dtype::{DTYPES, Dtype, dtype_from_word};
use crate::error::{Span, SpecError, did_you_mean, rust_dtype};
use crate::name::{camel_case, is_op_name};

/// The specs of an op.
#[derive(Clone, Debug, Default)]
pub struct OpSpec {
    /// The op's name.
    pub name: String,
    /// Its attrs.
    pub attrs: Vec<AttrSpec>,
    /// Names of attrs whose specs did not parse: references to them are no errors.
    pub broken_attrs: Vec<String>,
    /// Its inputs.
    pub inputs: Vec<ArgSpec>,
    /// Its outputs.
    pub outputs: Vec<ArgSpec>,
}

/// Where an error of an op is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the op's name.
    Name,
    /// In the attr with this index.
    Attr(usize),
    /// In the input with this index.
    Input(usize),
    /// In the output with this index.
    Output(usize),
}

/// An error in one of the specs of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpError {
    /// In which spec.
    pub place: Place,
    /// What.
    pub error: SpecError,
}

/// An op whose specs fit together.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedOp {
    /// Its attrs, with the minimums that their uses imply.
    pub attrs: Vec<AttrSpec>,
    /// Its inputs.
    pub inputs: Vec<CheckedArg>,
    /// Its outputs.
    pub outputs: Vec<CheckedArg>,
    /// Whether an argument is a literal `resource`, which makes the op stateful.
    pub uses_resource: bool,
}

/// An input or output whose words are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedArg {
    /// The argument's name.
    pub name: String,
    /// Its dtype.
    pub ty: ArgType,
    /// For `N * T`, the attr that holds the number of tensors.
    pub number_attr: Option<String>,
    /// Whether it is `Ref(...)`.
    pub is_ref: bool,
}

/// How an argument's dtype is stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgType {
    /// Always this dtype.
    Fixed(Dtype),
    /// The dtype that a `type` attr holds.
    Attr(String),
    /// One tensor for each dtype that a `list(type)` attr holds.
    ListAttr(String),
}

impl CheckedArg {
    /// Whether the argument is a list of tensors.
    pub fn is_list(&self) -> bool {
        self.number_attr.is_some() || matches!(self.ty, ArgType::ListAttr(_))
    }
}

impl CheckedOp {
    /// Whether an attr's value follows from the inputs.
    pub fn is_inferred(&self, attr: &str) -> bool {
        self.inputs.iter().any(|arg| {
            arg.number_attr.as_deref() == Some(attr)
                || matches!(&arg.ty, ArgType::Attr(name) | ArgType::ListAttr(name) if name == attr)
        })
    }
}

/// Checks the specs of an op together.
///
/// # Errors
/// Every error found: an illegal or repeated name, a reference to an unknown attr or to one of the wrong type, a
/// default below the implied minimum.
pub fn check_op(op: &OpSpec) -> Result<CheckedOp, Vec<OpError>> {
    let mut checker = Checker { op, attrs: op.attrs.clone(), errors: Vec::new() };
    checker.names();
    let inputs = checker.args(&op.inputs, Place::Input);
    let outputs = checker.args(&op.outputs, Place::Output);
    checker.defaults();
    if !checker.errors.is_empty() {
        return Err(checker.errors);
    }
    let resource = |arg: &CheckedArg| matches!(arg.ty, ArgType::Fixed(dtype) if dtype.name == "resource");
    let uses_resource = inputs.iter().chain(&outputs).any(resource);
    Ok(CheckedOp { attrs: checker.attrs, inputs, outputs, uses_resource })
}

struct Checker<'a> {
    op: &'a OpSpec,
    attrs: Vec<AttrSpec>,
    errors: Vec<OpError>,
}

impl<'a> Checker<'a> {
    fn error(&mut self, place: Place, span: &Span, message: String) {
        self.errors.push(OpError { place, error: SpecError::new(span.clone(), message) });
    }

    fn names(&mut self) {
        let op = self.op;
        if !is_op_name(&op.name) {
            let camel = camel_case(&op.name);
            let help = if is_op_name(&camel) {
                format!("did you use CamelCase? For example `{camel}`")
            } else {
                "expected CamelCase, `Namespace>CamelCase`, or a name that begins with `_` for an internal op".into()
            };
            self.error(Place::Name, &(0..op.name.len()), format!("invalid name: `{}`: {help}", op.name));
        }
        let attrs = op.attrs.iter().enumerate().map(|(i, attr)| (Place::Attr(i), &attr.name, &attr.name_span));
        let inputs = op.inputs.iter().enumerate().map(|(i, arg)| (Place::Input(i), &arg.name, &arg.name_span));
        let outputs = op.outputs.iter().enumerate().map(|(i, arg)| (Place::Output(i), &arg.name, &arg.name_span));
        let mut seen: Vec<(&str, Place)> = Vec::new();
        for (place, name, span) in attrs.chain(inputs).chain(outputs) {
            if let Some((_, first)) = seen.iter().find(|(seen, _)| seen == name) {
                let first = match first {
                    Place::Attr(_) => "an attr",
                    Place::Input(_) => "an input",
                    Place::Output(_) | Place::Name => "an output",
                };
                let message = format!(
                    "duplicate name: {first} is called `{name}` already, and attrs, inputs and outputs share one \
                     name space: rename one of them"
                );
                self.error(place, span, message);
            }
            seen.push((name, place));
            let plain = name.strip_suffix("_ref").unwrap_or(name);
            if matches!(place, Place::Attr(_)) && dtype_from_word(plain).is_some() {
                let message = format!("attr can't have name `{name}` that matches a data type: rename it");
                self.error(place, span, message);
            }
        }
    }

    /// The attr that a word refers to. If there is none, says so.
    fn attr(&mut self, word: &Word, place: Place, dtypes_too: bool) -> Option<usize> {
        let found = self.attrs.iter().position(|attr| attr.name == word.text);
        if found.is_some() || self.op.broken_attrs.contains(&word.text) {
            return found;
        }
        let op = self.op;
        let names = op.attrs.iter().map(|attr| attr.name.as_str()).chain(op.broken_attrs.iter().map(String::as_str));
        let dtypes = DTYPES.iter().filter(|_| dtypes_too).map(|dtype| dtype.name);
        let kind = if dtypes_too { "type" } else { "int" };
        let help = match word.text.strip_suffix("_ref").filter(|plain| dtype_from_word(plain).is_some()) {
            Some(plain) => {
                let message = format!("illegal use of ref type `{}`. Use `Ref({plain})` instead", word.text);
                self.error(place, &word.span, message);
                return None;
            }
            None => rust_dtype(&word.text).filter(|_| dtypes_too).unwrap_or_else(|| {
                did_you_mean(&word.text, names.chain(dtypes), || {
                    let or_dtype = if dtypes_too { ", or use a dtype such as `float`" } else { "" };
                    format!("declare it with `attr(\"{}: {kind}\")`{or_dtype}", word.text)
                })
            }),
        };
        self.error(place, &word.span, format!("reference to unknown attr `{}`: {help}", word.text));
        None
    }

    /// An attr used as a number or as a list of types is at least 1, or has at least 1, unless its spec says otherwise.
    fn imply_minimum(&mut self, attr: usize) {
        self.attrs[attr].minimum.get_or_insert(1);
    }

    fn args(&mut self, args: &'a [ArgSpec], place: fn(usize) -> Place) -> Vec<CheckedArg> {
        args.iter().enumerate().filter_map(|(i, arg)| self.arg(arg, place(i))).collect()
    }

    fn arg(&mut self, arg: &ArgSpec, place: Place) -> Option<CheckedArg> {
        let what = if matches!(place, Place::Input(_)) { "input" } else { "output" };
        let mut complete = true;
        if let Some(number) = &arg.number {
            match self.attr(number, place, false) {
                None => complete = false,
                Some(attr) => {
                    let AttrSpec { ty, minimum, .. } = self.attrs[attr];
                    let (n, name) = (&number.text, &arg.name);
                    if ty != (AttrType { base: Base::Int, list: false }) {
                        let message = format!(
                            "attr `{n}` used as length for {what} `{name}` has type {ty}, expected int: declare it \
                             with `attr(\"{n}: int\")`"
                        );
                        self.error(place, &number.span, message);
                    } else if let Some(minimum) = minimum.filter(|&minimum| minimum < 0) {
                        let message = format!(
                            "attr `{n}` used as length for {what} `{name}` must have minimum >= 0, not {minimum}"
                        );
                        self.error(place, &number.span, message);
                    } else {
                        self.imply_minimum(attr);
                    }
                }
            }
        }
        let ty = self.arg_type(arg, place, what);
        Some(CheckedArg {
            name: arg.name.clone(),
            ty: ty.filter(|_| complete)?,
            number_attr: arg.number.as_ref().map(|number| number.text.clone()),
            is_ref: arg.is_ref,
        })
    }

    fn arg_type(&mut self, arg: &ArgSpec, place: Place, what: &str) -> Option<ArgType> {
        let word = &arg.ty;
        if let Some(dtype) = dtype_from_word(&word.text) {
            return Some(ArgType::Fixed(dtype));
        }
        let attr = self.attr(word, place, true)?;
        let ty = self.attrs[attr].ty;
        if ty.base != Base::Type {
            let message = format!(
                "reference to attr `{}` with type {ty} that isn't type or list(type): {what} `{}` needs a dtype",
                word.text, arg.name
            );
            self.error(place, &word.span, message);
            return None;
        }
        if !ty.list {
            return Some(ArgType::Attr(word.text.clone()));
        }
        if let Some(number) = &arg.number {
            let message = format!(
                "can't have both a number attr and a type-list attr: `{}` is a list(type), which holds its own \
                 length: remove `{} *`",
                word.text, number.text
            );
            self.error(place, &(number.span.start..word.span.end), message);
            return None;
        }
        self.imply_minimum(attr);
        Some(ArgType::ListAttr(word.text.clone()))
    }

    /// The defaults against minimums that only the arguments imply.
    fn defaults(&mut self) {
        for i in 0..self.attrs.len() {
            let attr = &self.attrs[i];
            if attr.minimum == self.op.attrs[i].minimum {
                continue;
            }
            if let Some(Err(error)) = attr.default.as_ref().map(|default| attr.check_value(default)) {
                let message = format!(
                    "{}, which its use in an input or output implies: write `>= 0` if none is meant to be legal",
                    error.message
                );
                self.errors.push(OpError { place: Place::Attr(i), error: SpecError::new(error.span, message) });
            }
        }
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
