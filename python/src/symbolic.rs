//! What a graph is made of, as Python sees it: outputs of nodes, and nodes.

use std::sync::Arc;

use kernlink::dtype::DataType;
use kernlink::graph::{NodeId, Output};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};

use crate::graph::{Graph, Shared, lock, with};
use crate::operators::operators;
use crate::tensor::dtype_object;
use crate::values::arguments;

/// An output of a node, as a tensor that is not computed yet.
#[pyclass(module = "kernlink", name = "SymbolicTensor", frozen)]
pub(crate) struct SymbolicTensor {
    pub(crate) graph: Shared,
    pub(crate) output: Output,
}

impl SymbolicTensor {
    pub(crate) fn core_dtype(&self) -> DataType {
        lock(&self.graph).graph.node(self.output.node).signature.outputs[self.output.index].dtype
    }

    /// In a function as the op `Equal`; in a graph whether it is the same output, which dicts of feeds ask.
    fn equal<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>, is: bool) -> PyResult<Bound<'py, PyAny>> {
        let is_in_body = lock(&slf.get().graph).body.is_some();
        match is_in_body && !other.is_none() {
            true => crate::operators::equal(slf.as_any(), other, is),
            false => Ok(PyBool::new(slf.py(), slf.get().is_same(other) == is).to_owned().into_any()),
        }
    }

    pub(crate) fn is_same(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<SymbolicTensor>()
            .is_ok_and(|other| Arc::ptr_eq(&other.get().graph, &self.graph) && other.get().output == self.output)
    }

    /// The output, if it is of this graph.
    pub(crate) fn output_in(&self, graph: &Shared) -> PyResult<Output> {
        match Arc::ptr_eq(&self.graph, graph) {
            true => Ok(self.output),
            false => Err(PyValueError::new_err(format!("{} is of another graph", self.name()))),
        }
    }
}

#[pymethods]
impl SymbolicTensor {
    /// The name: `node:0`.
    #[getter]
    pub(crate) fn name(&self) -> String {
        let state = lock(&self.graph);
        format!("{}:{}", state.graph.node(self.output.node).name, self.output.index)
    }

    /// The dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtype_object(py, self.core_dtype())
    }

    /// What is known of the shape: `None` for any rank, or a tuple of sizes, `None` for those that are unknown.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let shape = lock(&self.graph).graph.shape(self.output).clone();
        shape.dims().map(|dims| PyTuple::new(py, dims)).transpose()
    }

    /// Says more about the shape than is known of it.
    fn set_shape(&self, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        let shape = crate::values::shape(shape)?;
        with(&self.graph, |state| state.graph.set_shape(self.output, &shape))
    }

    /// The operation that gives it.
    #[getter]
    fn op(&self) -> Operation {
        Operation { graph: self.graph.clone(), node: self.output.node }
    }

    /// The graph that it is of.
    #[getter]
    fn graph(&self) -> Graph {
        Graph(self.graph.clone())
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err(
            "a tensor of a graph has no value while the graph is made: use an op such as `If`, or run the graph first",
        ))
    }

    fn __iter__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a tensor of a graph cannot be iterated over: use the op `Unpack`"))
    }

    /// What functions of NumPy's ask for.
    #[pyo3(signature = (*_arguments, **_options))]
    fn __array__(&self, _arguments: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let message = "a tensor of a graph has no value while the graph is made: functions of NumPy's cannot take it";
        Err(PyTypeError::new_err(message))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = match self.shape(py)? {
            Some(shape) => shape.repr()?.to_string(),
            None => "unknown".to_owned(),
        };
        let dtype = self.dtype(py)?.getattr("name")?.extract::<String>()?;
        Ok(format!("<kernlink.SymbolicTensor {}: shape={shape}, dtype={dtype}>", self.name()))
    }

    fn __hash__(&self) -> u64 {
        (Arc::as_ptr(&self.graph).addr() as u64) ^ ((self.output.node.index() as u64) << 8) ^ self.output.index as u64
    }

    /// Some elements: what `kernlink.Tensor` gives for the index, as nodes.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        crate::tensor::elements(slf.as_any(), index)
    }

    /// Arrays of NumPy's leave their operators to it.
    #[classattr]
    #[pyo3(name = "__array_priority__")]
    const ARRAY_PRIORITY: f64 = 100.0;
}

operators!(SymbolicTensor);

arguments! {
    attr_name: String = "name", "a str";
}

/// A node of a graph.
#[pyclass(module = "kernlink", name = "Operation", frozen)]
pub(crate) struct Operation {
    pub(crate) graph: Shared,
    pub(crate) node: NodeId,
}

#[pymethods]
impl Operation {
    /// The name.
    #[getter]
    pub(crate) fn name(&self) -> String {
        lock(&self.graph).graph.node(self.node).name.clone()
    }

    /// The op's name.
    #[getter]
    fn r#type(&self) -> String {
        lock(&self.graph).graph.node(self.node).op.def.name.to_string()
    }

    /// The device that it asks for; empty for any.
    #[getter]
    fn device(&self) -> String {
        lock(&self.graph).graph.node(self.node).device.clone()
    }

    /// What it takes.
    #[getter]
    fn inputs(&self) -> Vec<SymbolicTensor> {
        let state = lock(&self.graph);
        let inputs = state.graph.node(self.node).inputs.iter();
        inputs.map(|&output| SymbolicTensor { graph: self.graph.clone(), output }).collect()
    }

    /// What it gives.
    #[getter]
    fn outputs(&self) -> Vec<SymbolicTensor> {
        let count = lock(&self.graph).graph.node(self.node).signature.outputs.len();
        let output = |index| SymbolicTensor { graph: self.graph.clone(), output: Output { node: self.node, index } };
        (0..count).map(output).collect()
    }

    /// The value of an attr.
    fn get_attr<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = attr_name)] name: String,
    ) -> PyResult<Bound<'py, PyAny>> {
        let state = lock(&self.graph);
        let node = state.graph.node(self.node);
        let value = node.attrs.get(&name).cloned();
        let names = node.name.clone();
        drop(state);
        match value {
            Some(value) => crate::values::to_python(py, &value),
            None => Err(PyValueError::new_err(format!("operation `{names}` has no attr `{name}`"))),
        }
    }

    fn __repr__(&self) -> String {
        format!("<kernlink.Operation '{}' type={}>", self.name(), self.r#type())
    }
}
