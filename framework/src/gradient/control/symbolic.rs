//! Gradients that a node asks for by the name of a function: `SymbolicGradient`.
//!
//! The gradient of a function is a function that takes the arguments and what flows back to the results, and returns what flows on
//! to the arguments: zeros where nothing does.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use prost::Message as _;

use super::joint::{Joint, Plan};
use super::shared::{Key, Shared};
use super::{call, emit};
use crate::attr::FunctionRef;
use crate::dtype::DataType;
use crate::error::{Error, Result, shortened};
use crate::gradient::differentiable::is_trainable;
use crate::gradient::pass::{Options, Pass};
use crate::graph::{DerivedGradient, Graph, NodeId, Output, TensorSpec};
use crate::kernel::{RawConstruction, Surroundings};
use crate::op::Signature;
use crate::proto;
use crate::runtime::derive;
use crate::step::{Function, FunctionLibrary};

/// The node becomes a call of the gradient, which is differentiated as any.
pub(super) fn differentiate(pass: &mut Pass<'_>, id: NodeId, flows: &[Option<Output>]) -> Result<Vec<Option<Output>>> {
    let node = pass.graph.node(id);
    let (function, signature): (FunctionRef, _) = (node.attrs.required("f")?, node.signature.clone());
    let returns = emit::dtypes(&signature.outputs);
    let takes = emit::dtypes(&signature.inputs);
    let key = Key::new("symbolic").functions([&function]).dtypes(&takes).dtypes(&returns);
    let gradient = pass.once(key, |pass| gradient_of(pass, &function, &takes, &returns))?;
    let is_stateful = pass.graph.is_stateful_function(&gradient.name);
    call::call_instead(pass, id, (*gradient).clone(), returns, is_stateful)?;
    call::differentiate(pass, id, flows)
}

/// The gradient of a function or an op as a function, for the kernel of a node that takes what it takes, the arguments and what
/// flows back to the results, and gives what it returns: what flows on to the arguments. It is derived when it is asked for first.
///
/// # Errors
/// NOT_FOUND if there is neither such a function nor such an op, or an op on the way has no registered gradient; INVALID_ARGUMENT
/// if the node does not fit; and what the library meets.
pub fn gradient_function(ctx: &RawConstruction<'_>, call: &FunctionRef) -> Result<Arc<dyn Function>> {
    let Surroundings { functions, device, .. } = ctx.surroundings()?;
    functions.instantiate(&derived(&***functions, call, ctx.signature)?, device.name())
}

fn derived(library: &dyn FunctionLibrary, call: &FunctionRef, signature: &Signature) -> Result<FunctionRef> {
    let (takes, returns) = (emit::dtypes(&signature.inputs), emit::dtypes(&signature.outputs));
    let mut key = b"\0gradient\0".to_vec();
    key.extend(proto::attr_to_proto(&call.clone().into())?.encode_to_vec());
    key.extend(takes.iter().chain(&returns).flat_map(|dtype| dtype.number().to_le_bytes()));
    let derived = derive(library, key, vec![call.name.clone()], |graph| {
        let mut pass = Pass::new(graph, Options::default(), []);
        Ok(Arc::new(derived_by(&mut pass, call, &takes, &returns)?))
    })?;
    let derived = derived.downcast_ref::<FunctionRef>().cloned();
    derived.ok_or_else(|| Error::internal("a gradient that is no function"))
}

/// Adds to the library of a graph the gradient of a function or an op, as [`gradient_function`] derives it when a node runs that
/// asks for it: for [`Needs::with_gradients`](crate::graph::Needs::with_gradients).
///
/// # Errors
/// Those of [`gradient_function`].
pub fn derive_gradient(
    graph: &mut Graph,
    call: &FunctionRef,
    takes: &[DataType],
    returns: &[DataType],
) -> Result<DerivedGradient> {
    let mut pass = Pass::new(graph, Options::default(), []);
    let shared = Rc::new(Shared::noting_ops());
    pass.shared = shared.clone();
    let function = derived_by(&mut pass, call, takes, returns)?;
    Ok(DerivedGradient { function, ops: shared.take_ops() })
}

fn derived_by(
    pass: &mut Pass<'_>,
    call: &FunctionRef,
    takes: &[DataType],
    returns: &[DataType],
) -> Result<FunctionRef> {
    let within = |error: Error| error.context(format!("in the gradient of `{}`", shortened(&call.name)));
    gradient_of(pass, call, takes, returns).map_err(within)
}

