//! The functions of ops that Python makes, in the library of the context in which ops run: each is there as long as something
//! holds it, or a function that calls it.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex};

use kernlink::graph::Graph as CoreGraph;
use kernlink::proto::{AttrValue, FunctionDef, attr_value};
use kernlink::runtime::EagerContext;
use pyo3::prelude::*;

use crate::locks::locked;

/// The names that are held, with how often.
#[derive(Default)]
struct Names {
    held: HashMap<String, usize>,
    /// How many were let go since the library was last cleared of them.
    let_go: usize,
}

static NAMES: LazyLock<Mutex<Names>> = LazyLock::new(Mutex::default);

/// So many functions may be there in vain: whoever removes some looks at all.
const ENOUGH: usize = 64;

/// Holds a function of the library.
#[pyclass(module = "kernlink._kernlink", name = "HeldFunction", frozen)]
pub(crate) struct Held {
    name: String,
    context: &'static EagerContext,
    process: u32,
}

impl Held {
    pub(crate) fn new(context: &'static EagerContext, name: &str) -> Held {
        let mut names = locked(&NAMES);
        *names.held.entry(name.to_owned()).or_default() += 1;
        Held { name: name.to_owned(), context, process: std::process::id() }
    }
}

#[pymethods]
impl Held {
    /// The function's name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // In a forked process a thread that is not there may have the locks.
        if self.process != std::process::id() {
            return;
        }
        let mut names = locked(&NAMES);
        let Some(count) = names.held.get_mut(&self.name) else { return };
        *count -= 1;
        if *count > 0 {
            return;
        }
        names.held.remove(&self.name);
        names.let_go += 1;
        if names.let_go >= ENOUGH.max(names.held.len()) {
            names.clear(self.context);
        }
    }
}

impl Names {
    /// Removes the functions that nothing holds.
    fn clear(&mut self, context: &EagerContext) {
        self.let_go = 0;
        let held: Vec<&str> = self.held.keys().map(String::as_str).collect();
        context.retain_functions(&held);
    }
}

/// Removes the functions that nothing holds, with their kernels.
pub(crate) fn clear(context: &EagerContext) {
    locked(&NAMES).clear(context);
}

/// The names of the functions in the library of the context.
#[pyfunction]
pub(crate) fn function_names(py: Python<'_>) -> PyResult<Vec<String>> {
    let library = crate::eager::context(py)?.function_library();
    Ok(library.function_names().into_iter().map(str::to_owned).collect())
}

/// A function and those that it calls in the library of its graph, but for those that were brought. The others were made in the graph,
/// as parts of gradients, and get names of their own: other graphs, and tapes, make others under the same.
pub(crate) fn with_called(
    graph: &mut CoreGraph,
    brought: &HashSet<String>,
    function: FunctionDef,
    name: &str,
) -> kernlink::Result<Vec<FunctionDef>> {
    graph.add_functions(&[function])?;
    let called = graph.functions_called(&[name]);
    let own = called.iter().filter(|called| !brought.contains(*called));
    let renamed: HashMap<String, String> = own
        .map(|called| (called.clone(), if called == name { called.clone() } else { format!("{name}_{called}") }))
        .collect();
    let defs = renamed.keys().filter_map(|called| graph.function_def(called)).cloned().map(|mut def| {
        if let Some(signature) = &mut def.signature {
            rename(&mut signature.name, &renamed);
        }
        for node in &mut def.node_def {
            rename(&mut node.op, &renamed);
            node.attr.values_mut().for_each(|value| rename_in(value, &renamed));
        }
        def
    });
    Ok(defs.collect())
}

fn rename(name: &mut String, renamed: &HashMap<String, String>) {
    if let Some(other) = renamed.get(name) {
        name.clone_from(other);
    }
}

fn rename_in(value: &mut AttrValue, renamed: &HashMap<String, String>) {
    let functions = match &mut value.value {
        Some(attr_value::Value::Func(function)) => std::slice::from_mut(function),
        Some(attr_value::Value::List(list)) => &mut list.func[..],
        _ => &mut [],
    };
    for function in functions {
        rename(&mut function.name, renamed);
        function.attr.values_mut().for_each(|value| rename_in(value, renamed));
    }
}
