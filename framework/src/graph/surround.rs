//! Adding nodes inside of branches and loops: what is taken from outside is brought in, and nodes wait for their branch or
//! iteration.

use std::collections::HashMap;
use std::sync::Arc;

use super::budget::Budget;
use super::build::NodeSpec;
use super::context::{CaptureNode, Context, ControlFlowContext};
use super::implied::{Given, faults_error, infer_attrs};
use super::infer::Scope;
use super::library::Library;
use super::scope::{NodeInput, Operand};
use super::{Graph, NodeClass, NodeId, Output};
use crate::error::{Error, Result};
use crate::proto::VersionDef;
use crate::sort::CompactSort as _;

impl ControlFlowContext {
    /// A branch, whose nodes are those added from here on. Nodes without inputs wait for `pivot`.
    pub fn branch(graph: &Graph, capture: CaptureNode, pivot: NodeId) -> ControlFlowContext {
        ControlFlowContext {
            first: graph.nodes.len(),
            capture,
            pivot,
            entries: None,
            captured: HashMap::new(),
            captures: Vec::new(),
        }
    }

    /// A loop, whose nodes are `pivot` and those after it. Nodes without inputs wait for `pivot`, as do those that take
    /// nothing but values from outside: they would run once more than the others. What waits for a node outside of the
    /// loop makes `entries` wait for it.
    pub fn frame(capture: CaptureNode, pivot: NodeId, entries: Vec<NodeId>) -> ControlFlowContext {
        ControlFlowContext {
            first: pivot.index(),
            capture,
            pivot,
            entries: Some(entries),
            captured: HashMap::new(),
            captures: Vec::new(),
        }
    }

    /// Makes the nodes that are added from here on wait for another one.
    pub fn set_pivot(&mut self, pivot: NodeId) {
        self.pivot = pivot;
    }
}

/// What a graph has at some time, to which [`Graph::roll_back`] returns.
#[derive(Clone, Debug)]
pub struct Savepoint {
    nodes: usize,
    functions: Option<Arc<Library>>,
    versions: VersionDef,
    /// How many nodes had become others in their places.
    superseded: usize,
}

impl Graph {
    /// Adds nodes in a branch or loop, and returns the context, in which later nodes may be added too.
    ///
    /// # Errors
    /// Those of `build`. The nodes that it had added stay: see [`Graph::all_or_nothing`].
    pub fn within<R>(
        &mut self,
        context: ControlFlowContext,
        build: impl FnOnce(&mut Graph) -> Result<R>,
    ) -> Result<(R, ControlFlowContext)> {
        let depth = self.contexts.len();
        self.contexts.push(Context::Surround(Box::new(context)));
        let (built, context) = self.restored(build, |graph, _| graph.contexts.drain(depth..).next());
        match (built, context) {
            (Ok(built), Some(Context::Surround(context))) => Ok((built, *context)),
            (Err(error), _) => Err(error),
            _ => Err(Error::internal("a context was left before its end")),
        }
    }

