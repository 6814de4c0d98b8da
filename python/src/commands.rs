//! What the command does, as functions of `kernlink.tools`.

use std::ffi::OsString;
use std::path::PathBuf;

use kernlink::Error;
use kernlink::error::Advice;
use kernlink::golden;
use kernlink::optimize::rewrite::rewrites;
use kernlink::optimize::{PASSES, PassReport};
use kernlink::proto::{GraphDef, Message as _, OpListOptions, graph_file, op_list_to_proto};
use kernlink::tools::{self, Differentiate, Endpoint, Inspection, Optimize, read_model};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::error::{Raise, in_python, told};
use crate::model::tensors;
use crate::tensor::dtype_object;

/// Runs the command with these arguments, of which the first is its name; returns its exit status.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| kernlink::cli::main_of(arguments))
}

/// What `kernlink bench --format json` prints for these arguments.
#[pyfunction]
pub(crate) fn bench(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<String> {
    py.detach(|| kernlink::cli::bench_json(arguments)).or_raise()
}

/// What `kernlink ops --format json` prints: of one op, or of all, or of those that are none of Kernlink's own.
#[pyfunction]
#[pyo3(signature = (name, own))]
pub(crate) fn ops_json(py: Python<'_>, name: Option<String>, own: bool) -> PyResult<String> {
    py.detach(|| kernlink::cli::ops_json(name.as_deref(), own)).or_raise()
}

/// Writes web pages of ops to a folder; returns what was written, in words.
#[pyfunction]
pub(crate) fn write_pages(py: Python<'_>, folder: PathBuf, own: bool) -> PyResult<String> {
    py.detach(|| kernlink::cli::write_pages(&folder, own)).or_raise()
}

/// Writes a crate with an op; returns what was written, in words.
#[pyfunction]
#[pyo3(signature = (folder, name, kernlink, gpu))]
pub(crate) fn new_crate(
    py: Python<'_>,
    folder: PathBuf,
    name: Option<String>,
    kernlink: Option<PathBuf>,
    gpu: bool,
) -> PyResult<String> {
    py.detach(|| kernlink::cli::new_crate(&folder, name.as_deref(), kernlink.as_deref(), gpu)).or_raise()
}

/// A graph, in the format that the name of a file asks for.
fn bytes_of<'py>(py: Python<'py>, path: &str, def: &GraphDef) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| graph_file(path, def)).or_raise()?;
    Ok(PyBytes::new(py, &bytes))
}

/// What each graph of a model is made of, and what of it a device has no kernels for.
#[pyfunction]
#[pyo3(signature = (model, device))]
pub(crate) fn inspect<'py>(
    py: Python<'py>,
    model: PathBuf,
    device: Option<String>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let look = || -> kernlink::Result<Vec<Inspection>> {
        let device = match &device {
            None => None,
            Some(name) => {
                crate::device::check(name)?;
                tools::devices(name, 1)?.into_iter().next()
            }
        };
        let graphs = read_model(&model)?;
        graphs.iter().map(|graph| tools::inspect(graph, &model, device.as_deref())).collect()
    };
    let mut found = py.detach(look).or_raise()?;
    // A library is the only thing that brings ops to Python.
    let brings = |found: &mut Inspection| {
        if found.advice.contains(&Advice::BringOps) {
            found.advice.retain(|advice| *advice != Advice::LoadLibrary);
        }
    };
    found.iter_mut().for_each(brings);
    // The text has it, too.
    found.iter_mut().flat_map(|found| &mut found.advice).for_each(|advice| *advice = Advice::Said(in_python(advice)));
    found.iter().map(|found| inspection(py, found)).collect()
}

fn inspection<'py>(py: Python<'py>, found: &Inspection) -> PyResult<Bound<'py, PyDict>> {
    let item = PyDict::new(py);
    item.set_item("tags", &found.tags)?;
    item.set_item("tensorflow_version", &found.tensorflow_version)?;
    let signatures = PyDict::new(py);
    for (name, signature) in &found.signatures {
        signatures.set_item(name, (tensors(py, &signature.inputs)?, tensors(py, &signature.outputs)?))?;
    }
    item.set_item("signatures", signatures)?;
    let endpoints = |endpoints: &[Endpoint]| -> PyResult<Bound<'py, PyDict>> {
        let named = PyDict::new(py);
        for endpoint in endpoints {
            let outputs = PyList::empty(py);
            for output in &endpoint.outputs {
                match output {
                    Some((dtype, shape)) => {
                        outputs.append((dtype_object(py, *dtype)?, shape.dims().map(<[_]>::to_vec)))?;
                    }
                    None => outputs.append(py.None())?,
                }
            }
            named.set_item(&endpoint.name, (&endpoint.op, outputs))?;
        }
        Ok(named)
    };
    item.set_item("inputs", endpoints(&found.inputs)?)?;
    item.set_item("outputs", endpoints(&found.outputs)?)?;
    let ops = PyDict::new(py);
    found.ops.iter().try_for_each(|(op, nodes)| ops.set_item(op, nodes))?;
    item.set_item("ops", ops)?;
    item.set_item("functions", found.functions)?;
    item.set_item("constant_bytes", found.constant_bytes)?;
    let sizes = found.variables.as_ref().copied().unwrap_or_default();
    item.set_item("variables", sizes.count + sizes.of_unknown_size)?;
    item.set_item("variable_bytes", sizes.bytes)?;
    item.set_item("missing", &found.missing)?;
    item.set_item("advice", found.advice.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    item.set_item("passed_over", &found.passed_over)?;
    let faults = found.import_error.iter().chain(found.variables.as_ref().err());
    item.set_item("faults", faults.map(told).collect::<Vec<_>>())?;
    let elsewhere = found.elsewhere.as_ref().map(|(_, lacking)| -> PyResult<Bound<'py, PyDict>> {
        let ops = PyDict::new(py);
        lacking.iter().try_for_each(|(op, nodes)| ops.set_item(op, nodes))?;
        Ok(ops)
    });
    item.set_item("elsewhere", elsewhere.transpose()?)?;
    item.set_item("is_whole", found.is_whole())?;
    item.set_item("text", found.to_string())?;
    Ok(item)
}

