//! Functions that come and go while ops run, and the steps that ops belong to.

use std::sync::Arc;

use super::{EagerContext, Shared};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::proto::FunctionDef;

impl EagerContext {
    /// The functions that can be called, as the library of a graph without nodes.
    pub fn function_library(&self) -> Arc<Graph> {
        self.shared.functions.graph()
    }

    /// Adds functions to those that can be called. One that is there already, and is the same, stays; if one cannot be added,
    /// none is.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for one without a name, and one whose name another function or an op has.
    pub fn add_functions(&self, functions: &[FunctionDef]) -> Result<()> {
        self.shared.functions.add(functions)
    }

    /// Removes a function, and drops the kernels that come to call it, with the state that these keep. Calls that run go on.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such function.
    pub fn remove_function(&self, name: &str) -> Result<()> {
        let Some(gone) = self.shared.functions.remove(name) else {
            return Err(Error::invalid_argument(format!("Tried to remove non-existent function '{name}'.")));
        };
        self.shared.kernels.forget_calls(&gone);
        Ok(())
    }

    /// Removes all functions but some, those that they call, what was derived of these for gradients, and what values need that
    /// call functions, such as datasets: for programs that make functions as they go. Kernels of what `names` reach keep their
    /// state; calls that run go on.
    pub fn retain_functions(&self, names: &[&str]) {
        let Shared { functions, kernels, .. } = &*self.shared;
        // A kernel that is only kept for the next call does not keep what it calls.
        kernels.forget_calls(&functions.others(names));
        kernels.forget_calls(&functions.retain(names));
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
