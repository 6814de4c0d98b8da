//! What a tape keeps of ops that ran, and what runs them.

use std::cell::Cell;
use std::sync::Arc;

use smallvec::SmallVec;

use super::def::GradientDef;
use super::place::Side;
use super::taped_call::TapedCall;
use super::traced::{KEPT, Traced, traced};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{NodeRequest, settled};
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
pub(super) trait Execute: Send {
    /// Runs an op, and empties the inputs of the request.
    fn execute(&mut self, request: &mut NodeRequest<'_, Traced>) -> Result<Executed>;

    fn registry(&self) -> Arc<Registry>;

    /// The functions that can be called.
    fn functions(&self) -> Arc<dyn FunctionLibrary>;

    /// Has ops run in another context.
    fn run_in(&mut self, context: &EagerContext);
}

/// An op that was run.
pub(super) struct Executed {
    pub(super) prepared: Arc<Prepared>,
    /// What was asked for: what was run in its place may give more.
    pub(super) signature: Arc<Signature>,
    pub(super) outputs: SmallVec<[Option<Traced>; 2]>,
}

/// An op that was run and may be differentiated.
pub(super) struct Record {
    pub(super) prepared: Arc<Prepared>,
    pub(super) gradient: Option<&'static GradientDef>,
    /// Where the ids of its inputs begin, which those of its outputs follow.
    first_id: usize,
    /// Where what is kept of them begins.
    first_kept: usize,
    inputs: u32,
    outputs: u32,
}

/// All that a tape has recorded, in order.
#[derive(Default)]
pub(super) struct Records {
    lists: Lists,
    /// Where the ids begin, and what is kept, of an op that is running: behind those of all that are recorded.
    next: (usize, usize),
    /// What became of those that call functions, by their positions, in order: they are few.
    calls: Vec<(usize, Arc<TapedCall>)>,
}

/// What is recorded of all ops, without gaps: new pages of memory are a third of what it costs to record an op otherwise.
#[derive(Default)]
struct Lists {
    records: Vec<Record>,
    /// The ids of all inputs and outputs, with [`KEPT`] if something is kept of them.
    ids: Vec<u64>,
    kept: Vec<Kept>,
}

impl Lists {
    /// How much memory they have.
    fn bytes(&self) -> usize {
        self.records.capacity() * size_of::<Record>()
            + self.ids.capacity() * size_of::<u64>()
            + self.kept.capacity() * size_of::<Kept>()
    }
}

thread_local! {
    /// The lists of a tape that is gone, emptied: steps of training make one tape after the other.
    static SPARE: Cell<Option<Lists>> = const { Cell::new(None) };
}

/// How much memory lists have at most that wait for another tape.
const MOST_SPARE: usize = 1 << 20;

impl Records {
    /// No ops.
    pub(super) fn new() -> Records {
        let lists = SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default();
        Records { lists, next: (0, 0), calls: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.lists.records.len()
    }

    /// Adds an input of the op that is to be added next.
    #[inline]
    pub(super) fn add_input(&mut self, id: u64, kept: Option<Kept>) {
        self.add_slot(id, kept);
    }

    #[inline]
    fn add_slot(&mut self, id: u64, kept: Option<Kept>) {
        match kept {
            Some(kept) => {
                self.lists.ids.push(id | KEPT);
                self.lists.kept.push(kept);
            }
            None => self.lists.ids.push(id),
        }
    }

    /// Gives literals among the inputs of the op that is to be added next the dtypes that it asked for, not those of their Rust
    /// types.
    pub(super) fn settle_inputs(&mut self, signature: &Signature) -> Result<()> {
        let (first_id, first_kept) = self.next;
        let slots = self.lists.ids[first_id..].iter().zip(&signature.inputs).filter(|(id, _)| *id & KEPT != 0);
        for (kept, (_, slot)) in self.lists.kept[first_kept..].iter_mut().zip(slots) {
            if let Kept::Tensor(tensor) = kept
                && tensor.dtype() != slot.dtype
            {
                *tensor = settled(tensor, slot.dtype).map_err(Error::internal)?;
            }
        }
        Ok(())
    }

    /// Forgets the inputs of an op that did not run, if there are any.
    pub(super) fn drop_inputs(&mut self) {
        self.lists.ids.truncate(self.next.0);
        self.lists.kept.truncate(self.next.1);
    }

    /// Adds an op, whose inputs are there.
    pub(super) fn push(
        &mut self,
        prepared: Arc<Prepared>,
        gradient: Option<&'static GradientDef>,
        outputs: impl IntoIterator<Item = (u64, Option<Kept>)>,
    ) {
        let ((first_id, first_kept), middle) = (self.next, self.lists.ids.len());
        outputs.into_iter().for_each(|(id, kept)| self.add_slot(id, kept));
        self.next = (self.lists.ids.len(), self.lists.kept.len());
        let (inputs, outputs) = ((middle - first_id) as u32, (self.next.0 - middle) as u32);
        self.lists.records.push(Record { prepared, gradient, first_id, first_kept, inputs, outputs });
    }

    /// Says what became of the op that was added last, which calls functions.
    pub(super) fn called(&mut self, call: Arc<TapedCall>) {
        self.calls.push((self.lists.records.len().saturating_sub(1), call));
    }

    /// Adds what was recorded after these.
    pub(super) fn append(&mut self, mut later: Records) {
        self.drop_inputs();
        later.drop_inputs();
        let (ids, kept, records) = (self.lists.ids.len(), self.lists.kept.len(), self.lists.records.len());
        self.lists.records.extend(later.lists.records.drain(..).map(|record| Record {
            first_id: record.first_id + ids,
            first_kept: record.first_kept + kept,
            ..record
        }));
        self.lists.ids.append(&mut later.lists.ids);
        self.lists.kept.append(&mut later.lists.kept);
        self.next = (self.lists.ids.len(), self.lists.kept.len());
        self.calls.extend(later.calls.drain(..).map(|(index, call)| (index + records, call)));
    }

    pub(super) fn get(&self, index: usize) -> Recorded<'_> {
        let record = &self.lists.records[index];
        let call = match record.gradient {
            Some(_) => None,
            None => {
                self.calls.binary_search_by_key(&index, |(index, _)| *index).ok().map(|found| &*self.calls[found].1)
            }
        };
        let (inputs, outputs) = (record.inputs as usize, record.outputs as usize);
        let (inputs, outputs) = self.lists.ids[record.first_id..][..inputs + outputs].split_at(inputs);
        Recorded {
            record,
            call,
            inputs: Ids(inputs),
            outputs: Ids(outputs),
            kept: &self.lists.kept[record.first_kept..],
        }
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        let Lists { mut records, mut ids, mut kept } = std::mem::take(&mut self.lists);
        records.clear();
        ids.clear();
        kept.clear();
        let lists = Lists { records, ids, kept };
        if (1..=MOST_SPARE).contains(&lists.bytes()) {
            // A thread that ends takes its lists with it.
            let _ = SPARE.try_with(|spare| {
                let other = spare.take().filter(|other| other.bytes() > lists.bytes());
                spare.set(Some(other.unwrap_or(lists)));
            });
        }
    }
}

/// The ids of the inputs or outputs of an op that was run.
#[derive(Clone, Copy)]
pub(super) struct Ids<'r>(&'r [u64]);

