//! SavedModels and MetaGraphs.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use kernlink::formats::{self, SignatureTensor};
use kernlink::graph::{NodeId, TensorName};
use kernlink::runtime::RunMetadata as CoreMetadata;
use kernlink::tensor::Tensor as CoreTensor;
use kernlink::tools::{checkpoint_prefix, read_model};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use crate::eager::{Lent, not_forked};
use crate::error::Raise;
use crate::foreign::is_shared;
use crate::graph::Graph;
use crate::interrupt;
use crate::keep::kept;
use crate::metadata::RunMetadata;
use crate::options::{SessionOptions, run_options};
use crate::session::{Session, fed};
use crate::tensor::{Tensor, dtype_object};
use crate::values::{arguments, path, texts_argument, wrong_argument};

/// What a session is of.
pub(crate) struct Loaded {
    form: Form,
    /// The nodes whose outputs a run may keep; known when something is fed.
    kept: OnceLock<HashSet<NodeId>>,
}

pub(crate) enum Form {
    Graph(kernlink::runtime::Session),
    Meta(kernlink::MetaGraph),
    Saved(kernlink::SavedModel),
}

impl From<Form> for Loaded {
    fn from(form: Form) -> Loaded {
        Loaded { form, kept: OnceLock::new() }
    }
}

impl Loaded {
    /// Gives what is fed for an output memory of its own if that is an array's and a run may keep it.
    pub(crate) fn own(&self, name: &str, tensor: &mut CoreTensor) -> PyResult<()> {
        if !is_shared(tensor) {
            return Ok(());
        }
        let graph = self.session().graph();
        let node = TensorName::parse(name).ok().and_then(|name| graph.find(name.node));
        match node.is_none_or(|node| self.kept.get_or_init(|| kept(graph)).contains(&node)) {
            true => tensor.make_unique().or_raise(),
            false => Ok(()),
        }
    }

    pub(crate) fn session(&self) -> &kernlink::runtime::Session {
        match &self.form {
            Form::Graph(session) => session,
            Form::Meta(model) => model.session(),
            Form::Saved(model) => model.session(),
        }
    }

    fn meta(&self) -> PyResult<&formats::MetaGraph> {
        match &self.form {
            Form::Graph(_) => Err(PyTypeError::new_err("a graph has no signatures")),
            Form::Meta(model) => Ok(model),
            Form::Saved(model) => Ok(model),
        }
    }
}

arguments! {
    name: String = "name", "a str";
}

/// A graph with signatures and what saves and restores its variables, of a SavedModel or by itself, ready to run.
#[pyclass(module = "kernlink", frozen)]
pub(crate) struct MetaGraph {
    model: Arc<Loaded>,
    session: Py<Session>,
    process: u32,
    timeout: Option<f64>,
}

impl MetaGraph {
    fn of(py: Python<'_>, model: Loaded, timeout: Option<f64>) -> PyResult<MetaGraph> {
        let model = Arc::new(model);
        let session = Py::new(py, Session::of(model.clone(), None, timeout))?;
        Ok(MetaGraph { model, session, process: std::process::id(), timeout })
    }
}

#[pymethods]
impl MetaGraph {
    /// The tags of the graph of a SavedModel; none of another.
    #[getter]
    fn tags(&self) -> Vec<String> {
        match &self.model.form {
            Form::Saved(model) => model.tags().to_vec(),
            _ => Vec::new(),
        }
    }

