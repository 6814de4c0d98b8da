//! `kernlink.GradientTape`: tapes that record what runs on their thread.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernlink::gradient::{GradientTape as CoreTape, Traced, TracedGradient};
use kernlink::graph::{NodeRequest, OpScope};
use kernlink::op::OpDef;
use kernlink::runtime::EagerContext;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use smallvec::SmallVec;

use crate::eager::{context, run_in_context};
use crate::error::Raise;
use crate::tensor::Tensor;

type Shared = Arc<Mutex<CoreTape<'static>>>;

thread_local! {
    /// The tapes that record, the outermost first.
    static TAPES: RefCell<Vec<Shared>> = const { RefCell::new(Vec::new()) };
    /// Whether there are any: most programs have none.
    static ANY: Cell<bool> = const { Cell::new(false) };
}

/// Whether a tape records what this thread runs.
#[inline]
pub(crate) fn is_recording() -> bool {
    ANY.get()
}

fn recording() -> Vec<Shared> {
    TAPES.with_borrow(Clone::clone)
}

fn lock(tape: &Shared) -> MutexGuard<'_, CoreTape<'static>> {
    tape.lock().unwrap_or_else(PoisonError::into_inner)
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
    let outputs = run_in_context(py, context(py)?, def, |context| {
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

/// Records what runs on its thread while it is entered, and computes gradients of what that gave.
#[pyclass(module = "kernlink", name = "GradientTape", frozen)]
pub(crate) struct GradientTape {
    tape: Shared,
    is_watching: bool,
}

/// The handle of a variable, or the value itself.
fn handle_of<'py>(value: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    value.getattr("handle").unwrap_or_else(|_| value.clone())
}

/// The traced tensors of a tensor, or of a list of them.
fn traced(value: &Bound<'_, PyAny>) -> PyResult<Vec<Traced>> {
    if let Ok(tensor) = value.cast::<Tensor>() {
        return Ok(vec![tensor.get().traced().or_raise()?]);
    }
    if value.hasattr("handle")? {
        return traced(&handle_of(value));
    }
    let items = value.try_iter().map_err(|_| {
        PyTypeError::new_err(format!("expected a tensor, a variable or a list of them, not a {}", value.get_type()))
    })?;
    let mut found = Vec::new();
    for item in items {
        let item = handle_of(&item?);
        let tensor = item.cast::<Tensor>().map_err(|_| {
            PyTypeError::new_err(format!("expected tensors or variables in the list, not a {}", item.get_type()))
        })?;
        found.push(tensor.get().traced().or_raise()?);
    }
    Ok(found)
}

#[pymethods]
impl GradientTape {
    /// `persistent` lets it compute several gradients; without `watch_accessed_variables` it records only what is computed from
    /// tensors and variables that it is told to watch.
    #[new]
    #[pyo3(signature = (persistent=false, watch_accessed_variables=true))]
    fn new(py: Python<'_>, persistent: bool, watch_accessed_variables: bool) -> PyResult<GradientTape> {
        let tape = CoreTape::new(context(py)?);
        let tape = if persistent { tape.persistent() } else { tape };
        Ok(GradientTape { tape: Arc::new(Mutex::new(tape)), is_watching: watch_accessed_variables })
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        if !slf.get().is_watching {
            return Err(PyRuntimeError::new_err(
                "tapes record all variables that are read: watch_accessed_variables=True",
            ));
        }
        TAPES.with_borrow_mut(|tapes| {
            if tapes.iter().any(|tape| Arc::ptr_eq(tape, &slf.get().tape)) {
                return Err(PyRuntimeError::new_err("the tape records already"));
            }
            tapes.push(slf.get().tape.clone());
            Ok(())
        })?;
        ANY.set(true);
        Ok(slf)
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {
        TAPES.with_borrow_mut(|tapes| {
            tapes.retain(|tape| !Arc::ptr_eq(tape, &self.tape));
            ANY.set(!tapes.is_empty());
        });
    }

    /// Records what is computed from a tensor, or from several, from now on.
    fn watch(&self, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
        let tensor_py = tensor.py();
        let one = |value: &Bound<'_, PyAny>| -> PyResult<()> {
            let value = handle_of(value);
            let tensor = value.cast::<Tensor>().map_err(|_| {
                PyTypeError::new_err(format!("only tensors and variables can be watched, not a {}", value.get_type()))
            })?;
            // Whoever holds the tape may wait for the interpreter.
            let watch = |tensor: Traced| tensor_py.detach(|| lock(&self.tape).watch(&tensor));
            tensor.get().watch(watch).or_raise()
        };
        match tensor.is_instance_of::<PyList>() || tensor.is_instance_of::<PyTuple>() {
            true => tensor.try_iter()?.try_for_each(|item| one(&item?)),
            false => one(tensor),
        }
    }

    /// Forgets what was recorded and watched.
    fn reset(&self, py: Python<'_>) {
        py.detach(|| lock(&self.tape).reset());
    }

    /// The gradients of the sum of `target`, a tensor or a list, with respect to `sources`, a tensor or variable, or a list or
    /// dict of them: as they are given, `None` where the target does not depend on one. A gradient of rows is a tuple of values,
    /// indices and shape.
    #[pyo3(signature = (target, sources, output_gradients=None))]
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        target: &Bound<'py, PyAny>,
        sources: &Bound<'py, PyAny>,
        output_gradients: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let names = match sources.cast::<PyDict>() {
            Ok(dict) => Some((dict.keys(), dict.values())),
            Err(_) => None,
        };
        let listed = names.as_ref().map_or_else(|| sources.clone(), |(_, values)| values.clone().into_any());
        let is_one = listed.is_instance_of::<Tensor>() || listed.hasattr("handle")?;
        let (ys, xs) = (traced(target)?, traced(&listed)?);
        let flows = output_gradients.map(traced).transpose()?.unwrap_or_default();
        let mut tapes = recording();
        tapes.retain(|tape| !Arc::ptr_eq(tape, &self.tape));
        tapes.push(self.tape.clone());
        let context = context(py)?;
        let found = crate::interrupt::run(py, |cancellation| {
            let context =
                cancellation.map_or_else(|| context.clone(), |cancellation| context.cancelled_by(&cancellation));
            within(&tapes, &context, |tape| tape.gradients(&ys, &xs, &flows))
        })?;
        let found = found.ok_or_else(|| PyRuntimeError::new_err("there is no tape"))?;
        let gradients = found.into_iter().map(|gradient| gradient_object(py, gradient));
        let gradients = gradients.collect::<PyResult<Vec<_>>>()?;
        if let Some((keys, _)) = names {
            let dict = PyDict::new(py);
            for (key, gradient) in keys.iter().zip(gradients) {
                dict.set_item(key, gradient)?;
            }
            return Ok(dict.into_any());
        }
        match is_one {
            true => gradients.into_iter().next().ok_or_else(|| PyRuntimeError::new_err("a gradient is missing")),
            false => Ok(PyList::new(py, gradients)?.into_any()),
        }
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
