//! The bodies of functions: what they capture, and how they become functions.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, Weak};

use kernlink::dtype::DataType;
use kernlink::graph::{FunctionParts, NodeId, Output};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;

use crate::functions::{self, Held};
use crate::graph::{Shared, State, constant, entered, lock, placeholder, with};
use crate::symbolic::SymbolicTensor;
use crate::tensor::Tensor;

/// What a graph has that becomes the body of a function.
#[derive(Default)]
pub(crate) struct Body {
    captures: Vec<Capture>,
    /// The last node with effects: each waits for the one before it.
    pub(crate) last_effect: Option<NodeId>,
    /// All nodes with effects, which run though nothing takes what they give.
    pub(crate) effects: Vec<NodeId>,
    /// The functions that nodes call.
    pub(crate) held: Vec<Held>,
    /// The names of the functions of its library that came from the context's.
    pub(crate) brought: HashSet<String>,
    /// Whether it is a function already.
    pub(crate) is_finished: bool,
}

/// A tensor, or an output of a graph around, that nodes of a body take.
struct Capture {
    value: Py<PyAny>,
    /// What stands for it.
    output: Output,
    /// Whether it is an input of the function: a constant that the trace made is its own, others may be given to tapes, for which
    /// they must be inputs.
    is_input: bool,
}

/// The graph that was entered when a tensor was made, if one was. It stands for this graph alone, also when that is gone.
pub(crate) struct Maker(Option<Weak<Mutex<State>>>);

impl Maker {
    /// The graph that is entered.
    pub(crate) fn entered() -> Maker {
        Maker(entered().map(|graph| Arc::downgrade(&graph)))
    }

    fn is(&self, graph: &Shared) -> bool {
        self.0.as_ref().is_some_and(|own| std::ptr::eq(own.as_ptr(), Arc::as_ptr(graph)))
    }
}

/// Tensors of more elements are never constants of a body: as in TensorFlow.
const MOST_ELEMENTS: usize = 128;

fn known(state: &State, is_it: impl Fn(&Py<PyAny>) -> bool) -> Option<Output> {
    let captures = &state.body.as_ref()?.captures;
    captures.iter().find(|capture| is_it(&capture.value)).map(|capture| capture.output)
}

fn no_body() -> PyErr {
    PyRuntimeError::new_err("the graph is no body of a function")
}

fn note(state: &mut State, capture: Capture) -> PyResult<Output> {
    let output = capture.output;
    let body = state.body.as_mut().ok_or_else(no_body)?;
    body.captures.push(capture);
    Ok(output)
}

/// What stands for an output of a graph around.
pub(crate) fn capture_output(target: &Shared, value: &Bound<'_, SymbolicTensor>) -> PyResult<Output> {
    let outer = value.get();
    let (dtype, shape) = {
        let state = lock(&outer.graph);
        let dtype = state.graph.node(outer.output.node).signature.outputs[outer.output.index].dtype;
        (dtype, state.graph.shape(outer.output).clone())
    };
    let is_it = |captured: &Py<PyAny>| {
        captured.bind(value.py()).cast::<SymbolicTensor>().is_ok_and(|captured| captured.get().is_same(value.as_any()))
    };
    with(target, |state| {
        if let Some(output) = known(state, is_it) {
            return Ok(Ok(output));
        }
        let output = placeholder(&mut state.graph, dtype, Some(shape), None)?;
        Ok(note(state, Capture { value: value.clone().into_any().unbind(), output, is_input: true }))
    })?
}

/// What stands for a tensor.
pub(crate) fn capture_tensor(target: &Shared, value: &Bound<'_, Tensor>) -> PyResult<Output> {
    let core = value.get().core();
    let can_be_constant = core.dtype().is_pod() || core.dtype() == DataType::String;
    let is_constant = can_be_constant && core.num_elements() <= MOST_ELEMENTS;
    with(target, |state| {
        if let Some(output) = known(state, |captured| captured.is(value)) {
            return Ok(Ok(output));
        }
        // Also what becomes an input is a constant in the body, so that shapes are known that follow from its elements.
        let output = match is_constant {
            true => constant(&mut state.graph, core.clone()),
            false => {
                let shape = can_be_constant.then(|| core.shape().into());
                placeholder(&mut state.graph, core.dtype(), shape, None)
            }
        }?;
        let is_input = !is_constant || !value.get().maker().is(target);
        Ok(note(state, Capture { value: value.clone().into_any().unbind(), output, is_input }))
    })?
}

