//! Building a graph node by node: attrs that follow from the inputs are inferred, everything is checked.

use std::sync::Arc;

use smallvec::SmallVec;

use super::budget::Budget;
use super::call::unknown;
use super::implied::{Given, faults_error, infer_attrs};
use super::infer::{Faults, Scope, Site};
use super::literal::settle;
use super::names::numbered;
use super::scope::{Applied, IntoOperand, NodeInput, NodeRequest, OpScope, Operand, Outputs};
use super::{Graph, Node, NodeClass, NodeId, Output, complete_attrs, created, is_valid_node_name};
use crate::attr::{AttrMap, AttrValue};
use crate::collect::OpEntry;
use crate::error::{Error, Result};
use crate::op::{InOutType, OpDef, Signature};
use crate::registry::did_you_mean;
use crate::shape::PartialShape;
use crate::sort::CompactSort as _;
use crate::tensor::Tensor;

/// Adds one node to a graph, or runs one op in another [`OpScope`]. What the wrappers that `#[register_op]` writes are
/// made of.
pub struct NodeBuilder<'s, S: OpScope = Graph> {
    scope: &'s mut S,
    request: NodeRequest<'s, S::Output>,
}

impl<'s, S: OpScope> NodeBuilder<'s, S> {
    /// A node of `op`.
    pub fn new(scope: &'s mut S, op: &'s OpDef) -> NodeBuilder<'s, S> {
        let request = NodeRequest::new(op);
        NodeBuilder { scope, request }
    }

    /// Gives the next input, which is one tensor.
    pub fn input(&mut self, input: impl IntoOperand<S::Output>) -> &mut Self {
        match input.into_operand() {
            Ok(operand) => self.request.inputs.push(NodeInput::Single(operand)),
            Err(error) => self.no_input(&error),
        }
        self
    }

    /// Gives the next input, which is a list of tensors.
    pub fn input_list(&mut self, inputs: impl IntoIterator<Item = impl IntoOperand<S::Output>>) -> &mut Self {
        let operands = inputs.into_iter().map(IntoOperand::into_operand).collect();
        match operands {
            Ok(operands) => self.request.inputs.push(NodeInput::List(operands)),
            Err(error) => self.no_input(&error),
        }
        self
    }

    /// Gives the next input, in the form that scopes get it.
    pub fn operands(&mut self, input: NodeInput<S::Output>) -> &mut Self {
        self.request.inputs.push(input);
        self
    }

    #[cold]
    fn no_input(&mut self, error: &Error) {
        let position = self.request.inputs.len();
        let name = self.request.op.inputs.get(position).map_or("?", |arg| &arg.name);
        self.request.faults.push(format!("Input '{name}' cannot be made: {}", error.message()));
        // Keeps the others in their places.
        self.request.inputs.push(NodeInput::List(Vec::new()));
    }

    /// Gives an attr. Attrs that follow from the inputs need not be given; names that begin with `_` are the
    /// runtime's, which no op declares.
    pub fn attr(&mut self, name: &str, value: impl Into<AttrValue>) -> &mut Self {
        let op = self.request.op;
        if op.attr(name).is_none() && !name.starts_with('_') {
            let hint = did_you_mean(name, op.attrs.iter().map(|attr| &*attr.name));
            self.request.faults.push(format!("op {} has no attr `{name}`{hint}", op.name));
        }
        self.request.attrs.insert(name, value);
        self
    }

    /// Names the node; without a name it takes its op's, with a number if that is taken.
    pub fn name(&mut self, name: &str) -> &mut Self {
        self.request.name = Some(name.to_owned());
        self
    }

    /// Asks for a device.
    pub fn device(&mut self, device: &str) -> &mut Self {
        self.request.device = device.to_owned();
        self
    }

    /// Checks the node and adds it.
    ///
    /// # Errors
    /// NOT_FOUND if the op is not in the scope's registry; INVALID_ARGUMENT if inputs or attrs do not suit the op (all
    /// that is wrong with the inputs is in one error), the name is illegal, or the shapes do not fit; ALREADY_EXISTS if
    /// the name is taken. In an eager context also NOT_FOUND if there is no kernel, and whatever the kernel meets.
    #[track_caller]
    pub fn build(self) -> Result<S::Node> {
        Ok(self.scope.apply(self.request)?.node)
    }

    /// As [`NodeBuilder::build`]; returns the node's outputs.
    ///
    /// # Errors
    /// As [`NodeBuilder::build`].
    #[track_caller]
    pub fn build_outputs(self) -> Result<Outputs<S::Output>> {
        Ok(self.scope.apply(self.request)?.outputs)
    }

    /// As [`NodeBuilder::build`], for an op with one output argument that is no list; returns it.
    ///
    /// # Errors
    /// As [`NodeBuilder::build`].
    #[track_caller]
    pub fn build_output(self) -> Result<S::Output> {
        self.scope.apply(self.request)?.outputs.take(0)
    }
}

