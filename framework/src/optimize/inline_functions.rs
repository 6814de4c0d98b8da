//! Puts the bodies of functions where they are called, so that one plan has all nodes and passes see over calls.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::copy::copy;
use super::pass::{Ends, Pass};
use super::purity::{has_effects, outputs};
use crate::attr::{AttrValue, FunctionRef};
use crate::error::Result;
use crate::graph::{FunctionBody, Graph, GraphPatch, Inlined, Node, NodeClass, NodeId, Output};

pub(super) struct InlineFunctions;

impl Pass for InlineFunctions {
    fn name(&self) -> &'static str {
        "inline-functions"
    }

    fn summary(&self) -> &'static str {
        "puts the bodies of functions without effects where they are called"
    }

    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool {
        nodes.iter().any(|&id| called(graph, graph.node(id)).is_some())
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        // A call is dead if one argument is; the nodes of its body need not be. And on devices of several kinds it is for the
        // placer to say where each of them runs.
        let is_plain = !patch.nodes().iter().any(|node| node.class.is_control_flow());
        if !is_plain || ends.is_partial || ends.device_kinds() > 1 {
            return Ok(0);
        }
        let calls: Vec<NodeId> =
            patch.ids().filter(|&id| !ends.feeds_some_of(id) && called(patch, patch.node(id)).is_some()).collect();
        if calls.is_empty() {
            return Ok(0);
        }
        let waited_for: HashSet<NodeId> =
            patch.nodes().iter().flat_map(|node| &node.control_inputs).chain(ends.targets()).copied().collect();
        let have_effects = patch.nodes().iter().any(|node| has_effects(patch, node));
        let mut inliner = Inliner { keeps_arguments: have_effects, left: MAX_ADDED, bodies: HashMap::new() };
        let mut replaced: HashMap<NodeId, Replacement> = HashMap::new();
        for id in calls {
            let now = |output: Output| match replaced.get(&output.node) {
                Some(replacement) => replacement.outputs[output.index],
                None => output,
            };
            let node = patch.node(id).clone();
            let inputs: Vec<Output> = node.inputs.iter().map(|&input| now(input)).collect();
            let controls: BTreeSet<NodeId> = node
                .control_inputs
                .iter()
                .flat_map(|control| match replaced.get(control) {
                    Some(replacement) => replacement.awaited.as_slice(),
                    None => std::slice::from_ref(control),
                })
                .copied()
                .collect();
            let first = patch.nodes().len();
            patch.beside(id);
            let site = Site { call: &node, inputs, controls: controls.into_iter().collect() };
            let Some(replacement) = inliner.copy(patch, ends, &site, 0) else {
                patch.take_back(first);
                continue;
            };
            let fits = replacement
                .outputs
                .iter()
                .enumerate()
                .all(|(index, &new)| patch.shape(Output { node: id, index }).is_compatible(patch.shape(new)));
            if !fits || (waited_for.contains(&id) && replacement.awaited.len() > MAX_AWAITED) {
                patch.take_back(first);
                continue;
            }
            for (index, &new) in replacement.outputs.iter().enumerate() {
                patch.replace_uses(Output { node: id, index }, new);
            }
            patch.redirect_controls(id, &replacement.awaited);
            replaced.insert(id, replacement);
        }
        Ok(replaced.len())
    }

    /// Constants that were given to a function or branch are now those of its nodes.
    fn opens(&self) -> bool {
        true
    }

    /// What is written keeps its functions: whoever reads it may want them.
    fn is_portable(&self) -> bool {
        false
    }
}

/// Larger bodies stay functions.
const MAX_BODY: usize = 2_048;

/// So many nodes at most are added to a graph.
const MAX_ADDED: usize = 8_192;

/// Functions in which calls are nested more deeply stay functions, so that limits on the depth of calls stay what they are.
const MAX_DEPTH: usize = 8;

/// Where others wait for a call, they would wait for so many nodes at most.
const MAX_AWAITED: usize = 8;

/// The function that a node calls, if that may be inlined as far as the library tells.
fn called<'g>(graph: &'g Graph, node: &'g Node) -> Option<&'g FunctionRef> {
    let Some(AttrValue::Func(function)) = node.attrs.get("f").filter(|_| node.class == NodeClass::Call) else {
        return None;
    };
    let slots = node.signature.inputs.iter().chain(&node.signature.outputs);
    let is_plain = node.attrs.get("_noinline").is_none() && !node.signature.outputs.is_empty();
    (is_plain && slots.into_iter().all(|slot| !slot.is_ref) && graph.may_inline(&function.name, MAX_DEPTH))
        .then_some(function)
}

/// What stands in the place of a call.
struct Replacement {
    outputs: Vec<Output>,
    /// What is waited for.
    awaited: Vec<NodeId>,
}

/// A call, with what its arguments are and what it waits for where its body goes.
struct Site<'n> {
    call: &'n Node,
    inputs: Vec<Output>,
    controls: Vec<NodeId>,
}

struct Inliner {
    /// Whether an argument that a body does not take may have effects.
    keeps_arguments: bool,
    /// How many nodes may still be added.
    left: usize,
    /// The bodies of functions without attrs, by name.
    bodies: HashMap<String, Option<Arc<FunctionBody>>>,
}

