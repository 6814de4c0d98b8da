//! Sessions: graphs that run.

use std::sync::{Arc, OnceLock};

use kernlink::dtype::DataType;
use kernlink::graph::{Graph as CoreGraph, Output, TensorName};
use kernlink::runtime::RunMetadata as CoreMetadata;
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor as CoreTensor;
use kernlink::tools::read_model;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::convert::tensor_of;
use crate::eager::{Lent, not_forked};
use crate::error::Raise;
use crate::fetches::{Fetches, Named, name_of};
use crate::graph::{Graph, Shared};
use crate::interrupt;
use crate::metadata::RunMetadata;
use crate::model::{Form, Loaded};
use crate::options::{SessionOptions, run_options};
use crate::tensor::Tensor;
use crate::values::{about, arguments, serialized};

/// A graph as a serialized GraphDef.
pub(crate) fn graph_def<'py>(py: Python<'py>, graph: &CoreGraph) -> PyResult<Bound<'py, PyBytes>> {
    let write = || kernlink::proto::graph_file("graph.pb", &graph.to_def()?);
    Ok(PyBytes::new(py, &py.detach(write).or_raise()?))
}

/// A value for an input of this dtype.
pub(crate) fn fed(
    value: &Bound<'_, PyAny>,
    dtype: Option<DataType>,
    name: &str,
    lent: &mut Lent,
) -> PyResult<CoreTensor> {
    let tensor = tensor_of(value, dtype).map_err(|error| about(value.py(), name, error))?;
    if !value.is_instance_of::<Tensor>() {
        lent.add(&tensor)?;
    }
    Ok(tensor)
}

/// The value that is fed for an output, if one is.
fn fed_as<'f>(name: &str, feeds: &'f [(String, CoreTensor)]) -> Option<&'f CoreTensor> {
    // The first output of a node goes by the node's name as well.
    fn plain(name: &str) -> &str {
        name.strip_suffix(":0").unwrap_or(name)
    }
    feeds.iter().find(|(fed, _)| plain(fed) == plain(name)).map(|(_, tensor)| tensor)
}

arguments! {
    feed_dict: Option<Bound<'py, PyDict>> = "feed_dict", "a dict of values by what they are fed for";
    targets: Option<Vec<Bound<'py, PyAny>>> = "targets", "a list of operations or their names";
    run_metadata: Option<Bound<'py, RunMetadata>> = "run_metadata", "a kernlink.RunMetadata";
}

/// A graph that runs.
#[pyclass(module = "kernlink", frozen)]
pub(crate) struct Session {
    loaded: Arc<Loaded>,
    /// The graph that Python knows it by; made when it is asked for, if the session is of a file.
    graph: OnceLock<Shared>,
    process: u32,
    timeout: Option<f64>,
}

impl Session {
    pub(crate) fn of(loaded: Arc<Loaded>, graph: Option<Shared>, timeout: Option<f64>) -> Session {
        let graph = graph.map(OnceLock::from).unwrap_or_default();
        Session { loaded, graph, process: std::process::id(), timeout }
    }

    fn core(&self) -> &kernlink::runtime::Session {
        self.loaded.session()
    }

    /// The dtype of an output, and what is known of its shape, if there is one of the name.
    fn known_of(&self, name: &str) -> Option<(DataType, PartialShape)> {
        let parsed = TensorName::parse(name).ok()?;
        let graph = self.core().graph();
        let node = graph.find(parsed.node)?;
        let dtype = graph.node(node).signature.outputs.get(parsed.index)?.dtype;
        Some((dtype, graph.shape(Output { node, index: parsed.index }).clone()))
    }

    /// The name of a tensor that is fed or fetched, or of an operation, if it is of this session's graph.
    fn named(&self, value: &Bound<'_, PyAny>) -> PyResult<Named> {
        name_of(value, self.graph.get(), self.core().graph())
    }

