//! Tapes that record what runs on their thread.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock};

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientTape as CoreTape, Traced, TracedGradient};
use kernlink::graph::{NodeInput, NodeRequest, OpScope, Operand};
use kernlink::op::OpDef;
use kernlink::runtime::EagerContext;
use kernlink::tensor::{ResourceHandle, Tensor as CoreTensor};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::eager::{context, run_in_context};
use crate::error::Raise;
use crate::functions::Held;
use crate::tensor::Tensor;

type Shared = Arc<Record>;

/// A tape, and whether it records.
struct Record {
    tape: Mutex<CoreTape<'static>>,
    is_paused: AtomicBool,
    watches_variables: bool,
    /// The names of the resources of variables that are watched, in order.
    handles: Mutex<Vec<String>>,
    /// The functions that were called, which their gradients are made of.
    called: Mutex<HashMap<String, Held>>,
}

impl Record {
    /// Holds a function, of which gradients may be made as long as the tape is there.
    fn hold(&self, context: &'static EagerContext, function: &str) {
        let mut called = self.called.lock().unwrap_or_else(PoisonError::into_inner);
        if !called.contains_key(function) {
            called.insert(function.to_owned(), Held::new(context, function));
        }
    }
}

thread_local! {
    /// The tapes that were started, the outermost first.
    static TAPES: RefCell<Vec<Shared>> = const { RefCell::new(Vec::new()) };
    /// Whether there are any that record: most programs have none.
    static ANY: Cell<bool> = const { Cell::new(false) };
}

/// The variables that tapes do not watch by themselves, by the names of their resources.
static UNTRAINED: LazyLock<RwLock<HashSet<String>>> = LazyLock::new(RwLock::default);

/// Whether tapes watch the variable of a handle when it is read.
pub(crate) fn is_trainable_handle(handle: &CoreTensor) -> bool {
    let Ok([handle]) = handle.as_slice::<ResourceHandle>() else { return false };
    !UNTRAINED.read().unwrap_or_else(PoisonError::into_inner).contains(&handle.name)
}

/// Says whether tapes watch the variable of a handle when it is read: they do unless they are told otherwise.
#[pyfunction]
pub(crate) fn set_trainable(handle: &Bound<'_, Tensor>, trainable: bool) -> PyResult<()> {
    let [handle] = handle.get().core().as_slice::<ResourceHandle>().or_raise()? else {
        return Err(PyTypeError::new_err("a variable has one handle"));
    };
    let mut untrained = UNTRAINED.write().unwrap_or_else(PoisonError::into_inner);
    match trainable {
        true => untrained.remove(&handle.name),
        false => untrained.insert(handle.name.clone()),
    };
    Ok(())
}

/// Whether a tape records what this thread runs.
#[inline]
pub(crate) fn is_recording() -> bool {
    ANY.get()
}

fn is_paused(tape: &Shared) -> bool {
    tape.is_paused.load(Ordering::Relaxed)
}

/// Changes which tapes this thread has started.
fn change<R>(change: impl FnOnce(&mut Vec<Shared>) -> R) -> R {
    TAPES.with_borrow_mut(|tapes| {
        let changed = change(tapes);
        ANY.set(tapes.iter().any(|tape| !is_paused(tape)));
        changed
    })
}

fn recording() -> Vec<Shared> {
    TAPES.with_borrow(|tapes| tapes.iter().filter(|tape| !is_paused(tape)).cloned().collect())
}

