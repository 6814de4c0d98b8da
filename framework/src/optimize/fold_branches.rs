//! Removes branches that are never taken: those of a `Switch`, `If` or `Case` that a constant decides.

use std::collections::{HashMap, HashSet};

use super::pass::{Ends, MAX_IDENTITIES, Pass};
use super::purity::has_effects;
use crate::attr::{AttrValue, FunctionRef};
use crate::dtype::DataType;
use crate::error::Result;
use crate::graph::{Created, CreatedFrom, Graph, GraphPatch, Node, NodeBuilder, NodeClass, NodeId, Output, created};
use crate::kernel::DeviceType;
use crate::tensor::Tensor;

pub(super) struct FoldBranches;

impl Pass for FoldBranches {
    fn name(&self) -> &'static str {
        "fold-branches"
    }

    fn summary(&self) -> &'static str {
        "removes the branches of Switch, If and Case that a constant never takes"
    }

    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool {
        // A feed may stand for the constant: that is found out later.
        nodes.iter().any(|&id| predicate(graph.node(id)).and_then(|output| constant(graph, output, None)).is_some())
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        let mut switches = switches(patch, ends);
        let mut merges = if switches.is_empty() { Vec::new() } else { merges(patch, ends, &switches) };
        if drops_effects(patch, ends, &switches, &merges) {
            switches.clear();
            merges.clear();
        }
        for (&id, &taken) in &switches {
            let data = patch.node(id).inputs[0];
            patch.replace_uses(Output { node: id, index: taken }, data);
        }
        for &(merge, input) in &merges {
            patch.replace_uses(Output { node: merge, index: 0 }, input);
        }
        let mut replaced = HashMap::new();
        for (id, branch) in calls(patch, ends) {
            if let Some(new) = call(patch, id, &branch, &replaced) {
                replaced.insert(id, new);
            }
        }
        Ok(switches.len() + replaced.len())
    }

    /// Constants that were given to a function or branch are now those of its nodes.
    fn opens(&self) -> bool {
        true
    }

    fn creates(&self) -> &'static [Created] {
        CREATED
    }
}

const CREATED: &[Created] = &[
    Created { from: CreatedFrom::Class(NodeClass::If), to: created::CALL },
    Created { from: CreatedFrom::Class(NodeClass::Case), to: created::CALL },
];

/// What decides which way a node goes.
fn predicate(node: &Node) -> Option<Output> {
    match node.class {
        NodeClass::Switch => node.inputs.get(1).copied(),
        NodeClass::If | NodeClass::Case => node.inputs.first().copied(),
        _ => None,
    }
}

/// So many rounds at most find what may be alive; where that is not enough, nothing is folded.
const MAX_ROUNDS: usize = 32;

/// The value of an output that is a constant in every run and in every frame; without `ends`, if nothing is fed.
fn constant<'g>(graph: &'g Graph, mut output: Output, ends: Option<&Ends>) -> Option<&'g Tensor> {
    for _ in 0..MAX_IDENTITIES {
        let node = graph.node(output.node);
        if ends.is_some_and(|ends| ends.is_fed(output)) || !node.control_inputs.is_empty() {
            return None;
        }
        match (node.class, &node.inputs[..]) {
            (NodeClass::Identity, [input]) if input.node < output.node && graph.has_standard_kernels(node) => {
                output = *input;
            }
            _ => return graph.constant(output).filter(|value| value.num_elements() == 1),
        }
    }
    None
}

/// The switches that a constant decides, with the output that they take.
///
/// Such an output is what the switch is given, alive where that is: it comes from the same frame, and nothing else is
/// waited for.
fn switches(graph: &Graph, ends: &Ends) -> HashMap<NodeId, usize> {
    let decided = graph.ids().filter_map(|id| {
        let node = graph.node(id);
        if node.class != NodeClass::Switch || !node.control_inputs.is_empty() || node.inputs.len() != 2 {
            return None;
        }
        let [taken] = *constant(graph, node.inputs[1], Some(ends))?.as_slice::<bool>().ok()? else { return None };
        let taken = usize::from(taken);
        let is_plain = node.signature.outputs.iter().all(|slot| !slot.is_ref);
        (is_plain && node.signature.outputs.len() == 2 && !ends.feeds_some_of(id)).then_some((id, taken))
    });
    decided.collect()
}

