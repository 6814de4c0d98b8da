//! A `GraphDef` becomes a part of a [`Graph`]: its nodes are added to those that are there, under names of their own, and take
//! outputs that are there in the place of some of theirs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::mem;

use super::budget::Budget;
use super::import::{check_versions, index};
use super::infer::Scope;
use super::names::numbered;
use super::node_def::split_inputs;
use super::order::Edges;
use super::{Graph, NodeClass, NodeId, Output, TensorName, is_valid_node_name};
use crate::error::{Error, Result, shortened};
use crate::proto::{GraphDef, NodeDef, attr_value};
use crate::registry::did_you_mean;

/// How a `GraphDef` is added to a graph: the options of TensorFlow's `ImportGraphDefOptions`.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// What the names of the nodes begin with, before a `/`; empty for nothing.
    pub prefix: String,
    /// Whether a node whose name is taken gets a number; otherwise that is an error.
    pub uniquify_names: bool,
    /// Whether the prefix gets a number if a node's name begins with it.
    pub uniquify_prefix: bool,
    /// Outputs of the graph that are taken in the place of outputs in the message, by name and index. The message need not
    /// have these.
    pub input_map: BTreeMap<(String, usize), Output>,
    /// Nodes of the graph that are waited for in the place of nodes in the message.
    pub control_map: BTreeMap<String, NodeId>,
    /// Whether inputs that the message has not are outputs of the graph's nodes of these names; otherwise they are errors.
    pub links_by_name: bool,
    /// Nodes of the graph that all of those which are added wait for.
    pub control_dependencies: Vec<NodeId>,
    /// The device that nodes ask for which ask for none.
    pub default_device: String,
    /// Outputs of the message that [`Imported::outputs`] is to tell.
    pub return_outputs: Vec<(String, usize)>,
    /// Nodes of the message that [`Imported::nodes`] is to tell.
    pub return_nodes: Vec<String>,
}

/// What became of a message that was added to a graph.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The outputs that were asked for; of those that are mapped, what they are mapped to.
    pub outputs: Vec<Output>,
    /// The nodes that were asked for.
    pub nodes: Vec<NodeId>,
    /// The keys of the input map that were not used and that the message has not.
    pub missing_unused_inputs: Vec<(String, usize)>,
}

/// The edges of a message, some of which come from outside.
struct Sources<'a> {
    edges: Vec<Edges>,
    /// What the sources from the number of nodes on are.
    outputs: Vec<Output>,
    controls: Vec<NodeId>,
    used: HashSet<&'a (String, usize)>,
}

impl Graph {
    /// Adds the nodes and functions of a message. A failure leaves the graph as it was.
    ///
    /// # Errors
    /// As [`Graph::import`], and INVALID_ARGUMENT for a name that is taken, a prefix that no name may begin with, a mapping to what
    /// is not in the graph, something that is to be returned and is not in the message, and a function whose name another one has.
    pub fn import_into(&mut self, def: GraphDef, options: &ImportOptions) -> Result<Imported> {
        check_versions(&def)?;
        let suffixes = options.uniquify_names.then(|| self.suffixes.clone());
        let imported = self.all_or_nothing(|graph| graph.import_part(def, options));
        if let (Err(_), Some(suffixes)) = (&imported, suffixes) {
            self.suffixes = suffixes;
        }
        imported
    }

