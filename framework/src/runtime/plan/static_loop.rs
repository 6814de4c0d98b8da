//! Which loops are static, and in which order an iteration of theirs goes; see [`StaticLoop`].

use std::collections::HashMap;

use super::frames::NodeFrames;
use super::layout::{BackEdge, Edge, Layout, LayoutNode, LoopExit, Move, NodeSpec, ROOT, Role, StaticLoop};
use crate::runtime::index::{FrameIndex, Handle, NodeIndex, SlotIndex, Table, kind};

/// Which part of an iteration a node is in.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Part {
    /// What says whether the loop goes on.
    Head,
    /// What a Switch leads to.
    Body,
}

/// A node that was reached.
struct Reached {
    /// How many edges are still to come.
    pending: u32,
    part: Part,
}

/// How often a Merge is led to.
#[derive(Default, PartialEq)]
struct Entries {
    from_outside: u32,
    from_iteration_before: u32,
}

/// Looks at one loop. What returns an option returns `None` if the loop is not static.
struct Search<'p> {
    layout: &'p Layout,
    specs: &'p [NodeSpec<'p>],
    frames: &'p Table<kind::Node, NodeFrames>,
    frame: FrameIndex,
    /// The nodes of the loop.
    members: &'p [NodeIndex],
    reached: HashMap<NodeIndex, Reached>,
    /// What all edges have come to.
    ready: Vec<NodeIndex>,
    /// The edges to each Merge.
    entries: HashMap<NodeIndex, Entries>,
    /// The node and its output that say whether the loop goes on.
    condition: Option<(NodeIndex, usize)>,
    found: StaticLoop,
}

