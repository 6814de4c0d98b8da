//! What can be differentiated, and what gradients are asked for.

use super::def::{GradientDef, registered_gradients};
use super::result::{InputGradient, InputGradients};
use super::value::Gradient;
use crate::dtype::DataType;
use crate::error::{Advice, Error, Result, shortened};
use crate::op::{OpDef, Signature};
use crate::select;

/// The attr by which a node asks for a gradient that is not its op's own.
pub(super) const GRADIENT_OP_TYPE: &str = "_gradient_op_type";

/// Whether gradients flow through tensors of this dtype.
pub(super) fn is_trainable(dtype: DataType) -> bool {
    dtype.is_floating() || dtype.is_complex() || matches!(dtype, DataType::Resource | DataType::Variant)
}

/// That an op on the way has no gradient. `node` says which one it is, `asked` for which gradient it asks, and `advice` what to
/// do, if that is not to register one.
#[cold]
pub(super) fn no_gradient(op: &OpDef, node: &str, asked: Option<&str>, advice: Option<&str>) -> Error {
    let op = &op.name;
    if registered_gradients().is_empty() {
        let message = format!(
            "{node} (op {op}) has no gradient, and no op has one: those of Kernlink's ops are in its Cargo feature `gradients`"
        );
        return Error::not_found(message);
    }
    let what = match asked {
        Some(name) => format!("no gradient `{}` is registered, for which {node} asks", shortened(name)),
        None => format!(
            "op {op} has no registered gradient, and {node} is on the way from what is differentiated to what it is \
             differentiated by"
        ),
    };
    let name = asked.map(|name| shortened(name).into_owned());
    match advice {
        Some(advice) => Error::not_found(format!("{what}: {advice}")),
        None => Error::not_found(what).advise(": ", Advice::RegisterGradient { op: op.to_string(), name }, ""),
    }
}

/// An error of the gradient of a node, or of an op that was run, with where that is; and, where a selection left out what the
/// gradient is made of, how to select it.
#[cold]
pub(super) fn within(gradient: Option<&GradientDef>, op: &OpDef, node: Option<&str>, error: Error) -> Error {
    let node = match node {
        Some(name) => format!("`{}` ({})", shortened(name), op.name),
        None => format!("an op {}", op.name),
    };
    let place = match gradient.filter(|gradient| gradient.op.name != op.name) {
        Some(GradientDef { name, op, .. }) => {
            format!("in the gradient of op {}, for which {node} asks by `{}`", op.name, shortened(name))
        }
        None => format!("in the gradient of {node}"),
    };
    let is_left_out = select::source().is_some() && error.message().contains(&select::advice().to_string());
    let error = error.context(place);
    match is_left_out {
        true => error.append(
            "; a model that was not differentiated does not have the ops of gradients: select a graph that has them, too, \
             which `kernlink gradients MODEL --y LOSS --x INPUT -o GRAPH.pb` writes",
        ),
        false => error,
    }
}

/// What flows on to each input, by position, if a gradient has returned as many as there are inputs.
///
/// # Errors
/// INTERNAL if it has not.
pub(super) fn per_input(op: &OpDef, signature: &Signature, found: InputGradients) -> Result<Vec<Option<Gradient>>> {
    let mut flows = vec![None; signature.inputs.len()];
    for ((range, arg), found) in signature.input_ranges.iter().zip(op.inputs.iter()).zip(found) {
        let each = match found {
            InputGradient::One(flow) => vec![flow],
            InputGradient::List(each) => each,
        };
        if !each.is_empty() && each.len() != range.len() {
            let (found, wanted) = (each.len(), range.len());
            return Err(Error::internal(format!(
                "the gradient of op {} returned {found} gradients for the {wanted} inputs `{}`: return one for each",
                op.name, arg.name
            )));
        }
        flows[range.clone()].iter_mut().zip(each).for_each(|(flow, found)| *flow = found);
    }
    Ok(flows)
}
