//! Loops that go straight through their nodes: which they are, and in which order an iteration goes.
//!
//! Such a loop is what `tf.while_loop` makes of a condition and a body without branches, loops or kernels that wait. What
//! each of its nodes waits for is known beforehand, so nothing has to be counted while it runs.

use std::collections::HashMap;

use super::{Action, Edge, NONE, Plan, PlanNode};
use crate::runtime::executor::LOOK;

/// How the iterations of a loop go.
pub(in crate::runtime) struct Straight {
    /// One of the loop's merges. It stands for the iteration among what is ready.
    pub(in crate::runtime) merge: u32,
    /// What leads to the next iteration: an iteration begins with what is there.
    pub(in crate::runtime) back: Vec<Back>,
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
    /// What leaves the loop if it does not.
    pub(in crate::runtime) exits: Vec<Leave>,
    /// How many nodes lead constants into it.
    pub(in crate::runtime) constants: usize,
}

/// A node that leads to the next iteration, and the slot of its input.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct Back {
    pub(in crate::runtime) node: u32,
    pub(in crate::runtime) slot: u32,
}

/// A node that leaves the loop, and the slot where its value is.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct Leave {
    pub(in crate::runtime) node: u32,
    pub(in crate::runtime) slot: u32,
    /// Whether nothing else takes it.
    pub(in crate::runtime) is_last: bool,
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

/// The most nodes that an iteration runs: the clock is looked at between iterations.
const MOST_NODES: usize = LOOK as usize;

/// Whether a switch leads to a node.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Part {
    Head,
    Body,
}

/// Looks at one loop. What returns an option returns `None` if the loop does not go straight.
struct Search<'p> {
    plan: &'p Plan,
    frame_of: &'p [u32],
    frame: u32,
    /// The nodes of the loop.
    members: &'p [u32],
    /// For each node that was reached, how many edges are still to come, and its part.
    waiting: HashMap<u32, (u32, Part)>,
    /// What all edges have come to.
    ready: Vec<u32>,
    /// How often each merge is led to from outside, and from the iteration before.
    entries: HashMap<u32, (u32, u32)>,
    /// The output that says whether the loop goes on.
    condition: Option<(u32, usize)>,
    straight: Straight,
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
            let search = Search::new(self, frame_of, frame as u32, &members[frame]);
            self.frames[frame].straight = search.run(&enters[frame]).map(Box::new);
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

