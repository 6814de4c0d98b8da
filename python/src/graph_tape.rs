//! Tapes of a graph: they know which nodes were added while they recorded, and add the nodes of gradients of these.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};

use kernlink::dtype::DataType;
use kernlink::gradient::Gradients;
use kernlink::graph::{Graph as CoreGraph, Output};
use kernlink::tensor::ResourceHandle;
use pyo3::prelude::*;

use crate::body::{captured_tensor, find_captured};
use crate::gradients::gradient_object;
use crate::graph::{Shared, entered, lock, output_for, with};
use crate::locks::locked;
use crate::symbolic::SymbolicTensor;
use crate::tape::is_trainable_handle;

/// What was recorded of a graph.
#[derive(Default)]
struct Recorded {
    /// The places of nodes that were added while the tape recorded; the last is open while it does.
    ranges: Vec<(usize, usize)>,
    watched: HashSet<Output>,
}

/// Records the nodes that are added to the graph that is entered when it is made.
#[pyclass(module = "kernlink._kernlink", name = "GraphTape", frozen)]
pub(crate) struct GraphTape {
    graph: Shared,
    watches_variables: bool,
    recorded: Mutex<Recorded>,
}

/// What depends on what is watched.
struct Known {
    outputs: HashSet<Output>,
    /// What nodes take that the tape did not record: nothing flows through it.
    constants: Vec<Output>,
    /// The handles that were watched as nodes read their variables.
    handles: Vec<Output>,
}

impl GraphTape {
    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        locked(&self.recorded)
    }

    /// What a value is in the graph, if it is there.
    fn find(&self, value: &Bound<'_, PyAny>) -> Option<Output> {
        match value.cast::<SymbolicTensor>() {
            Ok(output) if Arc::ptr_eq(&output.get().graph, &self.graph) => Some(output.get().output),
            _ => find_captured(&self.graph, value),
        }
    }

    fn known(&self, py: Python<'_>) -> Known {
        let recorded = self.recorded();
        let nodes: Vec<(Vec<Output>, Vec<Output>)> = {
            let state = lock(&self.graph);
            let nodes = recorded.ranges.iter().flat_map(|&(start, end)| state.graph.ids_from(start).take(end - start));
            nodes
                .map(|id| {
                    let node = state.graph.node(id);
                    let outputs = (0..node.signature.outputs.len()).map(|index| Output { node: id, index });
                    (node.inputs.to_vec(), outputs.collect())
                })
                .collect()
        };
        let mut known = Known { outputs: recorded.watched.clone(), constants: Vec::new(), handles: Vec::new() };
        let mut seen = HashSet::new();
        let mut taped: HashSet<Output> = HashSet::new();
        for (inputs, outputs) in &nodes {
            for &input in inputs {
                if self.watches_variables && !outputs.is_empty() && seen.insert(input) && self.is_variable(py, input) {
                    known.outputs.insert(input);
                    known.handles.push(input);
                }
            }
            if inputs.iter().any(|input| known.outputs.contains(input)) {
                known.outputs.extend(outputs);
                taped.extend(outputs);
            }
        }
        let inputs = nodes.iter().flat_map(|(inputs, _)| inputs).filter(|input| !taped.contains(input));
        known.constants = inputs.copied().collect();
        known
    }

    /// Whether an output is the handle of a variable that is trained.
    fn is_variable(&self, py: Python<'_>, output: Output) -> bool {
        let state = lock(&self.graph);
        let node = state.graph.node(output.node);
        let is_handle = node.signature.outputs[output.index].dtype == DataType::Resource;
        drop(state);
        is_handle
            && captured_tensor(py, &self.graph, output).is_none_or(|tensor| is_trainable_handle(tensor.get().core()))
    }
}

#[pymethods]
impl GraphTape {
    /// A tape of the graph that is entered; `None` if there is none.
    #[staticmethod]
    fn of_entered(watches_variables: bool) -> Option<GraphTape> {
        Some(GraphTape { graph: entered()?, watches_variables, recorded: Mutex::default() })
    }

    /// Records the nodes that are added from now on.
    fn start(&self) {
        let count = lock(&self.graph).graph.nodes().len();
        self.recorded().ranges.push((count, usize::MAX));
    }

    /// Records no longer.
    fn stop(&self) {
        let count = lock(&self.graph).graph.nodes().len();
        if let Some(last) = self.recorded().ranges.last_mut() {
            last.1 = last.1.min(count);
        }
    }

    fn pause(&self, pause: bool) {
        if pause { self.stop() } else { self.start() }
    }

    fn watch(&self, values: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        for value in values {
            let output = output_for(&self.graph, &value)?;
            self.recorded().watched.insert(output);
        }
        Ok(())
    }

    /// Forgets what was recorded and watched, but goes on.
    fn reset(&self) {
        let count = lock(&self.graph).graph.nodes().len();
        let mut recorded = self.recorded();
        let is_open = recorded.ranges.last().is_some_and(|&(_, end)| end == usize::MAX);
        *recorded = Recorded::default();
        if is_open {
            recorded.ranges.push((count, usize::MAX));
        }
    }

    /// The names of the resources of the variables that are watched.
    fn handle_names(&self, py: Python<'_>) -> Vec<String> {
        let mut handles = self.known(py).handles;
        handles.extend(self.recorded().watched.iter().copied());
        let mut names: Vec<String> = Vec::new();
        for output in handles {
            if let Some(tensor) = captured_tensor(py, &self.graph, output)
                && let Ok([handle]) = tensor.get().core().as_slice::<ResourceHandle>()
                && !names.contains(&handle.name)
            {
                names.push(handle.name.clone());
            }
        }
        names
    }

    /// Adds the gradients of the sum of `ys`, to which `flows` flow back, with respect to `xs`.
    fn gradients<'py>(
        &self,
        py: Python<'py>,
        ys: Vec<Bound<'py, PyAny>>,
        xs: Vec<Bound<'py, PyAny>>,
        flows: Option<Vec<Bound<'py, PyAny>>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let known = self.known(py);
        let flows = match flows {
            Some(flows) => flows.iter().map(|flow| output_for(&self.graph, flow).map(Some)).collect::<PyResult<_>>()?,
            None => vec![None; ys.len()],
        };
        let is_known = |output: &Output| known.outputs.contains(output);
        let starts = ys.iter().zip(flows).filter_map(|(y, flow)| Some((self.find(y).filter(is_known)?, flow)));
        let (ys, flows): (Vec<Output>, Vec<Option<Output>>) = starts.unzip();
        let xs: Vec<Option<Output>> = xs.iter().map(|x| self.find(x).filter(is_known)).collect();
        let add = |graph: &mut CoreGraph| {
            let found = Gradients::of(ys).grad_ys(flows).with_respect_to(xs.iter().copied().flatten());
            found.stop_gradients(known.constants.iter().copied()).add_to(graph)
        };
        let mut found = with(&self.graph, |state| add(&mut state.graph))?.into_iter();
        let symbolic = |output| SymbolicTensor { graph: self.graph.clone(), output };
        let gradients = xs.iter().map(|x| x.and_then(|_| found.next()).flatten());
        gradients.map(|gradient| gradient_object(py, gradient, symbolic)).collect()
    }
}
