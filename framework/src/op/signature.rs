//! Signatures: the inputs and outputs that an op's arguments become by a node's attrs, with their dtypes.

use std::fmt;
use std::ops::Range;

use super::{ArgDef, ArgType, OpDef};
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::DataType;
use crate::error::{Error, Result};

/// The dtype of one input or output of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InOutType {
    /// The dtype.
    pub dtype: DataType,
    /// Whether it is passed by reference.
    pub is_ref: bool,
}

impl InOutType {
    /// Whether an input of this type may be fed by an output of type `actual`: of the same dtype, and by reference if a
    /// reference is expected.
    pub const fn accepts(self, actual: InOutType) -> bool {
        self.dtype.equals(actual.dtype) && (!self.is_ref || actual.is_ref)
    }
}

impl From<DataType> for InOutType {
    /// The dtype, not by reference.
    fn from(dtype: DataType) -> InOutType {
        InOutType { dtype, is_ref: false }
    }
}

impl fmt::Display for InOutType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, if self.is_ref { "_ref" } else { "" })
    }
}

/// Whether an input of type `expected` may be fed by an output of type `actual`.
pub const fn types_compatible(expected: InOutType, actual: InOutType) -> bool {
    expected.accepts(actual)
}

/// The inputs and outputs of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Signature {
    /// Every input, in order.
    pub inputs: Vec<InOutType>,
    /// For each input argument of the op, its inputs.
    pub input_ranges: Vec<Range<usize>>,
    /// Every output, in order.
    pub outputs: Vec<InOutType>,
    /// For each output argument of the op, its outputs.
    pub output_ranges: Vec<Range<usize>>,
}

impl Signature {
    /// Of a node without inputs and outputs.
    pub const EMPTY: Signature =
        Signature { inputs: Vec::new(), input_ranges: Vec::new(), outputs: Vec::new(), output_ranges: Vec::new() };

    /// The signature of a node of `op` with these attrs, defaults included.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if an attr that an argument refers to is missing, of the wrong type, or negative.
    #[track_caller]
    pub fn new(op: &OpDef, attrs: &AttrMap) -> Result<Signature> {
        let (inputs, input_ranges) = expand(&op.inputs, attrs)?;
        let (outputs, output_ranges) = expand(&op.outputs, attrs)?;
        Ok(Signature { inputs, input_ranges, outputs, output_ranges })
    }

    /// Checks the types of the inputs and outputs. Where a dtype without reference is expected, a reference will do.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they are others.
    #[track_caller]
    pub fn ensure_types(&self, inputs: &[InOutType], outputs: &[InOutType]) -> Result<()> {
        let agrees = |expected: &[InOutType], actual: &[InOutType]| {
            expected.len() == actual.len() && expected.iter().zip(actual).all(|(e, &actual)| e.accepts(actual))
        };
        if agrees(inputs, &self.inputs) && agrees(outputs, &self.outputs) {
            return Ok(());
        }
        let text = |types: &[InOutType]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        Err(Error::invalid_argument(format!(
            "Signature mismatch, have: {}->{} expected: {}->{}",
            text(&self.inputs),
            text(&self.outputs),
            text(inputs),
            text(outputs)
        )))
    }

    /// [`Signature::ensure_types`], with references as their dtypes. Kernels may ask at every call: lists are made for the
    /// error alone.
    #[track_caller]
    pub(crate) fn ensure_dtypes(&self, inputs: &[DataType], outputs: &[DataType]) -> Result<()> {
        let agrees = |expected: &[DataType], actual: &[InOutType]| {
            let expected = expected.iter().map(|&dtype| InOutType::from(dtype));
            expected.len() == actual.len() && expected.zip(actual).all(|(expected, &actual)| expected.accepts(actual))
        };
        if agrees(inputs, &self.inputs) && agrees(outputs, &self.outputs) {
            return Ok(());
        }
        let types = |dtypes: &[DataType]| -> Vec<_> { dtypes.iter().map(|&dtype| InOutType::from(dtype)).collect() };
        self.ensure_types(&types(inputs), &types(outputs))
    }

