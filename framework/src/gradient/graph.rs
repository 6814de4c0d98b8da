//! Gradients of graphs: nodes that compute what flows back from some outputs to others.

use std::collections::HashMap;
use std::sync::Arc;

use super::def::{GradientDef, find_gradient};
use super::differentiable::{GRADIENT_OP_TYPE, is_trainable, no_gradient, per_input};
use super::place::Side;
use super::scope::{Differentiated, GradientScope};
use super::value::{Gradient, IndexedSlices, ShapeOf, Value};
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{
    Applied, Graph, Node, NodeBuilder, NodeClass, NodeId, NodeRequest, OpScope, Operand, Output, Outputs, created,
};
use crate::op::{OpDef, Signature};
use crate::registry::Registry;
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// The gradient with respect to an output of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputGradient {
    /// A tensor of its shape.
    Dense(Output),
    /// Some of its rows, those that are there several times counting as often.
    Slices {
        /// The rows.
        values: Output,
        /// Which rows they are.
        indices: Output,
        /// The shape of the whole, a vector.
        dense_shape: Output,
    },
}

/// Adds the gradients of the sum of `ys` with respect to each of `xs` to a graph, as TensorFlow's `tf.gradients` does.
///
/// ```ignore
/// let gradients = Gradients::of([loss]).with_respect_to([weights, biases]).add_to(&mut graph)?;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Gradients {
    ys: Vec<Output>,
    xs: Vec<Output>,
    grad_ys: Vec<Option<Output>>,
    stop: Vec<Output>,
}

impl Gradients {
    /// Of the sum of these outputs.
    pub fn of(ys: impl IntoIterator<Item = Output>) -> Gradients {
        Gradients { ys: ys.into_iter().collect(), ..Gradients::default() }
    }

    /// With respect to these outputs.
    #[must_use]
    pub fn with_respect_to(mut self, xs: impl IntoIterator<Item = Output>) -> Gradients {
        self.xs.extend(xs);
        self
    }

    /// What flows back to each of the `ys`, `None` for ones: as many as there are `ys`.
    #[must_use]
    pub fn grad_ys(mut self, grad_ys: impl IntoIterator<Item = Option<Output>>) -> Gradients {
        self.grad_ys.extend(grad_ys);
        self
    }

    /// Treats these outputs as constants: nothing flows through them.
    #[must_use]
    pub fn stop_gradients(mut self, outputs: impl IntoIterator<Item = Output>) -> Gradients {
        self.stop.extend(outputs);
        self
    }

    /// Adds the nodes; returns the gradient for each of the `xs`, `None` where the `ys` do not depend on it.
    ///
    /// # Errors
    /// NOT_FOUND if an op on the way has no registered gradient; INVALID_ARGUMENT if an output is not the graph's, a `y`
    /// has a dtype that cannot be differentiated, or `grad_ys` do not suit the `ys`; and what the gradients' ops meet.
    pub fn add_to(&self, graph: &mut Graph) -> Result<Vec<Option<OutputGradient>>> {
        let prefix = free_prefix(graph, "gradients");
        let (values, flows, between) = (Vec::new(), HashMap::new(), Vec::new());
        Pass { graph, prefix, values, flows, between, stop: self.stop.clone() }.run(self)
    }
}

/// `base`, or `base_1`, `base_2`, ..., whichever no name of a node begins with.
fn free_prefix(graph: &Graph, base: &str) -> String {
    let begins = |prefix: &str| {
        let is_below =
            |name: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        graph.nodes().iter().any(|node| is_below(&node.name))
    };
    let numbered = (1..).map(|number| format!("{base}_{number}"));
    std::iter::once(base.to_owned()).chain(numbered).find(|prefix| !begins(prefix)).unwrap_or_default()
}

/// The gradients of one call.
struct Pass<'g> {
    graph: &'g mut Graph,
    /// What the names of the nodes begin with.
    prefix: String,
    /// What the values of the gradients' functions are.
    values: Vec<Output>,
    /// What flows back to each output, from each of its users.
    flows: HashMap<Output, Vec<Gradient>>,
    /// The nodes on a way from one of the `xs` to one of the `ys`.
    between: Vec<bool>,
    stop: Vec<Output>,
}