fn lock(tape: &Shared) -> MutexGuard<'_, CoreTape<'static>> {
    tape.tape.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does `work` with the innermost of the tapes, each nested in the one before it.
fn with_innermost<R>(tapes: &[Shared], work: impl FnOnce(&mut CoreTape<'_>) -> R) -> Option<R> {
    // The closure is handed from tape to tape.
    fn nest(tapes: &[Shared], outer: &mut CoreTape<'_>, work: &mut dyn FnMut(&mut CoreTape<'_>)) {
        match tapes.split_first() {
            None => work(outer),
            Some((next, rest)) => lock(next).within(outer, |tape| nest(rest, tape, work)),
        }
    }
    let (first, rest) = tapes.split_first()?;
    let (mut work, mut result) = (Some(work), None);
    nest(rest, &mut lock(first), &mut |tape| {
        if let Some(work) = work.take() {
            result = Some(work(tape));
        }
    });
    result
}

/// Runs an op, which the tapes of the thread record.
pub(crate) fn execute(
    py: Python<'_>,
    def: &OpDef,
    request: NodeRequest<'_, Traced>,
    lengths: &mut SmallVec<[Option<usize>; 4]>,
) -> PyResult<Vec<Traced>> {
    let tapes = recording();
    for function in request.attrs.iter().flat_map(|(_, value)| match value {
        AttrValue::Func(function) => std::slice::from_ref(function),
        AttrValue::ListFunc(functions) => functions,
        _ => &[],
    }) {
        let context = context(py)?;
        tapes.iter().for_each(|tape| tape.hold(context, &function.name));
    }
    let outputs = run_in_context(py, context(py)?, def, |context| {
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
    })?;
    outputs.ok_or_else(|| PyRuntimeError::new_err("no tape records"))
}

/// [`with_innermost`], whose ops run in this context.
fn within<R>(
    tapes: &[Shared],
    context: &EagerContext,
    work: impl FnOnce(&mut CoreTape<'_>) -> kernlink::Result<R>,
) -> kernlink::Result<Option<R>> {
    let result = with_innermost(tapes, |tape| {
        tape.run_in(context);
        work(tape)
    });
    result.transpose()
}

/// Has a tape watch a tensor.
fn watch(tape: &Shared, tensor: &Traced) -> kernlink::Result<Traced> {
    let watched = lock(tape).watch(tensor)?;
    if let Ok([handle]) = tensor.tensor().as_slice::<ResourceHandle>() {
        let mut handles = tape.handles.lock().unwrap_or_else(PoisonError::into_inner);
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
            is_paused: AtomicBool::new(false),
            watches_variables,
            handles: Mutex::default(),
            called: Mutex::default(),
        })))
    }

    /// Records what this thread runs from now on, within the tapes that do so already.
    fn start(&self) {
        change(|tapes| tapes.push(self.0.clone()));
    }

    fn stop(&self) {
        change(|tapes| tapes.retain(|tape| !Arc::ptr_eq(tape, &self.0)));
    }

    /// Records nothing for a while, but keeps its place among the others.
    fn pause(&self, pause: bool) {
        change(|_| self.0.is_paused.store(pause, Ordering::Relaxed));
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
        self.0.handles.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let called = std::mem::take(&mut *self.0.called.lock().unwrap_or_else(PoisonError::into_inner));
        drop(called);
    }

    /// The names of the resources of the variables that are watched.
    fn handle_names(&self) -> Vec<String> {
        self.0.handles.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The gradients of the sum of `ys`, to which `flows` flow back, with respect to `xs`, `None` where there is none. A gradient of
    /// rows is a tuple of values, indices and shape.
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
        let called: Vec<String> =
            self.0.called.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
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
        let found = found.ok_or_else(|| PyRuntimeError::new_err("there is no tape"))?;
        found.into_iter().map(|gradient| gradient_object(py, gradient)).collect()
    }
}

fn gradient_object(py: Python<'_>, gradient: Option<TracedGradient>) -> PyResult<Bound<'_, PyAny>> {
    let tensor = |traced: Traced| Bound::new(py, Tensor::of_traced(traced));
    match gradient {
        None => Ok(py.None().into_bound(py)),
        Some(TracedGradient::Dense(value)) => Ok(tensor(value)?.into_any()),
        Some(TracedGradient::Slices { values, indices, dense_shape }) => {
            let module = py.import("kernlink._slices")?.getattr("IndexedSlices")?;
            module.call1((tensor(values)?, tensor(indices)?, tensor(dense_shape)?))
        }
    }
}
