//! The body of a function as a graph to run.

use std::collections::HashSet;
use std::sync::Arc;

use super::budget::Budget;
use super::function::{argument_dtypes, instantiate, result_dtypes};
use super::infer::Scope;
use super::library::Library;
use super::reach::look;
use super::{Graph, Node, NodeBuilder, NodeClass, NodeId, Output, created};
use crate::attr::{AttrValue, FunctionRef};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::proto::FunctionDef;
use crate::sort::CompactSort as _;
use crate::tensor::Tensor;

/// A function with the attrs of a call, ready to be planned.
#[derive(Clone)]
pub struct FunctionBody {
    /// The body: an `_Arg` for each argument and a `_Retval` for each result, and what is between.
    pub graph: Graph,
    /// The arguments, in order.
    pub arguments: Vec<Output>,
    /// What the results are, in order.
    pub results: Vec<Output>,
    /// The nodes that run whether or not a result needs them: those that have effects.
    pub targets: Vec<NodeId>,
}

impl FunctionBody {
    /// Has the nodes take constants in the place of the arguments with these numbers. The arguments stay, and results that are
    /// arguments stay these.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a value is not what the argument is; the body is as it was then.
    pub(crate) fn assume(&mut self, values: &[(usize, Tensor)]) -> Result<()> {
        let op = self.graph.registry().op(created::CONSTANT)?.def;
        let mut patch = self.graph.patch();
        for (index, value) in values {
            let Some(&argument) = self.arguments.get(*index) else { continue };
            let mut builder = NodeBuilder::new(&mut patch, op);
            builder.attr("dtype", value.dtype()).attr("value", value.clone());
            let constant = builder.build_output()?;
            patch.replace_uses(argument, constant);
        }
        let renumbering = patch.apply()?;
        let output = |output: &mut Output| *output = renumbering.output(*output).unwrap_or(*output);
        self.arguments.iter_mut().chain(&mut self.results).for_each(output);
        self.targets.iter_mut().for_each(|target| *target = renumbering.node(*target).unwrap_or(*target));
        Ok(())
    }
}

impl Graph {
    /// Whether the graph has a function of this name.
    pub fn has_function(&self, name: &str) -> bool {
        self.functions.as_ref().is_some_and(|functions| functions.find(name).is_some())
    }

    /// A function of the graph's library, as the message has it.
    pub fn function_def(&self, name: &str) -> Option<&FunctionDef> {
        self.functions.as_ref().and_then(|functions| functions.find(name))
    }

    /// The names of the graph's functions, in the order in which they were added.
    pub fn function_names(&self) -> Vec<&str> {
        self.functions.as_ref().map_or_else(Vec::new, |functions| functions.names().collect())
    }

    /// How many functions the graph has.
    pub fn num_functions(&self) -> usize {
        self.functions.as_ref().map_or(0, |functions| functions.len())
    }

    /// Another number after each change of the graph's functions, or of what is said of their gradients: graphs of which it is
    /// the same have the same.
    pub fn functions_version(&self) -> u64 {
        self.functions.as_ref().map_or(0, |functions| functions.version())
    }

    /// The graph without nodes, with those functions of another graph, too, that it lacks; `None` if it lacks none.
    ///
    /// # Errors
    /// ALREADY_EXISTS if functions of one name differ.
    pub(crate) fn with_functions_of(&self, other: &Graph) -> Result<Option<Graph>> {
        let Some(theirs) = other.functions.as_ref() else { return Ok(None) };
        if self.functions.as_ref().is_some_and(|own| Arc::ptr_eq(own, theirs)) {
            return Ok(None);
        }
        let mut functions = self.functions.as_deref().cloned().unwrap_or_default();
        let known = |functions: &Library, layer: usize| look(&self.registry, functions, layer);
        if functions.add_all(theirs, known)? {
            return Ok(Some(Graph { functions: Some(Arc::new(functions)), ..self.without_nodes() }));
        }
        Ok(None)
    }

    /// The ops of the nodes of a function, or the functions that these call by name; none if there is no such function.
    pub fn function_ops(&self, name: &str) -> impl Iterator<Item = &str> {
        let function = self.functions.as_ref().and_then(|functions| functions.find(name));
        function.into_iter().flat_map(|function| function.node_def.iter().map(|node| node.op.as_str()))
    }

    /// Removes a function, whether or not something calls it; returns whether there was one.
    pub fn remove_function(&mut self, name: &str) -> bool {
        let others = self.functions.as_ref().and_then(|functions| functions.without(name));
        let is_there = others.is_some();
        if is_there {
            self.functions = others.map(Arc::new);
        }
        is_there
    }

    /// Removes the functions that no node calls, nor another function that is called.
    pub fn remove_unused_functions(&mut self) {
        let Some(functions) = self.functions.as_deref() else { return };
        let used = functions.retained(self.nodes.iter().flat_map(called));
        self.functions = used.map(Arc::new);
    }

    /// The names of the functions that nodes can come to call.
    pub(crate) fn functions_reached(&self, nodes: &[NodeId]) -> HashSet<String> {
        let Some(functions) = self.functions.as_deref() else { return HashSet::new() };
        let reached = functions.reached(nodes.iter().flat_map(|&id| called(self.node(id))));
        reached.into_iter().map(str::to_owned).collect()
    }

