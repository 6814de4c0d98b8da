//! Gradients of functions, which are derived as nodes run that ask for them: `SymbolicGradient`.

use std::collections::{BTreeSet, HashSet};
use std::ops::Deref;
use std::sync::Arc;

use crate::attr::FunctionRef;
use crate::dtype::DataType;
use crate::error::Result;
use crate::graph::Graph;
use crate::proto::{FunctionDef, GraphDef};

/// Adds to a graph's library the gradient of a function, which takes and returns these dtypes.
pub type DeriveGradient = fn(&mut Graph, &FunctionRef, &[DataType], &[DataType]) -> Result<DerivedGradient>;

/// The gradient of a function.
#[derive(Clone, Debug)]
pub struct DerivedGradient {
    /// It is in the graph's library.
    pub function: FunctionRef,
    /// The ops without which it cannot be derived, whether or not it has nodes of them in the end.
    pub ops: BTreeSet<&'static str>,
}

/// A function of the graph, or one that was derived.
pub(super) enum Callee<'a> {
    Given(&'a FunctionDef),
    Derived(Arc<FunctionDef>),
}

impl Deref for Callee<'_> {
    type Target = FunctionDef;

    fn deref(&self) -> &FunctionDef {
        match self {
            Callee::Given(function) => function,
            Callee::Derived(function) => function,
        }
    }
}

/// The gradients that a graph asks for.
pub(super) struct Derived<'a> {
    pub(super) def: &'a GraphDef,
    /// The functions, without nodes, once one is asked for.
    pub(super) library: Option<Graph>,
    pub(super) asked: HashSet<String>,
}

impl<'a> Derived<'a> {
    pub(super) fn of(def: &'a GraphDef) -> Derived<'a> {
        Derived { def, library: None, asked: HashSet::new() }
    }

    /// A function that came to be as one was derived.
    pub(super) fn function(&self, name: &str) -> Option<Callee<'a>> {
        self.library.as_ref()?.functions.as_ref()?.find_shared(name).cloned().map(Callee::Derived)
    }
}
