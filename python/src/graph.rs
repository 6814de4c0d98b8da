//! Graphs: while one is entered, functions of ops add nodes to it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard};

use kernlink::dtype::DataType;
use kernlink::gradient::{Gradients, OutputGradient};
use kernlink::graph::{
    Graph as CoreGraph, ImportOptions, NodeId, NodeRequest, OpScope, Operand, Output, is_valid_node_name,
};
use kernlink::op::OpDef;
use kernlink::proto::graph_from_bytes;
use kernlink::runtime::EagerContext;
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use smallvec::SmallVec;

use crate::body::{self, Body};
use crate::convert::{Converted, Given, operand};
use crate::error::Raise;
use crate::functions::Held;
use crate::items::MOST_DEEP;
use crate::locks::locked;
pub(crate) use crate::symbolic::{Operation, SymbolicTensor};
use crate::tensor::Tensor;
use crate::values::{arguments, serialized, text_argument};

/// A graph of which a copy is had at once: who changes it copies it first, if another has it still.
pub(crate) struct Copied(Arc<CoreGraph>);

impl Deref for Copied {
    type Target = CoreGraph;

    fn deref(&self) -> &CoreGraph {
        &self.0
    }
}

impl DerefMut for Copied {
    fn deref_mut(&mut self) -> &mut CoreGraph {
        Arc::make_mut(&mut self.0)
    }
}

/// What is behind a graph and its outputs.
pub(crate) struct State {
    pub(crate) graph: Copied,
    /// What a graph has that becomes the body of a function.
    pub(crate) body: Option<Body>,
    /// What names begin with, and the scopes that were begun.
    scope: String,
    scopes: HashSet<String>,
    /// The number from which on one is looked for that makes a name free: those below are taken.
    numbers: HashMap<String, usize>,
    /// For which nodes those wait that are added.
    waits: Vec<NodeId>,
}

impl State {
    fn new(graph: CoreGraph) -> State {
        State {
            graph: Copied(Arc::new(graph)),
            body: None,
            scope: String::new(),
            scopes: HashSet::new(),
            numbers: HashMap::new(),
            waits: Vec::new(),
        }
    }

    /// A name that neither a node nor a scope has: with a number at its end if it is taken, as in TensorFlow.
    fn free(&mut self, name: &str) -> String {
        let numbered = |number: &usize| if *number == 0 { name.to_owned() } else { format!("{name}_{number}") };
        let is_free = |name: &String| !self.scopes.contains(name) && self.graph.find(name).is_none();
        let mut number = self.numbers.get(name).copied().unwrap_or(0);
        let free = loop {
            let candidate = numbered(&number);
            if is_free(&candidate) {
                break candidate;
            }
            number += 1;
        };
        if number > 0 {
            self.numbers.insert(name.to_owned(), number);
        }
        free
    }

    /// The name of a scope within that which there is. One that ends with a slash is that scope itself.
    fn scope_named(&mut self, name: &str) -> PyResult<String> {
        if name.is_empty() || name.ends_with('/') {
            return Ok(name.to_owned());
        }
        let whole = format!("{}{name}", self.scope);
        if !is_valid_node_name(&whole) {
            return Err(PyValueError::new_err(format!("'{name}' is not a valid scope name")));
        }
        let free = self.free(&whole);
        self.scopes.insert(free.clone());
        Ok(free + "/")
    }

    /// The name of a node that is to be added; `None` if the graph names it.
    fn node_name(&mut self, op: &str, name: Option<&str>) -> Option<String> {
        if name.is_none() && self.scope.is_empty() {
            return None;
        }
        let whole = format!("{}{}", self.scope, name.unwrap_or(op));
        Some(self.free(&whole))
    }
}

pub(crate) type Shared = Arc<Mutex<State>>;

thread_local! {
    /// The graphs that were entered, the innermost last; `None` where ops run at once again.
    static ENTERED: RefCell<Vec<Option<Shared>>> = const { RefCell::new(Vec::new()) };
    /// The graph that a node is being added to.
    static TARGET: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

/// The graph, for as long as the guard is there. Nothing of Python's may run meanwhile, which raising an error does, too: another thread
/// may wait for the graph while it holds the interpreter. Whoever locks it holds the interpreter, too, which whoever forks the process
/// does: else a child could have a graph that a thread holds that it does not have.
pub(crate) fn lock(graph: &Shared) -> MutexGuard<'_, State> {
    locked(graph)
}

