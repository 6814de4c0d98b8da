//! The rules for nodes as messages: whether one suits its op, which inputs and outputs it has, and which of its attrs
//! need not be written.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use prost::Message;

use super::attrs::check_value;
use crate::attr::{AttrMap, AttrValue};
use crate::error::{Code, Error, Result};
use crate::op::{ArgDef, ArgType, InOutType, OpDef, Signature};
use crate::proto::{self, AttrValue as ProtoValue, GraphDef, NodeDef, attr_value};

/// Checks a node against its op: control inputs stand last, every attr of the op is there and has a value that the op
/// allows, and there are as many inputs as the attrs say. Attrs that the op does not know are tolerated, as are those
/// whose names begin with `_`; so are values that a function's attrs will take the place of. The dtypes of the inputs
/// are not known here: a [`Graph`](super::Graph) checks them.
///
/// # Errors
/// INVALID_ARGUMENT, with the node. Everything that is wrong with the attrs is in one error.
#[track_caller]
pub fn validate_node_def(node: &NodeDef, op: &OpDef) -> Result<()> {
    let context = |error: Error| error.at_node(&node.name, &node.op, &node.device);
    if node.op != op.name {
        return Err(context(Error::invalid_argument(format!("NodeDef op `{}` does not match {op}", node.op))));
    }
    let inputs = split_inputs(node)?.data.len();
    let attrs = node_attrs(node, op)?;
    let values = op.attrs.iter().filter_map(|def| check_value(op, def, attrs.get(&def.name)?).err());
    let mut faults: Vec<String> = values.collect();
    let missing = op.attrs.iter().filter(|def| attrs.get(&def.name).is_none());
    let missing: Vec<String> = missing.map(|def| format!("`{}`", def.name)).collect();
    if !missing.is_empty() {
        let plural = if missing.len() > 1 { "s" } else { "" };
        faults.push(format!("NodeDef missing attr{plural} {} from {op}", missing.join(", ")));
    }
    if !faults.is_empty() {
        return Err(context(Error::invalid_argument(faults.join("; "))));
    }
    if op.attrs.iter().any(|def| matches!(attrs.get(&def.name), Some(AttrValue::Placeholder(_)))) {
        return match tensor_count(&op.inputs, &attrs) {
            Some(expected) if expected != inputs => {
                let message = format!("{inputs} inputs are given but the op takes {expected}");
                Err(context(Error::invalid_argument(message)))
            }
            _ => Ok(()),
        };
    }
    let signature = Signature::new(op, &attrs).map_err(context)?;
    signature.check_input_count(op, inputs).map_err(context)
}

/// The number of tensors that some arguments have; `None` if it depends on a placeholder.
fn tensor_count(args: &[ArgDef], attrs: &AttrMap) -> Option<usize> {
    let count = |arg: &ArgDef| match (&arg.number_attr, &arg.ty) {
        (Some(number), _) => usize::try_from(attrs.required::<i64>(number).ok()?).ok(),
        (None, ArgType::ListAttr(types)) => attrs.get(types)?.list_len(),
        (None, _) => Some(1),
    };
    args.iter().map(count).sum()
}

/// The inputs of a node.
pub(super) struct Inputs<'a> {
    /// Where tensors come from: `node` or `node:1`.
    pub(super) data: Vec<&'a str>,
    /// The nodes to wait for, without the `^`.
    pub(super) control: Vec<&'a str>,
}

/// Tells the data inputs of a node from its control inputs, which must stand last.
#[track_caller]
pub(super) fn split_inputs(node: &NodeDef) -> Result<Inputs<'_>> {
    let fault = |text: String| Err(Error::invalid_argument(text).at_node(&node.name, &node.op, &node.device));
    let mut inputs = Inputs { data: Vec::new(), control: Vec::new() };
    for input in &node.input {
        match input.strip_prefix('^') {
            Some(control) if control.contains(':') => {
                return fault(format!("control input `{input}` must not have `:`: it waits for a node, not an output"));
            }
            Some(control) => inputs.control.push(control),
            None if inputs.control.is_empty() => inputs.data.push(input),
            None => return fault(format!("input `{input}` stands after a control input")),
        }
    }
    Ok(inputs)
}