impl Inliner {
    /// Adds the nodes of a body; `None` if that cannot be, and then some may have been added.
    fn copy(&mut self, patch: &mut GraphPatch<'_>, ends: &Ends, site: &Site<'_>, depth: usize) -> Option<Replacement> {
        let function = called(patch, site.call).filter(|_| self.left > 0)?.clone();
        // One that is invalid fails where it is called.
        let body = match function.attrs.is_empty() {
            true => {
                let make = || patch.function_body(&function).ok().map(Arc::new);
                self.bodies.entry(function.name.clone()).or_insert_with(make).clone()?
            }
            false => Arc::new(patch.function_body(&function).ok()?),
        };
        let FunctionBody { graph, arguments, results, targets } = &*body;
        let slots = &site.call.signature;
        let dtype = |output: &Output| graph.node(output.node).signature.outputs[output.index].dtype;
        let takes_what_is_given = arguments.len() == site.inputs.len()
            && arguments.iter().zip(&slots.inputs).all(|(argument, slot)| dtype(argument) == slot.dtype)
            && site.inputs.iter().all(|input| !patch.node(input.node).signature.outputs[input.index].is_ref);
        let gives_what_is_taken = results.len() == slots.outputs.len()
            && results.iter().zip(&slots.outputs).all(|(result, slot)| dtype(result) == slot.dtype);
        let needed = graph.needed(&[], results, targets);
        let nodes: Vec<NodeId> = needed
            .into_iter()
            .filter(|&id| !matches!(graph.node(id).class, NodeClass::Arg | NodeClass::Retval))
            .collect();
        let fits = takes_what_is_given && gives_what_is_taken && nodes.len() <= MAX_BODY.min(self.left);
        if !fits || !nodes.iter().all(|&id| may_move(graph, graph.node(id))) {
            return None;
        }
        // What an argument waits for would not be waited for where nothing takes it.
        let used: HashSet<NodeId> =
            nodes.iter().flat_map(|&id| &graph.node(id).inputs).map(|input| input.node).collect();
        let is_argument = |output: &Output| graph.node(output.node).class == NodeClass::Arg;
        let is_used = |argument: &Output| used.contains(&argument.node) || results.contains(argument);
        if (self.keeps_arguments && !arguments.iter().all(is_used))
            || (!site.controls.is_empty() && results.iter().any(is_argument))
            || graph.nodes().iter().any(|node| node.class == NodeClass::Arg && !node.control_inputs.is_empty())
        {
            return None;
        }
        let given: HashMap<NodeId, Output> =
            arguments.iter().zip(&site.inputs).map(|(argument, &input)| (argument.node, input)).collect();
        let mut copied: HashMap<NodeId, Replacement> = HashMap::new();
        for &id in &nodes {
            let node = graph.node(id);
            let now = |output: &Output| match given.get(&output.node) {
                Some(&input) => Some(input),
                None => copied.get(&output.node)?.outputs.get(output.index).copied(),
            };
            let inputs = node.inputs.iter().map(now).collect::<Option<Vec<Output>>>()?;
            let within = |id: &NodeId| copied.contains_key(id);
            let is_first =
                !node.inputs.iter().any(|input| within(&input.node)) && !node.control_inputs.iter().any(within);
            let mut controls: BTreeSet<NodeId> = node
                .control_inputs
                .iter()
                .filter_map(|control| copied.get(control))
                .flat_map(|to| &to.awaited)
                .copied()
                .collect();
            // Who waits for an argument waits for what it is.
            for control in node.control_inputs.iter().filter_map(|control| given.get(control)) {
                if !ends.is_fed(*control) {
                    controls.insert(control.node);
                }
            }
            if is_first {
                controls.extend(&site.controls);
            }
            let controls: Vec<NodeId> = controls.into_iter().collect();
            let before = patch.nodes().len();
            let nested = (depth <= MAX_DEPTH && called(patch, node).is_some()).then(|| {
                self.copy(
                    patch,
                    ends,
                    &Site { call: node, inputs: inputs.clone(), controls: controls.clone() },
                    depth + 1,
                )
            });
            let replacement = match nested.flatten() {
                Some(replacement) => replacement,
                None => {
                    patch.take_back(before);
                    self.left = self.left.checked_sub(1)?;
                    add(patch, node, &function.name, &inputs, &controls)?
                }
            };
            copied.insert(id, replacement);
        }
        let outputs = results
            .iter()
            .map(|result| match given.get(&result.node) {
                Some(&input) => Some(input),
                None => copied.get(&result.node)?.outputs.get(result.index).copied(),
            })
            .collect::<Option<Vec<Output>>>()?;
        let computed = outputs.iter().filter(|output| !ends.is_fed(**output)).map(|output| output.node);
        let others = targets.iter().filter_map(|target| copied.get(target)).flat_map(|to| to.awaited.iter().copied());
        let awaited: BTreeSet<NodeId> = computed.chain(others).collect();
        Some(Replacement { outputs, awaited: awaited.into_iter().collect() })
    }
}

/// Whether a node of a body may stand in the graph that calls it: it has no effects, asks for no place, and what it is does not
/// depend on its name.
fn may_move(graph: &Graph, node: &Node) -> bool {
    let is_variable = matches!(node.class, NodeClass::Variable | NodeClass::VarHandle);
    !has_effects(graph, node)
        && !is_variable
        && !node.class.is_control_flow()
        && !matches!(node.class, NodeClass::Missing | NodeClass::Send | NodeClass::Recv | NodeClass::Placeholder)
        && node.device.is_empty()
        && node.attrs.get("_class").is_none()
        && node.signature.inputs.iter().chain(&node.signature.outputs).all(|slot| !slot.is_ref)
}

/// Adds a node of a body, which goes on to be called what it was there.
fn add(
    patch: &mut GraphPatch<'_>,
    node: &Node,
    function: &str,
    inputs: &[Output],
    controls: &[NodeId],
) -> Option<Replacement> {
    let was = Inlined { node: &node.name, function }.attrs();
    let new = copy(patch, node, inputs, controls, was)?;
    let outputs = outputs(patch, new).collect();
    Some(Replacement { outputs, awaited: vec![new] })
}