impl<'p> Search<'p> {
    fn new(plan: &'p Plan, frame_of: &'p [u32], frame: u32, members: &'p [u32]) -> Search<'p> {
        let straight = Straight {
            merge: NONE,
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
        let (waiting, ready, entries) = (HashMap::new(), Vec::new(), HashMap::new());
        Search { plan, frame_of, frame, members, waiting, ready, entries, condition: None, straight }
    }

    /// How the loop goes, into which those nodes lead.
    fn run(mut self, enters: &[u32]) -> Option<Straight> {
        let nodes = &self.plan.nodes;
        let (merges, others): (Vec<u32>, Vec<u32>) =
            self.members.iter().partition(|&&index| nodes[index as usize].is_merge());
        self.straight.merge = *merges.first()?;
        if others.len() > 2 * MOST_NODES {
            return None;
        }
        enters.iter().try_for_each(|&index| self.enter(&nodes[index as usize]))?;
        merges.iter().try_for_each(|&index| self.variable(&nodes[index as usize]))?;
        let mut reached = 0;
        while let Some(index) = self.ready.pop() {
            reached += 1;
            let (node, (_, part)) = (&nodes[index as usize], *self.waiting.get(&index)?);
            match &node.action {
                Action::Compute(kernel) if !kernel.takes_dead_inputs() && node.waiting.is_none() => {
                    self.work(index, node, part)?
                }
                Action::Forward => self.work(index, node, part)?,
                Action::Switch { by_index: false } if part == Part::Head => self.switch(index, node)?,
                Action::NextIteration if part == Part::Body => self.back(index, node)?,
                _ => return None,
            }
        }
        let Search { entries, straight, .. } = self;
        // What was not reached waits for something else.
        let is_all = reached + straight.exits.len() == others.len();
        let are_variables = merges.iter().all(|merge| entries.get(merge) == Some(&(1, 1)));
        let is_short = straight.head.len() + straight.body.len() <= MOST_NODES;
        (is_all && are_variables && is_short && straight.switch != NONE && !straight.back.is_empty())
            .then_some(straight)
    }

    /// A node that leads into the loop.
    fn enter(&mut self, node: &PlanNode) -> Option<()> {
        if matches!(node.action, Action::Enter { constant: true, .. }) {
            self.straight.constants += 1;
            return self.serve_all(node, Part::Head);
        }
        for edge in self.edges_to_merges(node)? {
            self.entries.entry(edge.node).or_default().0 += 1;
        }
        Some(())
    }

    /// A merge, of what enters and of what comes from the iteration before.
    fn variable(&mut self, node: &PlanNode) -> Option<()> {
        let is_plain = node.inputs.len() == 2 && node.pending == 1 && node.is_passed;
        (is_plain && self.plan.edges_of(node, 1).is_empty()).then_some(())?;
        self.serve_all(node, Part::Head)
    }

    /// A node that is run in its turn.
    fn work(&mut self, index: u32, node: &PlanNode, part: Part) -> Option<()> {
        let straight = &mut self.straight;
        if part == Part::Head { &mut straight.head } else { &mut straight.body }.push(index);
        self.serve_all(node, part)
    }

    /// A switch on what they all ask, whose first output leaves the loop.
    fn switch(&mut self, index: u32, node: &PlanNode) -> Option<()> {
        let (data, choice) = (node.inputs.start, node.inputs.start + 1);
        (node.is_filled && node.controls.is_empty()).then_some(())?;
        if self.straight.switch == NONE {
            self.condition = Some(self.source(choice)?);
            (self.straight.condition, self.straight.switch) = (choice, index);
        }
        let (asked, output) = self.condition?;
        let edges = self.plan.edges_of(&self.plan.nodes[asked as usize], output);
        edges.iter().any(|edge| edge.slot == choice).then_some(())?;
        let exits = self.plan.edges_of(node, 0);
        for (position, exit) in exits.iter().enumerate() {
            let leaves = self.plan.nodes.get(exit.node as usize)?;
            let is_exit = matches!(leaves.action, Action::Exit) && leaves.pending == 1 && leaves.is_filled;
            is_exit.then_some(())?;
            self.straight.exits.push(Leave { node: exit.node, slot: data, is_last: position + 1 == exits.len() });
        }
        self.straight.go_on.extend(moves(data, self.plan.edges_of(node, 1)));
        self.serve_output(node, 1, Part::Body)
    }

    /// A node that leads to the next iteration.
    fn back(&mut self, index: u32, node: &PlanNode) -> Option<()> {
        node.is_passed.then_some(())?;
        let slot = node.inputs.start;
        let mut targets: Vec<Edge> = Vec::new();
        for edge in self.edges_to_merges(node)? {
            self.entries.entry(edge.node).or_default().1 += 1;
            targets.extend(self.plan.edges_of(&self.plan.nodes[edge.node as usize], 0));
        }
        self.straight.begin.extend(moves(slot, &targets));
        self.straight.back.push(Back { node: index, slot });
        Some(())
    }

    /// The output of a node of the loop that comes to a slot of it.
    fn source(&self, slot: u32) -> Option<(u32, usize)> {
        let nodes = &self.plan.nodes;
        let stays = |index: &u32| !matches!(nodes[*index as usize].action, Action::Exit | Action::Enter { .. });
        let stay = self.members.iter().copied().filter(stays);
        let mut outputs =
            stay.flat_map(|index| (0..nodes[index as usize].outputs.len()).map(move |output| (index, output)));
        outputs.find(|&(index, output)| {
            self.plan.edges_of(&nodes[index as usize], output).iter().any(|edge| edge.slot == slot)
        })
    }

    /// The edges of a node that leads nowhere but to merges of the loop.
    fn edges_to_merges(&self, node: &PlanNode) -> Option<&'p [Edge]> {
        let edges = self.plan.edges_of(node, 0);
        let is_merge = |edge: &Edge| self.plan.nodes.get(edge.node as usize).is_some_and(PlanNode::is_merge);
        (node.controls.is_empty() && edges.iter().all(is_merge)).then_some(edges)
    }

    /// Serves all edges of a node.
    fn serve_all(&mut self, node: &PlanNode, part: Part) -> Option<()> {
        (0..node.outputs.len()).try_for_each(|output| self.serve_output(node, output, part))?;
        let controls = &self.plan.controls[node.controls.start as usize..node.controls.end as usize];
        controls.iter().try_for_each(|&index| self.serve(index, part))
    }

    fn serve_output(&mut self, node: &PlanNode, output: usize, part: Part) -> Option<()> {
        self.plan.edges_of(node, output).iter().try_for_each(|edge| self.serve(edge.node, part))
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
