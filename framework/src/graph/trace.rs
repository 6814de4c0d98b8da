//! Function bodies from closures. A closure adds the nodes of a body at the end of the graph, and may take what it likes
//! from before; then they are cut out, and what they took from outside becomes arguments.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::budget::Budget;
use super::build::NodeSpec;
use super::callee::Function;
use super::context::Context;
use super::infer::Scope;
use super::library::Library;
use super::reach::look;
use super::remembered::Known;
use super::same_function::are_same;
use super::values::Values;
use super::{Graph, Node, NodeId, Output, created};
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::DataType;
use crate::ensure;
use crate::error::{Error, Result, shortened};
use crate::op::InOutType;
use crate::proto::{self, FunctionDef, NodeDef, function_def, op_def};
use crate::shape::PartialShape;
use crate::shape_inference::{LinkedShape, LinkedShapeAndType};
use crate::sort::CompactSort as _;

/// What a function takes: a dtype, and what else is known of the argument.
#[derive(Clone, Debug)]
pub struct TensorSpec {
    dtype: DataType,
    shape: PartialShape,
    name: Option<String>,
    attrs: AttrMap,
    held: Option<Vec<LinkedShapeAndType>>,
}

impl TensorSpec {
    /// A tensor of any shape.
    pub fn new(dtype: DataType) -> TensorSpec {
        TensorSpec { dtype, shape: PartialShape::unknown(), name: None, attrs: AttrMap::new(), held: None }
    }

    /// A tensor with the dtype of an output and all that is known of its shape, and of what it holds if it is a resource
    /// or variant.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the graph has no such output.
    pub fn like(graph: &Graph, output: Output) -> Result<TensorSpec> {
        let slot = graph.slot(output).ok_or_else(|| Error::invalid_argument(graph.absent(output)))?;
        let held = graph.handle_shapes_and_types(output).map(<[_]>::to_vec);
        Ok(TensorSpec { shape: graph.shape(output).clone(), held, ..TensorSpec::new(slot.dtype) })
    }

    /// Says what is known of the shape.
    #[must_use]
    pub fn shape(self, shape: impl Into<PartialShape>) -> TensorSpec {
        TensorSpec { shape: shape.into(), ..self }
    }

    /// Names the argument. Names of arguments are lower case: other characters are replaced.
    #[must_use]
    pub fn name(self, name: &str) -> TensorSpec {
        TensorSpec { name: Some(name.to_owned()), ..self }
    }

    /// Gives the argument an attr, such as `_user_specified_name`.
    #[must_use]
    pub fn attr(mut self, name: &str, value: impl Into<AttrValue>) -> TensorSpec {
        self.attrs.insert(name, value);
        self
    }

    /// The dtype.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// What is known of the shape.
    pub fn partial_shape(&self) -> &PartialShape {
        &self.shape
    }
}

impl From<DataType> for TensorSpec {
    fn from(dtype: DataType) -> TensorSpec {
        TensorSpec::new(dtype)
    }
}

/// A function's body as a closure has built it, before it has a name.
pub struct Trace {
    first: usize,
    /// The arguments, then the others.
    nodes: Vec<Node>,
    arguments: Vec<TensorSpec>,
    results: Vec<Output>,
    result_types: Vec<InOutType>,
    result_shapes: Vec<PartialShape>,
    captures: Vec<Output>,
    waits: Vec<NodeId>,
}

impl Trace {
    /// What the body takes from outside, in the order of first use.
    pub fn captures(&self) -> &[Output] {
        &self.captures
    }

    /// The dtypes of the results.
    pub fn result_dtypes(&self) -> Vec<DataType> {
        self.result_types.iter().map(|slot| slot.dtype).collect()
    }

    /// What is known of the results' shapes.
    pub fn result_shapes(&self) -> &[PartialShape] {
        &self.result_shapes
    }

    /// Whether the body has nodes that keep a state or have effects.
    pub fn is_stateful(&self) -> bool {
        self.own_nodes().iter().any(|node| node.op.def.is_stateful)
    }

