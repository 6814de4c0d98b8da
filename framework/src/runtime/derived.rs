//! What is made of the functions of a library, whose functions are added to it: gradients.

use std::any::Any;
use std::sync::{Arc, PoisonError};

use super::functions::{Derived, Functions, Scope, outlived};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::step::{FunctionLibrary, lock};

/// What `make` makes of the functions of a library, as a graph without nodes, to whose library it may add others. It is kept: who
/// asks for the same `key` again is given it without `make` being called.
///
/// # Errors
/// Those of `make`, which leave the library as it was; UNIMPLEMENTED if it is none of a session or an eager context.
pub(crate) fn derive(
    library: &dyn FunctionLibrary,
    key: Vec<u8>,
    make: impl FnOnce(&mut Graph) -> Result<Derived>,
) -> Result<Derived> {
    let library: &dyn Any = library;
    let shared;
    let functions = match (library.downcast_ref::<Functions>(), library.downcast_ref::<Scope>()) {
        (Some(functions), _) => functions,
        (_, Some(scope)) => {
            shared = scope.shared.upgrade().ok_or_else(outlived)?;
            &*shared
        }
        _ => return Err(Error::unimplemented("functions cannot be added to this library")),
    };
    // Whoever adds functions adds them to those that all others have added.
    let mut derived = lock(&functions.derived);
    if let Some(known) = derived.get(&key) {
        return Ok(known.clone());
    }
    let mut graph = Graph::clone(&functions.graph());
    let made = make(&mut graph)?;
    *functions.graph.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(graph);
    derived.insert(key, made.clone());
    Ok(made)
}