impl<S: OpScope<Node = NodeId>> NodeBuilder<'_, S> {
    /// Makes the node run after another one: a node, or that of an output.
    pub fn control_input(&mut self, node: impl Into<NodeId>) -> &mut Self {
        self.request.control_inputs.push(node.into());
        self
    }
}

impl OpScope for Graph {
    type Output = Output;
    type Node = NodeId;

    /// Adds a node, and a `Const` node for each input that is a tensor.
    #[track_caller]
    fn apply(&mut self, request: NodeRequest<'_, Output>) -> Result<Applied<Graph>> {
        let NodeRequest { op, mut inputs, mut attrs, name, device, control_inputs, mut faults } = request;
        let op = self.registry.op(&op.name)?;
        let name = match name {
            Some(name) => name,
            None => self.free_name(&op.def.name),
        };
        let dtype_of = |output: &Output| self.slot(*output).map(|slot| slot.dtype);
        self.absent_inputs(op.def, &inputs, &mut faults);
        settle(op.def, &mut inputs, &attrs, dtype_of, &mut faults);
        let given: SmallVec<[Given; 2]> =
            inputs.iter().map(|input| Given::new(input, |output| self.slot(*output))).collect();
        let advice = infer_attrs(op.def, &given, &mut attrs, &mut faults);
        if !faults.is_empty() {
            return Err(faults_error(&faults, advice, &name, op.def).at_node(&name, &op.def.name, &device));
        }
        let before = self.nodes.len();
        let added = match self.operands(inputs, &name, op, &device) {
            Ok(inputs) => {
                let mut spec = NodeSpec { name, op, attrs, inputs, control_inputs, device };
                // No closure calls `add`: the caller's line would be lost.
                match self.surround(&mut spec) {
                    Ok(()) => self.add(spec, &Scope::root(&Budget::new())),
                    Err(error) => Err(error),
                }
            }
            Err(error) => Err(error),
        };
        let node = match added {
            Ok(node) => node,
            Err(error) => {
                self.truncate(before);
                return Err(error);
            }
        };
        let signature = self.node(node).signature.clone();
        let outputs = (0..signature.outputs.len()).map(|index| Some(Output { node, index })).collect();
        Ok(Applied { node, outputs: Outputs::new(outputs, signature) })
    }
}

/// A node before it is checked.
pub(super) struct NodeSpec {
    pub(super) name: String,
    pub(super) op: &'static OpEntry,
    pub(super) attrs: AttrMap,
    pub(super) inputs: Vec<Output>,
    pub(super) control_inputs: Vec<NodeId>,
    pub(super) device: String,
}

impl Graph {
    /// Checks a node whose inputs are in the graph, and adds it. A `Merge` may also have inputs that are still to come.
    #[track_caller]
    pub(super) fn add(&mut self, spec: NodeSpec, scope: &Scope<'_>) -> Result<NodeId> {
        let NodeSpec { name, op, mut attrs, inputs, mut control_inputs, device } = spec;
        let context = |error: Error| error.at_node(&name, &op.def.name, &device);
        let class = NodeClass::of(&op.def.name);
        check_name(&name)?;
        if self.find(&name).is_some() {
            return Err(Error::already_exists(format!("the graph has two nodes `{name}`")));
        }
        if let Some(deprecation) = &op.def.deprecation
            && self.versions.producer >= deprecation.version
        {
            return Err(context(Error::unimplemented(format!(
                "op {} was removed in GraphDef version {} and the graph has version {}. {}",
                op.def.name, deprecation.version, self.versions.producer, deprecation.explanation
            ))));
        }
        control_inputs.compact_sort();
        control_inputs.dedup();
        self.check_control_inputs(&control_inputs).map_err(context)?;
        complete_attrs(op.def, &mut attrs).map_err(context)?;
        let signature = Signature::new(op.def, &attrs).map_err(context)?;
        self.check_inputs(op.def, class, &signature, &inputs).map_err(context)?;
        let site = Site { name: &name, op, class, attrs: &attrs, signature: &signature, inputs: &inputs };
        let mut next_symbol = self.next_symbol;
        let mut fault = None;
        let mut known = match self.infer(&site, scope, &mut next_symbol) {
            Ok(known) => known,
            Err(error) => {
                fault = match scope.faults {
                    Faults::Ignore => None,
                    Faults::NoteCalls if class == NodeClass::Call => Some(Box::new(context(error))),
                    Faults::Refuse | Faults::NoteCalls => return Err(context(error)),
                };
                signature.outputs.iter().map(|_| unknown(&mut next_symbol)).collect()
            }
        };
        if known.len() != signature.outputs.len() {
            let (known, outputs) = (known.len(), signature.outputs.len());
            return Err(context(Error::internal(format!("{known} shapes were inferred of {outputs} outputs"))));
        }
        if scope.call.is_none() && class != NodeClass::Arg {
            Graph::merge_output_shapes_attr(&site, &mut known, &mut next_symbol);
        }
        self.next_symbol = next_symbol;
        let signature = Arc::new(signature);
        let output_shapes = vec![PartialShape::unknown(); known.len()];
        let node = Node {
            name,
            op,
            class,
            attrs,
            signature,
            inputs,
            control_inputs,
            device,
            output_shapes,
            fault,
            unknown_outputs: Vec::new(),
        };
        let id = self.push(node);
        for (index, known) in known.into_iter().enumerate() {
            self.note(Output { node: id, index }, known);
        }
        Ok(id)
    }