    /// Adds a result: a value from outside.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such output, or it was added after the body was built.
    pub fn add_result(&mut self, graph: &Graph, value: Output) -> Result<()> {
        let index = self.results.len();
        let slot = graph.slot(value).ok_or_else(|| graph.no_result(index, value))?;
        // Nodes that were added since stand where those of the body stood.
        ensure!(
            value.node.index() < self.first,
            InvalidArgument,
            "result {index} comes from `{}`, which was added after the body was built: add it before",
            graph.output_name(value)
        );
        self.result_types.push(slot);
        self.result_shapes.push(graph.shape(value).clone());
        self.results.push(value);
        Ok(())
    }

    /// The nodes but for the arguments.
    fn own_nodes(&self) -> &[Node] {
        &self.nodes[self.arguments.len()..]
    }

    /// The node of the body that this is, and its place; `None` for one outside.
    fn inside(&self, id: NodeId) -> Option<(&Node, usize)> {
        let place = id.index().checked_sub(self.first)?;
        self.nodes.get(place).map(|node| (node, place))
    }

    fn capture(&mut self) -> Result<()> {
        let mut seen = HashSet::new();
        let mut captures = Vec::new();
        for node in &self.nodes {
            for (input, expected) in node.inputs.iter().zip(&node.signature.inputs) {
                if input.node.index() >= self.first {
                    continue;
                }
                if expected.is_ref {
                    let message = "it takes a reference from outside of its function, and functions hand on values \
                                   alone: make the variable inside, or use a resource variable";
                    return Err(Error::invalid_argument(message).at_node(&node.name, &node.op.def.name, &node.device));
                }
                if seen.insert(*input) {
                    captures.push(*input);
                }
            }
        }
        captures.extend(self.results.iter().filter(|r| r.node.index() < self.first && seen.insert(**r)));
        self.captures = captures;
        Ok(())
    }
}

impl Graph {
    #[cold]
    fn no_result(&self, index: usize, result: Output) -> Error {
        Error::invalid_argument(format!("result {index}: {}", self.absent(result)))
    }

    /// Builds the body of a function: `build` gets the arguments, adds nodes and returns the results. The graph stays as
    /// it was, also if `build` panics. Inside, names of nodes are the body's own, so that [`Graph::find`] sees no node outside; outputs from
    /// outside can be used as they are.
    ///
    /// # Errors
    /// Those of `build`; INVALID_ARGUMENT if a result does not exist, or a node takes a reference from outside.
    pub fn trace<V: Values>(
        &mut self,
        arguments: Vec<TensorSpec>,
        build: impl FnOnce(&mut Graph, Vec<Output>) -> Result<V>,
    ) -> Result<(Trace, V)> {
        let first = self.nodes.len();
        let depth = self.contexts.len();
        let by_name = std::mem::replace(&mut self.by_name, HashMap::new().into());
        let suffixes = std::mem::take(&mut self.suffixes);
        self.epochs.end(first);
        self.contexts.push(Context::Body { first, waits: Vec::new() });
        let (built, (context, nodes)) = self.restored(
            |graph| graph.trace_inside(arguments, build),
            |graph, _| {
                let context = graph.contexts.drain(depth..).next();
                let nodes = graph.nodes.split_off(first);
                graph.epochs.end(first);
                graph.truncate(first);
                (graph.by_name, graph.suffixes) = (by_name, suffixes);
                (context, nodes)
            },
        );
        let (mut trace, results) = built?;
        trace.nodes = nodes;
        trace.first = first;
        if let Some(Context::Body { mut waits, .. }) = context {
            waits.compact_sort();
            waits.dedup();
            trace.waits = waits;
        }
        trace.capture()?;
        Ok((trace, results))
    }

