//! What a run is to give, in the form in which it is asked for.

use std::sync::Arc;

use kernlink::graph::{Graph as CoreGraph, TensorName};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};

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

/// The form of what is asked for, with places among the outputs.
enum Form {
    Output(usize),
    Operation,
    List(Vec<Form>),
    /// With its class, if it is a named one.
    Tuple(Vec<Form>, Option<Py<PyType>>),
    Dict(Vec<(Py<PyAny>, Form)>),
}

/// What is asked for.
pub(crate) struct Fetches {
    form: Form,
    pub(crate) outputs: Vec<String>,
    pub(crate) targets: Vec<String>,
}

impl Fetches {
    /// `named` says what a value by itself means.
    pub(crate) fn of(
        value: &Bound<'_, PyAny>,
        named: &dyn Fn(&Bound<'_, PyAny>) -> PyResult<Named>,
    ) -> PyResult<Fetches> {
        let mut fetches = Fetches { form: Form::Operation, outputs: Vec::new(), targets: Vec::new() };
        fetches.form = fetches.add(value, named, 0)?;
        Ok(fetches)
    }

    fn add(
        &mut self,
        value: &Bound<'_, PyAny>,
        named: &dyn Fn(&Bound<'_, PyAny>) -> PyResult<Named>,
        depth: usize,
    ) -> PyResult<Form> {
        const DEEPEST: usize = 100;
        if depth > DEEPEST {
            return Err(PyValueError::new_err("fetches are lists in lists without end"));
        }
        if let Ok(list) = value.cast::<PyList>() {
            return list.iter().map(|item| self.add(&item, named, depth + 1)).collect::<PyResult<_>>().map(Form::List);
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            let items = tuple.iter().map(|item| self.add(&item, named, depth + 1)).collect::<PyResult<_>>()?;
            let class = tuple.hasattr("_fields")?.then(|| tuple.get_type().unbind());
            return Ok(Form::Tuple(items, class));
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            let items = dict.iter().map(|(key, item)| Ok((key.unbind(), self.add(&item, named, depth + 1)?)));
            return items.collect::<PyResult<_>>().map(Form::Dict);
        }
        Ok(match named(value)? {
            Named::Output(name) => {
                self.outputs.push(name);
                Form::Output(self.outputs.len() - 1)
            }
            Named::Operation(name) => {
                self.targets.push(name);
                Form::Operation
            }
        })
    }

    /// The tensors, in the form that was asked for.
    pub(crate) fn give<'py>(&self, py: Python<'py>, tensors: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        fn give<'py>(py: Python<'py>, form: &Form, tensors: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
            let all = |forms: &[Form]| forms.iter().map(|form| give(py, form, tensors)).collect::<PyResult<Vec<_>>>();
            Ok(match form {
                Form::Output(at) => {
                    tensors.get(*at).cloned().ok_or_else(|| PyRuntimeError::new_err("an output is missing"))?
                }
                Form::Operation => py.None().into_bound(py),
                Form::List(forms) => PyList::new(py, all(forms)?)?.into_any(),
                Form::Tuple(forms, None) => PyTuple::new(py, all(forms)?)?.into_any(),
                Form::Tuple(forms, Some(class)) => class.bind(py).call1(PyTuple::new(py, all(forms)?)?)?,
                Form::Dict(items) => {
                    let dict = PyDict::new(py);
                    for (key, form) in items {
                        dict.set_item(key, give(py, form, tensors)?)?;
                    }
                    dict.into_any()
                }
            })
        }
        give(py, &self.form, tensors)
    }
}
