//! What the function of a rewrite is given: the match, and a scope to which ops are added.

use std::marker::PhantomData;
use std::ops::Deref;

use super::created::CreatedOp;
use super::matching::Bound;
use super::view::State;
use crate::attr::{AttrValue, FromAttrValue};
use crate::dtype::{DataType, bf16, f16};
use crate::error::{Error, Result};
use crate::graph::{
    Applied, Graph, GraphPatch, Node, NodeClass, NodeId, NodeInput, NodeRequest, OpScope, Operand, Output,
};
use crate::op::Op;
use crate::optimize::pass::Ends;
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// A match, and the scope for what takes its place: ops are added to it by the functions that `#[register_op]` writes.
///
/// What is added runs where the root of the match runs, and waits for what the root waits for. It may use every output that
/// the pattern captures, and every output of the matched nodes.
pub struct Rewrite<'m, 'g> {
    pub(super) patch: &'m mut GraphPatch<'g>,
    pub(super) state: &'m State,
    pub(super) ends: &'m Ends,
    pub(super) name: &'static str,
    /// The ops of which nodes may be added.
    pub(super) creates: &'static [CreatedOp],
    pub(super) root: NodeId,
    /// What the root waits for.
    pub(super) controls: &'m [NodeId],
}

/// A matched node of op `O`.
pub struct Matched<O: Op> {
    node: MatchedNode,
    /// Its attrs.
    pub attrs: O::Attrs,
    op: PhantomData<O>,
}

/// A matched node, whatever its op.
#[derive(Clone, Copy, Debug)]
pub struct MatchedNode {
    /// The node.
    pub id: NodeId,
}

impl<O: Op> Deref for Matched<O> {
    type Target = MatchedNode;

    fn deref(&self) -> &MatchedNode {
        &self.node
    }
}

impl<O: Op> Matched<O> {
    /// The attrs of the node, typed.
    pub fn attrs(&self) -> &O::Attrs {
        &self.attrs
    }
}

impl MatchedNode {
    /// An output of the node, by position.
    pub fn output(&self, index: usize) -> Output {
        Output { node: self.id, index }
    }
}

impl Rewrite<'_, '_> {
    /// The value of an output, if it is a constant that is not fed.
    pub fn constant(&self, output: Output) -> Option<&Tensor> {
        self.state.constant(self.patch, self.ends, output)
    }

    /// The value of an output, if it is a scalar constant of integers or floats that is not fed. A value that a double cannot
    /// hold is rounded.
    pub fn scalar(&self, output: Output) -> Option<f64> {
        let value = self.constant(output).filter(|value| value.rank() == 0)?;
        match value.dtype() {
            DataType::Half => value.to_scalar::<f16>().ok().map(f64::from),
            DataType::Bfloat16 => value.to_scalar::<bf16>().ok().map(f64::from),
            DataType::Float => value.to_scalar::<f32>().ok().map(f64::from),
            DataType::Double => value.to_scalar::<f64>().ok(),
            DataType::Uint64 => value.to_scalar::<u64>().ok().map(|value| value as f64),
            dtype if dtype.is_integer() => value.to_i64_vec().ok()?.first().map(|&value| value as f64),
            _ => None,
        }
    }

    /// What is certain of the shape of an output, whatever shapes the feeds have: they need not be those that placeholders
    /// declare. Of what another rewrite has just added, nothing is.
    pub fn shape(&self, output: Output) -> PartialShape {
        self.state.shape(self.patch, self.ends, output)
    }

    /// The dtype of an output; `None` if there is no such output.
    pub fn dtype(&self, output: Output) -> Option<DataType> {
        let slot = self.patch.get(output.node).and_then(|node| node.signature.outputs.get(output.index));
        slot.map(|slot| slot.dtype)
    }

    /// The node of an output, or a matched one.
    ///
    /// Its inputs are those that it was made with: another rewrite may have put others in their place, which what is added
    /// then uses.
    ///
    /// # Panics
    /// If the id is none of the graph's.
    pub fn node(&self, id: impl Into<NodeId>) -> &Node {
        self.patch.node(id.into())
    }