impl<'r> Ids<'r> {
    pub(super) fn iter(self) -> impl Iterator<Item = u64> + Clone + use<'r> {
        self.0.iter().map(|id| id & !KEPT)
    }

    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    pub(super) fn get(self, index: usize) -> Option<u64> {
        self.0.get(index).map(|id| id & !KEPT)
    }
}

/// An op that was run, with its inputs and outputs.
#[derive(Clone, Copy)]
pub(super) struct Recorded<'r> {
    pub(super) record: &'r Record,
    /// What became of it if it calls functions.
    pub(super) call: Option<&'r TapedCall>,
    pub(super) inputs: Ids<'r>,
    pub(super) outputs: Ids<'r>,
    kept: &'r [Kept],
}

impl<'r> Recorded<'r> {
    /// What is kept of each input, then of each output.
    pub(super) fn kept(self) -> SmallVec<[Option<&'r Kept>; 4]> {
        let mut kept = self.kept.iter();
        let slots = self.inputs.0.iter().chain(self.outputs.0);
        slots.map(|id| if id & KEPT != 0 { kept.next() } else { None }).collect()
    }
}

/// What is kept of a tensor.
#[derive(Clone)]
pub(super) enum Kept {
    Shape(Shape),
    Tensor(Tensor),
}

impl Execute for EagerContext {
    #[track_caller]
    fn execute(&mut self, request: &mut NodeRequest<'_, Traced>) -> Result<Executed> {
        let (prepared, outputs) = self.run(request, |_| Ok(()))?;
        Ok(Executed { outputs: traced(outputs), signature: prepared.signature.clone(), prepared })
    }

