//! A node of a graph that is differentiated.

use std::sync::Arc;

use super::pass::Pass;
use super::place::Side;
use super::scope::{Differentiated, GradientScope};
use super::value::{Gradient, ShapeOf, Value};
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{
    Applied, CLASS, Node, NodeBuilder, NodeClass, NodeId, NodeInput, NodeRequest, OpScope, Operand, Output, Outputs,
    created,
};
use crate::op::{OpDef, Signature};
use crate::registry::Registry;
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// A node of a graph that is differentiated.
pub(super) struct GraphNode<'p, 'g> {
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

impl<'p, 'g> GraphNode<'p, 'g> {
    pub(super) fn new(
        pass: &'p mut Pass<'g>,
        id: NodeId,
        prefix: String,
        flows: Vec<Option<Gradient>>,
    ) -> GraphNode<'p, 'g> {
        let node = pass.graph.node(id);
        let (op, attrs, signature) = (node.op.def, node.attrs.clone(), node.signature.clone());
        let wanted = node.inputs.iter().map(|input| pass.is_wanted(*input)).collect();
        GraphNode { pass, id, op, attrs, signature, flows, wanted, prefix }
    }

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

    fn source(&self) -> &str {
        &self.pass.source
    }

    fn apply(&mut self, request: NodeRequest<'_, Value>) -> Result<Applied<GradientScope<'static>>> {
        let values = &self.pass.values;
        let mut request = request.with_operands(|value: Value| {
            let output = values.get(value.0 as usize).copied().map(Operand::Value);
            output.ok_or_else(|| Error::internal("a value of another gradient"))
        })?;
        let base = format!("{}{}", self.prefix, request.name.as_deref().unwrap_or(&request.op.name));
        request.name = Some(self.pass.graph.free_name(&base));
        let node = self.pass.graph.node(self.id);
        if request.device.is_empty() {
            request.device.clone_from(&node.device);
        }
        if self.pass.options.colocate {
            request.attrs.insert(CLASS, vec![format!("loc:@{}", node.name)]);
        }
        // What takes nothing from a branch would run, too, if the branch does not.
        let takes = |operand: &Operand<Output>| matches!(operand, Operand::Value(_));
        if self.pass.conditions.has_any(self.id) && !request.inputs.iter().flat_map(NodeInput::operands).any(takes) {
            request.control_inputs.push(self.id);
        }
        let outputs = self.pass.graph.apply(request)?.outputs;
        let signature = outputs.signature().clone();
        let outputs = outputs.into_vec().into_iter().map(|output| Some(self.pass.value_of(output))).collect();
        Ok(Applied { node: (), outputs: Outputs::new(outputs, signature) })
    }
}
