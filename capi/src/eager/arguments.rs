//! Which inputs are which argument's, and how many tensors an argument is.

use std::ffi::{c_char, c_int};

use kernlink::attr::AttrValue;
use kernlink::graph::{NodeInput, Operand};
use kernlink::op::{ArgDef, ArgType, OpDef};
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};
use kernlink_library::host::{report, text};

use super::op::{COp, Given};
use crate::abi::{TF_Status, TFE_Op};
use crate::pointer::borrow;
use crate::values::missing;

impl COp {
    /// Gives the inputs to the request, by the arguments of the op.
    pub(super) fn arrange(&mut self, op: &OpDef) -> Result<()> {
        self.request.inputs.clear();
        let mut tensors = self.inputs.iter().map(|input| Operand::Value(input.tensor.clone()));
        if self.is_by_argument && self.given.len() == op.inputs.len() {
            self.request.inputs.extend(self.given.iter().map_while(|given| input(&mut tensors, *given)));
            return Ok(());
        }
        let lengths = op.inputs.iter().map(|argument| self.told_length(argument)).collect::<Result<Vec<_>>>()?;
        let (expected, given) = (lengths.iter().fold(0usize, |sum, &length| sum.saturating_add(length)), tensors.len());
        if expected != given {
            return Err(Error::invalid_argument(format!("expected {expected} inputs, got {given}")));
        }
        let of_argument = |(argument, length): (&ArgDef, usize)| {
            input(&mut tensors, if argument.is_list() { Given::List(length) } else { Given::Single })
        };
        self.request.inputs.extend(op.inputs.iter().zip(lengths).map_while(of_argument));
        Ok(())
    }

    /// How many tensors an argument is by the attrs.
    ///
    /// # Errors
    /// NOT_FOUND if an attr is missing that says so.
    fn told_length(&self, argument: &ArgDef) -> Result<usize> {
        let attr = |name: &str| self.request.attrs.get(name).ok_or_else(|| missing(self.name(), name));
        if let Some(number) = &argument.number_attr {
            return match attr(number)? {
                AttrValue::Int(number) => Ok(usize::try_from(*number).unwrap_or_default()),
                other => Err(Error::invalid_argument(format!("attr '{number}' is no number: {other}"))),
            };
        }
        match &argument.ty {
            ArgType::ListAttr(dtypes) => Ok(attr(dtypes)?.list_len().unwrap_or_default()),
            _ => Ok(1),
        }
    }

    /// How many tensors an argument is by the attrs, or else by the inputs of arguments that say so, too.
    fn length(&self, op: &OpDef, argument: &ArgDef) -> Result<usize> {
        let told = self.told_length(argument);
        if told.is_ok() || !self.is_by_argument {
            return told;
        }
        fn list_attr(argument: &ArgDef) -> Option<&str> {
            match (&argument.number_attr, &argument.ty) {
                (Some(number), _) => Some(number),
                (None, ArgType::ListAttr(dtypes)) => Some(dtypes),
                _ => None,
            }
        }
        let given = op.inputs.iter().zip(&self.given).find_map(|(other, given)| match given {
            Given::List(length) if list_attr(other) == list_attr(argument) => Some(*length),
            _ => None,
        });
        given.map_or(told, Ok)
    }

    fn length_of(&self, kind: &str, name: &str, arguments: fn(&OpDef) -> &[ArgDef]) -> Result<usize> {
        let Some(op) = self.op else {
            return Err(Error::not_found(format!("'{}' is a function, whose arguments are not named", self.name())));
        };
        let argument = arguments(op).iter().find(|argument| argument.name == *name);
        let argument = argument.ok_or_else(|| Error::invalid_argument(format!("{kind} '{name}' not found")))?;
        self.length(op, argument)
    }
}

/// Takes what is given for one argument.
fn input(tensors: &mut impl Iterator<Item = Operand<Tensor>>, given: Given) -> Option<NodeInput<Tensor>> {
    match given {
        Given::Single => tensors.next().map(NodeInput::Single),
        Given::List(length) => Some(NodeInput::List(tensors.take(length).collect())),
    }
}

macro_rules! lengths {
    ($($(#[$doc:meta])* $name:ident = $kind:literal, $arguments:ident;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(op: *mut TFE_Op, name: *const c_char, status: *mut TF_Status) -> c_int {
                let length = || {
                    // SAFETY: as said in `pointer`.
                    let (op, name) = unsafe { (borrow(op)?, text("the argument's name", name)?) };
                    Ok(op.length_of($kind, name, |op| &op.$arguments)? as c_int)
                };
                // SAFETY: as said in `pointer`.
                unsafe { report(status, -1, length) }
            }
        )*
    };
}
lengths! {
    /// How many tensors an input argument is: 1, or the length of a list by the attrs or inputs given so far. -1 on failure, which
    /// is NOT_FOUND if that is not known yet.
    TFE_OpGetInputLength = "Input", inputs;
    /// The same of an output.
    TFE_OpGetOutputLength = "Output", outputs;
}
