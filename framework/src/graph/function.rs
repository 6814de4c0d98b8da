//! Functions: calls of them by name, and a function's body as a graph of its own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::budget::Budget;
use super::library::Library;
use super::node_def::node_attrs;
use super::{created, default_value};
use crate::attr::FunctionRef;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::op::{ArgType, OpDef, Signature};
use crate::proto::{
    self, AttrValue as ProtoValue, FunctionDef, GraphDef, NodeDef, attr_value,
    op_def::{ArgDef, AttrDef},
};
use crate::registry::Registry;

impl Library {
    /// A node whose op is a function, as one that calls it; `None` for other nodes.
    pub(super) fn as_call(&self, node: &NodeDef, registry: &Registry) -> Option<Result<NodeDef>> {
        let function = self.find(&node.op).filter(|_| registry.find_op(&node.op).is_none())?;
        let types = |args: &[ArgDef]| -> Result<ProtoValue> {
            let signature = function.signature.as_ref();
            let attrs = attrs_of_call(signature.map_or(&[], |signature| &signature.attr), &node.attr);
            let dtypes = args.iter().map(|arg| dtypes_of(arg, &attrs)).collect::<Result<Vec<_>>>()?.concat();
            let list = attr_value::ListValue {
                r#type: dtypes.into_iter().map(DataType::number).collect(),
                ..attr_value::ListValue::default()
            };
            Ok(ProtoValue { value: Some(attr_value::Value::List(list)) })
        };
        let call = || {
            let signature = function.signature.as_ref();
            let signature = signature.ok_or_else(|| Error::invalid_argument("a function has no signature"))?;
            let (own, attr) = node.attr.clone().into_iter().partition(|(name, _)| name.starts_with('_'));
            let mut call = NodeDef { attr: own, ..node.clone() };
            call.op = if signature.is_stateful { created::STATEFUL_CALL } else { created::CALL }.to_owned();
            let function = proto::NameAttrList { name: node.op.clone(), attr };
            let function = ProtoValue { value: Some(attr_value::Value::Func(function)) };
            call.attr.insert("f".to_owned(), function);
            call.attr.insert("Tin".to_owned(), types(&signature.input_arg)?);
            call.attr.insert("Tout".to_owned(), types(&signature.output_arg)?);
            Ok(call)
        };
        Some(call().map_err(|error: Error| error.at_node(&node.name, &node.op, &node.device)))
    }

    /// A graph whose nodes call functions by calls, but for those that cannot be calls; `None` if it does so already.
    pub(super) fn with_calls(&self, def: &GraphDef, registry: &Registry) -> Option<GraphDef> {
        if !def.node.iter().any(|node| self.find(&node.op).is_some() && registry.find_op(&node.op).is_none()) {
            return None;
        }
        let call = |node| self.as_call(node, registry).and_then(Result::ok);
        let nodes = def.node.iter().map(|node| call(node).unwrap_or_else(|| node.clone()));
        Some(GraphDef { node: nodes.collect(), ..def.clone() })
    }
}

/// Values that the names in a function's body stand for: a node and some of its outputs.
struct Value {
    node: String,
    outputs: Range<usize>,
    dtypes: Vec<DataType>,
    /// Whether each element is a node of its own, as with arguments.
    nodes: Option<Vec<String>>,
}

impl Value {
    /// The inputs of a node that takes all of the value.
    fn names(&self) -> Vec<String> {
        match &self.nodes {
            Some(nodes) => nodes.clone(),
            None => self.outputs.clone().map(|index| format!("{}:{index}", self.node)).collect(),
        }
    }
}

/// The results of nodes whose ops the registry lacks. Their places among the node's outputs are unknown, so they are
/// numbered as they are met.
#[derive(Default)]
struct MissingResults {
    /// For each node, the numbers of its results.
    nodes: HashMap<String, HashMap<String, usize>>,
}

impl MissingResults {
    /// The output that `node:result:0` names, if the op of the node is missing.
    fn find(&mut self, name: &str) -> Option<String> {
        let (node, result) = name.split_once(':').unwrap_or((name, ""));
        let results = self.nodes.get_mut(node)?;
        let next = results.len();
        let index = results.entry(result.to_owned()).or_insert(next);
        Some(format!("{node}:{index}"))
    }
}

