//! Tapes that record what runs on their thread.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, RwLock};

use kernlink::dtype::DataType;
use kernlink::gradient::{GradientTape as CoreTape, Traced};
use kernlink::graph::{NodeInput, NodeRequest, OpScope, Operand};
use kernlink::op::OpDef;
use kernlink::runtime::EagerContext;
use kernlink::tensor::{ResourceHandle, Tensor as CoreTensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::eager::{context, run_in_context};
use crate::error::Raise;
use crate::functions::Held;
use crate::gradients::gradient_object;
use crate::locks::{locked, unpoisoned};
use crate::tensor::Tensor;

type Shared = Arc<Record>;

/// A tape, and whether it records.
struct Record {
    tape: Mutex<CoreTape<'static>>,
    /// The number of the start since which it records; 0 when it is stopped, on whatever thread.
    started: AtomicU64,
    is_paused: AtomicBool,
    watches_variables: bool,
    /// The names of the resources of variables that are watched, in order.
    handles: Mutex<Vec<String>>,
    /// The functions that were called, which their gradients are made of.
    called: Mutex<HashMap<String, Held>>,
}

impl Record {
    /// Whether it goes on with what it began at a start.
    fn goes_on_from(&self, start: u64) -> bool {
        self.started.load(Ordering::Relaxed) == start
    }

    /// Holds a function, of which gradients may be made as long as the tape is there.
    fn hold(&self, context: &'static EagerContext, function: &str) {
        let mut called = locked(&self.called);
        if !called.contains_key(function) {
            called.insert(function.to_owned(), Held::new(context, function));
        }
    }
}

thread_local! {
    /// The tapes that were started, the outermost first, with the numbers of their starts.
    static TAPES: RefCell<Vec<(Shared, u64)>> = const { RefCell::new(Vec::new()) };
    /// Whether there are any: most programs have none.
    static ANY: Cell<bool> = const { Cell::new(false) };
}

/// The variables that tapes do not watch by themselves, by the names of their resources.
static UNTRAINED: LazyLock<RwLock<HashSet<String>>> = LazyLock::new(RwLock::default);

/// Whether tapes watch the variable of a handle when it is read.
pub(crate) fn is_trainable_handle(handle: &CoreTensor) -> bool {
    let Ok([handle]) = handle.as_slice::<ResourceHandle>() else { return false };
    !unpoisoned(UNTRAINED.read()).contains(&handle.name)
}

/// Says whether tapes watch the variable of a handle when it is read: they do unless they are told otherwise.
#[pyfunction]
pub(crate) fn set_trainable(handle: &Bound<'_, Tensor>, trainable: bool) -> PyResult<()> {
    let [handle] = handle.get().core().as_slice::<ResourceHandle>().or_raise()? else {
        return Err(PyTypeError::new_err("a variable has one handle"));
    };
    let mut untrained = unpoisoned(UNTRAINED.write());
    match trainable {
        true => untrained.remove(&handle.name),
        false => untrained.insert(handle.name.clone()),
    };
    Ok(())
}

/// Whether a tape records what this thread runs.
#[inline]
pub(crate) fn is_recording() -> bool {
    ANY.get() && change(|tapes| tapes.iter().any(records))
}

fn records((tape, start): &(Shared, u64)) -> bool {
    tape.goes_on_from(*start) && !tape.is_paused.load(Ordering::Relaxed)
}

/// Changes which tapes this thread has started, and forgets those that were stopped.
fn change<R>(change: impl FnOnce(&mut Vec<(Shared, u64)>) -> R) -> R {
    let (changed, stopped) = TAPES.with_borrow_mut(|tapes| {
        let changed = change(tapes);
        let stopped: Vec<_> = tapes.extract_if(.., |(tape, start)| !tape.goes_on_from(*start)).collect();
        ANY.set(!tapes.is_empty());
        (changed, stopped)
    });
    drop(stopped);
    changed
}

/// The tapes that record what this thread runs, the outermost first.
fn recording() -> SmallVec<[Shared; 4]> {
    TAPES.with_borrow(|tapes| tapes.iter().filter(|tape| records(tape)).map(|(tape, _)| tape.clone()).collect())
}

/// Does `work`, which no tape records.
pub(crate) fn without<R>(work: impl FnOnce() -> R) -> R {
    let before = change(std::mem::take);
    let done = work();
    change(|tapes| tapes.splice(..0, before).for_each(drop));
    done
}

fn lock(tape: &Shared) -> MutexGuard<'_, CoreTape<'static>> {
    locked(&tape.tape)
}

/// Does `work` with the innermost of the tapes, each nested in the one before it; with one that nothing else knows if there are none.
fn with_innermost<R>(tapes: &[Shared], context: &EagerContext, work: impl FnOnce(&mut CoreTape<'_>) -> R) -> R {
    fn nest<R>(
        tapes: &mut [(usize, MutexGuard<'_, CoreTape<'static>>)],
        outer: &mut CoreTape<'_>,
        work: Work<'_, R>,
    ) -> R {
        match tapes.split_first_mut() {
            None => work(outer),
            Some(((_, next), rest)) => next.within(outer, |tape| nest(rest, tape, work)),
        }
    }
    // All threads lock them in one order, that of their addresses: none has what another waits for while it waits for that one's.
    let mut order: SmallVec<[usize; 4]> = (0..tapes.len()).collect();
    order.sort_unstable_by_key(|&place| Arc::as_ptr(&tapes[place]));
    let mut locked: SmallVec<[_; 4]> = order.into_iter().map(|place| (place, lock(&tapes[place]))).collect();
    locked.sort_unstable_by_key(|&(place, _)| place);
    match locked.split_first_mut() {
        None => work(&mut CoreTape::new(context)),
        Some(((_, first), rest)) => nest(rest, first, Box::new(work)),
    }
}

/// What is handed from tape to tape.
type Work<'w, R> = Box<dyn FnOnce(&mut CoreTape<'_>) -> R + 'w>;

/// Runs an op, which the tapes of the thread record.
pub(crate) fn execute(
    py: Python<'_>,
    def: &OpDef,
    request: NodeRequest<'_, Traced>,
    lengths: &mut SmallVec<[Option<usize>; 4]>,
) -> PyResult<Vec<Traced>> {
    let tapes = recording();
    for function in request.attrs.functions() {
        let context = context(py)?;
        tapes.iter().for_each(|tape| tape.hold(context, &function.name));
    }
    run_in_context(py, context(py)?, def, |context| {
        for input in request.inputs.iter().flat_map(NodeInput::operands) {
            // What only changes a variable does not read it.
            if let Operand::Value(handle) = input
                && !def.outputs.is_empty()
                && handle.tensor().dtype() == DataType::Resource
                && is_trainable_handle(handle.tensor())
            {
                tapes
                    .iter()
                    .filter(|tape| tape.watches_variables)
                    .try_for_each(|tape| watch(tape, handle).map(drop))?;
            }
        }
        within(&tapes, context, |tape| {
            let outputs = tape.apply(request)?.outputs;
            lengths.extend(outputs.lengths(def));
            Ok(outputs.into_vec())
        })
    })
}

/// [`with_innermost`], whose ops run in this context.
fn within<R>(
    tapes: &[Shared],
    context: &EagerContext,
    work: impl FnOnce(&mut CoreTape<'_>) -> kernlink::Result<R>,
) -> kernlink::Result<R> {
    with_innermost(tapes, context, |tape| {
        tape.run_in(context);
        work(tape)
    })
}

/// Has a tape watch a tensor.
fn watch(tape: &Shared, tensor: &Traced) -> kernlink::Result<Traced> {
    let watched = lock(tape).watch(tensor)?;
    if let Ok([handle]) = tensor.tensor().as_slice::<ResourceHandle>() {
        let mut handles = locked(&tape.handles);
        if !handles.contains(&handle.name) {
            handles.push(handle.name.clone());
        }
    }
    Ok(watched)
}

/// Records what runs on its thread between its start and its end, and computes gradients of what that gave.
#[pyclass(module = "kernlink._kernlink", name = "Tape", frozen)]
pub(crate) struct Tape(Shared);

/// Tensors as tapes know them.
fn traced(values: Vec<Bound<'_, Tensor>>) -> PyResult<Vec<Traced>> {
    values.iter().map(|value| value.get().traced().or_raise()).collect()
}

#[pymethods]
impl Tape {
    /// One that watches the variables that are trained and that something reads, or only what it is told to.
    #[new]
    fn new(py: Python<'_>, watches_variables: bool) -> PyResult<Tape> {
        Ok(Tape(Arc::new(Record {
            tape: Mutex::new(CoreTape::new(context(py)?).persistent().without_variables()),
            started: AtomicU64::new(0),
            is_paused: AtomicBool::new(false),
            watches_variables,
            handles: Mutex::default(),
            called: Mutex::default(),
        })))
    }

    /// Records what this thread runs from now on, within the tapes that do so already.
    fn start(&self) {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let start = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.started.store(start, Ordering::Relaxed);
        change(|tapes| tapes.push((self.0.clone(), start)));
    }

    /// Records no longer, on whatever thread it was started.
    fn stop(&self) {
        self.0.started.store(0, Ordering::Relaxed);
        change(|_| ());
    }

    /// Records nothing for a while, but keeps its place among the others.
    fn pause(&self, pause: bool) {
        self.0.is_paused.store(pause, Ordering::Relaxed);
    }

    fn watch(&self, py: Python<'_>, values: Vec<Bound<'_, Tensor>>) -> PyResult<()> {
        for value in values {
            // Whoever holds the tape may wait for the interpreter.
            value.get().watch(|tensor: Traced| py.detach(|| watch(&self.0, &tensor))).or_raise()?;
        }
        Ok(())
    }

    /// Forgets what was recorded and watched.
    fn reset(&self, py: Python<'_>) {
        py.detach(|| lock(&self.0).reset());
        locked(&self.0.handles).clear();
        let called = std::mem::take(&mut *locked(&self.0.called));
        drop(called);
    }

    /// The names of the resources of the variables that are watched.
    fn handle_names(&self) -> Vec<String> {
        locked(&self.0.handles).clone()
    }

    /// The gradients of the sum of `ys`, to which `flows` flow back, with respect to `xs`, `None` where there is none.
    fn gradients<'py>(
        &self,
        py: Python<'py>,
        ys: Vec<Bound<'py, Tensor>>,
        xs: Vec<Bound<'py, Tensor>>,
        flows: Option<Vec<Bound<'py, Tensor>>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (ys, xs) = (traced(ys)?, traced(xs)?);
        let flows = flows.map(traced).transpose()?.unwrap_or_default();
        let mut tapes = recording();
        let count = tapes.len();
        tapes.retain(|tape| !Arc::ptr_eq(tape, &self.0));
        let is_recording = tapes.len() < count;
        let called: Vec<String> = locked(&self.0.called).keys().cloned().collect();
        let context = context(py)?;
        for function in &called {
            // The tapes around record calls of what is made of it.
            tapes.iter().for_each(|tape| tape.hold(context, function));
        }
        tapes.push(self.0.clone());
        let found = crate::interrupt::run(py, |cancellation| {
            let context =
                cancellation.map_or_else(|| context.clone(), |cancellation| context.cancelled_by(&cancellation));
            within(&tapes, &context, |tape| match is_recording {
                true => tape.recorded_gradients(&ys, &xs, &flows),
                false => tape.gradients(&ys, &xs, &flows),
            })
        })?;
        found.into_iter().map(|gradient| gradient_object(py, gradient, Tensor::of_traced)).collect()
    }
}
