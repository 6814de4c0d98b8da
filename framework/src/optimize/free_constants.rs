//! Constants in loops and branches. They wait for a node of theirs, so that they are dead where it is dead. Where all
//! that uses a constant is dead then anyway, it need not wait, and costs nothing.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::pass::{Ends, MAX_IDENTITIES, Pass};
use crate::error::Result;
use crate::graph::{Graph, GraphPatch, NodeClass, NodeId, Output};

pub(super) struct FreeConstants;

impl Pass for FreeConstants {
    fn name(&self) -> &'static str {
        "free-constants"
    }

    fn summary(&self) -> &'static str {
        "has constants in loops and branches wait for nothing where their users wait themselves"
    }

    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool {
        nodes.iter().any(|&id| waits(graph, id))
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        let needed = patch.needed(ends.feeds(), ends.fetches(), ends.targets());
        let mut free: Vec<NodeId> = free(patch, &needed, ends).into_iter().collect();
        free.sort_unstable();
        free.iter().for_each(|&id| _ = patch.set_control_inputs(id, Vec::new()));
        Ok(free.len())
    }

    /// TensorFlow wants an `Enter` where a constant comes into a loop.
    fn is_portable(&self) -> bool {
        false
    }
}

/// Whether a node is a constant that waits for something.
fn waits(graph: &Graph, id: NodeId) -> bool {
    !graph.node(id).control_inputs.is_empty() && graph.constant(Output { node: id, index: 0 }).is_some()
}

/// What must be alive for a node to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Token {
    /// A node.
    Node(NodeId),
    /// The side of all switches that this output decides.
    Side { decided_by: Output, taken: usize },
}

/// More than so many tokens of a node are forgotten, and so are constants that wait for more nodes: these go on waiting.
/// Together with [`MAX_IDENTITIES`] it makes the work linear in the number of edges.
const FEW: usize = 8;

type Tokens = SmallVec<[Token; 2]>;

/// The constants that need not wait.
fn free(graph: &Graph, needed: &[NodeId], ends: &Ends) -> HashSet<NodeId> {
    let is_constant = |id: NodeId| graph.constant(Output { node: id, index: 0 }).is_some();
    let mut candidates: HashSet<NodeId> =
        needed.iter().copied().filter(|&id| waits(graph, id) && !ends.holds(id)).collect();
    candidates.retain(|&id| graph.node(id).control_inputs.len() <= FEW);
    if candidates.is_empty() {
        return candidates;
    }
    let mut tokens: HashMap<NodeId, Tokens> = HashMap::new();
    for &id in needed {
        let node = graph.node(id);
        let mut own: Tokens = SmallVec::new();
        let mut add = |token: Token| {
            if own.len() < FEW && !own.contains(&token) {
                own.push(token);
            }
        };
        add(Token::Node(id));
        // A merge is alive if one of its inputs is, and a trigger in any case.
        if !matches!(node.class, NodeClass::Merge | NodeClass::ControlTrigger) {
            for input in node.inputs.iter().filter(|input| !ends.is_fed(**input)) {
                of_output(graph, &tokens, *input).into_iter().for_each(&mut add);
            }
            for control in &node.control_inputs {
                tokens.get(control).cloned().unwrap_or_default().into_iter().for_each(&mut add);
            }
        }
        tokens.insert(id, own);
    }
    // All users of a constant must be dead with it, without looking at the constant itself.
    for &id in needed {
        let node = graph.node(id);
        node.control_inputs.iter().for_each(|control| _ = candidates.remove(control));
        let used: HashSet<NodeId> =
            node.inputs.iter().map(|input| input.node).filter(|n| candidates.contains(n)).collect();
        if used.is_empty() {
            continue;
        }
        let others = node.inputs.iter().filter(|input| !is_constant(input.node) && !ends.is_fed(**input));
        let mut given: HashSet<Token> = others.flat_map(|&input| of_output(graph, &tokens, input)).collect();
        given.extend(node.control_inputs.iter().flat_map(|control| tokens.get(control).cloned().unwrap_or_default()));
        let decides = node.class.is_switch() || matches!(node.class, NodeClass::Merge | NodeClass::ControlTrigger);
        for constant in used {
            let asked = graph.node(constant).control_inputs.iter();
            let is_implied = |control: &NodeId| implied(graph, &tokens, *control, &given);
            if decides || !asked.clone().all(is_implied) {
                candidates.remove(&constant);
            }
        }
    }
    candidates
}

/// Whether a node is alive if all that `given` stands for is: it is among them, or hands on what is.
fn implied(graph: &Graph, tokens: &HashMap<NodeId, Tokens>, mut control: NodeId, given: &HashSet<Token>) -> bool {
    for _ in 0..MAX_IDENTITIES {
        if given.contains(&Token::Node(control)) {
            return true;
        }
        let node = graph.node(control);
        let hands_on =
            matches!(node.class, NodeClass::Identity | NodeClass::LoopCond) && node.control_inputs.is_empty();
        let [input] = node.inputs[..] else { return false };
        if !hands_on || !tokens.contains_key(&input.node) {
            return false;
        }
        control = input.node;
        if let Some(side) = side(graph, input) {
            let switch = graph.node(input.node);
            if !given.contains(&side) || !switch.control_inputs.is_empty() {
                return false;
            }
            // What is given depends on what decides, but not on what this switch hands on.
            let data = switch.inputs[0];
            if Some(&data) == switch.inputs.get(1) {
                return true;
            }
            control = data.node;
        }
    }
    false
}

/// The side of a switch that an output is.
fn side(graph: &Graph, output: Output) -> Option<Token> {
    let node = graph.node(output.node);
    match node.inputs.get(1) {
        Some(&decided_by) if node.class.is_switch() => Some(Token::Side { decided_by, taken: output.index }),
        _ => None,
    }
}

/// What must be alive for an output to be.
fn of_output(graph: &Graph, tokens: &HashMap<NodeId, Tokens>, output: Output) -> Tokens {
    let mut tokens = tokens.get(&output.node).cloned().unwrap_or_default();
    tokens.extend(side(graph, output));
    tokens
}
