//! What a tape keeps of ops that ran, and what runs them.

use std::sync::Arc;

use smallvec::SmallVec;

use super::def::GradientDef;
use super::place::Side;
use super::taped_call::TapedCall;
use super::traced::{Traced, traced};
use crate::dtype::DataType;
use crate::error::Result;
use crate::graph::{NodeRequest, Operand};
use crate::op::Signature;
use crate::registry::Registry;
use crate::runtime::{EagerContext, Prepared};
use crate::shape::Shape;
use crate::step::FunctionLibrary;
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

    /// The functions that can be called.
    fn functions(&self) -> Arc<dyn FunctionLibrary>;
}

/// An op that was run.
pub(super) struct Executed {
    pub(super) prepared: Arc<Prepared>,
    /// What was asked for: what was run in its place may give more.
    pub(super) signature: Arc<Signature>,
    pub(super) outputs: SmallVec<[Traced; 2]>,
}

/// An op that was run and may be differentiated.
pub(super) struct Record {
    pub(super) prepared: Arc<Prepared>,
    pub(super) gradient: Option<&'static GradientDef>,
    /// Where its slots begin: its inputs, then its outputs.
    first: usize,
    inputs: u32,
    outputs: u32,
}

/// An input or output of an op that was run.
pub(super) struct Slot {
    /// The id of the tensor.
    pub(super) id: u64,
    /// What is kept of it.
    pub(super) kept: Kept,
}

/// All that a tape has recorded, in order. The slots of all ops are in one list, so that recording an op allocates nothing.
#[derive(Default)]
pub(super) struct Records {
    records: Vec<Record>,
    slots: Vec<Slot>,
    /// What became of those that call functions, by their positions, in order: they are few.
    calls: Vec<(usize, Arc<TapedCall>)>,
}

impl Records {
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Adds an op.
    pub(super) fn push(
        &mut self,
        prepared: Arc<Prepared>,
        gradient: Option<&'static GradientDef>,
        inputs: impl IntoIterator<Item = Slot>,
        outputs: impl IntoIterator<Item = Slot>,
    ) {
        let first = self.slots.len();
        self.slots.extend(inputs);
        let middle = self.slots.len();
        self.slots.extend(outputs);
        let (inputs, outputs) = ((middle - first) as u32, (self.slots.len() - middle) as u32);
        self.records.push(Record { prepared, gradient, first, inputs, outputs });
    }

    /// Says what became of the op that was added last, which calls functions.
    pub(super) fn called(&mut self, call: Arc<TapedCall>) {
        self.calls.push((self.records.len().saturating_sub(1), call));
    }

    pub(super) fn get(&self, index: usize) -> Recorded<'_> {
        let record = &self.records[index];
        let middle = record.first + record.inputs as usize;
        let (inputs, outputs) =
            (&self.slots[record.first..middle], &self.slots[middle..middle + record.outputs as usize]);
        let call = match record.gradient {
            Some(_) => None,
            None => {
                self.calls.binary_search_by_key(&index, |(index, _)| *index).ok().map(|found| &*self.calls[found].1)
            }
        };
        Recorded { record, call, inputs, outputs }
    }
}

/// An op that was run, with its inputs and outputs.
#[derive(Clone, Copy)]
pub(super) struct Recorded<'r> {
    pub(super) record: &'r Record,
    /// What became of it if it calls functions.
    pub(super) call: Option<&'r TapedCall>,
    pub(super) inputs: &'r [Slot],
    pub(super) outputs: &'r [Slot],
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
        Ok(Executed { outputs: traced(outputs), signature: prepared.signature.clone(), prepared })
    }

    fn functions(&self) -> Arc<dyn FunctionLibrary> {
        EagerContext::functions(self).clone()
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

    pub(super) fn functions(&self) -> Arc<dyn FunctionLibrary> {
        match self {
            Runs::Context(context) => context.functions().clone(),
            Runs::Tape(tape) => tape.functions(),
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