    /// The signatures, by their names.
    #[getter]
    fn signatures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let signatures = PyDict::new(py);
        for name in self.model.meta()?.signatures().keys() {
            let (model, name) = (self.model.clone(), name.clone());
            let signature = Signature { model, name: name.clone(), process: self.process, timeout: self.timeout };
            signatures.set_item(name, signature)?;
        }
        Ok(signatures)
    }

    /// The session in which it runs, and which has its variables: runs any node of the graph.
    #[getter]
    fn session(&self, py: Python<'_>) -> Py<Session> {
        self.session.clone_ref(py)
    }

    /// The graph.
    #[getter]
    fn graph(&self) -> Graph {
        self.session.get().graph()
    }

    /// The graph as a serialized GraphDef.
    #[getter]
    fn graph_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        crate::session::graph_def(py, self.model.session().graph())
    }

    /// Gives the variables the values that they have in a checkpoint: its prefix, or a folder for the latest in it.
    fn restore(&self, py: Python<'_>, checkpoint: &Bound<'_, PyAny>) -> PyResult<()> {
        let checkpoint = path("checkpoint", checkpoint)?;
        not_forked(self.process)?;
        let model = self.model.meta()?;
        py.detach(|| model.restore(checkpoint_prefix(&checkpoint)?.0)).or_raise()
    }

    /// A signature as a graph in which variables are constants: the graph, the outputs that are fed by input, the nodes by output, how
    /// many nodes and variables there are.
    fn _freeze<'py>(&self, py: Python<'py>, signature: &str, outputs: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
        not_forked(self.process)?;
        let model = self.model.meta()?;
        let make = || {
            let frozen = kernlink::tools::freeze(model, signature, &outputs)?;
            Ok((kernlink::proto::graph_file("graph.pb", &frozen.def)?, frozen))
        };
        let (bytes, frozen) = py.detach(make).or_raise()?;
        let item = PyDict::new(py);
        item.set_item("graph_def", PyBytes::new(py, &bytes))?;
        item.set_item("inputs", &frozen.inputs)?;
        item.set_item("outputs", &frozen.outputs)?;
        item.set_item("nodes", frozen.nodes)?;
        item.set_item("variables", frozen.variables)?;
        Ok(item)
    }

    /// Saves the variables as a checkpoint of this prefix, by the graph's own saver.
    fn save(&self, py: Python<'_>, prefix: &Bound<'_, PyAny>) -> PyResult<()> {
        let prefix = path("prefix", prefix)?;
        not_forked(self.process)?;
        let model = self.model.meta()?;
        py.detach(|| model.save(prefix)).or_raise()
    }

    /// Whether the graph has what saves its variables.
    #[getter]
    fn can_save(&self) -> PyResult<bool> {
        Ok(self.model.meta()?.can_save())
    }

    /// The names of the operations in a collection; none if there is no such collection.
    fn get_collection(&self, #[pyo3(from_py_with = name)] name: String) -> PyResult<Vec<String>> {
        Ok(self.model.meta()?.nodes_in(&name).or_raise()?.to_vec())
    }

    /// Runs the operations of a collection, such as `table_initializer`.
    fn run_collection(&self, py: Python<'_>, #[pyo3(from_py_with = name)] name: String) -> PyResult<()> {
        not_forked(self.process)?;
        let model = self.model.meta()?;
        py.detach(|| model.run_collection(&name)).or_raise()
    }

    fn __repr__(&self) -> PyResult<String> {
        let names: Vec<_> = self.model.meta()?.signatures().keys().map(String::as_str).collect();
        Ok(match &self.model.form {
            Form::Saved(model) => {
                format!("<kernlink.SavedModel [{}]: {}>", model.tags().join(", "), names.join(", "))
            }
            _ => format!("<kernlink.MetaGraph: {}>", names.join(", ")),
        })
    }
}

/// A function that a model offers.
#[pyclass(module = "kernlink._kernlink", frozen)]
pub(crate) struct Signature {
    model: Arc<Loaded>,
    name: String,
    process: u32,
    timeout: Option<f64>,
}

impl Signature {
    fn described(&self) -> PyResult<&formats::Signature> {
        self.model.meta()?.signatures().get(&self.name).ok_or_else(|| PyKeyError::new_err(self.name.clone()))
    }
}

/// What a call of a signature says beside its inputs.
#[derive(Default)]
struct Call {
    timeout: Option<f64>,
    outputs: Option<Vec<String>>,
    metadata: Option<Py<RunMetadata>>,
    inter_op_pool: i32,
}

impl Call {
    /// Takes a keyword, if it is one of these.
    fn take(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        match name {
            "_timeout" => self.timeout = crate::values::timeout(value)?,
            "_outputs" if value.is_none() => self.outputs = None,
            "_outputs" => self.outputs = Some(texts_argument(name, value)?),
            "_run_metadata" => {
                self.metadata = value.extract().map_err(|_| wrong_argument(value, name, "a kernlink.RunMetadata"))?;
            }
            "_inter_op_pool" => self.inter_op_pool = crate::values::inter_op_pool(value)?,
            _ => return Ok(false),
        }
        Ok(true)
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

    /// Runs it: inputs by name. `_timeout` is in seconds, `_outputs` are the names of the only outputs to compute, `_run_metadata` is
    /// filled in, and `_inter_op_pool` is the number of a pool of the session's. Returns the outputs by name.
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
        let mut call = Call { timeout: self.timeout, ..Call::default() };
        let (mut feeds, mut lent) = (Vec::new(), Lent::none());
        for (name, value) in inputs.into_iter().flatten() {
            let name = name.cast_into::<PyString>()?.extract::<String>()?;
            let input = described.inputs.get(&name);
            if input.is_none() && call.take(&name, &value)? {
                continue;
            }
            let mut tensor = fed(&value, input.map(|input| input.dtype), &name, &mut lent)?;
            if let Some(input) = input {
                self.model.own(&input.tensor, &mut tensor)?;
            }
            feeds.push((name, tensor));
        }
        let mut options = run_options(call.timeout, call.inter_op_pool)?;
        options.trace = call.metadata.is_some();
        let mut metadata = CoreMetadata::default();
        let model = self.model.meta()?;
        let outputs = interrupt::run(py, |cancellation| {
            options.cancellation = cancellation;
            let feeds: Vec<_> = feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
            let runner = match &call.outputs {
                None => model.signature(&self.name)?,
                Some(outputs) => {
                    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
                    model.signature_outputs(&self.name, &outputs)?
                }
            };
            match options.trace {
                true => runner.run_with_metadata(&feeds, &options, &mut metadata),
                false => runner.run_with(&feeds, &options),
            }
        });
        if let Some(filled) = call.metadata {
            filled.get().set(metadata);
        }
        let results = PyDict::new(py);
        for (name, tensor) in outputs? {
            let mut tensor = [tensor];
            lent.keep_out_of(&mut tensor)?;
            let [tensor] = tensor;
            results.set_item(name, Tensor::new(tensor))?;
        }
        Ok(results)
    }