/// Does `work` on a graph, and raises its error when others can have the graph.
pub(crate) fn with<R>(graph: &Shared, work: impl FnOnce(&mut State) -> kernlink::Result<R>) -> PyResult<R> {
    let done = work(&mut lock(graph));
    done.or_raise()
}

/// The graph that was entered last.
pub(crate) fn entered() -> Option<Shared> {
    ENTERED.with_borrow(|graphs| graphs.last().cloned().flatten())
}

/// Whether functions of ops add nodes on this thread.
pub(crate) fn is_any_entered() -> bool {
    ENTERED.with_borrow(|graphs| graphs.last().is_some_and(Option::is_some))
}

/// Whether a graph was entered on this thread, so that what is within may take what it gives.
fn is_entered(graph: &Shared) -> bool {
    ENTERED.with_borrow(|graphs| graphs.iter().flatten().any(|entered| Arc::ptr_eq(entered, graph)))
}

/// The graph that an op of these inputs is added to: that which was entered last, or that of the inputs.
pub(crate) fn target(inputs: &Bound<'_, PyTuple>) -> Option<Shared> {
    entered().or_else(|| match graph_in(inputs.as_any(), 0) {
        ControlFlow::Break(found) => found,
        ControlFlow::Continue(()) => None,
    })
}

/// The graph of the first output in a value, or in what is in it if it is a list or tuple. Lists that are too deep for any tensor, as
/// those that hold themselves are, end the search.
fn graph_in(value: &Bound<'_, PyAny>, depth: usize) -> ControlFlow<Option<Shared>> {
    if let Ok(output) = value.cast::<SymbolicTensor>() {
        return ControlFlow::Break(Some(output.get().graph.clone()));
    }
    let mut next = |item: Bound<'_, PyAny>| graph_in(&item, depth + 1);
    match (value.cast::<PyList>(), value.cast::<PyTuple>()) {
        (Err(_), Err(_)) => ControlFlow::Continue(()),
        // An input that is a list of tensors is within the tuple of all inputs.
        _ if depth > MOST_DEEP + 2 => ControlFlow::Break(None),
        (Ok(list), _) => list.iter().try_for_each(&mut next),
        (_, Ok(tuple)) => tuple.iter().try_for_each(&mut next),
    }
}

/// Does `work`, which takes operands of Python's, for a graph.
fn with_target<R>(target: &Shared, work: impl FnOnce() -> R) -> R {
    /// What was there, which is put back even if `work` panics.
    struct Before(Option<Shared>);

    impl Drop for Before {
        fn drop(&mut self) {
            TARGET.set(self.0.take());
        }
    }

    let _before = Before(TARGET.replace(Some(target.clone())));
    work()
}

/// What a value is in a graph, which it is made a part of: an output of it, what it captures, or a constant.
pub(crate) fn output_for(target: &Shared, value: &Bound<'_, PyAny>) -> PyResult<Output> {
    match with_target(target, || operand::<Output>(value))? {
        Converted::Operand(Operand::Value(output)) => Ok(output),
        Converted::Operand(Operand::Constant(tensor) | Operand::Literal(tensor)) => {
            with(target, |state| constant(&mut state.graph, tensor))
        }
        Converted::Flexible(flexible) => with(target, |state| constant(&mut state.graph, flexible.tensor)),
    }
}

impl Given for Output {
    fn given(value: &Bound<'_, PyAny>) -> PyResult<Option<Operand<Output>>> {
        let target = TARGET.with_borrow(Clone::clone);
        let target = target.ok_or_else(|| PyRuntimeError::new_err("no node is being added to a graph"))?;
        if let Ok(output) = value.cast::<SymbolicTensor>() {
            let symbolic = output.get();
            if Arc::ptr_eq(&symbolic.graph, &target) {
                if lock(&target).body.as_ref().is_some_and(|body| body.is_finished) {
                    return Err(out_of_scope(&symbolic.name()));
                }
                return Ok(Some(Operand::Value(symbolic.output)));
            }
            let is_body = lock(&target).body.is_some();
            if is_body && is_entered(&symbolic.graph) {
                return body::capture_output(&target, output).map(|output| Some(Operand::Value(output)));
            }
            let is_of_body = lock(&symbolic.graph).body.is_some();
            return Err(match is_of_body {
                true => out_of_scope(&symbolic.name()),
                false => PyValueError::new_err(format!(
                    "{} is of another graph: a function takes what it computes with as arguments",
                    symbolic.name()
                )),
            });
        }
        let Ok(tensor) = value.cast::<Tensor>() else { return Ok(None) };
        if lock(&target).body.is_some() {
            return body::capture_tensor(&target, tensor).map(|output| Some(Operand::Value(output)));
        }
        let core = tensor.get().core();
        if core.dtype().is_pod() || core.dtype() == DataType::String {
            return Ok(Some(Operand::Constant(core.clone())));
        }
        let message = "a graph has no constants of resources and variants: make the variable by an op of the graph";
        Err(PyTypeError::new_err(message))
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

fn out_of_scope(name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{name} is out of scope: it is of the trace of a function, which gives what it computes by returning it"
    ))
}