/// The merges of which one input alone may be alive, with that input.
fn merges(graph: &Graph, ends: &Ends, switches: &HashMap<NodeId, usize>) -> Vec<(NodeId, Output)> {
    let alive = Alive::new(graph, ends, switches);
    let used: HashSet<Output> =
        graph.nodes().iter().flat_map(|node| &node.inputs).chain(ends.feeds()).chain(ends.fetches()).copied().collect();
    let waited_for: HashSet<NodeId> =
        graph.nodes().iter().flat_map(|node| &node.control_inputs).chain(ends.targets()).copied().collect();
    let decided = graph.ids().filter_map(|id| {
        let node = graph.node(id);
        let is_plain = node.class == NodeClass::Merge
            && node.control_inputs.is_empty()
            && !graph.has_back_edge(id)
            && node.signature.inputs.iter().all(|slot| !slot.is_ref)
            // The other output says which input it was.
            && !used.contains(&Output { node: id, index: 1 })
            && !ends.is_fed(Output { node: id, index: 0 })
            && !waited_for.contains(&id);
        let mut inputs = node.inputs.iter().filter(|input| is_plain && alive.output(**input));
        match (inputs.next(), inputs.next()) {
            (Some(&input), None) => Some((id, input)),
            _ => None,
        }
    });
    decided.collect()
}

/// What may be alive in some run.
struct Alive<'g> {
    ends: &'g Ends,
    switches: &'g HashMap<NodeId, usize>,
    nodes: Vec<bool>,
}

impl<'g> Alive<'g> {
    fn new(graph: &Graph, ends: &'g Ends, switches: &'g HashMap<NodeId, usize>) -> Alive<'g> {
        let mut alive = Alive { ends, switches, nodes: vec![false; graph.nodes().len()] };
        // An edge that goes back may bring a loop to life only in a second round.
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for id in graph.ids() {
                if !alive.nodes[id.index()] && alive.may_be(graph.node(id)) {
                    alive.nodes[id.index()] = true;
                    changed = true;
                }
            }
            if !changed {
                return alive;
            }
        }
        alive.nodes.fill(true);
        alive
    }

    fn may_be(&self, node: &Node) -> bool {
        match node.class {
            NodeClass::Merge => node.inputs.iter().any(|&input| self.output(input)),
            // They run with dead inputs too.
            NodeClass::ControlTrigger | NodeClass::Send | NodeClass::Recv => true,
            _ => {
                node.inputs.iter().all(|&input| self.output(input))
                    && node.control_inputs.iter().all(|control| self.nodes[control.index()])
            }
        }
    }

    fn output(&self, output: Output) -> bool {
        let is_taken = self.switches.get(&output.node).is_none_or(|taken| *taken == output.index);
        self.ends.is_fed(output) || (self.nodes[output.node.index()] && is_taken)
    }
}

/// Whether nodes that have effects and run would not run any more. That is so of those that only a branch takes which is
/// not.
fn drops_effects(graph: &Graph, ends: &Ends, switches: &HashMap<NodeId, usize>, merges: &[(NodeId, Output)]) -> bool {
    let effects: Vec<NodeId> = match switches.is_empty() {
        true => Vec::new(),
        false => graph.ids().filter(|&id| has_effects(graph, graph.node(id))).collect(),
    };
    if effects.is_empty() {
        return false;
    }
    let merges: HashMap<NodeId, Output> = merges.iter().copied().collect();
    let used = |mut output: Output| loop {
        let next = match (switches.get(&output.node), merges.get(&output.node)) {
            (Some(&taken), _) if taken == output.index => graph.node(output.node).inputs[0],
            (_, Some(&input)) if output.index == 0 => input,
            _ => return output,
        };
        if ends.is_fed(output) {
            return output;
        }
        output = next;
    };
    let mut needed = vec![false; graph.nodes().len()];
    let fetched = ends.fetches().iter().map(|&fetch| used(fetch).node);
    let mut open: Vec<NodeId> = fetched.chain(ends.targets().iter().copied()).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut needed[id.index()], true) {
            let node = graph.node(id);
            let inputs = node.inputs.iter().filter(|input| !ends.is_fed(**input)).map(|&input| used(input));
            open.extend(inputs.filter(|&input| !ends.is_fed(input)).map(|input| input.node));
            open.extend(&node.control_inputs);
        }
    }
    let alive = Alive::new(graph, ends, switches);
    effects.into_iter().any(|id| !needed[id.index()] && alive.nodes[id.index()])
}