    /// The inputs of a node in line. Tensors become `Const` nodes called after the node and its argument.
    #[track_caller]
    fn operands(
        &mut self,
        inputs: SmallVec<[NodeInput<Output>; 2]>,
        name: &str,
        op: &OpEntry,
        device: &str,
    ) -> Result<Vec<Output>> {
        let mut outputs = Vec::with_capacity(inputs.len());
        for (input, arg) in inputs.into_iter().zip(op.def.inputs.iter()) {
            let operands = match input {
                NodeInput::Single(operand) => vec![operand],
                NodeInput::List(operands) => operands,
            };
            for operand in operands {
                outputs.push(match operand {
                    Operand::Value(output) => output,
                    Operand::Constant(tensor) | Operand::Literal(tensor) => {
                        check_name(name)?;
                        let name = self.free_name(&format!("{name}/{}", arg.name));
                        self.add_constant(name, tensor, device)?
                    }
                });
            }
        }
        Ok(outputs)
    }

    #[track_caller]
    fn add_constant(&mut self, name: String, value: Tensor, device: &str) -> Result<Output> {
        let op = self.registry.op(created::CONSTANT)?;
        let mut attrs = AttrMap::new();
        attrs.insert("dtype", value.dtype());
        attrs.insert("value", value);
        let device = device.to_owned();
        let mut spec = NodeSpec { name, op, attrs, inputs: Vec::new(), control_inputs: Vec::new(), device };
        self.surround(&mut spec)?;
        let node = self.add(spec, &Scope::root(&Budget::new()))?;
        Ok(Output { node, index: 0 })
    }

    /// Says which inputs are no outputs of the graph.
    fn absent_inputs(&self, op: &OpDef, inputs: &[NodeInput<Output>], faults: &mut Vec<String>) {
        for (position, input) in inputs.iter().enumerate() {
            let absent = input.operands().iter().find_map(|operand| match operand {
                Operand::Value(output) if self.slot(*output).is_none() => Some(*output),
                _ => None,
            });
            if let Some(output) = absent {
                let name = op.inputs.get(position).map_or("?", |arg| &arg.name);
                faults.push(format!("Input '{name}' cannot be connected: {}", self.absent(output)));
            }
        }
    }

    /// Whether the graph has this node. It has not the nodes of other graphs, nor, when the closure is done, those that a
    /// closure added to a function's body.
    #[inline]
    pub fn has(&self, id: NodeId) -> bool {
        id.index() < self.nodes.len() && self.id_at(id.index()) == id
    }

    /// The id of the node at this position of [`Graph::nodes`].
    #[inline]
    pub fn id(&self, position: usize) -> Option<NodeId> {
        (position < self.nodes.len()).then(|| self.id_at(position))
    }

    /// The id of the node in this place.
    #[inline]
    pub(crate) fn id_at(&self, position: usize) -> NodeId {
        self.epochs.id(position)
    }

    /// Why an id names no node of the graph, and what to do.
    #[cold]
    pub(crate) fn absent_node(&self, id: NodeId) -> String {
        self.absence("node", id)
    }