    /// The names of some functions of the library, and of those that they can come to call.
    pub fn functions_called(&self, names: &[&str]) -> HashSet<String> {
        let Some(functions) = self.functions.as_deref() else { return HashSet::new() };
        let calls: Vec<FunctionRef> =
            names.iter().map(|name| FunctionRef { name: (*name).to_owned(), ..FunctionRef::default() }).collect();
        functions.reached(calls.iter()).into_iter().map(str::to_owned).collect()
    }

    /// Adds functions of another graph's library, and those that they can come to call, to this one's, as far as it has none of their
    /// names; returns the names of what it adds. All at once takes no longer than one by itself: what is there is shared.
    pub fn bring_functions(&mut self, from: &Graph, names: &[&str]) -> Vec<String> {
        let Some(other) = from.functions.as_deref() else { return Vec::new() };
        let calls: Vec<FunctionRef> =
            names.iter().map(|name| FunctionRef { name: (*name).to_owned(), ..FunctionRef::default() }).collect();
        match self.functions.as_deref().unwrap_or(&Library::default()).joined(other, calls.iter()) {
            None => Vec::new(),
            Some((library, added)) => {
                self.functions = Some(Arc::new(library));
                added
            }
        }
    }

    /// Removes the functions of other names than these, and than those that these call.
    pub(crate) fn retain_functions(&mut self, names: &HashSet<String>) {
        let Some(functions) = self.functions.as_deref() else { return };
        let calls: Vec<FunctionRef> =
            names.iter().map(|name| FunctionRef { name: name.clone(), ..FunctionRef::default() }).collect();
        self.functions = functions.retained(calls.iter()).map(Arc::new);
    }

    /// The dtypes of the arguments and of the results of a function that is called with the attrs of `call`.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such function; INVALID_ARGUMENT if its signature is invalid.
    pub fn function_dtypes(&self, call: &FunctionRef) -> Result<(Vec<DataType>, Vec<DataType>)> {
        let function = self.functions.as_ref().and_then(|functions| functions.find(&call.name));
        let function = function.ok_or_else(|| self.no_function(&call.name))?;
        Ok((argument_dtypes(function, call)?, result_dtypes(function, call)?))
    }

    /// The body of a function that is called with the attrs of `call`.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such function; INVALID_ARGUMENT if the body is invalid;
    /// RESOURCE_EXHAUSTED if it is too large.
    pub fn function_body(&self, call: &FunctionRef) -> Result<FunctionBody> {
        let functions = self.functions.as_ref();
        let function = functions.and_then(|functions| functions.find(&call.name));
        let function = function.ok_or_else(|| self.no_function(&call.name))?;
        let budget = Budget::new();
        let within = |error: Error| error.context(format!("in function `{}`", call.name));
        let def = instantiate(function, call, self.functions.as_deref(), &self.registry, &budget)?;
        let def = def.ok_or_else(|| Error::resource_exhausted(format!("function `{}` is too large", call.name)))?;
        let mut graph = self.empty_like(self.next_symbol);
        graph.import_nodes(&def, &Scope::of_body(&budget)).map_err(within)?;
        let (mut arguments, mut results) = (Vec::new(), Vec::new());
        let mut targets = Vec::new();
        let has_effects = function.signature.as_ref().is_some_and(|signature| signature.is_stateful);
        for id in graph.ids() {
            let node = graph.node(id);
            let index = || match node.attrs.get("index") {
                Some(AttrValue::Int(index)) => Ok(*index),
                _ => Err(within(Error::invalid_argument(format!("node `{}` has no index", node.name)))),
            };
            match node.class {
                NodeClass::Arg => arguments.push((index()?, Output { node: id, index: 0 })),
                NodeClass::Retval => results.push((index()?, node.inputs[0])),
                _ if node.op.def.is_stateful => targets.push(id),
                // What its op does is unknown. It may be there for an effect if the function has some, as TensorFlow notes
                // of those that it traces, or nothing takes what it computes.
                NodeClass::Missing
                    if has_effects || (function.control_ret.is_empty() && node.signature.outputs.is_empty()) =>
                {
                    targets.push(id);
                }
                _ => {}
            }
        }
        for name in function.control_ret.values() {
            targets.push(graph.find_or_suggest(name).map_err(within)?);
        }
        targets.compact_sort();
        targets.dedup();
        arguments.compact_sort();
        results.compact_sort();
        let outputs = |list: Vec<(i64, Output)>| list.into_iter().map(|(_, output)| output).collect();
        Ok(FunctionBody { arguments: outputs(arguments), results: outputs(results), targets, graph })
    }

    /// Whether a function, or one that it calls, keeps a state or has effects.
    pub fn is_stateful_function(&self, name: &str) -> bool {
        self.function_reach(name).is_some_and(|reach| reach.is_stateful)
    }

    /// Says in the library that a function is the gradient of another one, which has none yet.
    pub(super) fn name_gradient(&mut self, function: &str, gradient: &str) {
        Arc::make_mut(self.functions.get_or_insert_default()).name_gradient(function, gradient);
    }

    /// The function that the library says is the gradient of another one.
    pub(crate) fn named_gradient(&self, function: &str) -> Option<&str> {
        self.functions.as_ref()?.gradient_of(function)
    }

    fn no_function(&self, name: &str) -> Error {
        let hint = crate::registry::did_you_mean(name, self.function_names());
        Error::not_found(format!("the graph has no function `{}`{hint}", crate::error::shortened(name)))
    }
}

/// The functions that a node names in its attrs.
fn called(node: &Node) -> impl Iterator<Item = &FunctionRef> {
    node.attrs.functions()
}