impl Pass<'_> {
    fn run(&mut self, asked: &Gradients) -> Result<Vec<Option<OutputGradient>>> {
        let Gradients { ys, xs, grad_ys, stop } = asked;
        for &output in ys.iter().chain(xs).chain(stop).chain(grad_ys.iter().flatten()) {
            self.dtype_of(output)?;
        }
        if !grad_ys.is_empty() && grad_ys.len() != ys.len() {
            let (given, wanted) = (grad_ys.len(), ys.len());
            let message = format!("there are {given} grad_ys for {wanted} ys: give one for each, `None` for ones");
            return Err(Error::invalid_argument(message));
        }
        self.between = self.nodes_between(ys, xs);
        // Nodes come after what they use, so that each is met when all that uses it has been.
        let nodes: Vec<NodeId> = self.graph.ids().filter(|id| self.between[id.index()]).collect();
        for (index, &y) in ys.iter().enumerate() {
            self.seed(y, grad_ys.get(index).copied().flatten())?;
        }
        for &node in nodes.iter().rev() {
            self.differentiate(node)?;
        }
        let mut found = Vec::new();
        for &x in xs {
            found.push(self.sum_at(x)?.map(|gradient| self.output_gradient(gradient)));
        }
        Ok(found)
    }

    /// Whether gradients flow to an output at all.
    fn can_flow(&self, output: Output) -> bool {
        self.dtype_of(output).is_ok_and(is_trainable) && !self.stop.contains(&output)
    }

    fn nodes_between(&self, ys: &[Output], xs: &[Output]) -> Vec<bool> {
        let nodes = self.graph.nodes();
        let mut needed = vec![false; nodes.len()];
        ys.iter().for_each(|y| needed[y.node.index()] = true);
        for index in (0..nodes.len()).rev() {
            if needed[index] {
                let inputs = nodes[index].inputs.iter().filter(|input| self.can_flow(**input));
                inputs.for_each(|input| needed[input.node.index()] = true);
            }
        }
        let mut reached = vec![false; nodes.len()];
        xs.iter().for_each(|x| reached[x.node.index()] = true);
        for (index, node) in nodes.iter().enumerate() {
            reached[index] |= node.inputs.iter().any(|input| reached[input.node.index()] && self.can_flow(*input));
        }
        needed.into_iter().zip(reached).map(|(needed, reached)| needed && reached).collect()
    }

    fn dtype_of(&self, output: Output) -> Result<DataType> {
        let slot = self.graph.get(output.node).and_then(|node| node.signature.outputs.get(output.index));
        slot.map(|slot| slot.dtype).ok_or_else(|| Error::invalid_argument("an output that is not the graph's"))
    }

    /// Begins with what flows back to a `y`: ones, if nothing is given.
    fn seed(&mut self, y: Output, given: Option<Output>) -> Result<()> {
        let (dtype, name) = (self.dtype_of(y)?, self.graph.output_name(y));
        if let Some(given) = given {
            let flow = self.dtype_of(given)?;
            if flow != dtype {
                let message = format!("what flows back to `{name}` must be {dtype}, as that is, not {flow}");
                return Err(Error::invalid_argument(message));
            }
            let (shape, own) = (self.graph.shape(given), self.graph.shape(y));
            if !shape.is_compatible(own) {
                let message = format!("what flows back to `{name}` must have its shape {own}, not {shape}");
                return Err(Error::invalid_argument(message));
            }
            let value = self.value_of(given);
            self.flow_to(y, Gradient::Dense(value));
            return Ok(());
        }
        if dtype.is_complex() {
            return Err(Error::invalid_argument(format!(
                "`{name}` is {dtype}: its gradient depends on what flows back to it, which `grad_ys` says"
            )));
        }
        if is_trainable(dtype) {
            let prefix = format!("{}/", self.prefix);
            let ones = self.with_scope(y.node, prefix, Vec::new(), |scope| {
                let shape = scope.node.shape_of(Side::Output, y.index)?;
                scope.ones(dtype, &shape)
            })?;
            self.flow_to(y, Gradient::Dense(ones));
        }
        Ok(())
    }

    fn value_of(&mut self, output: Output) -> Value {
        self.values.push(output);
        Value(self.values.len() as u32 - 1)
    }

    fn flow_to(&mut self, output: Output, flow: Gradient) {
        self.flows.entry(output).or_default().push(flow);
    }

    /// All that flows back to an output: their sum, or the rows of all if all are slices.
    fn sum_at(&mut self, output: Output) -> Result<Option<Gradient>> {
        let Some(flows) = self.flows.get(&output).cloned() else { return Ok(None) };
        if let [flow] = flows[..] {
            return Ok(Some(flow));
        }
        let prefix = format!("{}/", self.prefix);
        let sum = self.with_scope(output.node, prefix, Vec::new(), |scope| scope.sum(&flows))?;
        self.flows.insert(output, vec![sum]);
        Ok(Some(sum))
    }

    fn output_gradient(&self, gradient: Gradient) -> OutputGradient {
        let output = |value: Value| self.values[value.0 as usize];
        match gradient {
            Gradient::Dense(value) => OutputGradient::Dense(output(value)),
            Gradient::Slices(IndexedSlices { values, indices, dense_shape }) => OutputGradient::Slices {
                values: output(values),
                indices: output(indices),
                dense_shape: output(dense_shape),
            },
        }
    }

    /// Has what flows back to the outputs of a node flow on to its inputs.
    fn differentiate(&mut self, id: NodeId) -> Result<()> {
        let count = self.graph.node(id).signature.outputs.len();
        let mut flows = Vec::with_capacity(count);
        for index in 0..count {
            let output = Output { node: id, index };
            flows.push(if self.can_flow(output) { self.sum_at(output)? } else { None });
        }
        if flows.iter().all(Option::is_none) {
            return Ok(());
        }
        let inputs = self.graph.node(id).inputs.clone();
        let wanted = |pass: &Self, input: Output| pass.between[input.node.index()] && pass.can_flow(input);
        if !inputs.iter().any(|&input| wanted(self, input)) {
            return Ok(());
        }
        let Some(differentiation) = self.gradient_for(id)?.differentiation.as_ref() else { return Ok(()) };
        let name = self.graph.node(id).name.clone();
        let prefix = format!("{}/{name}_grad/", self.prefix);
        let (signature, op) = (self.graph.node(id).signature.clone(), self.graph.node(id).op.def);
        let found = self.with_scope(id, prefix, flows, |scope| (differentiation.call)(scope));
        let found = found.and_then(|found| per_input(op, &signature, found));
        let found = found.map_err(|error| error.at_node(&format!("gradient of {name}"), &op.name, ""))?;
        for (input, flow) in inputs.into_iter().zip(found) {
            if let Some(flow) = flow.filter(|_| wanted(self, input)) {
                self.flow_to(input, flow);
            }
        }
        Ok(())
    }

    /// The gradient that a node has.
    fn gradient_for(&self, id: NodeId) -> Result<&'static GradientDef> {
        let node = self.graph.node(id);
        let asked = node.attrs.required::<String>(GRADIENT_OP_TYPE).ok();
        let name = asked.as_deref().unwrap_or(&node.op.def.name);
        find_gradient(name).ok_or_else(|| no_gradient(node.op.def, &format!("node `{}`", node.name), asked.as_deref()))
    }

    fn with_scope<T>(
        &mut self,
        id: NodeId,
        prefix: String,
        flows: Vec<Option<Gradient>>,
        call: impl FnOnce(&mut GradientScope<'_>) -> Result<T>,
    ) -> Result<T> {
        let node = self.graph.node(id);
        let (op, attrs, signature) = (node.op.def, node.attrs.clone(), node.signature.clone());
        let wanted = node.inputs.clone();
        let wanted = wanted.iter().map(|input| self.between[input.node.index()] && self.can_flow(*input)).collect();
        let mut node = GraphNode { pass: self, id, op, attrs, signature, flows, wanted, prefix };
        call(&mut GradientScope::new(&mut node))
    }
}

