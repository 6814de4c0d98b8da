//! A library of functions as kernels look at it, and graphs that come as values: what they are made of is run among its functions.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, Weak};

use super::functions::{Derived, Functions, Scope, outlived};
use crate::error::{Error, Result};
use crate::graph::{FunctionBody, Graph, are_same_functions, name_of};
use crate::proto::{AttrValue, FunctionDef, GraphDef, NameAttrList, NodeDef, attr_value};
use crate::step::{Function, FunctionLibrary, lock};

/// What all functions of a library's session or context share.
///
/// # Errors
/// UNIMPLEMENTED if the library is none of a session or an eager context.
pub(super) fn shared(library: &dyn FunctionLibrary) -> Result<Arc<Functions>> {
    let library: &dyn Any = library;
    match (library.downcast_ref::<Functions>(), library.downcast_ref::<Scope>()) {
        (Some(functions), _) => functions.own.upgrade().ok_or_else(outlived),
        (_, Some(scope)) => scope.shared.upgrade().ok_or_else(outlived),
        _ => Err(Error::unimplemented("the functions of this library cannot be looked at, nor can others be added")),
    }
}

/// The functions of a session or an eager context, as the library of a graph without nodes: what a kernel looks them up in.
///
/// # Errors
/// UNIMPLEMENTED if the library is none of these; INTERNAL if its session is gone.
pub fn functions_of(library: &dyn FunctionLibrary) -> Result<Arc<Graph>> {
    Ok(shared(library)?.graph())
}

/// A graph that came as a value, as something to call; see [`graph_function`].
pub struct GraphFunction {
    /// Takes the feeds and gives the fetch.
    pub function: Arc<dyn Function>,
    /// The functions that came with the graph and that the library had not; they stay in it as long as this is held. What was
    /// made by the call may call them.
    pub brought: Option<Arc<BroughtFunctions>>,
}

/// Functions that came with a graph. They go from their library with the last who holds them.
pub struct BroughtFunctions {
    library: Weak<Functions>,
    names: Vec<String>,
}

/// Makes a graph something to call on a device: it is run among the functions of `library`, to which those are added that come with
/// it. One that has the name of another one there is given a name of its own, and so are the calls of it.
///
/// # Errors
/// As [`Graph::import`], [`Graph::output`] and [`functions_of`].
pub fn graph_function(
    library: &dyn FunctionLibrary,
    mut def: GraphDef,
    feeds: &[&str],
    fetch: &str,
    device: &str,
) -> Result<GraphFunction> {
    let functions = shared(library)?;
    let brought = functions.bring(&mut def)?.map(Arc::new);
    let graph = Graph::import(&def, functions.graph().registry())?;
    let arguments = feeds.iter().map(|name| graph.output(name)).collect::<Result<_>>()?;
    let results = vec![graph.output(fetch)?];
    let body = FunctionBody { graph, arguments, results, targets: Vec::new() };
    Ok(GraphFunction { function: functions.of_body(body, device), brought })
}

impl Functions {
    /// Adds the functions of a graph that are not there yet; renames those, in the graph too, whose names others have.
    fn bring(&self, def: &mut GraphDef) -> Result<Option<BroughtFunctions>> {
        let Some(library) = &def.library else { return Ok(None) };
        // Nothing else adds functions meanwhile.
        let _derived = lock(&self.derived);
        let known = self.graph();
        let renamed = renamed(&known, &library.function);
        if !renamed.is_empty() {
            rename(def, &renamed);
        }
        let functions = def.library.iter().flat_map(|library| &library.function);
        let mut counts = lock(&self.brought);
        let is_brought = |function: &&FunctionDef| {
            known.function_def(name_of(function)).is_none() || counts.contains_key(name_of(function))
        };
        let functions: Vec<FunctionDef> = functions.filter(is_brought).cloned().collect();
        if functions.is_empty() {
            return Ok(None);
        }
        let mut more = Graph::clone(&known);
        more.add_functions(&functions)?;
        *self.graph.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(more);
        let names: HashSet<String> = functions.iter().map(|function| name_of(function).to_owned()).collect();
        names.iter().for_each(|name| *counts.entry(name.clone()).or_default() += 1);
        Ok(Some(BroughtFunctions { library: self.own.clone(), names: names.into_iter().collect() }))
    }
}

