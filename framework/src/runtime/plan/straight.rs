//! Loops that go straight through their nodes: which they are, and in which order an iteration goes.
//!
//! Such a loop is what `tf.while_loop` makes of a condition and a body without branches, loops or kernels that wait. What
//! each of its nodes waits for is known beforehand, so nothing has to be counted while it runs.

use std::collections::HashMap;

use super::{Action, Edge, NONE, Plan, PlanNode};

/// How the iterations of a loop go.
pub(in crate::runtime) struct Straight {
    /// One of the loop's merges. It stands for the iteration among what is ready.
    pub(in crate::runtime) merge: u32,
    /// The nodes that lead to the next iteration, and the slots of their inputs: an iteration begins with what is there.
    pub(in crate::runtime) back: Vec<(u32, u32)>,
    /// Takes the values of the loop's variables to where they are used.
    pub(in crate::runtime) begin: Vec<Move>,
    /// What runs in each iteration, in order, also in the one that ends the loop.
    pub(in crate::runtime) head: Vec<u32>,
    /// The slot of what says whether the loop goes on, and the switch whose input it is.
    pub(in crate::runtime) condition: u32,
    pub(in crate::runtime) switch: u32,
    /// Takes the variables on if it does.
    pub(in crate::runtime) go_on: Vec<Move>,
    /// What runs if it does, in order.
    pub(in crate::runtime) body: Vec<u32>,
    /// The nodes that leave the loop if it does not, each with the slot of its value and whether it is the last that takes
    /// that.
    pub(in crate::runtime) exits: Vec<(u32, u32, bool)>,
    /// How many nodes lead constants into it.
    pub(in crate::runtime) constants: usize,
}

/// Takes a tensor from one slot to another.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct Move {
    pub(in crate::runtime) from: u32,
    /// [`NONE`] to drop it.
    pub(in crate::runtime) to: u32,
    /// Whether nothing else takes it.
    pub(in crate::runtime) is_last: bool,
}

/// Whether a switch leads to a node.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Part {
    Head,
    Body,
}

/// Looks at one loop.
struct Search<'p> {
    plan: &'p Plan,
    frame_of: &'p [u32],
    frame: u32,
    /// The nodes of the loop.
    members: &'p [u32],
    /// The nodes that lead into it.
    enters: &'p [u32],
    /// For each node that was reached, how many edges are still to come, and its part.
    waiting: HashMap<u32, (u32, Part)>,
    /// What all edges have come to.
    ready: Vec<u32>,
}

impl Plan {
    /// Finds the loops that go straight. `frame_of` has the frame of each node.
    pub(super) fn find_straight_loops(&mut self, frame_of: &[u32]) {
        if self.frames.len() == 1 {
            return;
        }
        let (mut members, mut enters) = (vec![Vec::new(); self.frames.len()], vec![Vec::new(); self.frames.len()]);
        for (index, node) in self.nodes.iter().enumerate() {
            members[frame_of[index] as usize].push(index as u32);
            if let Action::Enter { frame, .. } = node.action {
                enters[frame as usize].push(index as u32);
            }
        }
        for frame in 1..self.frames.len() {
            let (waiting, ready) = (HashMap::new(), Vec::new());
            let (members, enters) = (&members[frame], &enters[frame]);
            let search = Search { plan: self, frame_of, frame: frame as u32, members, enters, waiting, ready };
            self.frames[frame].straight = search.run().map(Box::new);
        }
    }
}

/// The moves that take what is in a slot along edges.
fn moves(from: u32, edges: &[Edge]) -> impl Iterator<Item = Move> {
    let nowhere = edges.is_empty().then_some(Move { from, to: NONE, is_last: true });
    let count = edges.len();
    let each = move |(index, edge): (usize, &Edge)| Move { from, to: edge.slot, is_last: index + 1 == count };
    edges.iter().enumerate().map(each).chain(nowhere)
}

