//! What a gradient's function is given and returns.

use crate::error::Result;
use crate::graph::{IntoOperand, Operand};
use crate::shape::PartialShape;

/// A tensor in a [`GradientScope`](super::GradientScope): an output in a graph, or a tensor that was computed.
///
/// It belongs to the scope that gave it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub(super) u32);

impl IntoOperand<Value> for Value {
    fn into_operand(self) -> Result<Operand<Value>> {
        Ok(Operand::Value(self))
    }
}

/// The shape of a tensor that need not be there itself.
#[derive(Clone, Debug)]
pub struct ShapeOf {
    /// What is known of it: all of it, if the tensor was computed.
    pub(super) known: PartialShape,
    /// The tensor, where not all is known.
    pub(super) of: Option<Value>,
}

impl ShapeOf {
    /// The shape of a tensor of which this much is known.
    pub fn of(value: Value, known: PartialShape) -> ShapeOf {
        ShapeOf { known, of: Some(value) }
    }

    /// What is known of the shape.
    pub fn known(&self) -> &PartialShape {
        &self.known
    }
}

/// Rows of a tensor whose other rows are zero, as gathering them has for a gradient. A row that is there several times counts
/// as often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexedSlices {
    /// The rows: of shape `[rows] + dense_shape[1..]`.
    pub values: Value,
    /// Which rows they are: a vector of `int32` or `int64`.
    pub indices: Value,
    /// The shape of the whole tensor, a vector of `int32` or `int64`.
    pub dense_shape: Value,
}

/// What flows back to an output, or on to an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gradient {
    /// A tensor of the shape of what it is for.
    Dense(Value),
    /// Some of its rows.
    Slices(IndexedSlices),
}

impl From<Value> for Gradient {
    fn from(value: Value) -> Gradient {
        Gradient::Dense(value)
    }
}

impl From<IndexedSlices> for Gradient {
    fn from(slices: IndexedSlices) -> Gradient {
        Gradient::Slices(slices)
    }
}

/// Returned for an input to which nothing ever flows, such as indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoGradient;
