//! The functions of a graph, by name.
//!
//! They lie in layers, which copies of a library share: what is added to a copy lies above them, and what is known of a layer's
//! functions stays known. A layer is at least twice as large as the next, so that there are few.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::same_function::{are_same, distinct};
use crate::attr::{AttrValue, FunctionRef};
use crate::error::{Error, Result, shortened};
use crate::proto::{self, AttrValue as ProtoValue, FunctionDef, FunctionDefLibrary, GraphDef, NodeDef, attr_value};

/// What a function comes to by its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Whether it keeps a state or has effects, or calls one that does.
    pub(crate) is_stateful: bool,
    /// Whether it does more than to read variables which it is given, or calls one that does.
    pub(crate) is_active: bool,
    /// Whether it may come to call itself, or others that do.
    pub(crate) is_recursive: bool,
    /// How deeply calls are nested in it, if it is not recursive.
    pub(crate) height: usize,
}

/// What is known of the functions of a layer.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerReach {
    /// What each comes to, in their order.
    pub(super) reach: Vec<Reach>,
    /// What they call by names that no function in this layer or below has: nearly all are ops.
    pub(super) elsewhere: HashSet<String>,
}

/// Functions that were added together, or one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    /// How many functions are in the layers below.
    first: usize,
    functions: Vec<Arc<FunctionDef>>,
    by_name: HashMap<String, usize>,
    /// Once somebody has asked, or there is a layer above.
    known: OnceLock<LayerReach>,
}

impl Layer {
    fn new(first: usize, functions: Vec<Arc<FunctionDef>>) -> Layer {
        let names = functions.iter().enumerate();
        let names = names.filter_map(|(place, function)| Some((function.signature.as_ref()?.name.clone(), place)));
        Layer { first, by_name: names.collect(), functions, known: OnceLock::new() }
    }

    /// The functions, in order.
    pub(super) fn functions(&self) -> impl ExactSizeIterator<Item = &FunctionDef> {
        self.functions.iter().map(|function| &**function)
    }

    /// Where a function is among them.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// How many functions are in this layer and below.
    fn end(&self) -> usize {
        self.first + self.functions.len()
    }

    /// The functions of this layer and of one on it.
    fn with(&self, above: &Layer) -> Layer {
        let functions = self.functions.iter().chain(&above.functions).cloned().collect();
        let merged = Layer::new(self.first, functions);
        if let (Some(below), Some(above)) = (self.known.get(), above.known.get()) {
            let mut known = below.clone();
            known.reach.extend(&above.reach);
            known.elsewhere.extend(above.elsewhere.iter().cloned());
            _ = merged.known.set(known);
        }
        merged
    }
}

/// The functions of a graph, by name. No function calls one of a layer above its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Library {
    layers: Vec<Arc<Layer>>,
    /// Which functions are gradients of others.
    gradients: Arc<[proto::GradientDef]>,
    version: u64,
}

impl Library {
    /// The functions that come with a graph, if any do.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if two functions of one name differ, or a function has two gradients.
    pub(super) fn of(def: &GraphDef) -> Result<Option<Library>> {
        let GraphDef { library, .. } = def;
        let Some(library) = library else { return Ok(None) };
        let functions = distinct(library)?.into_iter().cloned().map(Arc::new).collect();
        Ok(Some(Library::with(functions, library.gradient.clone())))
    }

    fn with(functions: Vec<Arc<FunctionDef>>, gradients: Vec<proto::GradientDef>) -> Library {
        let layers = vec![Arc::new(Layer::new(0, functions))];
        Library { layers, gradients: gradients.into(), version: new_version() }
    }

    /// Another one after each change; libraries that have the same one are equal.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The library without a function, and without what is said of its gradient or that it is one; `None` if it has no such
    /// function.
    pub(super) fn without(&self, name: &str) -> Option<Library> {
        let removed = self.find_shared(name)?;
        let functions = self.shared().filter(|function| !Arc::ptr_eq(function, removed)).cloned().collect();
        let others =
            self.gradients.iter().filter(|gradient| gradient.function_name != name && gradient.gradient_func != name);
        Some(Library::with(functions, others.cloned().collect()))
    }

    /// The library as a message.
    pub(super) fn to_def(&self) -> FunctionDefLibrary {
        FunctionDefLibrary { function: self.iter().cloned().collect(), gradient: self.gradients.to_vec() }
    }

