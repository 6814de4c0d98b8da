//! Functions as those who call them see them.

use super::ids::{NodeId, Output};
use crate::attr::FunctionRef;
use crate::dtype::DataType;

/// A function of a graph's library, as its callers see it.
#[derive(Clone, Debug)]
pub struct Function {
    pub(super) name: String,
    pub(super) arguments: Vec<DataType>,
    pub(super) results: Vec<DataType>,
    pub(super) captures: Vec<Output>,
    pub(super) waits: Vec<NodeId>,
    pub(super) is_stateful: bool,
}

impl Function {
    /// A function that is still to be defined, for bodies that call themselves. It must be defined without captures.
    pub fn declare(
        name: &str,
        arguments: impl IntoIterator<Item = DataType>,
        results: impl IntoIterator<Item = DataType>,
        is_stateful: bool,
    ) -> Function {
        Function {
            name: name.to_owned(),
            arguments: arguments.into_iter().collect(),
            results: results.into_iter().collect(),
            captures: Vec::new(),
            waits: Vec::new(),
            is_stateful,
        }
    }

    /// Its name in the library.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What an attr says that calls it.
    pub fn reference(&self) -> FunctionRef {
        FunctionRef { name: self.name.clone(), ..FunctionRef::default() }
    }

    /// The dtypes of all that it takes: the arguments, then the captures.
    pub fn argument_dtypes(&self) -> &[DataType] {
        &self.arguments
    }

    /// The dtypes of its results.
    pub fn result_dtypes(&self) -> &[DataType] {
        &self.results
    }

    /// What it takes after its arguments: the outputs outside that its body uses.
    pub fn captures(&self) -> &[Output] {
        &self.captures
    }

    /// The nodes outside that nodes of its body wait for: those that call it wait for them.
    pub fn control_captures(&self) -> &[NodeId] {
        &self.waits
    }

    /// Whether its body keeps a state or has effects.
    pub fn is_stateful(&self) -> bool {
        self.is_stateful
    }
}
