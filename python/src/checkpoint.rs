//! Checkpoints: tensors in files, by name, with the objects that TensorFlow 2 finds them by.

use std::path::{Path, PathBuf};

use kernlink::Code;
use kernlink::dtype::{DataType, TString};
use kernlink::formats::{self, CheckpointFolder, CheckpointWriter, SliceFilesReader};
use kernlink::proto::trackable_object_graph::TrackableObject;
use kernlink::proto::trackable_object_graph::trackable_object::{ObjectReference, SerializedTensor};
use kernlink::proto::{Message as _, TrackableObjectGraph};
use kernlink::tensor::Tensor as CoreTensor;
use kernlink::tools::checkpoint_prefix;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Raise;
use crate::tensor::{Tensor, dtype_object};
use crate::values::arguments;

/// The tensor that describes the objects.
const OBJECTS: &str = "_CHECKPOINTABLE_OBJECT_GRAPH";

/// An object: its children by name, and its tensors, each with its name, its full name and its key in the checkpoint.
type Object = (Vec<(String, i32)>, Vec<(String, String, String)>);

enum Files {
    /// An index and files of data.
    Bundle(formats::CheckpointReader),
    /// Those of the older format.
    Slices(SliceFilesReader),
}

arguments! {
    tensor_name: String = "name", "a str";
}

/// A checkpoint that is read.
#[pyclass(module = "kernlink", frozen)]
pub(crate) struct CheckpointReader {
    prefix: PathBuf,
    files: Files,
    /// The names, sorted, with dtypes and shapes.
    tensors: Vec<(String, DataType, Vec<usize>)>,
}

impl CheckpointReader {
    fn open(path: &Path) -> kernlink::Result<CheckpointReader> {
        let (prefix, _) = checkpoint_prefix(path)?;
        let mut tensors: Vec<(String, DataType, Vec<usize>)>;
        let files = if formats::CheckpointReader::exists(&prefix) {
            let reader = formats::CheckpointReader::open(&prefix)?;
            let named = reader.tensors().map(|(name, entry)| (name, entry.dtype, entry.shape.dims().to_vec()));
            tensors = named.collect();
            Files::Bundle(reader)
        } else {
            let reader = SliceFilesReader::open(&prefix.to_string_lossy())?;
            tensors = reader.tensors().map(|(name, dtype, shape)| (name, dtype, shape.dims().to_vec())).collect();
            Files::Slices(reader)
        };
        tensors.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        Ok(CheckpointReader { prefix, files, tensors })
    }

    fn find(&self, name: &str) -> Option<&(String, DataType, Vec<usize>)> {
        let at = self.tensors.binary_search_by(|(other, ..)| other.as_str().cmp(name)).ok()?;
        self.tensors.get(at)
    }

    fn read(&self, name: &str) -> kernlink::Result<CoreTensor> {
        match &self.files {
            Files::Bundle(reader) => reader.read(name),
            Files::Slices(reader) => reader.read(name),
        }
    }
}

#[pymethods]
impl CheckpointReader {
    /// Opens a checkpoint: what stands before `.index`, one of its files, a folder for the latest in it, or the files of the older
    /// format, with wildcards.
    #[new]
    fn new(py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<CheckpointReader> {
        let path = crate::values::path("path", path)?;
        py.detach(|| CheckpointReader::open(&path)).or_raise()
    }

    /// What stands before `.index`.
    #[getter]
    fn prefix(&self) -> PathBuf {
        self.prefix.clone()
    }

    /// The shapes of the tensors, by their names.
    fn get_variable_to_shape_map<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let shapes = PyDict::new(py);
        self.tensors.iter().try_for_each(|(name, _, shape)| shapes.set_item(name, shape))?;
        Ok(shapes)
    }