/// The body of a function that is called with `attrs`: an `_Arg` for each argument, the nodes, and a `_Retval` for each
/// result. `None` if the budget is spent.
///
/// # Errors
/// INVALID_ARGUMENT if the function contradicts itself or attrs are missing.
pub(super) fn instantiate(
    function: &FunctionDef,
    call: &FunctionRef,
    functions: Option<&Library>,
    registry: &Registry,
    budget: &Budget,
) -> Result<Option<GraphDef>> {
    if !budget.nodes(function.node_def.len() + 1) {
        return Ok(None);
    }
    let name = call.name.as_str();
    let within = |error: Error| error.context(format!("in function `{name}`"));
    let signature = function.signature.as_ref();
    let signature = signature.ok_or_else(|| Error::invalid_argument("a function has no signature"))?;
    for default in signature.attr.iter().filter_map(|attr| attr.default_value.as_ref()) {
        if !budget.value(default, 0) {
            return Ok(None);
        }
    }
    let attrs = attrs_of_call(&signature.attr, &proto_attrs(call)?);
    let mut names: HashSet<String> = function.node_def.iter().map(|node| node.name.clone()).collect();
    let mut unique = |mut name: String| {
        while !names.insert(name.clone()) {
            name.push('_');
        }
        name
    };

    let mut body = GraphDef::default();
    let mut values: HashMap<String, Value> = HashMap::new();
    let mut index = 0;
    for arg in &signature.input_arg {
        let dtypes = dtypes_of(arg, &attrs).map_err(within)?;
        if !budget.arguments(dtypes.len()) {
            return Ok(None);
        }
        let mut nodes = Vec::with_capacity(dtypes.len());
        for (position, &dtype) in dtypes.iter().enumerate() {
            let name = if dtypes.len() > 1 { format!("{}_{position}", arg.name) } else { arg.name.clone() };
            let node = unique(name);
            body.node.push(end(created::ARG, node.clone(), dtype, index));
            index += 1;
            let one =
                Value { node: String::new(), outputs: 0..1, dtypes: vec![dtype], nodes: Some(vec![node.clone()]) };
            values.insert(format!("{}:{position}", arg.name), one);
            nodes.push(node);
        }
        values.insert(arg.name.clone(), Value { node: String::new(), outputs: 0..0, dtypes, nodes: Some(nodes) });
    }

    let mut bodies = Vec::with_capacity(function.node_def.len());
    let mut missing = MissingResults::default();
    for node in &function.node_def {
        if !node.attr.values().all(|value| budget.value(value, 0)) {
            return Ok(None);
        }
        let mut node = node.clone();
        for value in node.attr.values_mut() {
            if !substitute(value, &attrs, budget, 0).map_err(within)? {
                return Ok(None);
            }
        }
        let results = match functions.and_then(|functions| functions.as_call(&node, registry)) {
            // One that cannot be a call refuses what needs it, as one whose op is missing.
            Some(Err(_)) => {
                missing.nodes.insert(node.name.clone(), HashMap::new());
                bodies.push(node);
                continue;
            }
            Some(Ok(call)) => {
                let function = functions.and_then(|functions| functions.find(&node.op));
                let signature = function.and_then(|function| function.signature.as_ref());
                let results = named_results(signature.map_or(&[], |s| &s.output_arg), signature, &node.attr);
                node = call;
                results.map_err(within)?
            }
            None => {
                let Some(op) = registry.find_op(&node.op).map(|op| op.def) else {
                    missing.nodes.insert(node.name.clone(), HashMap::new());
                    bodies.push(node);
                    continue;
                };
                let slots = slots_of(&node, op).map_err(within)?;
                let dtypes =
                    |range: &Range<usize>| slots.outputs[range.clone()].iter().map(|slot| slot.dtype).collect();
                let named = op.outputs.iter().zip(&slots.output_ranges);
                named.map(|(arg, range)| (arg.name.to_string(), range.clone(), dtypes(range))).collect()
            }
        };
        if !budget.slots(results.iter().map(|(_, range, _)| range.len()).sum()) {
            return Ok(None);
        }
        for (arg, range, dtypes) in results {
            for (position, index) in range.clone().enumerate() {
                let outputs = index..index + 1;
                let one = Value { node: node.name.clone(), outputs, dtypes: vec![dtypes[position]], nodes: None };
                values.insert(format!("{}:{arg}:{position}", node.name), one);
            }
            let all = Value { node: node.name.clone(), outputs: range.clone(), dtypes, nodes: None };
            values.insert(format!("{}:{arg}", node.name), all);
        }
        bodies.push(node);
    }

    for mut node in bodies {
        let mut input = Vec::with_capacity(node.input.len());
        for name in &node.input {
            if name.starts_with('^') {
                input.push(name.clone());
                continue;
            }
            if !values.contains_key(name)
                && let Some(name) = missing.find(name)
            {
                if !budget.slots(1) {
                    return Ok(None);
                }
                input.push(name);
                continue;
            }
            let value = values.get(name).ok_or_else(|| {
                let message = format!("input `{name}` names neither an argument nor an output of a node");
                within(Error::invalid_argument(message).at_node(&node.name, &node.op, &node.device))
            })?;
            // One name may stand for a long list.
            if !budget.slots(value.dtypes.len()) {
                return Ok(None);
            }
            input.extend(value.names());
        }
        node.input = input;
        body.node.push(node);
    }

    let mut index = 0;
    for result in &signature.output_arg {
        let fault = |message: String| within(Error::invalid_argument(message));
        let source = function.ret.get(&result.name);
        let source = source.ok_or_else(|| fault(format!("the result `{}` comes from nowhere", result.name)))?;
        let dtypes = dtypes_of(result, &attrs).map_err(within)?;
        let names = match (values.get(source), missing.find(source), dtypes.len()) {
            (Some(value), ..) if value.dtypes == dtypes => value.names(),
            (None, Some(name), 1) => vec![name],
            (Some(_), ..) | (None, Some(_), _) => {
                return Err(fault(format!("the result `{}` has other dtypes than `{source}`", result.name)));
            }
            (None, None, _) => {
                let message = format!("the result `{}` comes from `{source}`, which is not there", result.name);
                return Err(fault(message));
            }
        };
        if !budget.arguments(dtypes.len()) {
            return Ok(None);
        }
        for (input, dtype) in names.into_iter().zip(dtypes) {
            let mut node = end(created::RETVAL, unique(format!("{}_RetVal", result.name)), dtype, index);
            node.input.push(input);
            body.node.push(node);
            index += 1;
        }
    }
    Ok(Some(body))
}