    /// Values for outputs, by their names.
    fn feeds(&self, values: Option<&Bound<'_, PyDict>>) -> PyResult<(Vec<(String, CoreTensor)>, Lent)> {
        let (mut feeds, mut lent) = (Vec::new(), Lent::none());
        for (key, value) in values.into_iter().flatten() {
            let name = match self.named(&key).map_err(|error| about(key.py(), "feed_dict", error))? {
                Named::Output(name) => name,
                Named::Operation(name) => {
                    return Err(PyTypeError::new_err(format!("operation {name} cannot be fed: its outputs can")));
                }
            };
            let known = self.known_of(&name);
            let mut tensor = fed(&value, known.as_ref().map(|(dtype, _)| *dtype), &name, &mut lent)?;
            if let Some((_, shape)) = known.filter(|(_, shape)| !shape.accepts(tensor.shape())) {
                return Err(PyValueError::new_err(format!(
                    "cannot feed a value of shape {} for {name}, which has the shape {shape}",
                    tensor.shape()
                )));
            }
            self.loaded.own(&name, &mut tensor)?;
            feeds.push((name, tensor));
        }
        Ok((feeds, lent))
    }
}

#[pymethods]
impl Session {
    /// A session of a graph as it is, a `Graph` or a serialized GraphDef, on so many threads; 0 for one per processor.
    #[new]
    #[pyo3(signature = (graph, *, options=None, threads=0, device=None))]
    fn new(
        py: Python<'_>,
        graph: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = crate::options::options)] options: Option<Bound<'_, SessionOptions>>,
        #[pyo3(from_py_with = crate::values::threads)] threads: usize,
        #[pyo3(from_py_with = crate::values::device)] device: Option<String>,
    ) -> PyResult<Session> {
        let (own, def) = match graph.cast::<Graph>() {
            Ok(graph) => (Some(graph.get()), Vec::new()),
            Err(_) => (None, serialized(graph, "graph", "a serialized GraphDef, or a kernlink.Graph")?),
        };
        let options = SessionOptions::of(options, threads, device);
        let shared = own.map(|graph| graph.0.clone());
        let copied = own.map(Graph::copied);
        let make = || {
            let graph = match copied {
                Some(graph) => Arc::unwrap_or_clone(graph),
                None => CoreGraph::import(&kernlink::proto::graph_from_bytes(def)?, &kernlink::registry()?)?,
            };
            options.prepare()?.session(graph)
        };
        let session = py.detach(make).or_raise()?;
        Ok(Session::of(Arc::new(Form::Graph(session).into()), shared, options.timeout()))
    }

    /// Runs the graph. `fetches` is an output, by itself or by its name (`node:0`, or `node`), an operation, which gives `None`, or a
    /// list, tuple or dict of them, in each other too; the values come in the same form. `feed_dict` has values for outputs; `targets`
    /// are operations to run besides. A run ends after `timeout` seconds, and fills in `run_metadata`.
    #[pyo3(signature = (fetches, feed_dict=None, *, targets=None, timeout=None, run_metadata=None, inter_op_pool=0))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        fetches: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = feed_dict)] feed_dict: Option<Bound<'py, PyDict>>,
        #[pyo3(from_py_with = targets)] targets: Option<Vec<Bound<'py, PyAny>>>,
        #[pyo3(from_py_with = crate::values::timeout)] timeout: Option<f64>,
        #[pyo3(from_py_with = run_metadata)] run_metadata: Option<Bound<'py, RunMetadata>>,
        #[pyo3(from_py_with = crate::values::inter_op_pool)] inter_op_pool: i32,
    ) -> PyResult<Bound<'py, PyAny>> {
        not_forked(self.process)?;
        let mut wanted = Fetches::of(fetches, &|value| self.named(value).map_err(|error| about(py, "fetches", error)))?;
        let (feeds, lent) = self.feeds(feed_dict.as_ref())?;
        for target in targets.unwrap_or_default() {
            wanted.targets.push(match self.named(&target).map_err(|error| about(py, "targets", error))? {
                Named::Operation(name) => name,
                Named::Output(name) => TensorName::parse(&name).or_raise()?.node.to_owned(),
            });
        }
        let mut options = run_options(timeout.or(self.timeout), inter_op_pool)?;
        options.trace = run_metadata.is_some();
        let mut metadata = CoreMetadata::default();
        // What is fed is given as it is.
        let given: Vec<_> = wanted.outputs.iter().map(|name| fed_as(name, &feeds).cloned()).collect();
        let computed = wanted.outputs.iter().zip(&given).filter(|(_, given)| given.is_none());
        let names: Vec<&str> = computed.map(|(name, _)| name.as_str()).collect();
        let is_run = !names.is_empty() || !wanted.targets.is_empty() || given.is_empty();
        let results = interrupt::run(py, |cancellation| {
            options.cancellation = cancellation;
            let feeds: Vec<_> = feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
            let targets: Vec<&str> = wanted.targets.iter().map(String::as_str).collect();
            match (is_run, options.trace) {
                (false, _) => Ok(Vec::new()),
                (true, true) => self.core().run_with_metadata(&feeds, &names, &targets, &options, &mut metadata),
                (true, false) => self.core().run_with(&feeds, &names, &targets, &options),
            }
        });
        if let Some(filled) = run_metadata {
            filled.get().set(metadata);
        }
        let mut results = results?.into_iter();
        let mut results: Vec<CoreTensor> =
            given.into_iter().filter_map(|given| given.or_else(|| results.next())).collect();
        lent.keep_out_of(&mut results)?;
        let tensors = results.into_iter().map(|tensor| Bound::new(py, Tensor::new(tensor)).map(Bound::into_any));
        wanted.give(py, &tensors.collect::<PyResult<Vec<_>>>()?)
    }

    /// Ends what runs, with an error, and refuses what would.
    fn close(&self) {
        self.core().close();
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {
        self.close();
    }

    /// The graph: that which it was made of, or else a graph of its own.
    #[getter]
    pub(crate) fn graph(&self) -> Graph {
        // With the interpreter, as no child that is forked meanwhile would see the end of it.
        Graph(self.graph.get_or_init(|| Graph::of(self.core().graph().clone()).0).clone())
    }

    /// The names of the operations.
    #[getter]
    fn operations(&self) -> Vec<String> {
        self.core().graph().nodes().iter().map(|node| node.name.clone()).collect()
    }

    /// The names of the devices on which it runs.
    #[getter]
    fn devices(&self) -> Vec<String> {
        self.core().devices().iter().map(|device| device.name().to_owned()).collect()
    }

    /// The graph as a serialized GraphDef.
    #[getter]
    fn graph_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        graph_def(py, self.core().graph())
    }

    fn __repr__(&self) -> String {
        let session = self.core();
        format!("<kernlink.Session of {} operations on {}>", session.graph().nodes().len(), self.devices().join(", "))
    }
}

/// A session of a frozen graph in a file, `.pb` or `.pbtxt`.
#[pyfunction]
#[pyo3(signature = (path, *, options=None, threads=0, device=None))]
pub(crate) fn load_graph(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = crate::options::options)] options: Option<Bound<'_, SessionOptions>>,
    #[pyo3(from_py_with = crate::values::threads)] threads: usize,
    #[pyo3(from_py_with = crate::values::device)] device: Option<String>,
) -> PyResult<Session> {
    let (path, options) = (crate::values::path("path", path)?, SessionOptions::of(options, threads, device));
    let load = || {
        if path.is_dir() {
            let message = format!("{} is a folder: `kernlink.saved_model.load` loads SavedModels", path.display());
            return Err(kernlink::Error::invalid_argument(message));
        }
        let def = read_model(&path)?.into_iter().next().and_then(|meta| meta.graph_def);
        let none = || kernlink::Error::not_found(format!("{} holds no graph", path.display()));
        let graph = CoreGraph::import(&def.ok_or_else(none)?, &kernlink::registry()?)?;
        options.prepare()?.session(graph)
    };
    let session = py.detach(load).or_raise()?;
    Ok(Session::of(Arc::new(Form::Graph(session).into()), None, options.timeout()))
}
