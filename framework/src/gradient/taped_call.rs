//! Calls of functions, branches and loops on a tape: a tape runs the forward part of the function, which hands out what the backward
//! part needs, and that on the way back.

use std::sync::Arc;

use prost::Message as _;

use super::control::call::{Given, Pair};
use super::control::emit;
use super::control::joint::Plan;
use super::differentiable::is_trainable;
use super::pass::{Options, Pass};
use super::traced::Traced;
use crate::attr::{AttrMap, FunctionRef};
use crate::dtype::DataType;
use crate::error::{Code, Error, Result};
use crate::graph::{
    Function, Given as GivenInput, Graph, NodeClass, NodeInput, NodeRequest, Operand, complete_attrs, infer_attrs,
    settle,
};
use crate::op::{InOutType, OpDef, Signature};
use crate::proto;
use crate::registry::Registry;
use crate::runtime::derive;
use crate::step::FunctionLibrary;

/// What becomes of an op that calls functions.
pub(super) enum TapedCall {
    /// Nothing flows through it.
    Nothing,
    /// It has no gradient, for which it is asked if something flows back to it.
    Failed(Error),
    /// It is run in two parts.
    Pair(Box<Parts>),
}

/// The two parts of an op that calls functions.
pub(super) struct Parts {
    /// What is called in the place of the op; `None` if the op hands out all that its gradient needs.
    forward: Option<Function>,
    pub(super) pair: Pair,
}

impl Parts {
    /// Whether the gradient is given the value of an input.
    pub(super) fn takes_input(&self, index: usize) -> bool {
        self.pair.given.contains(&Given::Argument(index))
    }

    /// Whether the gradient is given the value of an output.
    pub(super) fn takes_output(&self, index: usize) -> bool {
        self.pair.given.contains(&Given::Result(index))
    }

    /// Whether the gradient is given what flows back to an output.
    pub(super) fn takes_flow(&self, index: usize) -> bool {
        self.pair.given.contains(&Given::Flow(index))
    }

    /// What is run instead of the op that `request` asks for, with the inputs of that; `None` if nothing is.
    pub(super) fn instead<'r>(
        &self,
        request: &mut NodeRequest<'_, Traced>,
        registry: &'r Registry,
    ) -> Result<Option<NodeRequest<'r, Traced>>> {
        let Some(forward) = &self.forward else { return Ok(None) };
        let operands = request.inputs.drain(..).flat_map(|input| match input {
            NodeInput::Single(operand) => vec![operand],
            NodeInput::List(operands) => operands,
        });
        let mut attrs = AttrMap::new();
        attrs.insert("f", forward.reference());
        attrs.insert("Tin", forward.argument_dtypes().to_vec());
        attrs.insert("Tout", forward.result_dtypes().to_vec());
        Ok(Some(NodeRequest {
            op: registry.op(emit::call_of(forward))?.def,
            inputs: std::iter::once(NodeInput::List(operands.collect())).collect(),
            attrs,
            name: request.name.take(),
            device: std::mem::take(&mut request.device),
            control_inputs: std::mem::take(&mut request.control_inputs),
            faults: std::mem::take(&mut request.faults),
        }))
    }
}

/// The signature of an op that is asked to run, and all attrs; `None` if the op refuses them. Literals get their dtypes.
pub(super) fn completed(request: &mut NodeRequest<'_, Traced>) -> Option<(Signature, AttrMap)> {
    let op = request.op;
    let mut faults = request.faults.clone();
    settle(op, &mut request.inputs, &request.attrs, |traced| Some(traced.tensor().dtype()), &mut faults);
    let slot = |traced: &Traced| Some(InOutType { dtype: traced.tensor().dtype(), is_ref: false });
    let given: Vec<GivenInput> = request.inputs.iter().map(|input| GivenInput::new(input, slot)).collect();
    let mut attrs = request.attrs.clone();
    let _ = infer_attrs(op, &given, &mut attrs, &mut faults);
    complete_attrs(op, &mut attrs).ok().filter(|()| faults.is_empty())?;
    let signature = Signature::new(op, &attrs).ok()?;
    let operands = request.inputs.iter().flat_map(NodeInput::operands);
    let dtypes = operands.map(|operand| match operand {
        Operand::Value(traced) => traced.tensor().dtype(),
        Operand::Constant(tensor) | Operand::Literal(tensor) => tensor.dtype(),
    });
    dtypes.eq(signature.inputs.iter().map(|slot| slot.dtype)).then_some((signature, attrs))
}

/// What becomes of an op with these attrs in the functions of a library, if gradients are wanted of some of its inputs.
pub(super) fn find(
    library: &dyn FunctionLibrary,
    op: &OpDef,
    (signature, attrs): &(Signature, AttrMap),
    wanted: Vec<bool>,
) -> Result<Arc<TapedCall>> {
    let mut key = format!("{}\0", op.name).into_bytes();
    for (name, value) in attrs.iter() {
        key.extend(format!("{name}\0").bytes());
        key.extend(proto::attr_to_proto(value)?.encode_length_delimited_to_vec());
    }
    key.extend(wanted.iter().map(|wanted| u8::from(*wanted)));
    let calls = attrs.functions().map(|function| function.name.clone()).collect();
    let derived = derive(library, key, calls, |graph| {
        let before = graph.savepoint();
        let taped = match parts_of(graph, op, attrs, signature, wanted) {
            Ok(Some(parts)) => TapedCall::Pair(Box::new(parts)),
            Ok(None) => TapedCall::Nothing,
            // What these say does not change. What else fails may do otherwise the next time: memory may be free then.
            Err(error) if matches!(error.code(), Code::NotFound | Code::Unimplemented | Code::InvalidArgument) => {
                graph.roll_back(before);
                TapedCall::Failed(error)
            }
            Err(error) => return Err(error),
        };
        Ok(Arc::new(taped))
    })?;
    derived.downcast().map_err(|_| Error::internal("a call on a tape that is none"))
}

fn parts_of(
    graph: &mut Graph,
    op: &OpDef,
    attrs: &AttrMap,
    signature: &Signature,
    wanted: Vec<bool>,
) -> Result<Option<Parts>> {
    let is_call = NodeClass::of(&op.name) == NodeClass::Call;
    let around = match is_call {
        true => None,
        false => Some(emit::function_of(graph, graph.registry().op(&op.name)?.def, attrs)?),
    };
    let function: FunctionRef = match &around {
        Some(around) => around.reference(),
        None => attrs.required("f")?,
    };
    let carries = |dtype: DataType| is_trainable(dtype) && dtype != DataType::Resource;
    let (takes, returns) = (emit::dtypes(&signature.inputs), emit::dtypes(&signature.outputs));
    // What flows to a handle flows to the variable itself, which a tape knows.
    let flows = returns.iter().map(|dtype| Some(*dtype).filter(|dtype| carries(*dtype))).collect();
    let mut pass = Pass::new(graph, Options::default(), []);
    let pair = Pair::of(&mut pass, &function, (&takes, &returns), Plan { flows, wanted })?;
    let Some(pair) = (*pair).clone() else { return Ok(None) };
    Ok(Some(Parts { forward: pair.forward.clone().or(around), pair }))
}
