//! What a tape keeps of ops that ran, and what runs them.

use std::sync::Arc;

use smallvec::SmallVec;

use super::def::GradientDef;
use super::place::Side;
use super::traced::{Traced, traced};
use crate::dtype::DataType;
use crate::error::Result;
use crate::graph::{NodeRequest, Operand};
use crate::registry::Registry;
use crate::runtime::{EagerContext, Prepared};
use crate::shape::Shape;
use crate::tensor::Tensor;

/// What runs the ops of a tape.
pub(super) enum Runs<'p> {
    Context(EagerContext),
    Tape(&'p mut dyn Execute),
}

/// What runs ops on tensors that have ids.
pub(super) trait Execute {
    fn execute(&mut self, request: NodeRequest<'_, Traced>) -> Result<Executed>;

    fn registry(&self) -> Arc<Registry>;
}

/// An op that was run.
pub(super) struct Executed {
    pub(super) prepared: Arc<Prepared>,
    pub(super) outputs: SmallVec<[Traced; 2]>,
}

/// An op that was run and may be differentiated.
pub(super) struct Record {
    pub(super) prepared: Arc<Prepared>,
    pub(super) gradient: Option<&'static GradientDef>,
    pub(super) inputs: SmallVec<[u64; 3]>,
    pub(super) outputs: SmallVec<[u64; 2]>,
    /// What is kept of inputs and outputs, in this order.
    pub(super) kept: Box<[Kept]>,
}

/// What is kept of a tensor.
#[derive(Clone)]
pub(super) enum Kept {
    Nothing,
    Shape(Shape),
    Tensor(Tensor),
}

impl Execute for EagerContext {
    #[track_caller]
    fn execute(&mut self, request: NodeRequest<'_, Traced>) -> Result<Executed> {
        let request = request.with_operands(|traced: Traced| Ok(Operand::Constant(traced.tensor)))?;
        let (prepared, outputs) = self.run(request)?;
        Ok(Executed { outputs: traced(outputs), prepared })
    }

    fn registry(&self) -> Arc<Registry> {
        EagerContext::registry(self).clone()
    }
}

impl Runs<'_> {
    pub(super) fn execute(&mut self, request: NodeRequest<'_, Traced>) -> Result<Executed> {
        match self {
            Runs::Context(context) => context.execute(request),
            Runs::Tape(tape) => tape.execute(request),
        }
    }

    pub(super) fn registry(&self) -> Arc<Registry> {
        match self {
            Runs::Context(context) => context.registry().clone(),
            Runs::Tape(tape) => tape.registry(),
        }
    }
}

/// Whether a gradient needs the values of an argument, and its shapes.
pub(super) fn keeps(gradient: Option<&GradientDef>, side: Side, argument: usize) -> (bool, bool) {
    gradient
        .map_or((false, false), |gradient| (gradient.uses_value(side, argument), gradient.uses_shape(side, argument)))
}

impl Kept {
    pub(super) fn of(tensor: Option<&Tensor>, value: bool, shape: bool) -> Kept {
        match tensor {
            // Zeros like a variant are made of it, not of its shape.
            Some(tensor) if value || (shape && tensor.dtype() == DataType::Variant) => Kept::Tensor(tensor.clone()),
            Some(tensor) if shape => Kept::Shape(tensor.shape().clone()),
            _ => Kept::Nothing,
        }
    }

    pub(super) fn shape(&self) -> Option<&Shape> {
        match self {
            Kept::Nothing => None,
            Kept::Shape(shape) => Some(shape),
            Kept::Tensor(tensor) => Some(tensor.shape()),
        }
    }
}