/// The gradient of a function or an op: the one that the library names, or else one that is made of its body.
fn gradient_of(
    pass: &mut Pass<'_>,
    call: &FunctionRef,
    takes: &[DataType],
    returns: &[DataType],
) -> Result<FunctionRef> {
    if let Some(name) = pass.graph.named_gradient(&call.name) {
        let named = FunctionRef { name: name.to_owned(), attrs: call.attrs.clone() };
        let (arguments, results) = pass.graph.function_dtypes(&named)?;
        if arguments != takes || results != returns {
            return Err(misfit(&named.name, &arguments, &results));
        }
        return Ok(named);
    }
    let op = pass.graph.registry().find_op(&call.name).map(|entry| entry.def);
    let of_op = match op.filter(|_| !pass.graph.has_function(&call.name)) {
        Some(op) => {
            let attrs = call.attrs.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            Some(emit::function_of(pass.graph, op, &attrs)?.reference())
        }
        None => None,
    };
    let call = of_op.as_ref().unwrap_or(call);
    let (arguments, results) = pass.graph.function_dtypes(call)?;
    // To a handle flows what its variable holds, and on from it.
    let fits = |given: &DataType, of: &DataType| given == of || (*of == DataType::Resource && is_trainable(*given));
    let all_fit = |given: &[DataType], of: &[DataType]| {
        given.len() == of.len() && given.iter().zip(of).all(|(given, of)| fits(given, of))
    };
    let count = arguments.len();
    if takes.get(..count) != Some(&arguments) || !all_fit(&takes[count..], &results) || !all_fit(returns, &arguments) {
        let takes = [arguments.as_slice(), &results].concat();
        return Err(misfit(&call.name, &takes, &arguments));
    }
    let carries = |dtype: &DataType| is_trainable(*dtype) && *dtype != DataType::Resource;
    let flows = takes[count..].iter().map(|dtype| Some(*dtype).filter(carries)).collect();
    let wanted = arguments.iter().map(|dtype| is_trainable(*dtype)).collect();
    let joint = Joint::find(pass, call, (&arguments, &results), |_| Plan { flows, wanted })?;
    for (index, (found, returned)) in joint.found.iter().zip(returns).enumerate() {
        if let Some(dtype) = found.map(|found| joint.dtype(found)).filter(|dtype| dtype != returned) {
            let name = shortened(&call.name);
            return Err(Error::invalid_argument(format!(
                "what flows on to argument {index} of `{name}` is {dtype}, not {returned}, as `Tout` says"
            )));
        }
    }
    let mut specs = joint.specs(joint.arguments.iter().copied())?;
    for (flow, dtype) in joint.flows.iter().zip(&takes[count..]) {
        specs.push(match flow {
            Some(flow) => TensorSpec::like(&joint.graph, *flow)?.name("flow"),
            None => TensorSpec::new(*dtype).name("flow"),
        });
    }
    let (gradient, _) = emit::function(pass.graph, &format!("{}_gradient", call.name), specs, |graph, inputs| {
        let (given, flows) = inputs.split_at(count);
        let known = joint.arguments.iter().copied().zip(given.iter().copied());
        let flows = joint.flows.iter().zip(flows).filter_map(|(inside, flow)| Some(((*inside)?, *flow)));
        let known: HashMap<Output, Output> = known.chain(flows).collect();
        let found = joint.emit_whole(graph, known)?;
        let each = found.into_iter().zip(given).zip(returns);
        each.map(|((found, argument), dtype)| match found {
            Some(found) => Ok(found),
            None => emit::zeros_like(graph, *argument, *dtype),
        })
        .collect()
    })?;
    Ok(gradient.reference())
}

#[cold]
fn misfit(name: &str, takes: &[DataType], returns: &[DataType]) -> Error {
    let listed = |dtypes: &[DataType]| dtypes.iter().map(DataType::to_string).collect::<Vec<_>>().join(", ");
    Error::invalid_argument(format!(
        "the gradient of function `{}` takes its arguments and what flows back to its results, and returns what flows on to its \
         arguments: `Tin` must be [{}], and `Tout` [{}]",
        shortened(name),
        listed(takes),
        listed(returns)
    ))
}