    /// The functions, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &FunctionDef> {
        self.shared().map(|function| &**function)
    }

    fn shared(&self) -> impl Iterator<Item = &Arc<FunctionDef>> {
        self.layers.iter().flat_map(|layer| &layer.functions)
    }

    /// How many functions there are.
    pub(super) fn len(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.end())
    }

    /// Adds a function whose name none has yet. `look` finds out what there is to know of a layer.
    pub(super) fn insert(&mut self, name: String, function: FunctionDef, look: impl Fn(&Library, usize) -> LayerReach) {
        for index in 0..self.layers.len() {
            // One that is called already belongs to its callers' layer, with all between.
            if self.known(index, &look).elsewhere.contains(&name) {
                let functions = self.layers.drain(index..).collect::<Vec<_>>();
                let first = functions.first().map_or(0, |layer| layer.first);
                let functions = functions.iter().flat_map(|layer| layer.functions.iter().cloned()).collect();
                self.layers.push(Arc::new(Layer::new(first, functions)));
                self.push(name, function);
                return;
            }
        }
        self.merge();
        self.layers.push(Arc::new(Layer { first: self.len(), ..Layer::default() }));
        self.push(name, function);
    }

    /// Adds the functions of another library that this one lacks, and what is said there of gradients; returns whether there are
    /// any. `look` is as for [`Library::insert`].
    ///
    /// # Errors
    /// ALREADY_EXISTS if functions of one name differ; the library has some of the others then.
    pub(super) fn add_all(
        &mut self,
        other: &Library,
        look: impl Fn(&Library, usize) -> LayerReach + Copy,
    ) -> Result<bool> {
        let before = self.len();
        for function in other.shared() {
            let Some(signature) = &function.signature else { continue };
            match self.find_shared(&signature.name) {
                None => self.insert(signature.name.clone(), FunctionDef::clone(function), look),
                Some(known) if Arc::ptr_eq(known, function) || are_same(known, function) => {}
                Some(_) => {
                    let name = shortened(&signature.name);
                    return Err(Error::already_exists(format!("there is another function `{name}` already")));
                }
            }
        }
        let has_more_gradients = other.gradients.len() > self.gradients.len();
        if has_more_gradients {
            self.gradients = other.gradients.clone();
            self.version = new_version();
        }
        Ok(has_more_gradients || self.len() > before)
    }

    /// Adds a function to the uppermost layer, of which nothing is known any more.
    fn push(&mut self, name: String, function: FunctionDef) {
        self.version = new_version();
        let Some(layer) = self.layers.last_mut().map(Arc::make_mut) else { return };
        layer.known.take();
        layer.by_name.insert(name, layer.functions.len());
        layer.functions.push(Arc::new(function));
    }

    /// Merges layers that are not twice as large as what is above them.
    fn merge(&mut self) {
        while let [.., below, above] = &self.layers[..]
            && below.functions.len() < 2 * above.functions.len()
        {
            let merged = Arc::new(below.with(above));
            self.layers.truncate(self.layers.len() - 2);
            self.layers.push(merged);
        }
    }

    /// What is known of a layer, which `look` finds out if nobody has asked yet.
    pub(super) fn known(&self, index: usize, look: impl Fn(&Library, usize) -> LayerReach) -> &LayerReach {
        self.layers[index].known.get_or_init(|| look(self, index))
    }

    /// The layers, the lowest first.
    pub(super) fn layers(&self) -> &[Arc<Layer>] {
        &self.layers
    }

    /// Where a function is: in which layer, and where there.
    pub(super) fn place(&self, name: &str) -> Option<(usize, usize)> {
        let layers = self.layers.iter().enumerate().rev();
        layers.filter_map(|(index, layer)| Some((index, layer.place(name)?))).next()
    }

    /// The function with this name.
    pub(super) fn find(&self, name: &str) -> Option<&FunctionDef> {
        self.find_shared(name).map(|function| &**function)
    }

    /// The same, shared.
    pub(super) fn find_shared(&self, name: &str) -> Option<&Arc<FunctionDef>> {
        let (layer, place) = self.place(name)?;
        Some(&self.layers[layer].functions[place])
    }

    /// Says that a function is the gradient of another one, which has none yet.
    pub(super) fn name_gradient(&mut self, function: &str, gradient: &str) {
        let named = proto::GradientDef { function_name: function.to_owned(), gradient_func: gradient.to_owned() };
        self.gradients = self.gradients.iter().cloned().chain([named]).collect();
        self.version = new_version();
    }

    /// The function that the library says is the gradient of another one.
    pub(super) fn gradient_of(&self, name: &str) -> Option<&str> {
        let found = self.gradients.iter().find(|gradient| gradient.function_name == name);
        found.map(|gradient| gradient.gradient_func.as_str()).filter(|gradient| !gradient.is_empty())
    }

    /// The names of the functions, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().filter_map(|function| Some(function.signature.as_ref()?.name.as_str()))
    }

    /// The names of the functions that calls can come to run, with their gradients.
    pub(super) fn reached<'c>(&self, calls: impl Iterator<Item = &'c FunctionRef>) -> HashSet<&str> {
        let mut used: HashSet<&str> = HashSet::new();
        let mut open: Vec<String> = calls.flat_map(functions_in).collect();
        while let Some(name) = open.pop() {
            let Some(function) = self.find(&name) else { continue };
            let name = name_of(function);
            if used.insert(name) {
                let nodes = &function.node_def;
                open.extend(
                    nodes.iter().flat_map(|node| node.attr.values()).flat_map(named_functions).map(str::to_owned),
                );
                open.extend(nodes.iter().map(|node| node.op.clone()));
                let gradients = self.gradients.iter().filter(|gradient| gradient.function_name == name);
                open.extend(gradients.map(|gradient| gradient.gradient_func.clone()));
            }
        }
        used
    }

    /// The functions that calls can come to run, with their gradients; `None` if there are none.
    pub(super) fn retained<'c>(&self, calls: impl Iterator<Item = &'c FunctionRef>) -> Option<Library> {
        let used = self.reached(calls);
        if used.is_empty() {
            return None;
        }
        let functions =
            self.shared().filter(|function| function.signature.is_some() && used.contains(name_of(function)));
        let gradients = self.gradients.iter().filter(|gradient| used.contains(&*gradient.function_name));
        Some(Library::with(functions.cloned().collect(), gradients.cloned().collect()))
    }

    /// The functions of this library, and those of another that calls can come to run and that it lacks, with their names. They are
    /// shared with the other. `None` if it lacks none.
    pub(super) fn joined<'c>(
        &self,
        other: &Library,
        calls: impl Iterator<Item = &'c FunctionRef>,
    ) -> Option<(Library, Vec<String>)> {
        let mut lacking = other.reached(calls);
        lacking.retain(|name| self.place(name).is_none());
        if lacking.is_empty() {
            return None;
        }
        let lacks = |function: &&Arc<FunctionDef>| function.signature.is_some() && lacking.contains(name_of(function));
        let functions = self.shared().chain(other.shared().filter(lacks)).cloned().collect();
        let others = other.gradients.iter().filter(|gradient| lacking.contains(&*gradient.function_name));
        let gradients = self.gradients.iter().chain(others).cloned().collect();
        let names = lacking.iter().map(|name| (*name).to_owned()).collect();
        Some((Library::with(functions, gradients), names))
    }

    /// The functions that nodes name in their attrs, and those that their bodies name in turn.
    pub(super) fn reachable<'a>(&'a self, nodes: &'a [NodeDef]) -> Vec<&'a FunctionDef> {
        let mut seen = HashSet::new();
        let mut found: Vec<&FunctionDef> = Vec::new();
        let mut pending: Vec<&[NodeDef]> = vec![nodes];
        while let Some(nodes) = pending.pop() {
            for name in called_by(nodes) {
                if let Some(function) = self.find(name)
                    && seen.insert(name)
                {
                    found.push(function);
                    pending.push(&function.node_def);
                }
            }
        }
        found
    }
}