    fn import_part(&mut self, mut def: GraphDef, options: &ImportOptions) -> Result<Imported> {
        if let Some(library) = &def.library {
            self.add_functions(&library.function)?;
            for gradient in &library.gradient {
                self.set_function_gradient(&gradient.function_name, &gradient.gradient_func)?;
            }
        }
        if let Some(called) = self.functions.as_deref().and_then(|library| library.with_calls(&def, &self.registry)) {
            def = called;
        }
        for output in options.input_map.values() {
            self.check_output(*output)?;
        }
        for &node in options.control_map.values().chain(&options.control_dependencies) {
            self.check_node(node)?;
        }
        let original: Vec<String> = def.node.iter().map(|node| node.name.clone()).collect();
        let by_name = index(&def)?;
        let mut sources = self.sources(&def, &by_name, options)?;
        let by_name: HashMap<&str, usize> = original.iter().map(String::as_str).zip(0..).collect();
        self.rename(&mut def, options, &by_name)?;
        let first = self.nodes.len();
        // What nodes that are older may still be is decided by the oldest part.
        let theirs = def.versions.clone().unwrap_or_default();
        self.versions.producer = self.versions.producer.min(theirs.producer);
        self.versions.min_consumer = self.versions.min_consumer.max(theirs.min_consumer);
        let bad: BTreeSet<i32> = self.versions.bad_consumers.iter().copied().chain(theirs.bad_consumers).collect();
        self.versions.bad_consumers = bad.into_iter().collect();
        let ids = self.place_nodes(
            &def,
            &sources.edges,
            (&sources.outputs, &sources.controls),
            &Scope::of_import(&Budget::new()),
        )?;
        debug_assert!(ids.iter().all(|id| id.index() >= first), "nodes are added behind those that are there");
        let outputs = options.return_outputs.iter().map(|key| {
            if let Some((key, &output)) = options.input_map.get_key_value(key) {
                sources.used.insert(key);
                return Ok(output);
            }
            let (name, index) = key;
            let Some(&position) = by_name.get(name.as_str()) else {
                return Err(Error::invalid_argument(format!(
                    "Requested return tensor '{name}:{index}' not found in graph def"
                )));
            };
            let count = self.node(ids[position]).signature.outputs.len();
            if *index >= count {
                return Err(Error::invalid_argument(format!(
                    "Invalid return output {index} of node '{name}', which has {count} output(s)"
                )));
            }
            Ok(Output { node: ids[position], index: *index })
        });
        let outputs = outputs.collect::<Result<_>>()?;
        let nodes = options.return_nodes.iter().map(|name| {
            let position = by_name.get(name.as_str());
            let position = position.ok_or_else(|| {
                Error::invalid_argument(format!("Requested return node '{name}' not found in graph def"))
            })?;
            Ok(ids[*position])
        });
        let nodes = nodes.collect::<Result<_>>()?;
        let is_there = |(name, index): &(String, usize)| {
            by_name
                .get(name.as_str())
                .is_some_and(|&position| *index < self.node(ids[position]).signature.outputs.len())
        };
        let unused = options.input_map.keys().filter(|key| !sources.used.contains(key) && !is_there(key));
        Ok(Imported { outputs, nodes, missing_unused_inputs: unused.cloned().collect() })
    }