/// The conditionals that a constant decides, with the function that they call. One that keeps a state is left alone: its
/// state is that of the node.
fn calls(graph: &Graph, ends: &Ends) -> Vec<(NodeId, FunctionRef)> {
    let devices = |op: &str| -> HashSet<DeviceType> {
        graph.registry().kernels_of(op).into_iter().map(|kernel| kernel.device).collect()
    };
    let call_devices = devices(created::CALL);
    let runs_as_call = |node: &Node| devices(&node.op.def.name).is_subset(&call_devices) && !call_devices.is_empty();
    let decided = graph.ids().filter_map(|id| {
        let node = graph.node(id);
        if !matches!(node.class, NodeClass::If | NodeClass::Case) || ends.feeds_some_of(id) {
            return None;
        }
        let value = constant(graph, *node.inputs.first()?, Some(ends)).filter(|value| value.rank() == 0)?;
        let branch = branch(node, value)?;
        let is_plain = !graph.is_stateful_function(&branch.name) && graph.has_function(&branch.name);
        (is_plain && runs_as_call(node)).then(|| (id, branch.clone()))
    });
    decided.collect()
}

/// The function that a conditional calls for a value.
fn branch<'n>(node: &'n Node, value: &Tensor) -> Option<&'n FunctionRef> {
    match (node.class, value.dtype()) {
        (NodeClass::If, DataType::Bool) => {
            let [is_then] = *value.as_slice::<bool>().ok()? else { return None };
            match node.attrs.get(if is_then { "then_branch" } else { "else_branch" })? {
                AttrValue::Func(function) => Some(function),
                _ => None,
            }
        }
        (NodeClass::Case, DataType::Int32) => {
            let [index] = *value.as_slice::<i32>().ok()? else { return None };
            let Some(AttrValue::ListFunc(branches)) = node.attrs.get("branches") else { return None };
            // What is out of range takes the last.
            usize::try_from(index).ok().and_then(|index| branches.get(index)).or(branches.last())
        }
        _ => None,
    }
}

/// Puts a call of a function in the place of a conditional, where other conditionals may have been `replaced`. `None` if that
/// cannot be done: the errors of a call's body are the call's, where those of a branch are none before it runs, and a
/// conditional may promise other shapes than its branch has.
fn call(
    patch: &mut GraphPatch<'_>,
    id: NodeId,
    branch: &FunctionRef,
    replaced: &HashMap<NodeId, NodeId>,
) -> Option<NodeId> {
    /// Attrs that concern the conditional itself: how it is run, and which of its inputs are read only.
    const OWN: &[&str] = &["_lower_using_switch_merge", "_read_only_resource_inputs"];
    let node = patch.node(id).clone();
    let op = patch.registry().op(created::CALL).ok()?;
    let now = |node: NodeId| replaced.get(&node).copied().unwrap_or(node);
    patch.beside(id);
    let mut builder = NodeBuilder::new(patch, op.def);
    let arguments = node.inputs.iter().skip(1).map(|&input| Output { node: now(input.node), ..input });
    builder.input_list(arguments).attr("f", AttrValue::Func(branch.clone()));
    let stays = |name: &str| ["Tin", "Tout"].contains(&name) || (name.starts_with('_') && !OWN.contains(&name));
    for (name, value) in node.attrs.iter().filter(|(name, _)| stays(name)) {
        builder.attr(name, value.clone());
    }
    node.control_inputs.iter().for_each(|&control| _ = builder.control_input(now(control)));
    let new = builder.build().ok()?;
    let shape = |node: NodeId, index: usize| patch.shape(Output { node, index });
    if !(0..node.signature.outputs.len()).all(|index| shape(id, index).is_compatible(shape(new, index))) {
        patch.take_back(new.index());
        return None;
    }
    patch.replace_node(id, new);
    Some(new)
}