/// What passes did: for each its name, its changes, the nodes before and after, how often each part was applied, and what failed.
type Done = (&'static str, usize, usize, usize, Vec<(&'static str, usize)>, Vec<(&'static str, String)>);

fn done(report: &PassReport) -> Done {
    let failed = report.failed.iter().map(|(name, error)| (*name, told(error))).collect();
    (report.name, report.changes, report.nodes_before, report.nodes_after, report.parts.clone(), failed)
}

/// Optimises the graph of a model, as far as TensorFlow reads the result.
#[pyfunction]
#[pyo3(signature = (model, tags, signature, inputs, outputs, targets, without, inexact))]
#[expect(clippy::too_many_arguments, reason = "what `tools.optimize` takes")]
pub(crate) fn optimize<'py>(
    py: Python<'py>,
    model: PathBuf,
    tags: Vec<String>,
    signature: Option<String>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    targets: Vec<String>,
    without: Vec<String>,
    inexact: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let mut options = Optimize::default();
    (options.tags, options.signature, options.inputs, options.outputs) = (tags, signature, inputs, outputs);
    (options.targets, options.without, options.inexact) = (targets, without, inexact);
    let made = py.detach(|| tools::optimize(read_model(&model)?, &options)).or_raise()?;
    let item = PyDict::new(py);
    item.set_item("graph_def", bytes_of(py, "graph.pb", &made.def)?)?;
    item.set_item("kept", &made.kept)?;
    item.set_item("nodes_before", made.nodes_before)?;
    item.set_item("nodes", made.graph.nodes().len())?;
    item.set_item("passes", made.reports.iter().map(done).collect::<Vec<_>>())?;
    item.set_item("variables", made.unsaved.as_ref().map_or(0, |unsaved| unsaved.variables))?;
    item.set_item("restored_by", made.unsaved.and_then(|unsaved| unsaved.restored_by))?;
    item.set_item("passed_over", &made.passed_over)?;
    Ok(item)
}

/// Adds gradients to a graph; returns it, and for each of `xs` the name of the node that gives its gradient.
#[pyfunction]
#[pyo3(signature = (model, ys, xs, grad_ys, stops))]
pub(crate) fn gradients<'py>(
    py: Python<'py>,
    model: PathBuf,
    ys: Vec<String>,
    xs: Vec<String>,
    grad_ys: Vec<String>,
    stops: Vec<String>,
) -> PyResult<(Bound<'py, PyBytes>, Vec<Option<String>>)> {
    let mut options = Differentiate::default();
    (options.ys, options.xs, options.grad_ys, options.stops) = (ys, xs, grad_ys, stops);
    let make = || {
        let def = graph_of(&model, &[])?;
        let made = tools::differentiate(&def, &options)?;
        Ok((made.graph.to_def()?, made.gradients))
    };
    let (def, gradients) = py.detach(make).or_raise()?;
    let names = gradients.into_iter().map(|(_, gradient)| gradient.map(|gradient| gradient.name)).collect();
    Ok((bytes_of(py, "graph.pb", &def)?, names))
}

/// The only graph of a model that has these tags.
fn graph_of(model: &std::path::Path, tags: &[String]) -> kernlink::Result<GraphDef> {
    let mut graphs = read_model(model)?;
    let has = |meta: &kernlink::proto::MetaGraphDef, tag| meta.meta_info_def.iter().any(|info| info.tags.contains(tag));
    graphs.retain(|meta| tags.iter().all(|tag| has(meta, tag)));
    let number = graphs.len();
    match (graphs.pop().and_then(|meta| meta.graph_def), number) {
        (Some(def), 1) => Ok(def),
        (_, 0 | 1) => Err(Error::not_found(format!("{} holds no such graph", model.display()))),
        _ => Err(Error::invalid_argument(format!("{} holds {number} such graphs: name one's tags", model.display()))),
    }
}

