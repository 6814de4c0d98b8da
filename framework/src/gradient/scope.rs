//! Where the ops of a gradient go, and what its function is given.

use super::place::{ParameterKind, Place, Side};
use super::value::{Gradient, ShapeOf, Value};
use crate::attr::AttrMap;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{Applied, NodeRequest, OpScope};
use crate::op::{OpDef, Signature};
use crate::registry::Registry;
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// What is differentiated, and where the ops of its gradient go: nodes of a graph, or an op that was run.
pub(super) trait Differentiated {
    /// The op.
    fn op(&self) -> &'static OpDef;

    /// The attrs of the node.
    fn attrs(&self) -> &AttrMap;

    /// Its inputs and outputs.
    fn signature(&self) -> &Signature;

    /// The ops that there are.
    fn registry(&self) -> &Registry;

    /// The value of an input or output, by position.
    fn value(&mut self, side: Side, index: usize) -> Result<Value>;

    /// The shape of an input or output, by position.
    fn shape_of(&mut self, side: Side, index: usize) -> Result<ShapeOf>;

    /// What flows back to an output, by position.
    fn flow(&self, index: usize) -> Option<Gradient>;

    /// Whether somebody wants to know what flows on to an input, by position.
    fn is_wanted(&self, index: usize) -> bool;

    /// What is known of the shape of a value.
    fn known_shape(&self, value: Value) -> PartialShape;

    /// The dtype of a value.
    fn dtype(&self, value: Value) -> Option<DataType>;

    /// The value, if it is there already: that of a constant, or one that was computed.
    fn known_value(&self, value: Value) -> Option<&Tensor>;

    /// A tensor as a value.
    fn add_constant(&mut self, tensor: Tensor) -> Result<Value>;

    /// What tells the gradients of one call from those of others.
    fn source(&self) -> &str;

    /// Adds or runs an op.
    fn apply(&mut self, request: NodeRequest<'_, Value>) -> Result<Applied<GradientScope<'static>>>;
}

/// Where the ops of a gradient go. A gradient's function gives it to the functions that `#[register_op]` writes.
pub struct GradientScope<'s> {
    pub(super) node: &'s mut dyn Differentiated,
}

impl<'s> GradientScope<'s> {
    pub(super) fn new(node: &'s mut dyn Differentiated) -> GradientScope<'s> {
        GradientScope { node }
    }

    /// The op whose gradient this is.
    pub fn op(&self) -> &'static OpDef {
        self.node.op()
    }

    /// The attrs of its node, those that its op does not declare included.
    pub fn attrs(&self) -> &AttrMap {
        self.node.attrs()
    }

    /// Whether the gradient of an input is wanted, by the position of its argument, or that of any of a list. What is
    /// returned for one that is not is dropped.
    pub fn is_wanted(&self, argument: usize) -> bool {
        let range = self.node.signature().input_ranges.get(argument).cloned().unwrap_or(0..0);
        range.into_iter().any(|index| self.node.is_wanted(index))
    }

    /// What tells the gradients that are computed together from others, which may be of the same nodes: for resources that keep
    /// gradients apart by it, as `TensorArrayGradV3` does.
    pub fn source(&self) -> &str {
        self.node.source()
    }

    /// What is known of the shape of a value: in a graph what follows from its nodes, on a tape all of it.
    pub fn known_shape(&self, value: Value) -> PartialShape {
        self.node.known_shape(value)
    }

    /// The dtype of a value.
    ///
    /// # Errors
    /// INTERNAL if it is another scope's.
    pub fn dtype(&self, value: Value) -> Result<DataType> {
        self.node.dtype(value).ok_or_else(|| Error::internal("a value of another gradient"))
    }

    /// The tensor, if it is known: that of a constant in a graph, any on a tape.
    pub fn known_value(&self, value: Value) -> Option<&Tensor> {
        self.node.known_value(value)
    }

    /// What a parameter that is a tensor, or a list of them, is given.
    pub(super) fn values_at(&mut self, place: Place) -> Result<Vec<Value>> {
        let range = self.range(place)?;
        match place.side {
            Side::Flow => range.map(|index| self.flow_or_zeros(index)).collect(),
            side => range.map(|index| self.node.value(side, index)).collect(),
        }
    }

    pub(super) fn shapes_at(&mut self, place: Place) -> Result<Vec<ShapeOf>> {
        self.range(place)?.map(|index| self.node.shape_of(place.side, index)).collect()
    }

    pub(super) fn flows_at(&mut self, place: Place) -> Result<Vec<Option<Value>>> {
        let flows = self.range(place)?.map(|index| self.node.flow(index)).collect::<Vec<_>>();
        flows.into_iter().map(|flow| flow.map(|flow| self.dense(flow)).transpose()).collect()
    }

    pub(super) fn flow_at(&mut self, place: Place) -> Result<Gradient> {
        let index = self.range(place)?.start;
        match self.node.flow(index) {
            Some(flow) => Ok(flow),
            None => self.flow_or_zeros(index).map(Gradient::Dense),
        }
    }

    /// What flows back to an output, by position; zeros if nothing does.
    pub(super) fn flow_or_zeros(&mut self, index: usize) -> Result<Value> {
        match self.node.flow(index) {
            Some(flow) => self.dense(flow),
            None => {
                let output = self.node.shape_of(Side::Output, index)?;
                let dtype = self.node.signature().outputs.get(index).map(|slot| slot.dtype);
                let dtype = dtype.ok_or_else(|| Error::internal("a gradient of an output that there is not"))?;
                self.zeros(dtype, &output)
            }
        }
    }

    fn range(&self, place: Place) -> Result<std::ops::Range<usize>> {
        let signature = self.node.signature();
        let ranges = match place.side {
            Side::Input => &signature.input_ranges,
            Side::Output | Side::Flow => &signature.output_ranges,
            Side::Attr => return Err(Error::internal("an attr is no tensor")),
        };
        let range = ranges.get(place.argument).cloned();
        range.filter(|range| !range.is_empty() || !matches!(place.kind, ParameterKind::Value)).ok_or_else(|| {
            Error::invalid_argument(format!(
                "op {} has no argument that could be the gradient's `{}`",
                self.op().name,
                place.name
            ))
        })
    }
}

impl OpScope for GradientScope<'_> {
    type Output = Value;
    type Node = ();

    #[track_caller]
    fn apply(&mut self, request: NodeRequest<'_, Value>) -> Result<Applied<Self>> {
        let Applied { node, outputs } = self.node.apply(request)?;
        Ok(Applied { node, outputs })
    }
}
