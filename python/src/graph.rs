//! Graphs: while one is entered, functions of ops add nodes to it.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernlink::dtype::DataType;
use kernlink::gradient::{Gradients, OutputGradient};
use kernlink::graph::{
    FunctionParts, Graph as CoreGraph, ImportOptions, NodeId, NodeRequest, OpScope, Operand, Output,
};
use kernlink::op::OpDef;
use kernlink::proto::{graph_file, graph_from_bytes};
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyTuple};
use smallvec::SmallVec;

use crate::convert::Given;
use crate::error::Raise;
use crate::operators::operators;
use crate::tensor::{Tensor, dtype_object};

/// What is behind a graph and its outputs.
pub(crate) struct State {
    graph: CoreGraph,
    /// Whether it becomes the body of a function.
    is_body: bool,
    /// Tensors that nodes of a body take from outside, with what stands for them.
    captures: Vec<(Py<Tensor>, Output)>,
    /// The last node with effects: in a body each waits for the one before it.
    last_effect: Option<NodeId>,
    /// All nodes with effects, which run though nothing takes what they give.
    effects: Vec<NodeId>,
}

pub(crate) type Shared = Arc<Mutex<State>>;

thread_local! {
    /// The graphs that were entered, the innermost last.
    static ENTERED: RefCell<Vec<Shared>> = const { RefCell::new(Vec::new()) };
    /// The graph that a node is being added to.
    static TARGET: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

fn lock(graph: &Shared) -> MutexGuard<'_, State> {
    graph.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The graph that an op of these inputs is added to: that which was entered last, or that of the inputs.
pub(crate) fn target(inputs: &Bound<'_, PyTuple>) -> Option<Shared> {
    let entered = ENTERED.with_borrow(|graphs| graphs.last().cloned());
    entered.or_else(|| {
        let of_output = |value: &Bound<'_, PyAny>| value.cast::<SymbolicTensor>().ok().map(|it| it.get().graph.clone());
        inputs.iter_borrowed().find_map(|value| {
            of_output(&value).or_else(|| {
                let items = value.cast::<pyo3::types::PyList>().ok()?;
                items.iter().find_map(|item| of_output(&item))
            })
        })
    })
}

impl Given for Output {
    fn given(value: &Bound<'_, PyAny>) -> PyResult<Option<Operand<Output>>> {
        let target = TARGET.with_borrow(Clone::clone);
        let target = target.ok_or_else(|| PyRuntimeError::new_err("no node is being added to a graph"))?;
        if let Ok(output) = value.cast::<SymbolicTensor>() {
            let output = output.get();
            return match Arc::ptr_eq(&output.graph, &target) {
                true => Ok(Some(Operand::Value(output.output))),
                false => Err(PyValueError::new_err(format!(
                    "{} is of another graph: a function takes what it computes with as arguments",
                    output.name()
                ))),
            };
        }
        let Ok(tensor) = value.cast::<Tensor>() else { return Ok(None) };
        let core = tensor.get().core();
        if core.dtype().is_pod() || core.dtype() == DataType::String {
            return Ok(Some(Operand::Constant(core.clone())));
        }
        let mut state = lock(&target);
        if !state.is_body {
            let message = "a graph has no constants of resources and variants: make the variable by an op of the graph";
            return Err(PyTypeError::new_err(message));
        }
        if let Some((_, output)) = state.captures.iter().find(|(captured, _)| captured.is(tensor)) {
            return Ok(Some(Operand::Value(*output)));
        }
        let output = placeholder(&mut state.graph, core.dtype(), None, None);
        if let Ok(output) = &output {
            state.captures.push((tensor.clone().unbind(), *output));
        }
        drop(state);
        output.or_raise().map(|output| Some(Operand::Value(output)))
    }

    fn as_tensor(&self) -> Option<&CoreTensor> {
        None
    }

    fn dtype(&self) -> Option<DataType> {
        let target = TARGET.with_borrow(Clone::clone)?;
        let state = lock(&target);
        Some(state.graph.node(self.node).signature.outputs[self.index].dtype)
    }
}

fn placeholder(
    graph: &mut CoreGraph,
    dtype: DataType,
    shape: Option<kernlink::shape::PartialShape>,
    name: Option<String>,
) -> kernlink::Result<Output> {
    let registry = graph.registry().clone();
    let mut request = NodeRequest::new(registry.op("Placeholder")?.def);
    request.attrs.insert("dtype", dtype);
    if let Some(shape) = shape {
        request.attrs.insert("shape", shape);
    }
    request.name = name;
    graph.apply(request)?.outputs.take(0)
}

/// Adds a node.
pub(crate) fn execute<'py>(
    py: Python<'py>,
    target: &Shared,
    def: &'static OpDef,
    request: impl FnOnce() -> PyResult<NodeRequest<'static, Output>>,
    lengths: &mut SmallVec<[Option<usize>; 4]>,
) -> PyResult<(Vec<SymbolicTensor>, Bound<'py, Operation>)> {
    let before = TARGET.replace(Some(target.clone()));
    let request = request();
    TARGET.set(before);
    let mut request = request?;
    let mut state = lock(target);
    let has_effect = state.is_body && def.is_stateful && def.name != "Placeholder";
    if has_effect {
        request.control_inputs.extend(state.last_effect);
    }
    // A name that is taken gets a number, as in TensorFlow.
    if let Some(name) = &request.name
        && state.graph.find(name).is_some()
    {
        let free = (1..).map(|number| format!("{name}_{number}")).find(|name| state.graph.find(name).is_none());
        request.name = free;
    }
    let applied = match state.graph.apply(request) {
        Ok(applied) => applied,
        Err(error) => {
            drop(state);
            return Err(crate::error::raise(&error));
        }
    };
    if has_effect {
        state.last_effect = Some(applied.node);
        state.effects.push(applied.node);
    }
    lengths.extend(applied.outputs.lengths(def));
    let node = applied.node;
    let outputs = applied.outputs.into_vec();
    drop(state);
    let outputs = outputs.into_iter().map(|output| SymbolicTensor { graph: target.clone(), output }).collect();
    Ok((outputs, Bound::new(py, Operation { graph: target.clone(), node })?))
}