/// A node's attrs. What its op does not declare may be malformed: it is left out.
///
/// # Errors
/// INVALID_ARGUMENT if an attr of the op is malformed; RESOURCE_EXHAUSTED if it is too large. The error names the node.
#[track_caller]
pub fn node_attrs(node: &NodeDef, op: &OpDef) -> Result<AttrMap> {
    let mut attrs = AttrMap::new();
    for (name, value) in &node.attr {
        let def = op.attr(name);
        // An empty list may be written as no value at all.
        if value.value.is_none() && def.is_some_and(|def| def.ty.list) {
            attrs.insert(name, AttrValue::EmptyList);
            continue;
        }
        match proto::attr_from_proto(value) {
            Ok(value) => {
                attrs.insert(name, value);
            }
            Err(_) if def.is_none() => {}
            Err(error) => {
                let code = if error.code() == Code::ResourceExhausted { error.code() } else { Code::InvalidArgument };
                let message = format!("attr `{name}`: {}", error.message());
                return Err(Error::new(code, message).at_node(&node.name, &node.op, &node.device));
            }
        }
    }
    Ok(attrs)
}

/// The types of a node's inputs and of its outputs. The node must have every attr that they depend on.
///
/// # Errors
/// INVALID_ARGUMENT if such an attr is missing, of the wrong type or, for a number of tensors, negative or too big.
#[track_caller]
pub fn in_out_types(node: &NodeDef, op: &OpDef) -> Result<(Vec<InOutType>, Vec<InOutType>)> {
    let Signature { inputs, outputs, .. } = signature(node, op)?;
    Ok((inputs, outputs))
}

/// Which inputs and outputs of a node belong to which argument of its op; empty for a list without elements.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NameRanges {
    /// By the name of the input argument.
    pub inputs: BTreeMap<String, Range<usize>>,
    /// By the name of the output argument.
    pub outputs: BTreeMap<String, Range<usize>>,
}

/// The ranges of a node's inputs and outputs that belong to each argument of its op.
///
/// # Errors
/// As [`in_out_types`].
#[track_caller]
pub fn name_ranges(node: &NodeDef, op: &OpDef) -> Result<NameRanges> {
    let Signature { input_ranges, output_ranges, .. } = signature(node, op)?;
    let named = |args: &[ArgDef], ranges: Vec<Range<usize>>| {
        args.iter().map(|arg| arg.name.to_string()).zip(ranges).collect::<BTreeMap<_, _>>()
    };
    Ok(NameRanges { inputs: named(&op.inputs, input_ranges), outputs: named(&op.outputs, output_ranges) })
}

#[track_caller]
fn signature(node: &NodeDef, op: &OpDef) -> Result<Signature> {
    let attrs = node_attrs(node, op)?;
    Signature::new(op, &attrs).map_err(|error| error.at_node(&node.name, &node.op, &node.device))
}

/// Writes the defaults of the op's attrs into a node that leaves them out.
///
/// # Errors
/// INVALID_ARGUMENT if a default is not a valid message.
#[track_caller]
pub fn add_defaults(node: &mut NodeDef, op: &OpDef) -> Result<()> {
    for def in op.attrs.iter() {
        if let Some(default) = &def.default
            && !node.attr.contains_key(&*def.name)
        {
            node.attr.insert(def.name.to_string(), proto::default_to_proto(default)?);
        }
    }
    Ok(())
}