/// A node of a graph that is differentiated.
struct GraphNode<'p, 'g> {
    pass: &'p mut Pass<'g>,
    id: NodeId,
    op: &'static OpDef,
    attrs: AttrMap,
    signature: Arc<Signature>,
    flows: Vec<Option<Gradient>>,
    wanted: Vec<bool>,
    /// What the names of the nodes begin with that are added.
    prefix: String,
}

impl GraphNode<'_, '_> {
    fn output(&self, side: Side, index: usize) -> Result<Output> {
        let output = match side {
            Side::Input => self.pass.graph.node(self.id).inputs.get(index).copied(),
            _ => Some(Output { node: self.id, index }).filter(|output| output.index < self.signature.outputs.len()),
        };
        output
            .ok_or_else(|| Error::internal(format!("a node of op {} lacks an argument of its gradient", self.op.name)))
    }

    fn known(&self, value: Value) -> Option<&Node> {
        self.pass.values.get(value.0 as usize).map(|output| self.pass.graph.node(output.node))
    }
}

impl Differentiated for GraphNode<'_, '_> {
    fn op(&self) -> &'static OpDef {
        self.op
    }

    fn attrs(&self) -> &AttrMap {
        &self.attrs
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn registry(&self) -> &Registry {
        self.pass.graph.registry()
    }

    fn value(&mut self, side: Side, index: usize) -> Result<Value> {
        let output = self.output(side, index)?;
        Ok(self.pass.value_of(output))
    }

    fn shape_of(&mut self, side: Side, index: usize) -> Result<ShapeOf> {
        let output = self.output(side, index)?;
        let known = self.pass.graph.shape(output).clone();
        Ok(ShapeOf { known, of: Some(self.pass.value_of(output)) })
    }

    fn flow(&self, index: usize) -> Option<Gradient> {
        self.flows.get(index).copied().flatten()
    }

    fn is_wanted(&self, index: usize) -> bool {
        self.wanted.get(index).copied().unwrap_or(false)
    }

    fn known_shape(&self, value: Value) -> PartialShape {
        let output = self.pass.values.get(value.0 as usize);
        output.map_or_else(PartialShape::unknown, |output| self.pass.graph.shape(*output).clone())
    }

    fn dtype(&self, value: Value) -> Option<DataType> {
        self.pass.dtype_of(*self.pass.values.get(value.0 as usize)?).ok()
    }

    fn known_value(&self, value: Value) -> Option<&Tensor> {
        let node = self.known(value).filter(|node| node.class == NodeClass::Constant)?;
        match node.attrs.get("value") {
            Some(AttrValue::Tensor(tensor)) => Some(tensor),
            _ => None,
        }
    }

    fn add_constant(&mut self, tensor: Tensor) -> Result<Value> {
        let op = self.pass.graph.registry().op(created::CONSTANT)?.def;
        let mut scope = GradientScope::new(self);
        let mut constant = NodeBuilder::new(&mut scope, op);
        constant.attr("dtype", tensor.dtype()).attr("value", tensor);
        constant.build_output()
    }

    fn apply(&mut self, request: NodeRequest<'_, Value>) -> Result<Applied<GradientScope<'static>>> {
        let values = &self.pass.values;
        let mut request = request.with_operands(|value: Value| {
            let output = values.get(value.0 as usize).copied().map(Operand::Value);
            output.ok_or_else(|| Error::internal("a value of another gradient"))
        })?;
        let base = format!("{}{}", self.prefix, request.name.as_deref().unwrap_or(&request.op.name));
        request.name = Some(self.pass.graph.free_name(&base));
        if request.device.is_empty() {
            request.device.clone_from(&self.pass.graph.node(self.id).device);
        }
        let outputs = self.pass.graph.apply(request)?.outputs;
        let signature = outputs.signature().clone();
        let outputs = outputs.into_vec().into_iter().map(|output| Some(self.pass.value_of(output))).collect();
        Ok(Applied { node: (), outputs: Outputs::new(outputs, signature) })
    }
}