    /// The inputs of a node, with what other rewrites put in their place; none if there is no such node.
    pub fn inputs(&self, id: impl Into<NodeId>) -> Vec<Output> {
        let node = self.patch.get(id.into());
        node.iter().flat_map(|node| &node.inputs).map(|&input| self.state.used_for(input)).collect()
    }

    /// An attr of a node.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the node has none of this name and type.
    pub fn attr<T: FromAttrValue>(&self, id: impl Into<NodeId>, name: &str) -> Result<T> {
        self.node(id).attrs.required(name)
    }

    /// How often an output is used.
    pub fn uses(&self, output: Output) -> usize {
        match self.patch.get(output.node) {
            Some(_) => self.state.uses(output) as usize,
            None => 0,
        }
    }

    /// Whether an output is fed: it is then not what its node computes.
    pub fn is_fed(&self, output: Output) -> bool {
        self.ends.is_fed(output)
    }

    /// Whether the graph is written: TensorFlow must run it, too.
    pub fn is_written(&self) -> bool {
        self.ends.is_written
    }

    /// The graph with what was added so far. Beware of constants that are fed, of shapes that follow from feeds, and of what
    /// other rewrites replaced: see [`Rewrite::constant`], [`Rewrite::shape`] and [`Rewrite::inputs`].
    pub fn graph(&self) -> &Graph {
        self.patch
    }

    /// A matched node with its attrs. Called by what `#[register_rewrite]` writes.
    #[doc(hidden)]
    pub fn matched<O: Op>(&self, bound: &Bound, number: usize) -> Result<Matched<O>> {
        let node = self.matched_node(bound, number)?;
        Ok(Matched { node, attrs: O::read_attrs(&self.patch.node(node.id).attrs)?, op: PhantomData })
    }

    #[doc(hidden)]
    pub fn matched_node(&self, bound: &Bound, number: usize) -> Result<MatchedNode> {
        let id = bound.nodes.get(number).copied().flatten();
        id.map(|id| MatchedNode { id }).ok_or_else(|| Error::internal("a node of a match is missing"))
    }

    #[doc(hidden)]
    pub fn captured(&self, bound: &Bound, capture: usize) -> Result<Output> {
        bound.output(capture).ok_or_else(|| Error::internal("an output of a match is missing"))
    }

    #[doc(hidden)]
    pub fn captured_list(&self, bound: &Bound, capture: usize) -> Vec<Output> {
        bound.list(capture).to_vec()
    }
}

impl OpScope for Rewrite<'_, '_> {
    type Output = Output;
    type Node = NodeId;

    /// Adds a node beside the root of the match.
    ///
    /// # Errors
    /// As for a [`Graph`]; INTERNAL for an op that the rewrite does not say that it creates.
    #[track_caller]
    fn apply(&mut self, mut request: NodeRequest<'_, Output>) -> Result<Applied<Self>> {
        let is_said = self.creates.iter().any(|created| std::ptr::eq(created.op, request.op));
        if !is_said && NodeClass::of(&request.op.name) != NodeClass::Constant {
            let (rewrite, op) = (self.name, &request.op.name);
            let message = format!("rewrite {rewrite} makes a node of {op}, which its `creates` does not list");
            return Err(Error::internal(message));
        }
        for input in &mut request.inputs {
            let operands = match input {
                NodeInput::Single(operand) => std::slice::from_mut(operand),
                NodeInput::List(operands) => operands,
            };
            for operand in operands {
                if let Operand::Value(output) = operand {
                    *output = self.state.used_for(*output);
                }
            }
        }
        request.control_inputs.extend_from_slice(self.controls);
        let class = self.patch.node(self.root).attrs.get("_class").cloned();
        if let Some(class @ AttrValue::ListString(_)) = class {
            request.attrs.insert("_class", class);
        }
        let Applied { node, outputs, .. } = self.patch.apply(request)?;
        Ok(Applied { node, outputs })
    }
}