/// Removes the attrs of a node that are equal to their defaults.
///
/// # Errors
/// INVALID_ARGUMENT if a default is not a valid message.
#[track_caller]
pub fn strip_defaults(node: &mut NodeDef, op: &OpDef) -> Result<()> {
    for def in op.attrs.iter() {
        if let (Some(default), Some(value)) = (&def.default, node.attr.get(&*def.name))
            && same_value(value, &proto::default_to_proto(default)?)
        {
            node.attr.remove(&*def.name);
        }
    }
    Ok(())
}

/// Makes a graph readable for an older program: removes the attrs that the consumer's op does not know, if they are
/// equal to the producer's default. Those with another value stay, for the consumer to tolerate. Functions and attrs
/// whose names begin with `_` are left alone. Returns what was removed, as pairs of op and attr.
///
/// # Errors
/// NOT_FOUND if the consumer or the producer lacks an op; INVALID_ARGUMENT if a node has an attr that not even the
/// producer knows.
pub fn remove_new_default_attrs<'a>(
    graph: &mut GraphDef,
    consumer: impl Fn(&str) -> Option<&'a OpDef>,
    producer: impl Fn(&str) -> Option<&'a OpDef>,
) -> Result<BTreeSet<(String, String)>> {
    let GraphDef { node, library, .. } = graph;
    let signatures = library.iter().flat_map(|library| &library.function).flat_map(|function| &function.signature);
    let functions: BTreeSet<String> = signatures.map(|signature| signature.name.clone()).collect();
    let bodies = library.iter_mut().flat_map(|library| &mut library.function).flat_map(|body| &mut body.node_def);
    let mut removed = BTreeSet::new();
    for node in node.iter_mut().chain(bodies).filter(|node| !functions.contains(&node.op)) {
        let context = |error: Error| error.at_node(&node.name, &node.op, &node.device);
        let lacks = |who: &str| context(Error::not_found(format!("the {who} has no op {}", node.op)));
        let ours = producer(&node.op).ok_or_else(|| lacks("producer"))?;
        let theirs = consumer(&node.op).ok_or_else(|| lacks("consumer"))?;
        let mut new = Vec::new();
        for (name, value) in node.attr.iter().filter(|(name, _)| !name.starts_with('_')) {
            if theirs.attr(name).is_some() {
                continue;
            }
            let Some(def) = ours.attr(name) else {
                let message = format!("attr `{name}` is missing in the producer's {ours}");
                return Err(context(Error::invalid_argument(message)));
            };
            if let Some(default) = &def.default
                && same_value(value, &proto::default_to_proto(default)?)
            {
                new.push(name.clone());
            }
        }
        for name in new {
            node.attr.remove(&name);
            removed.insert((node.op.clone(), name));
        }
    }
    Ok(removed)
}

/// Whether two values are the same, to the bit; a tensor may be written in several ways.
fn same_value(a: &ProtoValue, b: &ProtoValue) -> bool {
    use attr_value::Value;
    if a.encode_to_vec() == b.encode_to_vec() {
        return true;
    }
    match (&a.value, &b.value) {
        (Some(Value::Tensor(a)), Some(Value::Tensor(b))) => same_tensor(a, b),
        (Some(Value::List(a)), Some(Value::List(b))) => {
            let same =
                a.tensor.len() == b.tensor.len() && a.tensor.iter().zip(&b.tensor).all(|(a, b)| same_tensor(a, b));
            same && {
                let rest = |list: &attr_value::ListValue| {
                    attr_value::ListValue { tensor: Vec::new(), ..list.clone() }.encode_to_vec()
                };
                rest(a) == rest(b)
            }
        }
        (Some(Value::List(list)), None) | (None, Some(Value::List(list))) => list.encoded_len() == 0,
        _ => false,
    }
}

fn same_tensor(a: &proto::TensorProto, b: &proto::TensorProto) -> bool {
    let canonical = |tensor| proto::tensor_to_proto(&proto::tensor_from_proto(tensor)?);
    match (canonical(a), canonical(b)) {
        (Ok(a), Ok(b)) => a.encode_to_vec() == b.encode_to_vec(),
        _ => false,
    }
}
