//! Functions that come and go while ops run, and the steps that ops belong to.

use std::sync::Arc;

use super::EagerContext;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::optimize::Optimizer;
use crate::proto::FunctionDef;
use crate::runtime::functions::{CALL_DEPTH, Functions};
use crate::runtime::place::add_host;
use crate::step::lock;

impl EagerContext {
    /// The functions that can be called, as the library of a graph without nodes.
    pub fn function_library(&self) -> Arc<Graph> {
        match self.shared.kernels.functions() {
            Some(functions) => functions.graph(),
            None => Arc::new(Graph::new(self.registry())),
        }
    }

    /// Adds functions to those that can be called. One that is there already, and is the same, stays; if one cannot be added,
    /// none is.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for one without a name, and one whose name another function or an op has.
    pub fn add_functions(&self, functions: &[FunctionDef]) -> Result<()> {
        let _turn = lock(&self.shared.changing);
        if let Some(known) = self.shared.kernels.functions() {
            return known.add(functions);
        }
        let mut graph = Graph::new(self.registry());
        graph.add_functions(functions)?;
        self.call_functions_of(&graph);
        Ok(())
    }

    /// Removes a function, and drops the kernels that call functions, with the state that these keep. Calls that run go on.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such function.
    pub fn remove_function(&self, name: &str) -> Result<()> {
        let _turn = lock(&self.shared.changing);
        let mut graph = Graph::clone(&self.function_library());
        if !graph.remove_function(name) {
            return Err(Error::invalid_argument(format!("Tried to remove non-existent function '{name}'.")));
        }
        self.call_functions_of(&graph);
        Ok(())
    }

    /// Removes all functions but some, those that they call, and what was derived of these for gradients: for programs that make
    /// functions as they go. Kernels of what stays keep their state; calls that run go on.
    pub fn retain_functions(&self, names: &[&str]) {
        let _turn = lock(&self.shared.changing);
        if let Some(functions) = self.shared.kernels.functions() {
            let gone = functions.retain(names);
            self.shared.kernels.forget_calls(&gone);
        }
    }

    /// Has kernels call the functions of a graph, and no others.
    fn call_functions_of(&self, graph: &Graph) {
        let mut devices = self.devices().to_vec();
        add_host(&mut devices);
        let optimizer = Optimizer::from_env();
        let functions = Functions::library(graph, &devices.into(), self.session(), true, &optimizer, CALL_DEPTH);
        self.shared.kernels.set_functions(functions);
    }

    /// Begins a step: resources that go with a step, such as the arrays that `TensorArrayV2` names, stay until every step that
    /// was begun has [ended](EagerContext::end_step). Otherwise each op is a step of its own.
    pub fn begin_step(&self) {
        self.shared.steps.begin();
    }

    /// Ends a step. Without one there is nothing to end.
    pub fn end_step(&self) {
        self.shared.steps.end(self.session().resources());
    }
}