/// The tensor that an output of a body stands for, through all graphs around.
pub(crate) fn captured_tensor(py: Python<'_>, graph: &Shared, output: Output) -> Option<Py<Tensor>> {
    let value = {
        let state = lock(graph);
        let captures = &state.body.as_ref()?.captures;
        captures.iter().find(|capture| capture.output == output)?.value.clone_ref(py)
    };
    let value = value.into_bound(py);
    match value.cast_into::<Tensor>() {
        Ok(tensor) => Some(tensor.unbind()),
        Err(other) => {
            let outer = other.into_inner().cast_into::<SymbolicTensor>().ok()?;
            captured_tensor(py, &outer.get().graph, outer.get().output)
        }
    }
}

/// What stands for a value that was captured already.
pub(crate) fn find_captured(graph: &Shared, value: &Bound<'_, PyAny>) -> Option<Output> {
    let is_it = |captured: &Py<PyAny>| {
        let captured = captured.bind(value.py());
        captured.is(value) || captured.cast::<SymbolicTensor>().is_ok_and(|captured| captured.get().is_same(value))
    };
    known(&lock(graph), is_it)
}

/// Whether two things that were captured are the same.
fn is_same(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
    one.is(other) || one.cast::<SymbolicTensor>().is_ok_and(|one| one.get().is_same(other))
}

/// What some bodies capture, each thing once.
pub(crate) fn captured_by<'py>(py: Python<'py>, graphs: &[Shared]) -> Vec<Bound<'py, PyAny>> {
    let mut found: Vec<Bound<'py, PyAny>> = Vec::new();
    for graph in graphs {
        let state = lock(graph);
        for capture in state.body.iter().flat_map(|body| &body.captures) {
            let value = capture.value.bind(py);
            if capture.is_input && !found.iter().any(|known| is_same(known, value)) {
                found.push(value.clone());
            }
        }
    }
    found
}

/// What stands in a body for what it captures, an input in any case.
pub(crate) fn capture(graph: &Shared, value: &Bound<'_, PyAny>) -> PyResult<Output> {
    let output = match (value.cast::<SymbolicTensor>(), value.cast::<Tensor>()) {
        (Ok(output), _) => capture_output(graph, output)?,
        (_, Ok(tensor)) => capture_tensor(graph, tensor)?,
        _ => return Err(PyTypeError::new_err("only tensors are captured")),
    };
    if let Some(body) = &mut lock(graph).body {
        let capture = body.captures.iter_mut().find(|capture| capture.output == output);
        capture.into_iter().for_each(|capture| capture.is_input = true);
    }
    Ok(output)
}

/// Makes a function of a body.
pub(crate) fn finish<'py>(
    py: Python<'py>,
    graph: &Shared,
    name: &str,
    mut inputs: Vec<Output>,
    outputs: Vec<Output>,
) -> PyResult<(Held, Vec<Bound<'py, PyAny>>, bool)> {
    let context = crate::eager::context(py)?;
    with(graph, |State { graph, body, .. }| {
        let Some(body) = body.as_mut() else { return Ok(Err(no_body())) };
        let mut captures = Vec::new();
        for capture in &body.captures {
            if capture.is_input && !inputs.contains(&capture.output) {
                inputs.push(capture.output);
                captures.push(capture.value.clone_ref(py).into_bound(py));
            }
        }
        let parts =
            FunctionParts { inputs, outputs, control_outputs: body.effects.clone(), ..FunctionParts::default() };
        let def = graph.to_function(name, &parts)?;
        let defs = functions::with_called(graph, &body.brought, def, name)?;
        let held = Held::new(context, name);
        context.add_functions(&defs)?;
        body.is_finished = true;
        // The function calls them, so that they stay as long as it does.
        body.held.clear();
        let has_effects = !body.effects.is_empty();
        Ok(Ok((held, captures, has_effects)))
    })?
}