    fn __repr__(&self) -> PyResult<String> {
        let described = self.described()?;
        let list = |tensors: &BTreeMap<String, SignatureTensor>| {
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

/// Tensors of a signature, with their dtypes and shapes.
pub(crate) fn tensors<'py>(
    py: Python<'py>,
    tensors: &BTreeMap<String, SignatureTensor>,
) -> PyResult<Bound<'py, PyDict>> {
    let described = PyDict::new(py);
    for (name, tensor) in tensors {
        described.set_item(name, (dtype_object(py, tensor.dtype)?, tensor.shape.dims().map(<[_]>::to_vec)))?;
    }
    Ok(described)
}

/// Loads a SavedModel's folder.
#[pyfunction]
#[pyo3(signature = (path, tags, checkpoint, prepare, options, threads, device))]
#[expect(clippy::too_many_arguments, reason = "what `saved_model.load` takes")]
pub(crate) fn load_saved_model(
    py: Python<'_>,
    path: PathBuf,
    tags: Option<Vec<String>>,
    checkpoint: Option<PathBuf>,
    prepare: Vec<String>,
    #[pyo3(from_py_with = crate::options::options)] options: Option<Bound<'_, SessionOptions>>,
    #[pyo3(from_py_with = crate::values::threads)] threads: usize,
    #[pyo3(from_py_with = crate::values::device)] device: Option<String>,
) -> PyResult<MetaGraph> {
    let session = SessionOptions::of(options, threads, device);
    let load = || {
        let mut options = session.prepare()?.load_options();
        (options.tags, options.prepare) = (tags, prepare);
        let model = kernlink::SavedModel::load_with(path, &options)?;
        if let Some(checkpoint) = checkpoint {
            model.restore(checkpoint_prefix(&checkpoint)?.0)?;
        }
        Ok(Form::Saved(model).into())
    };
    let model = py.detach(load).or_raise()?;
    MetaGraph::of(py, model, session.timeout())
}

/// The tags of each graph of a SavedModel, which is not loaded for that.
#[pyfunction]
pub(crate) fn tag_sets(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Vec<String>>> {
    let graphs = py.detach(|| read_model(&path)).or_raise()?;
    Ok(graphs.into_iter().map(|graph| graph.meta_info_def.unwrap_or_default().tags).collect())
}

/// Reads a MetaGraph, a `.meta` file, and gives its variables the values that they have in a checkpoint, if one is named: its prefix,
/// or a folder for the latest in it. Its tables are initialised then.
#[pyfunction]
#[pyo3(signature = (path, checkpoint=None, *, options=None, threads=0, device=None))]
pub(crate) fn load_meta_graph(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    checkpoint: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = crate::options::options)] options: Option<Bound<'_, SessionOptions>>,
    #[pyo3(from_py_with = crate::values::threads)] threads: usize,
    #[pyo3(from_py_with = crate::values::device)] device: Option<String>,
) -> PyResult<MetaGraph> {
    let session = SessionOptions::of(options, threads, device);
    let path = crate::values::path("path", path)?;
    let checkpoint = checkpoint.map(|checkpoint| crate::values::path("checkpoint", checkpoint)).transpose()?;
    let load = || {
        let model = kernlink::MetaGraph::read_with(path, &session.prepare()?.load_options())?;
        if let Some(checkpoint) = checkpoint {
            model.restore(checkpoint_prefix(&checkpoint)?.0)?;
            model.run_collection("table_initializer")?;
        }
        Ok(Form::Meta(model).into())
    };
    let model = py.detach(load).or_raise()?;
    MetaGraph::of(py, model, session.timeout())
}