    fn trace_inside<V: Values>(
        &mut self,
        mut specs: Vec<TensorSpec>,
        build: impl FnOnce(&mut Graph, Vec<Output>) -> Result<V>,
    ) -> Result<(Trace, V)> {
        let op = self.registry.op(created::ARG)?;
        let mut arguments = Vec::with_capacity(specs.len());
        for (index, spec) in specs.iter_mut().enumerate() {
            let name = argument_name(spec.name.as_deref().unwrap_or("args"));
            let name = self.free_name(&name);
            let attrs = [("T", AttrValue::Type(spec.dtype)), ("index", AttrValue::Int(index as i64))];
            let attrs = attrs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            let (inputs, control_inputs, device) = (Vec::new(), Vec::new(), String::new());
            spec.name = Some(name.clone());
            let node = NodeSpec { name, op, attrs, inputs, control_inputs, device };
            let output = Output { node: self.add(node, &Scope::root(&Budget::new()))?, index: 0 };
            let shape = LinkedShape::new(&spec.shape, &mut self.next_symbol);
            self.note(output, Known { shape, held: spec.held.clone() });
            arguments.push(output);
        }
        let values = build(self, arguments)?;
        let results = values.to_outputs();
        let types = results.iter().enumerate().map(|(index, &r)| self.slot(r).ok_or_else(|| self.no_result(index, r)));
        let trace = Trace {
            first: 0,
            nodes: Vec::new(),
            arguments: specs,
            result_types: types.collect::<Result<_>>()?,
            result_shapes: results.iter().map(|&result| self.shape(result).clone()).collect(),
            results,
            captures: Vec::new(),
            waits: Vec::new(),
        };
        Ok((trace, values))
    }