/// Adds a constant.
pub(crate) fn constant(graph: &mut CoreGraph, value: CoreTensor) -> kernlink::Result<Output> {
    let registry = graph.registry().clone();
    let mut request = NodeRequest::new(registry.op("Const")?.def);
    request.attrs.insert("dtype", value.dtype());
    request.attrs.insert("value", value);
    graph.apply(request)?.outputs.take(0)
}

/// Adds what is fed, or an argument.
pub(crate) fn placeholder(
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
    let mut request = with_target(target, request)?;
    let context = crate::eager::context(py)?;
    let (node, outputs) = with(target, |state| {
        bring_functions(context, state, &request);
        let has_effect = def.is_stateful && def.name != "Placeholder";
        if let Some(body) = state.body.as_ref().filter(|_| has_effect) {
            request.control_inputs.extend(body.last_effect);
        }
        request.name = state.node_name(&def.name, request.name.as_deref());
        let is_constant = def.inputs.is_empty() && !def.is_stateful;
        if !is_constant {
            request.control_inputs.extend(&state.waits);
        }
        let applied = state.graph.apply(request)?;
        if let Some(body) = state.body.as_mut().filter(|_| has_effect) {
            body.last_effect = Some(applied.node);
            body.effects.push(applied.node);
        }
        lengths.extend(applied.outputs.lengths(def));
        Ok((applied.node, applied.outputs.into_vec()))
    })?;
    let outputs = outputs.into_iter().map(|output| SymbolicTensor { graph: target.clone(), output }).collect();
    Ok((outputs, Bound::new(py, Operation { graph: target.clone(), node })?))
}

/// Gives a graph the functions that a node is to call; a body holds them.
fn bring_functions(context: &'static EagerContext, state: &mut State, request: &NodeRequest<'_, Output>) {
    let names: Vec<&str> = request.attrs.functions().map(|function| function.name.as_str()).collect();
    if names.is_empty() {
        return;
    }
    let held: Vec<Held> = names.iter().map(|name| Held::new(context, name)).collect();
    let brought = state.graph.bring_functions(&context.function_library(), &names);
    if let Some(body) = &mut state.body {
        body.held.extend(held);
        body.brought.extend(brought);
    }
}

arguments! {
    operation_name: String = "name", "a str";
}

/// A graph of ops. While it is entered, by `with`, functions of ops add nodes to it, and give outputs of nodes.
#[pyclass(module = "kernlink", name = "Graph", frozen)]
pub(crate) struct Graph(pub(crate) Shared);

#[pymethods]
impl Graph {
    /// A graph without nodes, or that of a serialized GraphDef.
    #[new]
    #[pyo3(signature = (graph_def=None))]
    fn new(py: Python<'_>, graph_def: Option<&Bound<'_, PyAny>>) -> PyResult<Graph> {
        let graph_def = graph_def.map(|bytes| serialized(bytes, "graph_def", "a serialized GraphDef")).transpose()?;
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
        lock(&graph.0).body = Some(Body::default());
        Ok(graph)
    }

    /// The graph that was entered last, if one is.
    #[staticmethod]
    fn _entered() -> Option<Graph> {
        entered().map(Graph)
    }

    /// Has ops run at once, whatever is entered, until `_resume`.
    #[staticmethod]
    fn _suspend() {
        ENTERED.with_borrow_mut(|graphs| graphs.push(None));
    }