impl Search<'_> {
    /// How the loop goes, if it goes straight.
    fn run(mut self) -> Option<Straight> {
        let plan = self.plan;
        let merges: Vec<u32> =
            self.members.iter().copied().filter(|&index| plan.nodes[index as usize].is_merge()).collect();
        let sources = self.sources();
        let mut straight = Straight {
            merge: *merges.first()?,
            back: Vec::new(),
            begin: Vec::new(),
            head: Vec::new(),
            condition: NONE,
            switch: NONE,
            go_on: Vec::new(),
            body: Vec::new(),
            exits: Vec::new(),
            constants: 0,
        };
        // How often each merge is led to from outside, and from the iteration before.
        let mut entries: HashMap<u32, (u32, u32)> = HashMap::new();
        for &index in self.enters {
            let node = &plan.nodes[index as usize];
            if matches!(node.action, Action::Enter { constant: true, .. }) {
                straight.constants += 1;
                self.serve_all(node, 0, Part::Head)?;
                self.serve_controls(node, Part::Head)?;
                continue;
            }
            for edge in self.edges_to_merges(node)? {
                entries.entry(edge.node).or_default().0 += 1;
            }
        }
        for &index in &merges {
            let node = &plan.nodes[index as usize];
            if node.pending != 1 || !node.is_passed || !plan.edges_of(node, 1).is_empty() {
                return None;
            }
            self.serve_all(node, 0, Part::Head)?;
            self.serve_controls(node, Part::Head)?;
        }
        let mut reached = merges.len();
        let mut condition = None;
        while let Some(index) = self.ready.pop() {
            reached += 1;
            let node = &plan.nodes[index as usize];
            let part = self.waiting.get(&index)?.1;
            match &node.action {
                Action::Compute(kernel) if kernel.takes_dead_inputs() => return None,
                Action::Compute(_) | Action::Forward => {
                    for output in 0..node.outputs.len() {
                        self.serve_all(node, output, part)?;
                    }
                    self.serve_controls(node, part)?;
                    if part == Part::Head { &mut straight.head } else { &mut straight.body }.push(index);
                }
                Action::Switch { by_index: false } => {
                    if part != Part::Head || !node.is_filled || !node.controls.is_empty() {
                        return None;
                    }
                    let (data, choice) = (node.inputs.start, node.inputs.start + 1);
                    let source = *sources.get(&choice)?;
                    if *condition.get_or_insert(source) != source {
                        return None;
                    }
                    (straight.condition, straight.switch) = (choice, index);
                    let exits = plan.edges_of(node, 0);
                    for (position, exit) in exits.iter().enumerate() {
                        let leaves = plan.nodes.get(exit.node as usize)?;
                        if !matches!(leaves.action, Action::Exit) || leaves.pending != 1 || !leaves.is_filled {
                            return None;
                        }
                        straight.exits.push((exit.node, data, position + 1 == exits.len()));
                        reached += 1;
                    }
                    straight.go_on.extend(moves(data, plan.edges_of(node, 1)));
                    self.serve_all(node, 1, Part::Body)?;
                }
                Action::NextIteration => {
                    if part != Part::Body || !node.is_passed {
                        return None;
                    }
                    let slot = node.inputs.start;
                    let to_merges = self.edges_to_merges(node)?;
                    let mut targets: Vec<Edge> = Vec::new();
                    for edge in to_merges {
                        entries.entry(edge.node).or_default().1 += 1;
                        targets.extend(plan.edges_of(&plan.nodes[edge.node as usize], 0));
                    }
                    straight.begin.extend(moves(slot, &targets));
                    straight.back.push((index, slot));
                }
                _ => return None,
            }
        }
        let are_variables = merges.iter().all(|merge| {
            let inputs = plan.nodes[*merge as usize].inputs.len();
            inputs == 2 && entries.get(merge) == Some(&(1, 1))
        });
        // What was not reached waits for something else.
        (reached == self.members.len() && are_variables && condition.is_some() && !straight.back.is_empty())
            .then_some(straight)
    }

    /// For each slot, the output of a node of the loop that comes to it.
    fn sources(&self) -> HashMap<u32, (u32, usize)> {
        let stays =
            |&&index: &&u32| !matches!(self.plan.nodes[index as usize].action, Action::Exit | Action::Enter { .. });
        let outputs = self.members.iter().filter(stays).flat_map(|&index| {
            let node = &self.plan.nodes[index as usize];
            (0..node.outputs.len()).map(move |output| (index, output))
        });
        let edges = outputs.flat_map(|(index, output)| {
            let edges = self.plan.edges_of(&self.plan.nodes[index as usize], output);
            edges.iter().map(move |edge| (edge.slot, (index, output)))
        });
        edges.collect()
    }

    /// The edges of a node that leads nowhere but to merges of the loop.
    fn edges_to_merges(&self, node: &PlanNode) -> Option<&[Edge]> {
        let edges = self.plan.edges_of(node, 0);
        let is_merge = |edge: &Edge| self.plan.nodes.get(edge.node as usize).is_some_and(PlanNode::is_merge);
        (node.controls.is_empty() && edges.iter().all(is_merge)).then_some(edges)
    }

    /// Takes an output along its edges.
    fn serve_all(&mut self, node: &PlanNode, output: usize, part: Part) -> Option<()> {
        for edge in self.plan.edges_of(node, output) {
            self.serve(edge.node, part)?;
        }
        Some(())
    }

    fn serve_controls(&mut self, node: &PlanNode, part: Part) -> Option<()> {
        for &index in &self.plan.controls[node.controls.start as usize..node.controls.end as usize] {
            self.serve(index, part)?;
        }
        Some(())
    }

    /// Serves an edge to a node of the loop that is no merge.
    fn serve(&mut self, index: u32, part: Part) -> Option<()> {
        let node = self.plan.nodes.get(index as usize)?;
        if node.is_merge() || self.frame_of[index as usize] != self.frame {
            return None;
        }
        let (waiting, of) = self.waiting.entry(index).or_insert((node.pending, part));
        if part > *of {
            *of = part;
        }
        *waiting = waiting.checked_sub(1)?;
        if *waiting == 0 {
            self.ready.push(index);
        }
        Some(())
    }
}