/// Finds the loops that are static.
pub(super) fn find(layout: &mut Layout, specs: &[NodeSpec<'_>], frames: &Table<kind::Node, NodeFrames>) {
    let count = layout.frames.len();
    if count == 1 {
        return;
    }
    let mut members: Table<kind::Frame, Vec<NodeIndex>> = Table::filled(Vec::new(), count);
    let mut enters = members.clone();
    for (index, node) in layout.nodes.iter() {
        members[frames[index].own].push(index);
        if let Role::Enter { frame, .. } = node.role {
            enters[frame].push(index);
        }
    }
    for frame in layout.frames.handles().filter(|&frame| frame != ROOT) {
        let search = Search::new(layout, specs, frames, frame, &members[frame]);
        layout.frames[frame].static_loop = search.run(&enters[frame]).map(Box::new);
    }
}

/// The moves that take what is in a slot along edges.
fn moves(from: SlotIndex, edges: &[Edge]) -> impl Iterator<Item = Move> {
    let nowhere = edges.is_empty().then_some(Move { from, to: Handle::NONE, is_last: true });
    let count = edges.len();
    let each = move |(index, edge): (usize, &Edge)| Move { from, to: edge.slot, is_last: index + 1 == count };
    edges.iter().enumerate().map(each).chain(nowhere)
}

impl<'p> Search<'p> {
    fn new(
        layout: &'p Layout,
        specs: &'p [NodeSpec<'p>],
        frames: &'p Table<kind::Node, NodeFrames>,
        frame: FrameIndex,
        members: &'p [NodeIndex],
    ) -> Search<'p> {
        let found = StaticLoop {
            merge: Handle::NONE,
            back: Vec::new(),
            begin: Vec::new(),
            head: Vec::new(),
            condition: Handle::NONE,
            switch: Handle::NONE,
            go_on: Vec::new(),
            body: Vec::new(),
            exits: Vec::new(),
            constants: 0,
        };
        let (reached, ready, entries) = (HashMap::new(), Vec::new(), HashMap::new());
        Search { layout, specs, frames, frame, members, reached, ready, entries, condition: None, found }
    }

    /// How the loop goes, into which those nodes lead.
    fn run(mut self, enters: &[NodeIndex]) -> Option<StaticLoop> {
        let nodes = &self.layout.nodes;
        let (merges, others): (Vec<NodeIndex>, Vec<NodeIndex>) =
            self.members.iter().partition(|&&index| nodes[index].is_merge());
        self.found.merge = *merges.first()?;
        if others.len() > 2 * StaticLoop::MAX_NODES {
            return None;
        }
        enters.iter().try_for_each(|&index| self.enter(&nodes[index]))?;
        merges.iter().try_for_each(|&index| self.variable(&nodes[index]))?;
        let mut count = 0;
        while let Some(index) = self.ready.pop() {
            count += 1;
            let (node, part) = (&nodes[index], self.reached.get(&index)?.part);
            match node.role {
                Role::Kernel | Role::Forward if self.specs[index.position()].may_be_static => {
                    self.work(index, node, part)?
                }
                Role::Switch { by_index: false } if part == Part::Head => self.switch(index, node)?,
                Role::NextIteration if part == Part::Body => self.back(index, node)?,
                _ => return None,
            }
        }
        let Search { entries, found, .. } = self;
        // What was not reached waits for something else.
        let is_all = count + found.exits.len() == others.len();
        let once_each = Entries { from_outside: 1, from_iteration_before: 1 };
        let are_variables = merges.iter().all(|merge| entries.get(merge) == Some(&once_each));
        let is_short = found.head.len() + found.body.len() <= StaticLoop::MAX_NODES;
        (is_all && are_variables && is_short && !found.switch.is_none() && !found.back.is_empty()).then_some(found)
    }

    /// A node that leads into the loop.
    fn enter(&mut self, node: &LayoutNode) -> Option<()> {
        if matches!(node.role, Role::Enter { constant: true, .. }) {
            self.found.constants += 1;
            return self.serve_all(node, Part::Head);
        }
        for edge in self.edges_to_merges(node)? {
            self.entries.entry(edge.node).or_default().from_outside += 1;
        }
        Some(())
    }

    /// A Merge, of what enters and of what comes from the iteration before.
    fn variable(&mut self, node: &LayoutNode) -> Option<()> {
        let is_plain = node.inputs.len() == 2 && node.pending == 1 && node.is_immediate;
        (is_plain && self.layout.edges_of(node, 1).is_empty()).then_some(())?;
        self.serve_all(node, Part::Head)
    }

    /// A node that is run in its turn.
    fn work(&mut self, index: NodeIndex, node: &LayoutNode, part: Part) -> Option<()> {
        let found = &mut self.found;
        if part == Part::Head { &mut found.head } else { &mut found.body }.push(index);
        self.serve_all(node, part)
    }

    /// A Switch on what they all ask, whose first output leaves the loop.
    fn switch(&mut self, index: NodeIndex, node: &LayoutNode) -> Option<()> {
        let (data, choice) = (node.inputs.at(0), node.inputs.at(1));
        (node.is_filled && node.controls.is_empty()).then_some(())?;
        if self.found.switch.is_none() {
            self.condition = Some(self.source(choice)?);
            (self.found.condition, self.found.switch) = (choice, index);
        }
        let (asked, output) = self.condition?;
        let edges = self.layout.edges_of(&self.layout.nodes[asked], output);
        edges.iter().any(|edge| edge.slot == choice).then_some(())?;
        let exits = self.layout.edges_of(node, 0);
        for (position, exit) in exits.iter().enumerate() {
            let leaves = self.layout.nodes.get(exit.node)?;
            let is_exit = leaves.role == Role::Exit && leaves.pending == 1 && leaves.is_filled;
            is_exit.then_some(())?;
            self.found.exits.push(LoopExit { node: exit.node, slot: data, is_last: position + 1 == exits.len() });
        }
        self.found.go_on.extend(moves(data, self.layout.edges_of(node, 1)));
        self.serve_output(node, 1, Part::Body)
    }

    /// A NextIteration.
    fn back(&mut self, index: NodeIndex, node: &LayoutNode) -> Option<()> {
        node.is_immediate.then_some(())?;
        let slot = node.inputs.start;
        let mut targets: Vec<Edge> = Vec::new();
        for edge in self.edges_to_merges(node)? {
            self.entries.entry(edge.node).or_default().from_iteration_before += 1;
            targets.extend(self.layout.edges_of(&self.layout.nodes[edge.node], 0));
        }
        self.found.begin.extend(moves(slot, &targets));
        self.found.back.push(BackEdge { node: index, slot });
        Some(())
    }

    /// The output of a node of the loop that comes to a slot of it.
    fn source(&self, slot: SlotIndex) -> Option<(NodeIndex, usize)> {
        let nodes = &self.layout.nodes;
        let stays = |index: &NodeIndex| !matches!(nodes[*index].role, Role::Exit | Role::Enter { .. });
        let stay = self.members.iter().copied().filter(stays);
        let mut outputs = stay.flat_map(|index| (0..nodes[index].outputs.len()).map(move |output| (index, output)));
        outputs
            .find(|&(index, output)| self.layout.edges_of(&nodes[index], output).iter().any(|edge| edge.slot == slot))
    }

    /// The edges of a node that leads nowhere but to Merges of the loop.
    fn edges_to_merges(&self, node: &LayoutNode) -> Option<&'p [Edge]> {
        let edges = self.layout.edges_of(node, 0);
        let is_merge = |edge: &Edge| self.layout.nodes.get(edge.node).is_some_and(LayoutNode::is_merge);
        (node.controls.is_empty() && edges.iter().all(is_merge)).then_some(edges)
    }

    /// Serves all edges of a node.
    fn serve_all(&mut self, node: &LayoutNode, part: Part) -> Option<()> {
        (0..node.outputs.len()).try_for_each(|output| self.serve_output(node, output, part))?;
        self.layout.controls_of(node).iter().try_for_each(|&index| self.serve(index, part))
    }

    fn serve_output(&mut self, node: &LayoutNode, output: usize, part: Part) -> Option<()> {
        self.layout.edges_of(node, output).iter().try_for_each(|edge| self.serve(edge.node, part))
    }

    /// Serves an edge to a node of the loop that is no Merge.
    fn serve(&mut self, index: NodeIndex, part: Part) -> Option<()> {
        let node = self.layout.nodes.get(index)?;
        if node.is_merge() || self.frames[index].own != self.frame {
            return None;
        }
        let reached = self.reached.entry(index).or_insert(Reached { pending: node.pending, part });
        if part > reached.part {
            reached.part = part;
        }
        reached.pending = reached.pending.checked_sub(1)?;
        if reached.pending == 0 {
            self.ready.push(index);
        }
        Some(())
    }
}