    /// Puts a body into the graph's library. After its own arguments it takes those of `captures`, which must have all
    /// that it captures: bodies that are called alike take the same.
    ///
    /// # Errors
    /// ALREADY_EXISTS if a function or op has this name; INVALID_ARGUMENT if a capture is missing or does not exist;
    /// UNIMPLEMENTED if a node has an attr that no message holds.
    pub fn define(&mut self, name: &str, trace: &Trace, captures: &[Output], attrs: &AttrMap) -> Result<Function> {
        if self.has_function(name) || self.registry.find_op(name).is_some() {
            let kind = if self.has_function(name) { "a function" } else { "an op" };
            return Err(Error::already_exists(format!("there is {kind} `{}` already", shortened(name))));
        }
        let def = self.traced_function(name, trace, captures, attrs)?;
        let arguments = def.signature.iter().flat_map(|signature| &signature.input_arg);
        let arguments = arguments.filter_map(|arg| DataType::from_number(arg.r#type)).collect();
        let function = Function {
            name: name.to_owned(),
            arguments,
            results: trace.result_dtypes(),
            captures: captures.to_vec(),
            waits: trace.waits.clone(),
            is_stateful: trace.is_stateful(),
        };
        self.insert_function(name, def);
        Ok(function)
    }

    fn insert_function(&mut self, name: &str, def: FunctionDef) {
        let Graph { functions, registry, .. } = self;
        let known = |functions: &Library, layer: usize| look(registry, functions, layer);
        Arc::make_mut(functions.get_or_insert_default()).insert(name.to_owned(), def, known);
    }

    /// Puts a function into the graph's library, unless it is there.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for one without a name, and one whose name another function or an op has.
    pub(super) fn add_function(&mut self, def: &FunctionDef) -> Result<()> {
        let name = def.signature.as_ref().map_or("", |signature| &signature.name);
        if name.is_empty() {
            return Err(Error::invalid_argument("a function has no name"));
        }
        if let Some(known) = self.function_def(name) {
            return match are_same(known, def) {
                true => Ok(()),
                false => Err(Error::invalid_argument(format!(
                    "Cannot add function '{name}' because a different function with the same name already exists."
                ))),
            };
        }
        if self.registry.find_op(name).is_some() {
            return Err(Error::invalid_argument(format!(
                "Cannot add function '{name}' because an op with the same name already exists."
            )));
        }
        self.insert_function(name, def.clone());
        Ok(())
    }

    fn traced_function(&self, name: &str, trace: &Trace, captures: &[Output], attrs: &AttrMap) -> Result<FunctionDef> {
        let mut names: HashSet<String> = trace.nodes.iter().map(|node| node.name.clone()).collect();
        // For each base, the last number that was tried.
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut unique = |base: &str| {
            let mut name = base.to_owned();
            if names.contains(&name) {
                let number = numbers.entry(name.clone()).or_default();
                while names.contains(&name) {
                    *number += 1;
                    name = format!("{base}_{number}");
                }
            }
            names.insert(name.clone());
            name
        };
        let arg = |name: String, dtype: DataType| op_def::ArgDef { name, r#type: dtype.number(), ..Default::default() };
        let mut def = FunctionDef { attr: attr_messages(attrs)?, ..FunctionDef::default() };
        let mut signature =
            proto::OpDef { name: name.to_owned(), is_stateful: trace.is_stateful(), ..proto::OpDef::default() };
        for (index, spec) in (0..).zip(&trace.arguments) {
            signature.input_arg.push(arg(spec.name.clone().unwrap_or_default(), spec.dtype));
            let mut attrs = spec.attrs.clone();
            if spec.shape.rank().is_some() {
                attrs.insert("_output_shapes", vec![spec.shape.clone()]);
            }
            if attrs.iter().next().is_some() {
                def.arg_attr.insert(index, function_def::ArgAttrs { attr: attr_messages(&attrs)? });
            }
        }
        let mut captured: BTreeMap<Output, String> = BTreeMap::new();
        for &capture in captures {
            let slot = self.slot(capture);
            let slot = slot.ok_or_else(|| Error::invalid_argument(format!("a capture: {}", self.absent(capture))))?;
            let name = unique(&argument_name(&self.node(capture.node).name));
            signature.input_arg.push(arg(name.clone(), slot.dtype));
            captured.insert(capture, name);
        }
        let source = |output: &Output| match trace.inside(output.node) {
            None => captured.get(output).cloned().ok_or_else(|| {
                let capture = self.slot(*output).map_or_else(String::new, |_| self.output_name(*output));
                Error::invalid_argument(format!("function `{name}` captures `{capture}`, which it is not given"))
            }),
            Some((node, place)) if place < trace.arguments.len() => Ok(node.name.clone()),
            Some((node, _)) => {
                let ranges = node.op.def.outputs.iter().zip(&node.signature.output_ranges);
                let found = ranges.into_iter().find(|(_, range)| range.contains(&output.index));
                let (argument, range) = found.ok_or_else(|| self.no_result(output.index, *output))?;
                Ok(format!("{}:{}:{}", node.name, argument.name, output.index - range.start))
            }
        };
        for node in trace.own_nodes() {
            let mut input = node.inputs.iter().map(&source).collect::<Result<Vec<_>>>()?;
            let controls = node.control_inputs.iter().filter_map(|&control| trace.inside(control));
            input.extend(controls.map(|(control, _)| format!("^{}", control.name)));
            def.node_def.push(node.to_def(input)?);
            if node.op.def.is_stateful {
                signature.control_output.push(node.name.clone());
                def.control_ret.insert(node.name.clone(), node.name.clone());
            }
        }
        for (result, slot) in trace.results.iter().zip(&trace.result_types) {
            let name = unique("output");
            def.ret.insert(name.clone(), source(result)?);
            signature.output_arg.push(arg(name, slot.dtype));
        }
        def.signature = Some(signature);
        Ok(def)
    }
}

impl Node {
    /// The node as a message.
    ///
    /// # Errors
    /// UNIMPLEMENTED if an attr holds a variant that no message can hold.
    pub(super) fn to_def(&self, input: Vec<String>) -> Result<NodeDef> {
        Ok(NodeDef {
            name: self.name.clone(),
            op: self.op_name().into_owned(),
            input,
            device: self.device.clone(),
            attr: messages(self.own_attrs())?,
            experimental_debug_info: None,
        })
    }
}

/// The attrs of a node as messages.
pub(super) fn attr_messages(attrs: &AttrMap) -> Result<BTreeMap<String, proto::AttrValue>> {
    messages(attrs.iter())
}

fn messages<'a>(
    attrs: impl IntoIterator<Item = (&'a str, &'a AttrValue)>,
) -> Result<BTreeMap<String, proto::AttrValue>> {
    use proto::attr_value::Value;
    let message = |value: &AttrValue| match value {
        AttrValue::Tensor(tensor) => {
            Ok(proto::AttrValue { value: Some(Value::Tensor(proto::tensor_to_compact_proto(tensor)?)) })
        }
        value => proto::attr_to_proto(value),
    };
    attrs.into_iter().map(|(name, value)| Ok((name.to_owned(), message(value)?))).collect()
}

/// A name that an argument of a function may have: lower case letters, digits and `_`, and a letter first.
pub(super) fn argument_name(name: &str) -> String {
    let lower = name.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).to_ascii_lowercase();
    let name: String = lower.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_arguments_are_lower_case() {
        for (name, expected) in [("x", "x"), ("A/b-C", "a_b_c"), ("12_Y", "y"), ("é", "unknown"), ("", "unknown")] {
            assert_eq!(argument_name(name), expected);
        }
    }
}
