//! SavedModels, frozen graphs, and the command.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kernlink::dtype::DataType;
use kernlink::formats::LoadOptions;
use kernlink::graph::{Graph, Output, TensorName};
use kernlink::proto::read_graph;
use kernlink::runtime::{RunOptions, SessionOptions};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::convert::tensor_of;
use crate::eager::{Lent, not_forked};
use crate::error::Raise;
use crate::interrupt;
use crate::tensor::{Tensor, dtype_object};

fn session_options(threads: usize) -> SessionOptions {
    SessionOptions::new().threads(threads)
}

fn run_options(timeout: Option<f64>) -> PyResult<RunOptions> {
    let mut options = RunOptions::default();
    options.timeout = match timeout {
        None => None,
        Some(seconds) => Some(
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| PyValueError::new_err(format!("a timeout is a number of seconds, not {seconds}")))?,
        ),
    };
    Ok(options)
}

/// A SavedModel that is ready to run.
#[pyclass(module = "kernlink._kernlink", frozen)]
pub(crate) struct SavedModel(Arc<kernlink::SavedModel>, u32);

#[pymethods]
impl SavedModel {
    /// The tags of the graph that was loaded.
    #[getter]
    fn tags(&self) -> Vec<String> {
        self.0.tags().to_vec()
    }

    /// The signatures, by their names.
    #[getter]
    fn signatures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let signatures = PyDict::new(py);
        for name in self.0.signatures().keys() {
            signatures.set_item(name, Signature { model: self.0.clone(), name: name.clone(), process: self.1 })?;
        }
        Ok(signatures)
    }

    /// The graph as a serialized GraphDef.
    #[getter]
    fn graph_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
        graph_def(py, self.0.session().graph())
    }
}

fn graph_def<'py>(py: Python<'py>, graph: &Graph) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
    let bytes = kernlink::proto::graph_file("graph.pb", &graph.to_def().or_raise()?).or_raise()?;
    Ok(pyo3::types::PyBytes::new(py, &bytes))
}

/// A function that a SavedModel offers.
#[pyclass(module = "kernlink._kernlink", frozen)]
pub(crate) struct Signature {
    model: Arc<kernlink::SavedModel>,
    name: String,
    process: u32,
}

impl Signature {
    fn described(&self) -> PyResult<&kernlink::formats::Signature> {
        self.model.signatures().get(&self.name).ok_or_else(|| PyKeyError::new_err(self.name.clone()))
    }
}

#[pymethods]
impl Signature {
    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The inputs: for each name the dtype and the shape, `None` for what is not known of it.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        tensors(py, &self.described()?.inputs)
    }

    /// The outputs, as the inputs.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        tensors(py, &self.described()?.outputs)
    }

    /// Runs it: inputs by name; `_timeout` is in seconds. Returns the outputs by name.
    #[pyo3(signature = (*arguments, **inputs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        inputs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        not_forked(self.process)?;
        let described = self.described()?;
        if !arguments.is_empty() {
            let names: Vec<_> = described.inputs.keys().map(String::as_str).collect();
            return Err(PyTypeError::new_err(format!(
                "signature `{}` takes its inputs by name: {}",
                self.name,
                names.join(", ")
            )));
        }
        let (mut timeout, mut feeds, mut lent) = (None, Vec::new(), Lent::none());
        for (name, value) in inputs.into_iter().flatten() {
            let name = name.cast_into::<PyString>()?.extract::<String>()?;
            if name == "_timeout" && !described.inputs.contains_key(&name) {
                timeout = value.extract()?;
                continue;
            }
            let dtype = described.inputs.get(&name).map(|input| input.dtype);
            let tensor = fed(&value, dtype, &name, &mut lent)?;
            feeds.push((name, tensor));
        }
        let mut options = run_options(timeout)?;
        let mut outputs = interrupt::run(py, |cancellation| {
            options.cancellation = cancellation;
            let feeds: Vec<_> = feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
            self.model.signature(&self.name)?.run_with(&feeds, &options)
        })?;
        let results = PyDict::new(py);
        for (name, tensor) in std::mem::take(&mut outputs) {
            let mut tensor = [tensor];
            lent.keep_out_of(&mut tensor)?;
            let [tensor] = tensor;
            results.set_item(name, Tensor::new(tensor))?;
        }
        Ok(results)
    }

    fn __repr__(&self) -> PyResult<String> {
        let described = self.described()?;
        let list = |tensors: &std::collections::BTreeMap<String, kernlink::formats::SignatureTensor>| {
            let texts = tensors
                .iter()
                .map(|(name, tensor)| format!("{name}: {} {}", crate::dtypes::name_of(tensor.dtype), tensor.shape));
            texts.collect::<Vec<_>>().join(", ")
        };
        Ok(format!(
            "<kernlink.Signature {}({}) -> {{{}}}>",
            self.name,
            list(&described.inputs),
            list(&described.outputs)
        ))
    }
}