    /// Adds nodes and functions; if that fails or panics, removes those that were added.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn all_or_nothing<R>(&mut self, build: impl FnOnce(&mut Graph) -> Result<R>) -> Result<R> {
        let before = self.savepoint();
        let undo = |graph: &mut Graph, built: Option<&Result<R>>| {
            if !matches!(built, Some(Ok(_))) {
                graph.roll_back(before);
            }
        };
        self.restored(build, undo).0
    }

    /// What the graph has so far, for builders that add nodes and functions in several calls; in one call
    /// [`Graph::all_or_nothing`] does.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint {
            nodes: self.nodes.len(),
            functions: self.functions.clone(),
            versions: self.versions.clone(),
            superseded: self.superseded.len(),
        }
    }

    /// Removes the nodes and functions that were added since.
    pub fn roll_back(&mut self, to: Savepoint) {
        if self.nodes.len() > to.nodes {
            self.truncate(to.nodes);
        }
        for (id, node) in self.superseded.split_off(to.superseded.min(self.superseded.len())).into_iter().rev() {
            if self.has(id) {
                self.restore(id, node);
            }
        }
        self.versions = to.versions;
        self.functions = to.functions;
    }

    /// What stands for a value where nodes are being added: the value itself, or what brings it into the innermost
    /// branch or loop.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such output.
    pub fn bring_in(&mut self, value: Output) -> Result<Output> {
        match self.contexts.len().checked_sub(1) {
            Some(depth) => self.bring_into(depth, value),
            None => Ok(value),
        }
    }

    fn bring_into(&mut self, depth: usize, value: Output) -> Result<Output> {
        let context = match &self.contexts[depth] {
            Context::Surround(context) if value.node.index() < context.first => context,
            _ => return Ok(value),
        };
        if let Some(&inside) = context.captured.get(&value) {
            return Ok(inside);
        }
        let outer = match depth.checked_sub(1) {
            Some(outer) => self.bring_into(outer, value)?,
            None => value,
        };
        let Context::Surround(context) = &self.contexts[depth] else { return Ok(value) };
        let inside = self.add_capture(context.capture.clone(), outer)?;
        if let Context::Surround(context) = &mut self.contexts[depth] {
            context.captured.insert(value, inside);
            context.captures.push(inside.node);
        }
        Ok(inside)
    }

    fn add_capture(&mut self, capture: CaptureNode, value: Output) -> Result<Output> {
        let CaptureNode { op, ref_op, inputs, mut attrs, output } = capture;
        let Some(slot) = self.slot(value) else {
            let message = format!("a branch or loop cannot take a value: {}", self.absent(value));
            return Err(Error::invalid_argument(message));
        };
        let op = self.registry.op(&if slot.is_ref { ref_op } else { op }.name)?;
        let name = format!("{}/{}", self.node(value.node).name, op.def.name);
        let name = self.free_name(&name);
        let inputs: Vec<Output> = [value].into_iter().chain(inputs).collect();
        let given: Vec<Given> = inputs
            .iter()
            .map(|&input| Given::new(&NodeInput::Single(Operand::Value(input)), |&output| self.slot(output)))
            .collect();
        let mut faults = Vec::new();
        let advice = infer_attrs(op.def, &given, &mut attrs, &mut faults);
        if !faults.is_empty() {
            return Err(faults_error(&faults, advice, &name, op.def).at_node(&name, &op.def.name, ""));
        }
        let spec = NodeSpec { name, op, attrs, inputs, control_inputs: Vec::new(), device: String::new() };
        let node = self.add(spec, &Scope::root(&Budget::new()))?;
        Ok(Output { node, index: output })
    }

    /// Makes a node one of the innermost context: what it takes from outside is brought in, and it waits for the pivot
    /// if nothing else keeps it from running when the inside does not.
    pub(super) fn surround(&mut self, spec: &mut NodeSpec) -> Result<()> {
        self.depend(spec);
        let Some(depth) = self.contexts.len().checked_sub(1) else { return Ok(()) };
        for input in &mut spec.inputs {
            *input = self.bring_into(depth, *input)?;
        }
        // Before they become those of what encloses the node.
        self.check_control_inputs(&spec.control_inputs)
            .map_err(|error| error.at_node(&spec.name, &spec.op.def.name, &spec.device))?;
        let mut control_inputs = std::mem::take(&mut spec.control_inputs);
        control_inputs.retain(|&node| self.waits_itself(depth, node));
        if let Context::Surround(context) = &self.contexts[depth] {
            let is_capture = |input: &Output| context.captures.binary_search(&input.node).is_ok();
            let is_free = spec.inputs.is_empty() || (context.entries.is_some() && spec.inputs.iter().all(is_capture));
            if is_free && !control_inputs.iter().any(|control| control.index() >= context.first) {
                control_inputs.push(context.pivot);
            }
        }
        spec.control_inputs = control_inputs;
        Ok(())
    }

    /// Whether a node in a context waits for another one itself; if not, what encloses it does from here on.
    fn waits_itself(&mut self, depth: usize, node: NodeId) -> bool {
        let context = &mut self.contexts[depth];
        if node.index() >= context.first() {
            return true;
        }
        let entries = match context {
            Context::Body { waits, .. } => {
                waits.push(node);
                return false;
            }
            Context::Surround(context) => context.entries.clone(),
        };
        let outside_waits = depth.checked_sub(1).is_none_or(|outer| self.waits_itself(outer, node));
        let Some(entries) = entries else { return outside_waits };
        for entry in entries.iter().filter(|_| outside_waits) {
            let controls = &mut self.nodes[entry.index()].control_inputs;
            controls.push(node);
            controls.compact_sort();
            controls.dedup();
        }
        false
    }

    /// Leads a loop back: the last input of a `Merge` becomes the output of a `NextIteration` behind it.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they are no `Merge` and no `NextIteration` behind it, or of different dtypes.
    pub fn close_loop(&mut self, merge: NodeId, next: Output) -> Result<()> {
        let class = |id: NodeId| self.nodes.get(id.index()).map(|node| node.class);
        let ends = (class(merge), class(next.node));
        if ends != (Some(NodeClass::Merge), Some(NodeClass::NextIteration)) || next.node <= merge {
            return Err(Error::invalid_argument("a loop leads from a NextIteration back to a Merge before it"));
        }
        let slot = self.slot(next);
        let node = &mut self.nodes[merge.index()];
        match (slot, node.signature.inputs.last(), node.inputs.last_mut()) {
            (Some(slot), Some(expected), Some(last)) if slot.dtype == expected.dtype => *last = next,
            _ => {
                let error = Error::invalid_argument("the loop is led back with another dtype than it starts with");
                return Err(error.at_node(&node.name, &node.op.def.name, &node.device));
            }
        }
        Ok(())
    }

    /// Forgets what was brought in by nodes from position `length` on.
    pub(super) fn truncate_contexts(&mut self, length: usize) {
        for context in &mut self.contexts {
            if let Context::Surround(context) = context {
                context.captured.retain(|_, inside| inside.node.index() < length);
                context.captures.retain(|node| node.index() < length);
            }
        }
    }
}