/// The graph of a model, as bytes in the format that the name of a file asks for.
#[pyfunction]
pub(crate) fn read_graph<'py>(
    py: Python<'py>,
    model: PathBuf,
    tags: Vec<String>,
    name: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let def = py.detach(|| graph_of(&model, &tags)).or_raise()?;
    bytes_of(py, name, &def)
}

/// A serialized GraphDef in the format that the name of a file asks for.
#[pyfunction]
pub(crate) fn graph_in_format<'py>(py: Python<'py>, graph_def: Vec<u8>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    let def = py.detach(|| kernlink::proto::graph_from_bytes(graph_def)).or_raise()?;
    bytes_of(py, name, &def)
}

/// The file for `KERNLINK_SELECT`, the ops that are unknown, gradients that cannot be derived, missing kernels.
type Needed = (String, Vec<String>, Vec<String>, Vec<String>);

/// What models need.
#[pyfunction]
pub(crate) fn select(
    py: Python<'_>,
    models: Vec<PathBuf>,
    signatures: Vec<String>,
    allow_unknown: bool,
) -> PyResult<Needed> {
    let found = py.detach(|| tools::select(&models, &signatures, allow_unknown, false)).or_raise()?;
    Ok((found.text, found.unknown, found.underived, found.missing_kernels))
}

/// Compares the ops with those of an older list: how many were compared, the promises that are broken, how many are new.
#[pyfunction]
pub(crate) fn compare_ops(py: Python<'_>, old: PathBuf) -> PyResult<(usize, Vec<String>, usize)> {
    let found = py.detach(|| tools::compare_ops(&old)).or_raise()?;
    Ok((found.compared, found.broken, found.new))
}

/// The declarations of all ops as a serialized OpList.
#[pyfunction]
pub(crate) fn op_list(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    let registry = kernlink::registry().or_raise()?;
    let list = op_list_to_proto(registry.ops().map(|entry| entry.def), OpListOptions::default()).or_raise()?;
    Ok(PyBytes::new(py, &list.encode_to_vec()))
}

/// Runs the golden cases of a graph whose names have a text in them.
#[pyfunction]
#[pyo3(signature = (file, only, threads, device))]
pub(crate) fn verify(
    py: Python<'_>,
    file: PathBuf,
    only: Option<String>,
    #[pyo3(from_py_with = crate::values::threads)] threads: usize,
    device: String,
) -> PyResult<Bound<'_, PyDict>> {
    let run = || {
        crate::device::check(&device)?;
        let devices = tools::devices(&device, threads)?;
        let mut graph = kernlink::proto::read_graph(&file)?;
        if let Some(only) = &only {
            graph.node.retain(|node| node.name.contains(only.as_str()));
            if graph.node.is_empty() {
                return Ok(golden::Report::default());
            }
        }
        golden::verify(&graph, &kernlink::registry()?, &devices[0]).map_err(|error| error.context(file.display()))
    };
    let report = py.detach(run).or_raise()?;
    let item = PyDict::new(py);
    item.set_item("cases", report.cases)?;
    item.set_item("failures", &report.failures)?;
    item.set_item("skipped", &report.skipped)?;
    item.set_item("covered", &report.covered)?;
    item.set_item("missing_ops", &report.missing_ops)?;
    Ok(item)
}

/// A kernel: its op, its device type, its text, its crate, its priority and its label.
type Kernel = (&'static str, &'static str, String, &'static str, i32, &'static str);

/// The kernels of an op and for a device type.
#[pyfunction]
#[pyo3(signature = (op, device))]
pub(crate) fn kernels(op: Option<String>, device: Option<String>) -> PyResult<Vec<Kernel>> {
    let registry = kernlink::registry().or_raise()?;
    if let Some(op) = &op {
        registry.op(op).or_raise()?;
    }
    let found = registry.kernels_where(|kernel| {
        op.as_deref().is_none_or(|op| op == kernel.op)
            && device.as_deref().is_none_or(|device| device.eq_ignore_ascii_case(kernel.device.0))
    });
    let kernel = |kernel: &kernlink::kernel::KernelDef| {
        (kernel.op, kernel.device.0, kernel.to_string(), kernel.provider.name, kernel.priority, kernel.label)
    };
    Ok(found.into_iter().map(kernel).collect())
}

/// The graph passes in the order in which they run, then the rewrites: for each its name, what it does, whether TensorFlow reads the
/// result, and whether it is a rewrite.
#[pyfunction]
pub(crate) fn passes() -> Vec<(&'static str, &'static str, bool, bool)> {
    let passes = PASSES.iter().map(|pass| (pass.name(), pass.summary(), pass.is_portable(), false));
    let rewrites = rewrites().iter().map(|rewrite| (rewrite.name, rewrite.summary, rewrite.is_portable, true));
    passes.chain(rewrites).collect()
}