    fn functions(&self) -> Arc<dyn FunctionLibrary> {
        EagerContext::functions(self).clone()
    }

    fn registry(&self) -> Arc<Registry> {
        EagerContext::registry(self).clone()
    }

    fn run_in(&mut self, context: &EagerContext) {
        *self = context.clone();
    }
}

impl Runs<'_> {
    pub(super) fn execute(&mut self, request: &mut NodeRequest<'_, Traced>) -> Result<Executed> {
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
            Runs::Context(context) => context.functions(),
            Runs::Tape(tape) => tape.functions(),
        }
    }

    pub(super) fn run_in(&mut self, context: &EagerContext) {
        match self {
            Runs::Context(own) => own.run_in(context),
            Runs::Tape(tape) => tape.run_in(context),
        }
    }
}

/// Whether a gradient needs the values of an argument, and its shapes.
pub(super) fn keeps(gradient: Option<&GradientDef>, side: Side, argument: usize) -> (bool, bool) {
    gradient
        .map_or((false, false), |gradient| (gradient.uses_value(side, argument), gradient.uses_shape(side, argument)))
}

impl Kept {
    #[inline]
    pub(super) fn of(tensor: &Tensor, value: bool, shape: bool) -> Option<Kept> {
        // Zeros like a variant are made of it, not of its shape.
        if value || (shape && tensor.dtype() == DataType::Variant) {
            Some(Kept::Tensor(tensor.clone()))
        } else if shape {
            Some(Kept::Shape(tensor.shape().clone()))
        } else {
            None
        }
    }

    pub(super) fn shape(&self) -> &Shape {
        match self {
            Kept::Shape(shape) => shape,
            Kept::Tensor(tensor) => tensor.shape(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_a_tape_that_is_gone_serve_the_next() {
        let filled = |ids: usize| {
            let mut records = Records::new();
            (0..ids).for_each(|id| records.add_input(id as u64, None));
            records.lists.ids.capacity()
        };
        let capacity = filled(100);
        // What is empty does not take the place of lists, nor do shorter ones that go after them.
        drop(Records::default());
        let (long, short) = (Records::new(), Records::new());
        assert_eq!((long.lists.ids.capacity(), short.lists.ids.capacity()), (capacity, 0));
        drop(long);
        let mut short = short;
        short.add_input(1, None);
        drop(short);
        let next = Records::new();
        assert_eq!((next.lists.ids.capacity(), next.lists.ids.len(), next.len()), (capacity, 0, 0));
        drop(next);
        // Those of a long tape go.
        assert!(filled(MOST_SPARE) >= MOST_SPARE);
        assert_eq!(Records::new().lists.ids.capacity(), 0, "the others were taken for them");
    }
}