/// A value for an input of this dtype.
fn fed(value: &Bound<'_, PyAny>, dtype: Option<DataType>, name: &str, lent: &mut Lent) -> PyResult<CoreTensor> {
    let tensor = tensor_of(value, dtype).map_err(|error| {
        let is_of_value = error.is_instance_of::<PyTypeError>(value.py());
        match is_of_value {
            true => PyTypeError::new_err(format!("{name}: {}", error.value(value.py()))),
            false => error,
        }
    })?;
    if !value.is_instance_of::<Tensor>() {
        lent.add(&tensor)?;
    }
    Ok(tensor)
}

fn tensors<'py>(
    py: Python<'py>,
    tensors: &std::collections::BTreeMap<String, kernlink::formats::SignatureTensor>,
) -> PyResult<Bound<'py, PyDict>> {
    let described = PyDict::new(py);
    for (name, tensor) in tensors {
        described.set_item(name, (dtype_object(py, tensor.dtype)?, tensor.shape.dims().map(<[_]>::to_vec)))?;
    }
    Ok(described)
}

/// Loads a SavedModel's folder.
#[pyfunction]
#[pyo3(signature = (path, tags=None, threads=0))]
pub(crate) fn load_saved_model(
    py: Python<'_>,
    path: PathBuf,
    tags: Option<Vec<String>>,
    threads: usize,
) -> PyResult<SavedModel> {
    let mut options = LoadOptions::new().session(session_options(threads));
    options.tags = tags;
    py.detach(|| kernlink::SavedModel::load_with(path, &options))
        .or_raise()
        .map(|model| SavedModel(Arc::new(model), std::process::id()))
}

/// A graph that runs.
#[pyclass(module = "kernlink", frozen)]
pub(crate) struct Session(kernlink::runtime::Session, u32);

#[pymethods]
impl Session {
    /// A session of a graph as it is, a `Graph` or a serialized GraphDef, on so many threads; 0 for one per processor.
    #[new]
    #[pyo3(signature = (graph, *, threads=0))]
    fn new(py: Python<'_>, graph: &Bound<'_, PyAny>, threads: usize) -> PyResult<Session> {
        let (own, def) = match graph.cast::<crate::graph::Graph>() {
            Ok(graph) => (Some(graph.get().copy()), Vec::new()),
            Err(_) => (
                None,
                graph.extract::<Vec<u8>>().map_err(|_| {
                    PyTypeError::new_err("a session takes a kernlink.Graph, or a serialized GraphDef as bytes")
                })?,
            ),
        };
        let make = || {
            let graph = match own {
                Some(graph) => graph,
                None => Graph::import(&kernlink::proto::graph_from_bytes(def)?, &kernlink::registry()?)?,
            };
            kernlink::runtime::Session::with_options(graph, &session_options(threads))
        };
        py.detach(make).or_raise().map(|session| Session(session, std::process::id()))
    }