/// The inputs and outputs of a node. Only the attrs that tell are read: others may be large, and are read when the body
/// becomes a graph.
pub(super) fn slots_of(node: &NodeDef, op: &OpDef) -> Result<Signature> {
    let tells = |name: &str| {
        op.inputs.iter().chain(op.outputs.iter()).any(|arg| {
            let ty = match &arg.ty {
                ArgType::Attr(attr) | ArgType::ListAttr(attr) => Some(attr),
                ArgType::Fixed(_) => None,
            };
            ty.is_some_and(|attr| attr == name) || arg.number_attr.as_deref() == Some(name)
        })
    };
    let attr = node.attr.iter().filter(|(name, _)| tells(name));
    let attr = attr.map(|(name, value)| (name.clone(), value.clone())).collect();
    let (name, device) = (node.name.clone(), node.device.clone());
    let mut attrs = node_attrs(&NodeDef { name, op: node.op.clone(), device, attr, ..NodeDef::default() }, op)?;
    for def in op.attrs.iter().filter(|def| tells(&def.name)) {
        if let (None, Some(default)) = (attrs.get(&def.name), &def.default) {
            attrs.insert(&*def.name, default_value(default)?);
        }
    }
    Signature::new(op, &attrs).map_err(|error| error.at_node(&node.name, &node.op, &node.device))
}

/// An `_Arg` or `_Retval`.
fn end(op: &str, name: String, dtype: DataType, index: i64) -> NodeDef {
    let value = |value| ProtoValue { value: Some(value) };
    NodeDef {
        name,
        op: op.to_owned(),
        attr: BTreeMap::from([
            ("T".to_owned(), value(attr_value::Value::Type(dtype.number()))),
            ("index".to_owned(), value(attr_value::Value::I(index))),
        ]),
        ..NodeDef::default()
    }
}

/// The attrs that a function is called with, in messages.
fn proto_attrs(call: &FunctionRef) -> Result<BTreeMap<String, ProtoValue>> {
    call.attrs.iter().map(|(name, value)| Ok((name.clone(), proto::attr_to_proto(value)?))).collect()
}

/// The attrs of a call, and the defaults of those that it leaves out.
fn attrs_of_call(declared: &[AttrDef], given: &BTreeMap<String, ProtoValue>) -> BTreeMap<String, ProtoValue> {
    let defaults = declared.iter().filter_map(|attr| Some((attr.name.clone(), attr.default_value.clone()?)));
    let given = given.iter().map(|(name, value)| (name.clone(), value.clone()));
    defaults.chain(given).collect()
}