    /// The dtypes of the tensors, by their names.
    fn get_variable_to_dtype_map<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dtypes = PyDict::new(py);
        self.tensors.iter().try_for_each(|(name, dtype, _)| dtypes.set_item(name, dtype_object(py, *dtype)?))?;
        Ok(dtypes)
    }

    /// Whether there is a tensor of this name.
    fn has_tensor(&self, #[pyo3(from_py_with = tensor_name)] name: String) -> bool {
        self.find(&name).is_some()
    }

    /// The tensor of this name, whose checksum is compared.
    fn get_tensor(&self, py: Python<'_>, #[pyo3(from_py_with = tensor_name)] name: String) -> PyResult<Tensor> {
        py.detach(|| self.read(&name)).or_raise().map(Tensor::new)
    }

    /// The names, sorted.
    fn keys(&self) -> Vec<String> {
        self.tensors.iter().map(|(name, ..)| name.clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.tensors.len()
    }

    fn __contains__(&self, #[pyo3(from_py_with = tensor_name)] name: String) -> bool {
        self.find(&name).is_some()
    }

    fn __getitem__(&self, py: Python<'_>, #[pyo3(from_py_with = tensor_name)] name: String) -> PyResult<Tensor> {
        match py.detach(|| self.read(&name)) {
            Err(error) if error.code() == Code::NotFound => Err(PyKeyError::new_err(name)),
            tensor => tensor.or_raise().map(Tensor::new),
        }
    }

    /// The objects of TensorFlow 2 by which variables are found, the root first; `None` for a checkpoint by names alone.
    fn _objects(&self) -> PyResult<Option<Vec<Object>>> {
        if self.find(OBJECTS).is_none() {
            return Ok(None);
        }
        let read = || {
            let bytes = self.read(OBJECTS)?.to_scalar::<TString>()?;
            TrackableObjectGraph::decode(bytes.as_bytes()).map_err(|error| {
                let message = format!("{}: the objects are malformed: {error}", self.prefix.display());
                kernlink::Error::data_loss(message)
            })
        };
        let object = |object: TrackableObject| -> Object {
            let children = object.children.into_iter().map(|child| (child.local_name, child.node_id));
            let tensors = object.attributes.into_iter().map(|it| (it.name, it.full_name, it.checkpoint_key));
            (children.collect(), tensors.collect())
        };
        Ok(Some(read().or_raise()?.nodes.into_iter().map(object).collect()))
    }

    fn __repr__(&self) -> String {
        format!("<kernlink.CheckpointReader {}: {} tensors>", self.prefix.display(), self.tensors.len())
    }
}

/// The tensors of a checkpoint, with its objects if it has some.
fn all_of(
    tensors: Vec<(String, Bound<'_, Tensor>)>,
    objects: Option<Vec<Object>>,
) -> PyResult<Vec<(String, CoreTensor)>> {
    let mut all: Vec<_> = tensors.into_iter().map(|(name, tensor)| (name, tensor.get().core().clone())).collect();
    if let Some(objects) = objects {
        let object = |(children, tensors): Object| TrackableObject {
            children: children
                .into_iter()
                .map(|(local_name, node_id)| ObjectReference { node_id, local_name })
                .collect(),
            attributes: tensors
                .into_iter()
                .map(|(name, full_name, checkpoint_key)| SerializedTensor { name, full_name, checkpoint_key })
                .collect(),
        };
        let graph = TrackableObjectGraph { nodes: objects.into_iter().map(object).collect() };
        let tensor = CoreTensor::scalar(TString::from(&graph.encode_to_vec()[..]));
        all.push((OBJECTS.to_owned(), tensor));
    }
    Ok(all)
}

fn write(prefix: &Path, tensors: &[(String, CoreTensor)]) -> kernlink::Result<()> {
    let mut writer = CheckpointWriter::create(prefix)?;
    tensors.iter().try_for_each(|(name, tensor)| writer.add(name, tensor))?;
    writer.finish()
}

/// Writes tensors as a checkpoint of this prefix, with the objects by which TensorFlow 2 finds them.
#[pyfunction]
#[pyo3(signature = (prefix, tensors, objects))]
pub(crate) fn write_checkpoint(
    py: Python<'_>,
    prefix: PathBuf,
    tensors: Vec<(String, Bound<'_, Tensor>)>,
    objects: Option<Vec<Object>>,
) -> PyResult<()> {
    let tensors = all_of(tensors, objects)?;
    py.detach(|| write(&prefix, &tensors)).or_raise()
}

/// Writes tensors as the checkpoint `NAME-STEP` of a folder, which lists it as its latest and keeps so many, 0 for all; returns its
/// prefix.
#[pyfunction]
#[pyo3(signature = (folder, name, step, keep, tensors, objects))]
pub(crate) fn save_checkpoint(
    py: Python<'_>,
    folder: PathBuf,
    name: String,
    step: u64,
    keep: usize,
    tensors: Vec<(String, Bound<'_, Tensor>)>,
    objects: Option<Vec<Object>>,
) -> PyResult<PathBuf> {
    let tensors = all_of(tensors, objects)?;
    let folder = CheckpointFolder::new(folder, name).keep(keep);
    py.detach(|| folder.save(step, |prefix| write(prefix, &tensors))).or_raise()
}

/// The prefix of the latest checkpoint in a folder, by the file `checkpoint` in it; `None` if it has none.
#[pyfunction]
pub(crate) fn latest_checkpoint(py: Python<'_>, folder: PathBuf) -> PyResult<Option<PathBuf>> {
    py.detach(|| formats::latest_checkpoint(folder)).or_raise()
}

/// The prefixes of the checkpoints in a folder, the latest last.
#[pyfunction]
pub(crate) fn list_checkpoints(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
    py.detach(|| CheckpointFolder::new(folder, "").checkpoints()).or_raise()
}