    /// Input `index` of a node of `op` as messages call it: ``input `x` (0)``, and ``input `values`[1] (2)`` of a list.
    pub(crate) fn input_called(&self, op: &OpDef, index: usize) -> String {
        called("input", &op.inputs, &self.input_ranges, index)
    }

    /// Output `index`, as [`Signature::input_called`].
    pub(crate) fn output_called(&self, op: &OpDef, index: usize) -> String {
        called("output", &op.outputs, &self.output_ranges, index)
    }

    /// The error for an input that a node of `op` does not have.
    #[cold]
    #[track_caller]
    pub(crate) fn no_input(&self, op: &OpDef, index: usize) -> Error {
        no_such("input", &op.inputs, self.inputs.len(), &op.name, index)
    }

    /// The error for an output that a node of `op` does not have.
    #[cold]
    #[track_caller]
    pub(crate) fn no_output(&self, op: &OpDef, index: usize) -> Error {
        no_such("output", &op.outputs, self.outputs.len(), &op.name, index)
    }

    /// Checks the number of inputs of a node of `op`.
    #[track_caller]
    pub(crate) fn check_input_count(&self, op: &OpDef, given: usize) -> Result<()> {
        if given == self.inputs.len() {
            return Ok(());
        }
        let names: Vec<_> = op.inputs.iter().map(|arg| &*arg.name).collect();
        Err(Error::invalid_argument(format!(
            "{given} inputs are given but the op takes {} ({})",
            self.inputs.len(),
            names.join(", ")
        )))
    }
}

/// An input or output as messages call it.
#[cold]
fn called(kind: &str, args: &[ArgDef], ranges: &[Range<usize>], index: usize) -> String {
    let found = args.iter().zip(ranges).find(|(_, range)| range.contains(&index));
    match found {
        Some((arg, range)) if arg.is_list() => format!("{kind} `{}`[{}] ({index})", arg.name, index - range.start),
        Some((arg, _)) => format!("{kind} `{}` ({index})", arg.name),
        None => format!("{kind} {index}"),
    }
}

#[track_caller]
fn no_such(kind: &str, args: &[ArgDef], count: usize, op: &str, index: usize) -> Error {
    let names: Vec<_> = args.iter().map(|arg| format!("`{}`", arg.name)).collect();
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    Error::invalid_argument(format!("there is no {kind} {index}: op {op} has {count}{names}"))
}

/// The most tensors that one list argument may have.
const MAX_LIST: i64 = 1 << 20;

#[track_caller]
fn expand(args: &[ArgDef], attrs: &AttrMap) -> Result<(Vec<InOutType>, Vec<Range<usize>>)> {
    let mut types = Vec::new();
    let mut ranges = Vec::with_capacity(args.len());
    for arg in args {
        let start = types.len();
        let count = match &arg.number_attr {
            Some(attr) => attrs.required::<i64>(attr)?,
            None => 1,
        };
        if !(0..=MAX_LIST).contains(&count) {
            let (name, number) = (&arg.name, arg.number_attr.as_deref().unwrap_or_default());
            return Err(Error::invalid_argument(format!(
                "argument `{name}` cannot be a list of {count} tensors: attr `{number}` must be from 0 to {MAX_LIST}"
            )));
        }
        let dtypes = match &arg.ty {
            ArgType::Fixed(dtype) => vec![*dtype],
            ArgType::Attr(attr) => vec![attrs.required::<DataType>(attr)?],
            ArgType::ListAttr(attr) => match attrs.get(attr) {
                Some(AttrValue::ListType(list)) => list.clone(),
                Some(AttrValue::EmptyList) => Vec::new(),
                _ => return Err(Error::invalid_argument(format!("attr `{attr}` must be a list of types"))),
            },
        };
        for _ in 0..count {
            types.extend(dtypes.iter().map(|&dtype| InOutType { dtype, is_ref: arg.is_ref }));
        }
        ranges.push(start..types.len());
    }
    Ok((types, ranges))
}