/// A version that no library has had. An empty library without gradients has 0.
fn new_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Empty for one without a signature.
pub(crate) fn name_of(function: &FunctionDef) -> &str {
    function.signature.as_ref().map_or("", |signature| &signature.name)
}

/// The names of a function and of those that are handed to it.
pub(crate) fn functions_in(call: &FunctionRef) -> Vec<String> {
    let mut names = vec![call.name.clone()];
    let mut open: Vec<&AttrValue> = call.attrs.values().collect();
    while let Some(value) = open.pop() {
        let functions = value.functions();
        names.extend(functions.iter().map(|function| function.name.clone()));
        open.extend(functions.iter().flat_map(|function| function.attrs.values()));
    }
    names
}

/// The functions of a library that nodes can come to call, with their gradients.
pub fn called_functions(library: &FunctionDefLibrary, nodes: &[NodeDef]) -> FunctionDefLibrary {
    let mut left: HashMap<&str, &FunctionDef> =
        library.function.iter().map(|function| (name_of(function), function)).collect();
    let mut open: Vec<&str> = called_by(nodes).collect();
    let mut called = FunctionDefLibrary::default();
    while let Some(name) = open.pop() {
        // Each once, whatever calls it.
        let Some(function) = left.remove(name) else { continue };
        open.extend(called_by(&function.node_def));
        called.function.push(function.clone());
        for gradient in library.gradient.iter().filter(|gradient| gradient.function_name == name) {
            open.push(&gradient.gradient_func);
            called.gradient.push(gradient.clone());
        }
    }
    called
}

/// The names that nodes may call functions by: those in attrs, and their ops.
pub(super) fn called_by(nodes: &[NodeDef]) -> impl Iterator<Item = &str> {
    let named = nodes.iter().flat_map(|node| node.attr.values()).flat_map(named_functions);
    named.chain(nodes.iter().map(|node| node.op.as_str()))
}

/// The names of the functions in an attr, and of those that are handed to them.
fn named_functions(value: &ProtoValue) -> Vec<&str> {
    let mut names = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let functions = match &value.value {
            Some(attr_value::Value::Func(function)) => std::slice::from_ref(function),
            Some(attr_value::Value::List(list)) => &list.func,
            _ => &[],
        };
        names.extend(functions.iter().map(|function| function.name.as_str()));
        open.extend(functions.iter().flat_map(|function| function.attr.values()));
    }
    names
}
