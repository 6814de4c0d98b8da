//! Finds the matches of a pattern at a root.

use smallvec::SmallVec;

use super::pattern::{OperandPattern, Pattern, PatternNode};
use super::view::View;
use crate::graph::{NodeId, Output};

/// What a pattern's names stand for in a match.
#[derive(Clone, Debug, Default)]
pub struct Bound {
    /// The nodes, as the pattern numbers them; the root is the first.
    pub(super) nodes: SmallVec<[Option<NodeId>; 4]>,
    outputs: SmallVec<[Option<Output>; 4]>,
    lists: SmallVec<[Vec<Output>; 1]>,
}

impl Bound {
    fn new(pattern: &Pattern) -> Bound {
        Bound {
            nodes: SmallVec::from_elem(None, pattern.nodes.len()),
            outputs: SmallVec::from_elem(None, pattern.outputs),
            lists: SmallVec::from_elem(Vec::new(), pattern.lists),
        }
    }

    /// The matched nodes, the root first.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes.iter().filter_map(|node| *node)
    }

    /// The output that a capture stands for.
    pub(super) fn output(&self, capture: usize) -> Option<Output> {
        self.outputs.get(capture).copied().flatten()
    }

    /// The outputs that a capture of a list stands for.
    pub(super) fn list(&self, capture: usize) -> &[Output] {
        self.lists.get(capture).map_or(&[], Vec::as_slice)
    }
}

/// What is still to be found: that an output is as a part of the pattern says.
type Goal = (&'static OperandPattern, Output);

/// Calls `found` with each match of a pattern whose root is a node, until it returns false. The inputs of commutative ops are
/// tried in both orders. Patterns are a few nodes, so that the depth of the recursion is small.
pub(super) fn each_match(
    view: &View<'_>,
    pattern: &'static Pattern,
    root: NodeId,
    found: &mut dyn FnMut(&Bound) -> bool,
) {
    let mut bound = Bound::new(pattern);
    Search { view, pattern, found }.node(0, root, &mut bound, &mut Vec::new());
}

struct Search<'s, 'g> {
    view: &'s View<'g>,
    pattern: &'static Pattern,
    found: &'s mut dyn FnMut(&Bound) -> bool,
}

impl Search<'_, '_> {
    /// Goes on with the next goal; without one there is a match. Returns whether the search is over.
    fn next(&mut self, bound: &mut Bound, goals: &mut Vec<Goal>) -> bool {
        let Some((operand, output)) = goals.pop() else { return !(self.found)(bound) };
        let done = match *operand {
            OperandPattern::Any => self.next(bound, goals),
            OperandPattern::Constant(_) if !self.view.is_constant(output) => false,
            OperandPattern::Output(capture) | OperandPattern::Constant(capture) => match bound.outputs[capture] {
                Some(same) if same != output => false,
                Some(_) => self.next(bound, goals),
                None => {
                    bound.outputs[capture] = Some(output);
                    let done = self.next(bound, goals);
                    bound.outputs[capture] = None;
                    done
                }
            },
            OperandPattern::Node(number) => {
                let is_output = self.is_output(&self.pattern.nodes[number], output);
                is_output && self.node(number, output.node, bound, goals)
            }
            OperandPattern::List(_) | OperandPattern::Each(_) => false,
        };
        goals.push((operand, output));
        done
    }

    /// Whether an output is the one of its node that the pattern means.
    fn is_output(&self, pattern: &PatternNode, output: Output) -> bool {
        let ranges = &self.view.graph().node(output.node).signature.output_ranges;
        ranges.get(pattern.output).is_some_and(|range| *range == (output.index..output.index + 1))
    }

    fn node(&mut self, number: usize, id: NodeId, bound: &mut Bound, goals: &mut Vec<Goal>) -> bool {
        let pattern = &self.pattern.nodes[number];
        let node = self.view.graph().node(id);
        // A node may stand in one place of a pattern only.
        if !pattern.matches(node) || bound.nodes().any(|other| other == id) {
            return false;
        }
        bound.nodes[number] = Some(id);
        let before = goals.len();
        let done = self.inputs(pattern, id, bound, goals, false)
            || (may_swap(pattern, node.op.def.is_commutative) && self.inputs(pattern, id, bound, goals, true));
        goals.truncate(before);
        bound.nodes[number] = None;
        done
    }

    /// Goes on with the inputs of a node; if `swapped`, the first two have changed places.
    fn inputs(
        &mut self,
        pattern: &'static PatternNode,
        id: NodeId,
        bound: &mut Bound,
        goals: &mut Vec<Goal>,
        swapped: bool,
    ) -> bool {
        let node = self.view.graph().node(id);
        let before = goals.len();
        let mut lists: SmallVec<[usize; 1]> = SmallVec::new();
        let mut fits = true;
        for input in pattern.inputs.iter().rev() {
            let argument = if swapped && input.argument < 2 { 1 - input.argument } else { input.argument };
            let Some(range) = node.signature.input_ranges.get(argument) else {
                fits = false;
                break;
            };
            let mut given = node.inputs.get(range.clone()).unwrap_or_default().iter().map(|&it| self.view.used_for(it));
            match &input.operand {
                OperandPattern::List(capture) => {
                    bound.lists[*capture] = given.collect();
                    lists.push(*capture);
                }
                OperandPattern::Each(operands) => {
                    fits = operands.len() == range.len();
                    if fits {
                        goals.extend(operands.iter().zip(given).rev());
                    }
                }
                operand => {
                    fits = range.len() == 1;
                    if fits {
                        goals.extend(given.next().map(|output| (operand, output)));
                    }
                }
            }
            if !fits {
                break;
            }
        }
        let done = fits && self.next(bound, goals);
        goals.truncate(before);
        lists.iter().for_each(|&capture| bound.lists[capture].clear());
        done
    }
}

/// Whether exchanged inputs may match where the given ones did not.
fn may_swap(pattern: &PatternNode, is_commutative: bool) -> bool {
    is_commutative && pattern.inputs.iter().any(|input| input.argument < 2)
}