/// A graph of ops. While it is entered, by `with`, functions of ops add nodes to it, and give outputs of nodes.
#[pyclass(module = "kernlink", name = "Graph", frozen)]
pub(crate) struct Graph(pub(crate) Shared);

#[pymethods]
impl Graph {
    /// A graph without nodes, or that of a serialized GraphDef.
    #[new]
    #[pyo3(signature = (graph_def=None))]
    fn new(py: Python<'_>, graph_def: Option<Vec<u8>>) -> PyResult<Graph> {
        let make = || {
            let registry = kernlink::registry()?;
            match graph_def {
                None => Ok(CoreGraph::new(&registry)),
                Some(bytes) => CoreGraph::import(&graph_from_bytes(bytes)?, &registry),
            }
        };
        py.detach(make).or_raise().map(Graph::of)
    }

    /// A graph that becomes a function.
    #[staticmethod]
    fn _body(py: Python<'_>) -> PyResult<Graph> {
        let graph = Graph::new(py, None)?;
        let context = crate::eager::context(py)?;
        {
            let mut state = lock(&graph.0);
            state.is_body = true;
            // Functions that were made before can be called.
            state.graph = CoreGraph::clone(&context.function_library());
        }
        Ok(graph)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        ENTERED.with_borrow_mut(|graphs| graphs.push(slf.get().0.clone()));
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {
        ENTERED.with_borrow_mut(|graphs| {
            if let Some(at) = graphs.iter().rposition(|graph| Arc::ptr_eq(graph, &self.0)) {
                graphs.remove(at);
            }
        });
    }

    /// A value that is fed.
    #[pyo3(signature = (dtype, shape=None, name=None))]
    fn placeholder(
        &self,
        dtype: &Bound<'_, PyAny>,
        shape: Option<&Bound<'_, PyAny>>,
        name: Option<String>,
    ) -> PyResult<SymbolicTensor> {
        let (dtype, shape) = (crate::dtypes::dtype_of(dtype)?, shape.map(crate::values::shape).transpose()?);
        let output = placeholder(&mut lock(&self.0).graph, dtype, shape, name);
        output.or_raise().map(|output| SymbolicTensor { graph: self.0.clone(), output })
    }

    /// The graph as a serialized GraphDef.
    fn as_graph_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let def = lock(&self.0).graph.to_def();
        let def = def.or_raise()?;
        Ok(PyBytes::new(py, &graph_file("graph.pb", &def).or_raise()?))
    }

    /// The graph in Graphviz's language.
    fn to_dot(&self) -> PyResult<String> {
        let def = lock(&self.0).graph.to_def();
        def.or_raise().map(|def| kernlink::graph::to_dot(&def))
    }

    /// Adds the nodes of a serialized GraphDef, with `name/` before their names if one is given.
    #[pyo3(signature = (graph_def, name=None))]
    fn import_graph_def(&self, graph_def: Vec<u8>, name: Option<String>) -> PyResult<()> {
        let options = ImportOptions { prefix: name.unwrap_or_default(), ..ImportOptions::default() };
        let def = graph_from_bytes(graph_def).or_raise()?;
        let imported = lock(&self.0).graph.import_into(def, &options);
        imported.or_raise().map(drop)
    }

    /// The operations, in the order in which they were added.
    fn get_operations(&self) -> Vec<Operation> {
        let state = lock(&self.0);
        state.graph.ids().map(|node| Operation { graph: self.0.clone(), node }).collect()
    }

    /// The operation of this name.
    fn get_operation_by_name(&self, name: &str) -> PyResult<Operation> {
        match lock(&self.0).graph.find(name) {
            Some(node) => Ok(Operation { graph: self.0.clone(), node }),
            None => Err(pyo3::exceptions::PyKeyError::new_err(format!("there is no operation `{name}` in the graph"))),
        }
    }

