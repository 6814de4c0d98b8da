//! Functions that come and go while ops run, and the steps that ops belong to.

use std::sync::Arc;

use super::{EagerContext, library};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::proto::FunctionDef;
use crate::step::lock;

impl EagerContext {
    /// The functions that can be called, as the library of a graph without nodes.
    pub fn function_library(&self) -> Arc<Graph> {
        self.shared.kernels.functions().graph()
    }

    /// Adds functions to those that can be called. One that is there already, and is the same, stays; if one cannot be added,
    /// none is.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for one without a name, and one whose name another function or an op has.
    pub fn add_functions(&self, functions: &[FunctionDef]) -> Result<()> {
        let _turn = lock(&self.shared.changing);
        self.shared.kernels.functions().add(functions)
    }

    /// Removes a function, and drops the kernels that call functions, with the state that these keep. Calls that run go on, and
    /// datasets keep the functions that they call.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such function.
    pub fn remove_function(&self, name: &str) -> Result<()> {
        let _turn = lock(&self.shared.changing);
        let mut graph = Graph::clone(&self.function_library());
        if !graph.remove_function(name) {
            return Err(Error::invalid_argument(format!("Tried to remove non-existent function '{name}'.")));
        }
        self.shared.kernels.set_functions(library(&graph, self.devices(), self.session()));
        Ok(())
    }

    /// Removes all functions but some, those that datasets call, what these call, and what was derived of all these for gradients: for
    /// programs that make functions as they go. Kernels of what stays keep their state; calls that run go on. What a function that goes
    /// held goes with the next call.
    pub fn retain_functions(&self, names: &[&str]) {
        let _turn = lock(&self.shared.changing);
        let gone = self.shared.kernels.functions().retain(names);
        self.shared.kernels.forget_calls(&gone);
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