    /// Where the inputs of the message's nodes come from.
    fn sources<'o>(
        &self,
        def: &GraphDef,
        by_name: &HashMap<&str, usize>,
        options: &'o ImportOptions,
    ) -> Result<Sources<'o>> {
        let inside = def.node.len();
        let mut sources = Sources {
            edges: Vec::with_capacity(inside),
            outputs: Vec::new(),
            controls: Vec::new(),
            used: HashSet::new(),
        };
        let linked = |name: &str| self.find(name).filter(|_| options.links_by_name);
        for node in &def.node {
            let fault = |text: String| Error::invalid_argument(text).at_node(&node.name, &node.op, &node.device);
            let absent = |input: &str| {
                let hint = did_you_mean(input, by_name.keys().copied());
                fault(format!("input `{}` names no node of the graph{hint}", shortened(input)))
            };
            let inputs = split_inputs(node)?;
            let mut edges = Edges { data: Vec::new(), control: Vec::new() };
            // Whether another node that is added is waited for, and so all that is to be waited for.
            let mut inherits = false;
            for input in inputs.data {
                let name = TensorName::parse(input).map_err(|error| error.at_node(&node.name, &node.op, ""))?;
                if let Some((key, &output)) = options.input_map.get_key_value(&(name.node.to_owned(), name.index)) {
                    sources.used.insert(key);
                    edges.data.push((inside + sources.outputs.len(), 0));
                    sources.outputs.push(output);
                    continue;
                }
                let Some(&source) = by_name.get(name.node) else {
                    let node = linked(name.node).ok_or_else(|| absent(input))?;
                    let output = Output { node, index: name.index };
                    self.check_output(output).map_err(|error| fault(error.message().to_owned()))?;
                    edges.data.push((inside + sources.outputs.len(), 0));
                    sources.outputs.push(output);
                    continue;
                };
                inherits |= NodeClass::of(&def.node[source].op) != NodeClass::NextIteration;
                edges.data.push((source, name.index));
            }
            for control in inputs.control {
                let mapped = options.control_map.get(control).copied();
                let source = by_name.get(control).filter(|_| mapped.is_none());
                if let Some(&source) = source {
                    inherits = true;
                    edges.control.push(source);
                    continue;
                }
                let outside = mapped.or_else(|| linked(control)).ok_or_else(|| absent(&format!("^{control}")))?;
                edges.control.push(inside + sources.controls.len());
                sources.controls.push(outside);
            }
            if !inherits {
                for &dependency in &options.control_dependencies {
                    edges.control.push(inside + sources.controls.len());
                    sources.controls.push(dependency);
                }
            }
            sources.edges.push(edges);
        }
        Ok(sources)
    }

    /// Gives the nodes their names and devices in the graph.
    fn rename(&mut self, def: &mut GraphDef, options: &ImportOptions, by_name: &HashMap<&str, usize>) -> Result<()> {
        let mut prefix = options.prefix.trim_end_matches('/').to_owned();
        if !prefix.is_empty() && !is_valid_node_name(&prefix) {
            return Err(Error::invalid_argument(format!(
                "Imported node name prefix '{prefix}/' would lead to invalid node names"
            )));
        }
        if options.uniquify_prefix && !prefix.is_empty() {
            // The names, and all that they begin with before a `/`.
            let taken: HashSet<&str> = self
                .nodes
                .iter()
                .flat_map(|node| {
                    let ends = node.name.match_indices('/').map(|(end, _)| end).chain([node.name.len()]);
                    ends.map(|end| &node.name[..end])
                })
                .collect();
            prefix = numbered(&prefix, &mut HashMap::new(), |name| !taken.contains(name));
        }
        let mut given: HashSet<String> = HashSet::with_capacity(def.node.len());
        let mut suffixes = mem::take(&mut self.suffixes);
        for node in &mut def.node {
            let mut name = if prefix.is_empty() { node.name.clone() } else { format!("{prefix}/{}", node.name) };
            if options.uniquify_names {
                name = numbered(&name, &mut suffixes, |name| {
                    // Not one that another node of the message has by itself, either.
                    let is_anothers = prefix.is_empty() && name != node.name && by_name.contains_key(name);
                    self.find(name).is_none() && !given.contains(name) && !is_anothers
                });
            } else if self.find(&name).is_some() {
                self.suffixes = suffixes;
                return Err(Error::invalid_argument(format!("Node name '{name}' already exists in the Graph")));
            }
            given.insert(name.clone());
            node.name = name;
            if node.device.is_empty() {
                node.device.clone_from(&options.default_device);
            }
        }
        self.suffixes = suffixes;
        let names: Vec<String> = def.node.iter().map(|node| node.name.clone()).collect();
        for node in &mut def.node {
            rename_colocation(node, |name| by_name.get(name).map(|&position| names[position].as_str()));
        }
        Ok(())
    }

    /// Adds functions to the graph's library. Those that are there already must be the same.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a function without a name, one of which another function or an op has the name, and two of one name
    /// that differ. The graph has none of them then.
    pub fn add_functions(&mut self, functions: &[crate::proto::FunctionDef]) -> Result<()> {
        self.all_or_nothing(|graph| {
            for function in functions {
                graph.add_function(function)?;
            }
            Ok(())
        })
    }
}

/// Lets a node be colocated with nodes by their names in the graph.
fn rename_colocation<'n>(node: &mut NodeDef, renamed: impl Fn(&str) -> Option<&'n str>) {
    const PREFIX: &str = "loc:@";
    let classes = node.attr.get_mut("_class").and_then(|value| value.value.as_mut());
    let Some(attr_value::Value::List(list)) = classes else { return };
    for class in &mut list.s {
        let name = std::str::from_utf8(class).ok().and_then(|class| class.strip_prefix(PREFIX));
        if let Some(name) = name.and_then(&renamed) {
            *class = format!("{PREFIX}{name}").into_bytes().into();
        }
    }
}