impl Drop for BroughtFunctions {
    fn drop(&mut self) {
        let Some(functions) = self.library.upgrade() else { return };
        let mut gone = HashSet::new();
        {
            let mut derived = lock(&functions.derived);
            let mut counts = lock(&functions.brought);
            for name in &self.names {
                match counts.get_mut(name) {
                    // Somebody has added it since.
                    None => {}
                    Some(count) if *count > 1 => *count -= 1,
                    Some(_) => {
                        counts.remove(name);
                        gone.insert(name.clone());
                    }
                }
            }
            if gone.is_empty() {
                return;
            }
            // What was derived of them goes, too, and what was derived of that.
            while let Some(added) = {
                let of_gone = |derived: &Derived| derived.calls.iter().any(|call| gone.contains(call));
                let added: Vec<String> =
                    derived.extract_if(|_, derived| of_gone(derived)).flat_map(|(_, derived)| derived.added).collect();
                (!added.is_empty()).then_some(added)
            } {
                gone.extend(added);
            }
            let mut others = Graph::clone(&functions.graph());
            gone.iter().for_each(|name| _ = others.remove_function(name));
            *functions.graph.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(others);
        }
        functions.drop_bodies(&gone);
    }
}

/// Other names for the functions whose names differing functions have, and for those that call such.
fn renamed(known: &Graph, functions: &[FunctionDef]) -> BTreeMap<String, String> {
    let own: HashMap<&str, &FunctionDef> = functions.iter().map(|function| (name_of(function), function)).collect();
    let is_other = |function: &FunctionDef| {
        known.function_def(name_of(function)).is_some_and(|known| !are_same_functions(known, function))
    };
    let mut others: HashSet<&str> = functions.iter().filter(|function| is_other(function)).map(name_of).collect();
    // Those of known names that call a renamed one are renamed too: a known body calls the known functions.
    let mut callers: HashMap<String, Vec<&str>> = HashMap::new();
    for function in functions.iter().filter(|function| known.function_def(name_of(function)).is_some()) {
        for name in called(&function.node_def).into_iter().filter(|name| own.contains_key(&**name)) {
            callers.entry(name).or_default().push(name_of(function));
        }
    }
    let mut open: Vec<&str> = others.iter().copied().collect();
    while let Some(name) = open.pop() {
        for &caller in callers.get(name).into_iter().flatten() {
            if others.insert(caller) {
                open.push(caller);
            }
        }
    }
    let mut renamed = BTreeMap::new();
    for name in others {
        let mut number = 0_u64;
        let free = loop {
            let free = format!("{name}_{number}");
            if !known.has_function(&free) && !own.contains_key(&*free) && known.registry().op(&free).is_err() {
                break free;
            }
            number += 1;
        };
        renamed.insert(name.to_owned(), free);
    }
    renamed
}

/// The names of functions that nodes have in their ops and attrs.
fn called(nodes: &[NodeDef]) -> HashSet<String> {
    let mut names: HashSet<String> = nodes.iter().map(|node| node.op.clone()).collect();
    let mut nodes = nodes.to_vec();
    for value in nodes.iter_mut().flat_map(|node| node.attr.values_mut()) {
        for_each_call(value, &mut |call| _ = names.insert(call.name.clone()));
    }
    names
}

/// Goes through the functions that an attr names, with those in their attrs.
fn for_each_call(value: &mut AttrValue, look: &mut impl FnMut(&mut NameAttrList)) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let calls = match &mut value.value {
            Some(attr_value::Value::Func(call)) => std::slice::from_mut(call),
            Some(attr_value::Value::List(list)) => &mut list.func[..],
            _ => continue,
        };
        for call in calls {
            look(call);
            open.extend(call.attr.values_mut());
        }
    }
}

/// Gives functions of a graph other names.
fn rename(def: &mut GraphDef, renamed: &BTreeMap<String, String>) {
    let rename = |name: &mut String| {
        if let Some(other) = renamed.get(name) {
            name.clone_from(other);
        }
    };
    let rename_nodes = |nodes: &mut [NodeDef]| {
        for node in nodes {
            rename(&mut node.op);
            node.attr.values_mut().for_each(|value| for_each_call(value, &mut |call| rename(&mut call.name)));
        }
    };
    rename_nodes(&mut def.node);
    let Some(library) = &mut def.library else { return };
    for function in &mut library.function {
        if let Some(signature) = &mut function.signature {
            rename(&mut signature.name);
        }
        rename_nodes(&mut function.node_def);
    }
    for gradient in &mut library.gradient {
        rename(&mut gradient.function_name);
        rename(&mut gradient.gradient_func);
    }
}
