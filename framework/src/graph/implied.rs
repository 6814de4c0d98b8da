//! Attrs that follow from a node's inputs. Faults accumulate, so that one error shows all of them; their wording is
//! TensorFlow's.

use super::scope::{NodeInput, Operand};
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::DataType;
use crate::error::{Advice, Error};
use crate::op::{ArgDef, ArgType, InOutType, OpDef};

/// What is known of one input argument: the types of its tensors. `None` stands for one that does not exist, of which
/// the scope tells.
pub(crate) struct Given {
    list: bool,
    types: Vec<Option<InOutType>>,
}

impl Given {
    pub(crate) fn new<V>(input: &NodeInput<V>, type_of: impl Fn(&V) -> Option<InOutType>) -> Given {
        let type_of = |operand: &Operand<V>| match operand {
            Operand::Value(value) => type_of(value),
            Operand::Constant(tensor) | Operand::Literal(tensor) => {
                Some(InOutType { dtype: tensor.dtype(), is_ref: false })
            }
        };
        Given { list: matches!(input, NodeInput::List(_)), types: input.operands().iter().map(type_of).collect() }
    }
}

/// Adds the attrs that the inputs determine, their dtypes and numbers, and says what is wrong. Returns what to do if that alone is
/// wrong, if it is known.
pub(crate) fn infer_attrs(
    op: &OpDef,
    inputs: &[Given],
    attrs: &mut AttrMap,
    faults: &mut Vec<String>,
) -> Option<Advice> {
    if inputs.len() > op.inputs.len() {
        faults.push(format!("More Input() calls than the {} input_args", op.inputs.len()));
    } else if inputs.len() < op.inputs.len() {
        let missing = op.inputs[inputs.len()..].iter().map(|arg| format!("'{}'", arg.name)).collect::<Vec<_>>();
        faults.push(format!(
            "{} inputs specified of {} inputs in Op: {} missing",
            inputs.len(),
            op.inputs.len(),
            missing.join(", ")
        ));
    }
    let mut inference = Inference { attrs, found: Vec::new(), faults };
    for (arg, given) in op.inputs.iter().zip(inputs) {
        inference.argument(arg, given);
    }
    inference.undetermined(op, inputs)
}

struct Inference<'a> {
    attrs: &'a mut AttrMap,
    /// The attrs that were found, with the argument that each follows from.
    found: Vec<(&'a str, &'a str)>,
    faults: &'a mut Vec<String>,
}

impl<'a> Inference<'a> {
    fn argument(&mut self, arg: &'a ArgDef, given: &Given) {
        match (given.list, arg.is_list()) {
            (false, true) => return self.faults.push(format!("Single tensor passed to '{}', expected list", arg.name)),
            (true, false) => {
                let message = format!("List provided to input '{}' when single Tensor expected", arg.name);
                return self.faults.push(message);
            }
            _ => {}
        }
        let Some(types) = given.types.iter().copied().collect::<Option<Vec<_>>>() else { return };
        if let Some(number) = &arg.number_attr {
            self.imply(number, AttrValue::Int(types.len() as i64), &arg.name);
        }
        let expected = match &arg.ty {
            ArgType::Fixed(dtype) => Some(*dtype),
            ArgType::Attr(attr) => types.first().map(|first| {
                self.imply(attr, AttrValue::Type(first.dtype), &arg.name);
                first.dtype
            }),
            ArgType::ListAttr(attr) => {
                let dtypes = types.iter().map(|ty| ty.dtype).collect();
                self.imply(attr, AttrValue::ListType(dtypes), &arg.name);
                None
            }
        };
        for (i, ty) in types.iter().enumerate() {
            self.tensor(arg, given.list.then_some(i), *ty, expected.unwrap_or(ty.dtype));
        }
    }

    /// Compares one tensor with what its argument takes.
    fn tensor(&mut self, arg: &ArgDef, element: Option<usize>, passed: InOutType, expected: DataType) {
        let place = element.map_or(String::new(), |i| format!(" in element {i}"));
        if passed.dtype != expected {
            let expected = if arg.is_ref { format!("{expected}_ref") } else { expected.to_string() };
            self.faults.push(format!("Input '{}' passed {}{place} expected {expected}", arg.name, print(passed)));
        } else if arg.is_ref && !passed.is_ref {
            self.faults.push(format!("Input '{}' passed {}{place} expected ref type", arg.name, print(passed)));
        }
    }

    /// Sets an attr, or compares with what it is already.
    fn imply(&mut self, attr: &'a str, value: AttrValue, source: &'a str) {
        let Some(first) = self.attrs.get(attr) else {
            self.attrs.insert(attr, value);
            self.found.push((attr, source));
            return;
        };
        if !equal(first, &value) {
            let origin = match self.found.iter().find(|(found, _)| *found == attr) {
                Some((_, other)) => format!("input '{other}' implies the former, input '{source}' the latter"),
                None => format!("the former is given, input '{source}' implies the latter"),
            };
            self.faults.push(format!("Inconsistent values for attr '{attr}' {first} vs. {value}: {origin}"));
        }
    }

    /// Dtypes that no input determines, because the lists that would are empty. Returns what to do about the first.
    fn undetermined(&mut self, op: &OpDef, inputs: &[Given]) -> Option<Advice> {
        let mut advice = None;
        for (arg, given) in op.inputs.iter().zip(inputs) {
            if let ArgType::Attr(attr) = &arg.ty
                && given.list
                && given.types.is_empty()
                && self.attrs.get(attr).is_none()
                && op.attr(attr).is_some_and(|def| def.default.is_none())
            {
                self.faults.push(format!(
                    "attr '{attr}' does not follow from the empty list given to '{}' and has no default",
                    arg.name
                ));
                advice.get_or_insert_with(|| Advice::GiveAttr { attr: attr.to_string(), list: arg.name.to_string() });
            }
        }
        advice
    }
}

fn print(ty: InOutType) -> String {
    format!("{}{}", ty.dtype, if ty.is_ref { "_ref" } else { "" })
}

/// Whether two attrs of a kind that inputs imply are equal.
fn equal(a: &AttrValue, b: &AttrValue) -> bool {
    match (a, b) {
        (AttrValue::Int(a), AttrValue::Int(b)) => a == b,
        (AttrValue::Type(a), AttrValue::Type(b)) => a == b,
        (AttrValue::ListType(a), AttrValue::ListType(b)) => a == b,
        (AttrValue::EmptyList, AttrValue::ListType(list)) => list.is_empty(),
        _ => false,
    }
}

/// The error that reports the faults of a node, with what to do.
#[cold]
#[track_caller]
pub(crate) fn faults_error(faults: &[String], advice: Option<Advice>, node: &str, op: &OpDef) -> Error {
    let end = format!("\n  while building NodeDef '{node}' using {op}");
    match (faults, advice) {
        ([fault], Some(advice)) => Error::invalid_argument(&**fault).advise(": ", advice, end),
        ([fault], None) => Error::invalid_argument(format!("{fault}{end}")),
        (_, advice) => {
            let end = format!("\n  {} errors{}", faults.len(), end.replacen("\n ", "", 1));
            let error = Error::invalid_argument(faults.join("\n"));
            match advice {
                Some(advice) => error.advise("\n  ", advice, end),
                None => error.append(end),
            }
        }
    }
}