    #[cold]
    fn absence(&self, what: &str, id: NodeId) -> String {
        match self.epochs.is_foreign(id) {
            true => format!(
                "this {what} belongs to another graph: take one that a call on this graph returned, or that \
                 `find_or_suggest` or `output` finds in it by name"
            ),
            false => format!(
                "this {what} is not in the graph, or not any more. A function's body hands out what its closure \
                 returns; what a patch moves, its `Renumbering` tells; nodes that were taken back are gone; and a clone \
                 has only the nodes that the graph had when it was cloned"
            ),
        }
    }

    /// Why something is no output of the graph, and what to do.
    #[cold]
    pub(super) fn absent(&self, output: Output) -> String {
        match self.has(output.node) {
            true => {
                let node = self.node(output.node);
                let (name, count) = (&node.name, node.signature.outputs.len());
                let outputs = if count == 1 { "1 output".to_owned() } else { format!("{count} outputs") };
                let (index, op) = (output.index, node.op_name());
                format!("output {index} of `{name}` (op {op}) does not exist: the node has {outputs}, counted from 0")
            }
            false => self.absence("output", output.node),
        }
    }

    /// The type of an output, if it exists.
    pub(super) fn slot(&self, output: Output) -> Option<InOutType> {
        if !self.has(output.node) {
            return None;
        }
        self.nodes.get(output.node.index())?.signature.outputs.get(output.index).copied()
    }

    /// Removes the nodes from position `length` on.
    pub(super) fn truncate(&mut self, length: usize) {
        if length < self.nodes.len() {
            self.epochs.end(length);
        }
        self.truncate_contexts(length);
        for node in self.nodes.drain(length.min(self.nodes.len())..) {
            if let Some(by_name) = self.by_name.get_mut() {
                by_name.remove(&node.name);
            }
        }
        self.links.retain(|output, _| output.node.index() < length);
        self.held.retain(|output, _| output.node.index() < length);
        self.constants = super::Constants::default();
    }

    #[track_caller]
    pub(super) fn check_control_inputs(&self, control_inputs: &[NodeId]) -> Result<()> {
        let mut checks = control_inputs.iter().map(|&control| self.check_node(control));
        checks.find(Result::is_err).unwrap_or(Ok(())).map_err(|error| error.context("a control input"))
    }

    /// Refuses ids that name no node of the graph.
    #[track_caller]
    pub(crate) fn check_node(&self, id: NodeId) -> Result<()> {
        if self.has(id) { Ok(()) } else { Err(Error::invalid_argument(self.absent_node(id))) }
    }

    /// Refuses what is no output of the graph.
    #[track_caller]
    pub(crate) fn check_output(&self, output: Output) -> Result<()> {
        if self.slot(output).is_some() { Ok(()) } else { Err(Error::invalid_argument(self.absent(output))) }
    }

    #[track_caller]
    pub(super) fn check_inputs(
        &self,
        op: &OpDef,
        class: NodeClass,
        signature: &Signature,
        inputs: &[Output],
    ) -> Result<()> {
        signature.check_input_count(op, inputs.len())?;
        for (i, (input, expected)) in inputs.iter().zip(&signature.inputs).enumerate() {
            if input.node.index() >= self.nodes.len() && class == NodeClass::Merge {
                continue;
            }
            let Some(slot) = self.slot(*input) else {
                let (name, absent) = (signature.input_called(op, i), self.absent(*input));
                return Err(Error::invalid_argument(format!("{name}: {absent}")));
            };
            if slot.dtype != expected.dtype || (expected.is_ref && !slot.is_ref) {
                return Err(Error::invalid_argument(format!(
                    "{} comes from `{}`, which is {}{}, but the op expects {}{}",
                    signature.input_called(op, i),
                    self.output_name(*input),
                    slot.dtype,
                    if slot.is_ref { "_ref" } else { "" },
                    expected.dtype,
                    if expected.is_ref { "_ref" } else { "" },
                )));
            }
        }
        Ok(())
    }

    /// A name that no node has: `base`, or `base_1`, `base_2`, ..., whichever is free first.
    pub fn free_name(&mut self, base: &str) -> String {
        let mut suffixes = std::mem::take(&mut self.suffixes);
        let name = numbered(base.trim_start_matches('_'), &mut suffixes, |name| self.find(name).is_none());
        self.suffixes = suffixes;
        name
    }
}

#[track_caller]
fn check_name(name: &str) -> Result<()> {
    if is_valid_node_name(name) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("`{name}` is no legal node name")))
}
