//! What must be alive for a node to be: a node is dead where one of its inputs, or what it waits for, is.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::pass::{Ends, MAX_IDENTITIES};
use crate::attr::AttrValue;
use crate::graph::{Graph, Node, NodeClass, NodeId, Output};

/// Whether a node brings a value into all iterations of a loop.
pub(super) fn is_constant_enter(node: &Node) -> bool {
    let is_constant = matches!(node.attrs.get("is_constant"), Some(AttrValue::Bool(true)));
    let slots = || node.signature.inputs.iter().chain(&node.signature.outputs);
    node.class == NodeClass::Enter && is_constant && node.inputs.len() == 1 && !slots().any(|slot| slot.is_ref)
}

/// Whether a node brings a constant into all iterations of a loop, and waits for nothing: it is always alive.
pub(super) fn brings_constant(graph: &Graph, node: &Node) -> bool {
    let is_free = |id: NodeId| graph.node(id).control_inputs.is_empty();
    let is_constant = |input: &Output| graph.constant(*input).is_some() && is_free(input.node);
    is_constant_enter(node) && node.control_inputs.is_empty() && node.inputs.iter().all(is_constant)
}

/// More than so many tokens of a node are forgotten. Together with [`MAX_IDENTITIES`] it makes the work linear in the number
/// of edges.
pub(super) const FEW: usize = 8;

/// What must be alive for a node to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Token {
    /// A node.
    Node(NodeId),
    /// The side of all switches that this output decides.
    Side { decided_by: Output, taken: usize },
}

type Tokens = SmallVec<[Token; 2]>;

/// For each node that a run needs, some of what must be alive for it to be.
pub(super) struct Liveness<'g> {
    graph: &'g Graph,
    ends: &'g Ends,
    tokens: HashMap<NodeId, Tokens>,
}

impl<'g> Liveness<'g> {
    pub(super) fn find(graph: &'g Graph, needed: &[NodeId], ends: &'g Ends) -> Liveness<'g> {
        let mut liveness = Liveness { graph, ends, tokens: HashMap::new() };
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
                    liveness.of_output(*input).into_iter().for_each(&mut add);
                }
                for control in &node.control_inputs {
                    liveness.tokens.get(control).cloned().unwrap_or_default().into_iter().for_each(&mut add);
                }
            }
            liveness.tokens.insert(id, own);
        }
        liveness
    }

    /// What must be alive for a node to be, but for those of its inputs that come from `skipped` nodes.
    pub(super) fn without(&self, node: &Node, skipped: impl Fn(NodeId) -> bool) -> HashSet<Token> {
        let others = node.inputs.iter().filter(|input| !skipped(input.node) && !self.ends.is_fed(**input));
        let mut given: HashSet<Token> = others.flat_map(|&input| self.of_output(input)).collect();
        let of_control = |control| self.tokens.get(control).cloned().unwrap_or_default();
        given.extend(node.control_inputs.iter().flat_map(of_control));
        given
    }

    /// Whether a node is alive if all that `given` stands for is: it is among them, or hands on what is.
    pub(super) fn is_implied(&self, mut control: NodeId, given: &HashSet<Token>) -> bool {
        for _ in 0..MAX_IDENTITIES {
            if given.contains(&Token::Node(control)) {
                return true;
            }
            let node = self.graph.node(control);
            // Who is in the loop by other inputs need not wait for what is always alive.
            if brings_constant(self.graph, node) && !given.is_empty() {
                return true;
            }
            let hands_on =
                matches!(node.class, NodeClass::Identity | NodeClass::LoopCond) && node.control_inputs.is_empty();
            let [input] = node.inputs[..] else { return false };
            if !hands_on || !self.tokens.contains_key(&input.node) {
                return false;
            }
            control = input.node;
            if let Some(side) = self.side(input) {
                let switch = self.graph.node(input.node);
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
    fn side(&self, output: Output) -> Option<Token> {
        let node = self.graph.node(output.node);
        match node.inputs.get(1) {
            Some(&decided_by) if node.class.is_switch() => Some(Token::Side { decided_by, taken: output.index }),
            _ => None,
        }
    }

    /// What must be alive for an output to be.
    fn of_output(&self, output: Output) -> Tokens {
        let mut tokens = self.tokens.get(&output.node).cloned().unwrap_or_default();
        tokens.extend(self.side(output));
        tokens
    }
}