    /// The gradients of the sum of `ys` with respect to `xs`, as nodes of the graph; `None` where there is none.
    #[pyo3(signature = (ys, xs))]
    fn gradients(
        &self,
        ys: Vec<Bound<'_, SymbolicTensor>>,
        xs: Vec<Bound<'_, SymbolicTensor>>,
    ) -> PyResult<Vec<Option<SymbolicTensor>>> {
        let outputs = |tensors: &[Bound<'_, SymbolicTensor>]| -> PyResult<Vec<Output>> {
            tensors.iter().map(|tensor| tensor.get().output_in(&self.0)).collect()
        };
        let (ys, xs) = (outputs(&ys)?, outputs(&xs)?);
        let add = |graph: &mut CoreGraph| -> kernlink::Result<Vec<Option<Output>>> {
            let found = Gradients::of(ys).with_respect_to(xs).add_to(graph)?;
            let mut dense = |gradient: OutputGradient| gradient.dense(graph);
            found.into_iter().map(|gradient| gradient.map(&mut dense).transpose()).collect()
        };
        let found = add(&mut lock(&self.0).graph);
        let symbolic = |output: Option<Output>| output.map(|output| SymbolicTensor { graph: self.0.clone(), output });
        Ok(found.or_raise()?.into_iter().map(symbolic).collect())
    }

    /// Makes a function of the graph, under a name that no other has, and adds it to those that can be called; returns the
    /// tensors that it captured, and whether it has effects.
    fn _finish(
        &self,
        py: Python<'_>,
        name: &str,
        inputs: Vec<Bound<'_, SymbolicTensor>>,
        outputs: Vec<Bound<'_, SymbolicTensor>>,
    ) -> PyResult<(Vec<Py<Tensor>>, bool)> {
        let find = |tensors: &[Bound<'_, SymbolicTensor>]| -> PyResult<Vec<Output>> {
            tensors.iter().map(|tensor| tensor.get().output_in(&self.0)).collect()
        };
        let (mut inputs, outputs) = (find(&inputs)?, find(&outputs)?);
        let state = lock(&self.0);
        inputs.extend(state.captures.iter().map(|(_, output)| *output));
        let parts =
            FunctionParts { inputs, outputs, control_outputs: state.effects.clone(), ..FunctionParts::default() };
        let def = state.graph.to_function(name, &parts);
        let captures = state.captures.iter().map(|(tensor, _)| tensor.clone_ref(py)).collect();
        let has_effects = !state.effects.is_empty();
        drop(state);
        crate::eager::context(py)?.add_functions(&[def.or_raise()?]).or_raise()?;
        Ok((captures, has_effects))
    }

    fn __repr__(&self) -> String {
        format!("<kernlink.Graph of {} operations>", lock(&self.0).graph.nodes().len())
    }
}

impl Graph {
    /// A graph that others may add to.
    pub(crate) fn of(graph: CoreGraph) -> Graph {
        let (captures, effects) = (Vec::new(), Vec::new());
        Graph(Arc::new(Mutex::new(State { graph, is_body: false, captures, last_effect: None, effects })))
    }

    /// A copy of the graph as it is.
    pub(crate) fn copy(&self) -> CoreGraph {
        lock(&self.0).graph.clone()
    }
}

/// An output of a node, as a tensor that is not computed yet.
#[pyclass(module = "kernlink", name = "SymbolicTensor", frozen)]
pub(crate) struct SymbolicTensor {
    pub(crate) graph: Shared,
    output: Output,
}

impl SymbolicTensor {
    pub(crate) fn core_dtype(&self) -> DataType {
        lock(&self.graph).graph.node(self.output.node).signature.outputs[self.output.index].dtype
    }

    /// In a function as the op `Equal`; in a graph whether it is the same output, which dicts of feeds ask.
    fn equal<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>, is: bool) -> PyResult<Bound<'py, PyAny>> {
        let is_in_body = lock(&slf.get().graph).is_body;
        match is_in_body && !other.is_none() {
            true => crate::operators::equal(slf.as_any(), other, is),
            false => Ok(PyBool::new(slf.py(), slf.get().is_same(other) == is).to_owned().into_any()),
        }
    }

    fn is_same(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<SymbolicTensor>()
            .is_ok_and(|other| Arc::ptr_eq(&other.get().graph, &self.graph) && other.get().output == self.output)
    }

    /// The output, if it is of this graph.
    fn output_in(&self, graph: &Shared) -> PyResult<Output> {
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

/// A node of a graph.
#[pyclass(module = "kernlink", name = "Operation", frozen)]
pub(crate) struct Operation {
    pub(crate) graph: Shared,
    node: NodeId,
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
    fn get_attr<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let state = lock(&self.graph);
        let node = state.graph.node(self.node);
        let value = node.attrs.get(name).cloned();
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
