//! A `GraphDef` becomes a [`Graph`]: names, ops, edges, attrs and shapes are checked.

use std::collections::HashMap;
use std::sync::Arc;

use super::budget::Budget;
use super::build::NodeSpec;
use super::infer::Scope;
use super::library::Library;
use super::missing::{MissingOps, missing_outputs};
use super::node_def::node_attrs;
use super::order::{Edges, topological_order};
use super::{GRAPH_DEF_VERSION, Graph, NodeId, Output, created, is_valid_node_name};
use crate::error::{Error, Result, shortened};
use crate::proto::GraphDef;
use crate::registry::Registry;

/// Refuses a graph that says that this version of GraphDef cannot read it.
pub(super) fn check_versions(def: &GraphDef) -> Result<()> {
    let Some(versions) = &def.versions else { return Ok(()) };
    if versions.min_consumer > GRAPH_DEF_VERSION {
        return Err(Error::invalid_argument(format!(
            "the graph needs a reader of GraphDef version {} and this one is of version {GRAPH_DEF_VERSION}",
            versions.min_consumer
        )));
    }
    if versions.bad_consumers.contains(&GRAPH_DEF_VERSION) {
        return Err(Error::invalid_argument(format!(
            "the graph must not be read by readers of GraphDef version {GRAPH_DEF_VERSION}, which this one is"
        )));
    }
    Ok(())
}

impl Graph {
    /// Imports a graph. Other ops that the registry lacks refuse only the runs that need them: until then their nodes are of
    /// class [`NodeClass::Missing`](super::NodeClass::Missing). So do nodes that call a function by its name, as an op, in a way
    /// that it cannot be called.
    ///
    /// # Errors
    /// NOT_FOUND if ops of TensorFlow 1's control flow are missing;
    /// INVALID_ARGUMENT for two nodes of one name, nodes without an op, illegal names, edges from nodes or outputs that do not exist, cycles other than loops (which go from a
    /// `NextIteration` back to a `Merge`), and whatever a single node gets wrong,
    /// which the error names, and for two functions of one name that differ.
    pub fn import(def: &GraphDef, registry: &Arc<Registry>) -> Result<Graph> {
        check_versions(def)?;
        let functions = Library::of(def)?;
        let mut graph = Graph::new(registry);
        graph.versions = def.versions.clone().unwrap_or_default();
        let calls = functions.as_ref().and_then(|functions| functions.with_calls(def, registry));
        graph.functions = functions.map(Arc::new);
        graph.import_nodes(calls.as_ref().unwrap_or(def), &Scope::of_import(&Budget::new()))?;
        Ok(graph)
    }

    /// Adds the nodes of a message to a graph that has none.
    pub(super) fn import_nodes(&mut self, def: &GraphDef, scope: &Scope<'_>) -> Result<()> {
        let by_name = index(def)?;
        let edges = def.node.iter().map(|node| Edges::parse(node, &by_name)).collect::<Result<Vec<_>>>()?;
        self.place_nodes(def, &edges, (&[], &[]), scope).map(drop)
    }

    /// Adds the nodes of a message behind those that are there; returns their ids, by their positions in the message. Edges whose
    /// sources are behind the message's nodes come from the outputs and nodes of the graph that `outside` has at these places.
    pub(super) fn place_nodes(
        &mut self,
        def: &GraphDef,
        edges: &[Edges],
        outside: (&[Output], &[NodeId]),
        scope: &Scope<'_>,
    ) -> Result<Vec<NodeId>> {
        let order = topological_order(def, edges)?;
        let mut missing = missing_outputs(def, edges, &self.registry)?;
        let (first, inside) = (self.nodes.len(), def.node.len());
        self.epochs.begin(first);
        let mut ids = vec![self.id_at(first); inside];
        for (place, &position) in order.iter().enumerate() {
            ids[position] = self.id_at(first + place);
        }
        for position in order {
            let node = &def.node[position];
            let edges = &edges[position];
            let data = edges.data.iter().map(|&(source, index)| match ids.get(source) {
                Some(&node) => Output { node, index },
                None => outside.0[source - inside],
            });
            let inputs = data.collect();
            let controls = edges.control.iter().map(|&source| match ids.get(source) {
                Some(&node) => node,
                None => outside.1[source - inside],
            });
            let control_inputs = controls.collect();
            if let Some(outputs) = missing.remove(&position) {
                let functions = self.functions.as_deref();
                let fault = functions.and_then(|functions| functions.as_call(node, &self.registry)?.err());
                self.add_missing(node, inputs, control_inputs, outputs, fault)?;
                continue;
            }
            let op = self.registry.op(&node.op)?;
            let (name, device) = (node.name.clone(), node.device.clone());
            let attrs = node_attrs(node, op.def)?;
            self.add(NodeSpec { name, op, attrs, inputs, control_inputs, device }, scope)?;
        }
        self.close_loops(scope)?;
        Ok(ids)
    }

    /// The ops that a graph, and the functions that it calls, need and a registry lacks; those of the nodes alone if its library is
    /// one that [`Graph::import`] refuses.
    pub fn missing_ops(def: &GraphDef, registry: &Registry) -> MissingOps {
        missing_ops(def, Library::of(def).ok().flatten().as_ref(), registry)
    }
}

fn missing_ops(def: &GraphDef, library: Option<&Library>, registry: &Registry) -> MissingOps {
    let mut missing = MissingOps::new();
    let is_missing =
        |op: &str| registry.find_op(op).is_none() && library.is_none_or(|library| library.find(op).is_none());
    for node in def.node.iter().filter(|node| is_missing(&node.op)) {
        missing.entry(node.op.clone()).or_default().push(node.name.clone());
    }
    for function in library.map(|library| library.reachable(&def.node)).unwrap_or_default() {
        let name = function.signature.as_ref().map_or("", |signature| &signature.name);
        for node in function.node_def.iter().filter(|node| is_missing(&node.op)) {
            missing.entry(node.op.clone()).or_default().push(format!("{name}/{}", node.name));
        }
    }
    missing
}

pub(super) fn index(def: &GraphDef) -> Result<HashMap<&str, usize>> {
    let mut by_name = HashMap::with_capacity(def.node.len());
    for (position, node) in def.node.iter().enumerate() {
        if !is_valid_node_name(&node.name) {
            let (op, name) = (shortened(&node.op), shortened(&node.name));
            let message = format!("node {position} (op {op}) has the illegal name `{name}`");
            return Err(Error::invalid_argument(message));
        }
        if node.op.is_empty() {
            let message = format!("Node '{}' does not specify an operation", node.name);
            return Err(Error::invalid_argument(message));
        }
        if node.op == created::MISSING {
            let message =
                format!("the op's name, {}, is reserved: it stands for ops that are missing", created::MISSING);
            return Err(Error::invalid_argument(message).at_node(&node.name, &node.op, &node.device));
        }
        if by_name.insert(node.name.as_str(), position).is_some() {
            return Err(Error::invalid_argument(format!(
                "Node '{}' is not unique: the graph has two of the name",
                node.name
            )));
        }
    }
    Ok(by_name)
}