    /// Runs the graph: `fetches` is the name of an output (`node:0`, or `node`), or a list of names; `feed_dict` has values for
    /// outputs, by their names; `targets` are operations to run besides. Returns one tensor, or a list of them.
    #[pyo3(signature = (fetches, feed_dict=None, *, targets=None, timeout=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        fetches: &Bound<'py, PyAny>,
        feed_dict: Option<&Bound<'py, PyDict>>,
        targets: Option<Vec<Bound<'py, PyAny>>>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        not_forked(self.1)?;
        let is_one = !(fetches.is_instance_of::<PyList>() || fetches.is_instance_of::<PyTuple>());
        let names = match is_one {
            true => vec![name_of(fetches)?],
            false => fetches.try_iter()?.map(|fetch| name_of(&fetch?)).collect::<PyResult<Vec<_>>>()?,
        };
        let (mut feeds, mut lent) = (Vec::new(), Lent::none());
        for (name, value) in feed_dict.into_iter().flatten() {
            let name = name_of(&name)?;
            let known = self.known_of(&name);
            let tensor = fed(&value, known.as_ref().map(|(dtype, _)| *dtype), &name, &mut lent)?;
            if let Some((_, shape)) = known.filter(|(_, shape)| !shape.accepts(tensor.shape())) {
                return Err(PyValueError::new_err(format!(
                    "cannot feed a value of shape {} for {name}, which has the shape {shape}",
                    tensor.shape()
                )));
            }
            feeds.push((name, tensor));
        }
        let targets = targets.unwrap_or_default().iter().map(name_of).collect::<PyResult<Vec<_>>>()?;
        let mut options = run_options(timeout)?;
        let mut results = interrupt::run(py, |cancellation| {
            options.cancellation = cancellation;
            let feeds: Vec<_> = feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
            self.0.run_with(&feeds, &names, &targets, &options)
        })?;
        lent.keep_out_of(&mut results)?;
        let mut tensors = results.into_iter().map(|tensor| Bound::new(py, Tensor::new(tensor)));
        match is_one {
            true => tensors.next().transpose()?.map(Bound::into_any).ok_or_else(|| PyValueError::new_err("no output")),
            false => Ok(PyList::new(py, tensors.collect::<PyResult<Vec<_>>>()?)?.into_any()),
        }
    }

    /// The names of the operations.
    #[getter]
    fn operations(&self) -> Vec<String> {
        self.0.graph().nodes().iter().map(|node| node.name.clone()).collect()
    }

    /// The graph as a serialized GraphDef.
    #[getter]
    fn graph_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
        graph_def(py, self.0.graph())
    }
}

/// The name of an output or an operation: a text, or what has one.
fn name_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let name = if value.is_instance_of::<PyString>() { value.clone() } else { value.getattr("name")? };
    name.extract()
}

impl Session {
    /// The dtype of an output, and what is known of its shape, if there is one of the name.
    fn known_of(&self, name: &str) -> Option<(DataType, PartialShape)> {
        let parsed = TensorName::parse(name).ok()?;
        let graph = self.0.graph();
        let node = graph.find(parsed.node)?;
        let dtype = graph.node(node).signature.outputs.get(parsed.index)?.dtype;
        Some((dtype, graph.shape(Output { node, index: parsed.index }).clone()))
    }
}

/// A session of a frozen graph in a file, `.pb` or `.pbtxt`.
#[pyfunction]
#[pyo3(signature = (path, *, threads=0))]
pub(crate) fn load_graph(py: Python<'_>, path: PathBuf, threads: usize) -> PyResult<Session> {
    let load = || {
        let graph = Graph::import(&read_graph(path)?, &kernlink::registry()?)?;
        kernlink::runtime::Session::with_options(graph, &session_options(threads))
    };
    py.detach(load).or_raise().map(|session| Session(session, std::process::id()))
}

/// Runs the command with these arguments, of which the first is its name; returns its exit status.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| kernlink::cli::main_of(arguments))
}
