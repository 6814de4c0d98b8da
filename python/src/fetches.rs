//! What a run is to give, in the form in which it is asked for.

use std::sync::Arc;

use kernlink::graph::{Graph as CoreGraph, TensorName};
use pyo3::exceptions::{PyRecursionError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyList, PyString};

use crate::graph::{Operation, Shared, SymbolicTensor};

/// What a name means.
pub(crate) enum Named {
    /// An output of a node.
    Output(String),
    /// A node that runs for what it does.
    Operation(String),
}

/// The name of an output or operation: a text, or what is of the session's graph. `own` is that graph as Python knows it, if it does.
pub(crate) fn name_of(value: &Bound<'_, PyAny>, own: Option<&Shared>, graph: &CoreGraph) -> PyResult<Named> {
    let checked = |of: &Shared, name: String| match own.is_some_and(|own| Arc::ptr_eq(own, of)) {
        true => Ok(name),
        false => Err(PyValueError::new_err(format!(
            "{name} is of another graph than the session's, which is `session.graph`: names of its own are given as str"
        ))),
    };
    if let Ok(output) = value.cast::<SymbolicTensor>() {
        return checked(&output.get().graph, output.get().name()).map(Named::Output);
    }
    if let Ok(operation) = value.cast::<Operation>() {
        return checked(&operation.get().graph, operation.get().name()).map(Named::Operation);
    }
    let Ok(name) = value.cast::<PyString>() else {
        let kind = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "a session feeds and fetches tensors and operations of its graph, and their names, not what is of type {kind}"
        )));
    };
    let name = name.extract::<String>()?;
    // A node without outputs can only be run.
    let node = TensorName::parse(&name).ok().filter(|_| !name.contains(':')).and_then(|parsed| graph.find(parsed.node));
    let is_operation = node.is_some_and(|node| graph.node(node).signature.outputs.is_empty());
    Ok(if is_operation { Named::Operation(name) } else { Named::Output(name) })
}

/// What is asked for.
pub(crate) struct Fetches {
    /// What it is in, as `kernlink._structure` knows it; `None` for one output or operation by itself.
    structure: Option<Py<PyAny>>,
    /// For each thing that is asked for its place among the outputs; operations give none.
    places: Vec<Option<usize>>,
    pub(crate) outputs: Vec<String>,
    pub(crate) targets: Vec<String>,
}

impl Fetches {
    /// `named` says what a value by itself means.
    pub(crate) fn of(
        value: &Bound<'_, PyAny>,
        named: &dyn Fn(&Bound<'_, PyAny>) -> PyResult<Named>,
    ) -> PyResult<Fetches> {
        let mut fetches = Fetches { structure: None, places: Vec::new(), outputs: Vec::new(), targets: Vec::new() };
        if value.is_instance_of::<PyString>() || value.is_instance_of::<SymbolicTensor>() {
            fetches.add(named(value)?);
            return Ok(fetches);
        }
        let (leaves, structure) = flatten(value)?;
        leaves.iter().try_for_each(|leaf| named(&leaf).map(|named| fetches.add(named)))?;
        fetches.structure = Some(structure.unbind());
        Ok(fetches)
    }

    fn add(&mut self, named: Named) {
        self.places.push(match named {
            Named::Output(name) => {
                self.outputs.push(name);
                Some(self.outputs.len() - 1)
            }
            Named::Operation(name) => {
                self.targets.push(name);
                None
            }
        });
    }

    /// The tensors, in the form that was asked for.
    pub(crate) fn give<'py>(&self, py: Python<'py>, tensors: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        let missing = || PyRuntimeError::new_err("an output is missing");
        let mut given = self.places.iter().map(|place| match place {
            Some(at) => tensors.get(*at).cloned().ok_or_else(missing),
            None => Ok(py.None().into_bound(py)),
        });
        match &self.structure {
            None => given.next().unwrap_or_else(|| Err(missing())),
            Some(structure) => {
                let leaves = PyList::new(py, given.collect::<PyResult<Vec<_>>>()?)?;
                structures(py)?.call_method1(intern!(py, "rebuild"), (structure, leaves.try_iter()?))
            }
        }
    }
}

/// The walk that arguments and results of functions take, too.
fn structures(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "kernlink._structure"))
}

/// What is in lists, tuples and dicts, and what it is in.
fn flatten<'py>(value: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyAny>)> {
    let py = value.py();
    let leaves = PyList::empty(py);
    let as_is = [("as_is", true)].into_py_dict(py)?;
    let structure =
        structures(py)?.getattr("flatten")?.call((value, &leaves), Some(&as_is)).map_err(|error| match error
            .is_instance_of::<PyRecursionError>(
            py,
        ) {
            true => PyValueError::new_err("fetches are lists in lists without end"),
            false => error,
        })?;
    Ok((leaves, structure))
}
