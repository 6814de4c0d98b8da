//! What is made of the functions of a library, whose functions are added to it: gradients.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use super::functions::{Derived, Functions, Made};
use super::library::shared;
use crate::error::Result;
use crate::graph::Graph;
use crate::step::{FunctionLibrary, lock};

/// What `make` makes of the functions of a library, as a graph without nodes, to whose library it may add others. It is kept: who
/// asks for the same `key` again is given it without `make` being called. It is kept as long as the library has all functions of the
/// names in `calls`.
///
/// # Errors
/// Those of `make`, which leave the library as it was; UNIMPLEMENTED if it is none of a session or an eager context.
pub(crate) fn derive(
    library: &dyn FunctionLibrary,
    key: Vec<u8>,
    calls: Vec<String>,
    make: impl FnOnce(&mut Graph) -> Result<Made>,
) -> Result<Made> {
    let functions = shared(library)?;
    // Whoever adds functions adds them to those that all others have added.
    let mut derived = lock(&functions.derived);
    if let Some(known) = derived.get(&key) {
        return Ok(known.made.clone());
    }
    let mut graph = Graph::clone(&functions.graph());
    let before = graph.num_functions();
    let made = make(&mut graph)?;
    let added = graph.function_names().into_iter().skip(before).map(str::to_owned).collect();
    *functions.graph.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(graph);
    derived.insert(key, Derived { made: made.clone(), calls, added });
    Ok(made)
}

impl Functions {
    /// Removes all functions but some, those that something holds or brought, those that all these call, and those that were derived
    /// of what stays; returns the names of what went. Bodies of what stays keep their state.
    pub(super) fn retain(&self, names: &[&str]) -> HashSet<String> {
        let mut derived = lock(&self.derived);
        // What is held from here on is looked for in what stays.
        let holds = lock(&self.holds);
        let before = self.graph();
        let also: Vec<String> = lock(&self.brought).keys().chain(holds.keys()).cloned().collect();
        let mut kept: Vec<&str> = names.iter().copied().chain(also.iter().map(String::as_str)).collect();
        let mut open: Vec<&Derived> = derived.values().collect();
        let mut reached = before.functions_called(&kept);
        // What is derived may be of what was derived.
        loop {
            let count = open.len();
            open.retain(|derived| {
                let stays = derived.calls.iter().all(|call| reached.contains(call));
                if stays {
                    kept.extend(derived.added.iter().map(String::as_str));
                }
                !stays
            });
            if open.len() == count {
                break;
            }
            reached = before.functions_called(&kept);
        }
        let mut after = before.without_nodes();
        after.retain_functions(&reached);
        let went = |derived: &Derived| !derived.calls.iter().all(|call| reached.contains(call));
        let went: Vec<_> = derived.extract_if(|_, derived| went(derived)).collect();
        let names = before.function_names().into_iter();
        let gone = names.filter(|name| !reached.contains(*name)).map(str::to_owned).collect();
        *self.graph.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(after);
        drop((holds, derived));
        // What goes may hold functions.
        drop(went);
        self.drop_bodies(&gone);
        gone
    }
}