/// The dtypes of a function's arguments.
pub(super) fn argument_dtypes(function: &FunctionDef, call: &FunctionRef) -> Result<Vec<DataType>> {
    let signature = function.signature.as_ref();
    let args = signature.map_or(&[][..], |signature| &signature.input_arg);
    let attrs = attrs_of_call(signature.map_or(&[], |signature| &signature.attr), &proto_attrs(call)?);
    Ok(args.iter().map(|arg| dtypes_of(arg, &attrs)).collect::<Result<Vec<_>>>()?.concat())
}

/// The dtypes of a function's results.
pub(super) fn result_dtypes(function: &FunctionDef, call: &FunctionRef) -> Result<Vec<DataType>> {
    let signature = function.signature.as_ref();
    let args = signature.map_or(&[][..], |signature| &signature.output_arg);
    Ok(named_results(args, signature, &proto_attrs(call)?)?.into_iter().flat_map(|(_, _, dtypes)| dtypes).collect())
}

/// A name, the positions that it stands for, and their dtypes.
type Named = (String, Range<usize>, Vec<DataType>);

/// The results of a function by name.
fn named_results(
    args: &[ArgDef],
    signature: Option<&proto::OpDef>,
    given: &BTreeMap<String, ProtoValue>,
) -> Result<Vec<Named>> {
    let attrs = attrs_of_call(signature.map_or(&[], |signature| &signature.attr), given);
    let mut start = 0;
    let named = args.iter().map(|arg| {
        let dtypes = dtypes_of(arg, &attrs)?;
        let range = start..start + dtypes.len();
        start = range.end;
        Ok((arg.name.clone(), range, dtypes))
    });
    named.collect()
}

/// The dtypes of a function's argument or result.
fn dtypes_of(arg: &ArgDef, attrs: &BTreeMap<String, ProtoValue>) -> Result<Vec<DataType>> {
    const MAX: i64 = 1 << 16;
    let fault = |what: &str| Error::invalid_argument(format!("argument `{}`: {what}", arg.name));
    let attr = |name: &str| {
        let value = attrs.get(name).and_then(|value| value.value.as_ref());
        value.ok_or_else(|| fault(&format!("the attr `{name}` is not given")))
    };
    let dtype = |number: i32| DataType::from_number(number).ok_or_else(|| fault("it has an unknown dtype"));
    if !arg.type_list_attr.is_empty() {
        return match attr(&arg.type_list_attr)? {
            attr_value::Value::List(list) => list.r#type.iter().map(|&number| dtype(number)).collect(),
            _ => Err(fault("its attr is no list of dtypes")),
        };
    }
    let one = if arg.type_attr.is_empty() {
        dtype(arg.r#type)?
    } else {
        match attr(&arg.type_attr)? {
            attr_value::Value::Type(number) => dtype(*number)?,
            _ => return Err(fault("its attr is no dtype")),
        }
    };
    let count = match &*arg.number_attr {
        "" => 1,
        name => match attr(name)? {
            attr_value::Value::I(count) if (0..=MAX).contains(count) => *count as usize,
            _ => return Err(fault("its number is none, or too great")),
        },
    };
    Ok(vec![one; count])
}

/// Puts the values of the call's attrs in the place of placeholders. False if that is more than the budget allows.
fn substitute(
    value: &mut ProtoValue,
    attrs: &BTreeMap<String, ProtoValue>,
    budget: &Budget,
    depth: u32,
) -> Result<bool> {
    let functions: &mut [proto::NameAttrList] = match &mut value.value {
        Some(attr_value::Value::Placeholder(name)) => {
            let given = attrs.get(name.as_str());
            let given = given.ok_or_else(|| Error::invalid_argument(format!("the attr `{name}` is not given")))?;
            if !budget.value(given, depth) {
                return Ok(false);
            }
            *value = given.clone();
            return Ok(true);
        }
        Some(attr_value::Value::Func(function)) => std::slice::from_mut(function),
        Some(attr_value::Value::List(list)) => &mut list.func,
        _ => return Ok(true),
    };
    for value in functions.iter_mut().flat_map(|function| function.attr.values_mut()) {
        if !substitute(value, attrs, budget, depth + 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}