    #[staticmethod]
    fn _resume() {
        ENTERED.with_borrow_mut(|graphs| {
            if let Some(at) = graphs.iter().rposition(Option::is_none) {
                graphs.remove(at);
            }
        });
    }

    /// Whether a value is an output of the graph.
    fn _has(&self, value: &Bound<'_, PyAny>) -> bool {
        value.cast::<SymbolicTensor>().is_ok_and(|output| Arc::ptr_eq(&output.get().graph, &self.0))
    }

    /// Whether a graph is entered on this thread.
    #[getter]
    fn _is_entered(&self) -> bool {
        is_entered(&self.0)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        ENTERED.with_borrow_mut(|graphs| graphs.push(Some(slf.get().0.clone())));
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {
        ENTERED.with_borrow_mut(|graphs| {
            let is_this = |graph: &Option<Shared>| graph.as_ref().is_some_and(|graph| Arc::ptr_eq(graph, &self.0));
            if let Some(at) = graphs.iter().rposition(is_this) {
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
        name: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<SymbolicTensor> {
        let name = name.map(|name| crate::values::name(name, "placeholder")).transpose()?;
        let (dtype, shape) = (crate::dtypes::dtype_of(dtype)?, shape.map(crate::values::shape).transpose()?);
        let output = with(&self.0, |state| {
            let name = state.node_name("Placeholder", name.as_deref());
            placeholder(&mut state.graph, dtype, shape, name)
        })?;
        Ok(SymbolicTensor { graph: self.0.clone(), output })
    }

    /// The graph as a serialized GraphDef.
    fn as_graph_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        crate::session::graph_def(py, &self.copied())
    }

    /// The graph in Graphviz's language.
    fn to_dot(&self, py: Python<'_>) -> PyResult<String> {
        let graph = self.copied();
        py.detach(|| Ok(kernlink::graph::to_dot(&graph.to_def()?))).or_raise()
    }

    /// Adds the nodes of a serialized GraphDef, with `name/` before their names if one is given.
    #[pyo3(signature = (graph_def, name=None))]
    fn import_graph_def(&self, graph_def: &Bound<'_, PyAny>, name: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let name = name.map(|name| text_argument("name", name)).transpose()?.flatten();
        let graph_def = serialized(graph_def, "graph_def", "a serialized GraphDef")?;
        let options = ImportOptions { prefix: name.unwrap_or_default(), ..ImportOptions::default() };
        let def = graph_from_bytes(graph_def).or_raise()?;
        with(&self.0, |state| state.graph.import_into(def, &options)).map(drop)
    }

    /// The operations, in the order in which they were added.
    fn get_operations(&self) -> Vec<Operation> {
        let state = lock(&self.0);
        state.graph.ids().map(|node| Operation { graph: self.0.clone(), node }).collect()
    }

    /// The operation of this name.
    fn get_operation_by_name(&self, #[pyo3(from_py_with = operation_name)] name: String) -> PyResult<Operation> {
        match lock(&self.0).graph.find(&name) {
            Some(node) => Ok(Operation { graph: self.0.clone(), node }),
            None => Err(pyo3::exceptions::PyKeyError::new_err(format!("there is no operation `{name}` in the graph"))),
        }
    }

    /// The gradients of the sum of `ys` with respect to `xs`, each an output or a list of them, as nodes of the graph: a list, with
    /// `None` where there is none.
    #[pyo3(signature = (ys, xs))]
    fn gradients(&self, ys: &Bound<'_, PyAny>, xs: &Bound<'_, PyAny>) -> PyResult<Vec<Option<SymbolicTensor>>> {
        let (ys, xs) = (self.outputs("ys", ys)?, self.outputs("xs", xs)?);
        let add = |graph: &mut CoreGraph| -> kernlink::Result<Vec<Option<Output>>> {
            let found = Gradients::of(ys).with_respect_to(xs).add_to(graph)?;
            let mut dense = |gradient: OutputGradient| gradient.dense(graph);
            found.into_iter().map(|gradient| gradient.map(&mut dense).transpose()).collect()
        };
        let found = with(&self.0, |state| add(&mut state.graph))?;
        let symbolic = |output: Option<Output>| output.map(|output| SymbolicTensor { graph: self.0.clone(), output });
        Ok(found.into_iter().map(symbolic).collect())
    }

    /// What bodies of functions capture, each thing once.
    #[staticmethod]
    fn _captured<'py>(py: Python<'py>, graphs: Vec<Bound<'py, Graph>>) -> Vec<Bound<'py, PyAny>> {
        let graphs: Vec<Shared> = graphs.iter().map(|graph| graph.get().0.clone()).collect();
        body::captured_by(py, &graphs)
    }

    /// What stands in the body of a function for what it captures.
    fn _capture(&self, value: &Bound<'_, PyAny>) -> PyResult<SymbolicTensor> {
        body::capture(&self.0, value).map(|output| SymbolicTensor { graph: self.0.clone(), output })
    }

    /// Begins a scope of names, a part of that which there is: returns that, and the new one, with a slash at its end.
    fn _enter_scope(&self, name: &str) -> PyResult<(String, String)> {
        let mut state = lock(&self.0);
        let before = state.scope.clone();
        let scope = state.scope_named(name)?;
        state.scope.clone_from(&scope);
        Ok((before, scope))
    }

    /// Goes back to a scope.
    fn _leave_scope(&self, before: String) {
        lock(&self.0).scope = before;
    }

    /// Has nodes that are added wait for others, besides those for which they wait already, or for none if there is no list;
    /// returns for which they waited.
    fn _wait_for(&self, nodes: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<Vec<Operation>> {
        let mut wanted = Vec::new();
        for node in nodes.iter().flatten() {
            if let Ok(operation) = node.cast::<Operation>() {
                wanted.push((operation.get().graph.clone(), operation.get().node));
            } else if let Ok(output) = node.cast::<SymbolicTensor>() {
                wanted.push((output.get().graph.clone(), output.get().output.node));
            } else if !node.is_instance_of::<Tensor>() {
                return Err(PyTypeError::new_err(format!(
                    "nodes wait for operations and tensors, not for what is of type {}",
                    node.get_type().name()?
                )));
            }
        }
        let mut state = lock(&self.0);
        let before = state.waits.clone();
        if nodes.is_none() {
            state.waits.clear();
        }
        // What a graph around computes is there when a body runs.
        for (_, node) in wanted.into_iter().filter(|(graph, _)| Arc::ptr_eq(graph, &self.0)) {
            if !state.waits.contains(&node) {
                state.waits.push(node);
            }
        }
        Ok(before.into_iter().map(|node| Operation { graph: self.0.clone(), node }).collect())
    }

    /// Makes a function of the graph, under a name that no other has, and adds it to those that can be called; returns what holds
    /// it, what it captured, and whether it has effects.
    fn _finish<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        inputs: Vec<Bound<'_, SymbolicTensor>>,
        outputs: Vec<Bound<'_, SymbolicTensor>>,
    ) -> PyResult<(Held, Vec<Bound<'py, PyAny>>, bool)> {
        let find = |tensors: &[Bound<'_, SymbolicTensor>]| -> PyResult<Vec<Output>> {
            tensors.iter().map(|tensor| tensor.get().output_in(&self.0)).collect()
        };
        body::finish(py, &self.0, name, find(&inputs)?, find(&outputs)?)
    }

    fn __repr__(&self) -> String {
        format!("<kernlink.Graph of {} operations>", lock(&self.0).graph.nodes().len())
    }
}

impl Graph {
    /// A graph that others may add to.
    pub(crate) fn of(graph: CoreGraph) -> Graph {
        Graph(Arc::new(Mutex::new(State::new(graph))))
    }

    /// An output of the graph, or those in a list or tuple of them.
    ///
    /// # Errors
    /// TypeError for what is neither, which is called `name`; ValueError for one of another graph.
    fn outputs(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<Output>> {
        let one = |value: &Bound<'_, PyAny>| match value.cast::<SymbolicTensor>() {
            Ok(output) => output.get().output_in(&self.0),
            Err(_) => Err(crate::values::wrong_argument(value, name, "outputs of the graph")),
        };
        match (value.cast::<PyList>(), value.cast::<PyTuple>()) {
            (Ok(list), _) => list.iter().map(|item| one(&item)).collect(),
            (_, Ok(tuple)) => tuple.iter().map(|item| one(&item)).collect(),
            _ => Ok(vec![one(value)?]),
        }
    }

    /// The graph as it is now, for work without the interpreter.
    pub(crate) fn copied(&self) -> Arc<CoreGraph> {
        lock(&self.0).graph.0.clone()
    }
}
