//! What a run knows of itself: what has arrived where, which nodes are ready, which loops are under way.
//!
//! It decides by the [`Layout`] alone, and knows neither kernels nor threads. Whoever runs a node tells it what came of
//! that; it answers with the nodes that can run next, as [`TaggedNode`]s.

mod enter_exit;
mod iteration;
mod loops;
mod static_loops;
#[cfg(test)]
mod tests;

use self::iteration::{Arrival, Iteration, MergeArrival};
use self::loops::Loop;
use crate::error::{Error, Result};
use crate::runtime::index::{FrameIndex, Handle, IterationIndex, LoopIndex, NodeIndex, SlotIndex, Table, kind};
use crate::runtime::plan::layout::{Edge, Layout, LayoutNode, ROOT, Role, Slots};
use crate::tensor::Tensor;

pub(super) use self::static_loops::Lent;

/// A node that can run, in one iteration of its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TaggedNode {
    pub(super) node: NodeIndex,
    pub(super) iteration: IterationIndex,
    /// It passes on that its outputs will not come.
    pub(super) is_dead: bool,
}

/// Where a node runs, for kernels.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Position {
    /// A number of the loop, or of the run outside of loops.
    pub(super) frame: u64,
    /// The number of the iteration.
    pub(super) iteration: u64,
}

/// An Enter that runs: the frame that it leads into, and the iteration that it is in.
#[derive(Clone, Copy)]
struct Entry {
    enter: NodeIndex,
    frame: FrameIndex,
    parent: IterationIndex,
    is_constant: bool,
}

/// See the module.
pub(super) struct State {
    iterations: Table<kind::Iteration, Iteration>,
    /// The iterations that have ended, by frame.
    free_iterations: Table<kind::Frame, Vec<IterationIndex>>,
    loops: Table<kind::Loop, Option<Loop>>,
    free_loops: Vec<LoopIndex>,
    next_loop: u64,
    /// The static loops that wait for all that enters them before they begin with the next iteration.
    deferred: Vec<LoopIndex>,
    /// The last one is the next to run.
    ready: Vec<TaggedNode>,
    /// Whose turn it was last, of [`State::ready`].
    turn: usize,
    /// How many nodes are handing on their values, each to the next.
    immediate: u32,
}

/// So many nodes at most hand on a value at once, each to the next: the stack is bounded, and so is the time between two
/// looks at the clock.
const MAX_IMMEDIATE: u32 = 8;

/// The iteration that stands for what is in no loop.
pub(super) const TOP: IterationIndex = Handle::FIRST;

impl State {
    pub(super) fn new(layout: &Layout) -> State {
        State {
            iterations: vec![Iteration::new(layout, ROOT)].into(),
            free_iterations: Table::filled(Vec::new(), layout.frames.len()),
            loops: Table::new(),
            free_loops: Vec::new(),
            next_loop: 1,
            deferred: Vec::new(),
            ready: Vec::new(),
            turn: 0,
            immediate: 0,
        }
    }

    /// Makes the state of a run that has ended well that of one that has not begun.
    pub(super) fn reset(&mut self, layout: &Layout) {
        if self.loops.len() > self.free_loops.len() {
            // A loop in which something waits for what never comes does not end.
            self.loops = Table::new();
            self.free_loops.clear();
            self.deferred.clear();
            self.iterations.truncate(1);
            self.free_iterations.values_mut().iter_mut().for_each(Vec::clear);
        }
        self.iterations[TOP].reset(layout, ROOT);
    }

    // ---- what is ready ----

    /// Notes that a node which waits for nothing is ready.
    #[inline]
    pub(super) fn begin(&mut self, node: NodeIndex) {
        self.ready.push(TaggedNode { node, iteration: TOP, is_dead: false });
    }

    /// The next node that is ready.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<TaggedNode> {
        self.ready.pop()
    }

    #[inline(always)]
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Gives the next turn to another one of what is ready: called again and again, each that waits has it once.
    pub(super) fn take_turns(&mut self) {
        if let Some(last) = self.ready.len().checked_sub(1) {
            self.turn = if self.turn < last { self.turn + 1 } else { 0 };
            self.ready.swap(self.turn, last);
        }
    }

    /// Drops what is ready.
    pub(super) fn clear_ready(&mut self) {
        self.ready.clear();
    }

    #[inline(always)]
    fn push(&mut self, node: NodeIndex, iteration: IterationIndex, is_dead: bool) {
        if iteration != TOP {
            self.iterations[iteration].outstanding += 1;
        }
        self.ready.push(TaggedNode { node, iteration, is_dead });
    }

    /// The tensors of an iteration.
    #[inline(always)]
    pub(super) fn slots(&mut self, iteration: IterationIndex) -> &mut Slots {
        &mut self.iterations[iteration].slots
    }

    /// Where an iteration stands; its frame is 0 outside of loops.
    pub(super) fn position(&self, iteration: IterationIndex) -> Position {
        let Iteration { in_loop, number, .. } = self.iterations[iteration];
        let frame = self.loops.get(in_loop).and_then(Option::as_ref).map_or(0, |l| l.number);
        Position { frame, iteration: number }
    }

    // ---- what a node that has run hands on ----

    /// Hands the output of a node on, or that it is dead. Takes the tensor if anything takes it.
    #[inline(always)]
    pub(super) fn deliver(
        &mut self,
        layout: &Layout,
        edges: &[Edge],
        iteration: IterationIndex,
        tensor: &mut Option<Tensor>,
    ) {
        let Some((last, edges)) = edges.split_last() else { return };
        for &edge in edges {
            self.deliver_one::<false>(layout, edge, iteration, tensor);
        }
        self.deliver_one::<true>(layout, *last, iteration, tensor);
    }

    /// Hands a tensor, or a clone of it, or that it is dead, to where an edge leads.
    #[inline(always)]
    fn deliver_one<const TAKES: bool>(
        &mut self,
        layout: &Layout,
        edge: Edge,
        iteration: IterationIndex,
        tensor: &mut Option<Tensor>,
    ) {
        let put: fn(&mut Option<Tensor>, &mut Option<Tensor>) =
            if TAKES { Tensor::shift } else { |tensor, slot| Tensor::copy(tensor, slot) };
        let arrived_in = &mut self.iterations[iteration];
        if edge.node.is_none() {
            put(tensor, &mut arrived_in.slots[edge.slot]);
            return;
        }
        let node = &layout.nodes[edge.node];
        if node.is_merge() {
            if TAKES {
                return self.deliver_to_merge(layout, node, edge, iteration, tensor);
            }
            return self.deliver_to_merge(layout, node, edge, iteration, &mut tensor.clone());
        }
        let is_dead = tensor.is_none();
        put(tensor, &mut arrived_in.slots[edge.slot]);
        if is_dead {
            arrived_in.note_dead(node);
        }
        self.serve(layout, edge.node, node, iteration);
    }

    /// [`State::deliver`] of what is in a slot of the iteration, and empties the slot.
    fn deliver_slot(&mut self, layout: &Layout, edges: &[Edge], iteration: IterationIndex, from: SlotIndex) {
        let Some((last, edges)) = edges.split_last() else {
            return Tensor::clear(&mut self.iterations[iteration].slots[from]);
        };
        for &edge in edges {
            self.deliver_slot_to(layout, edge, iteration, from, |slot, target| Tensor::copy(slot, target));
        }
        self.deliver_slot_to(layout, *last, iteration, from, Tensor::shift);
    }

    /// Hands what `get` makes of a slot to where an edge leads.
    #[inline(always)]
    fn deliver_slot_to(
        &mut self,
        layout: &Layout,
        edge: Edge,
        iteration: IterationIndex,
        from: SlotIndex,
        get: impl FnOnce(&mut Option<Tensor>, &mut Option<Tensor>),
    ) {
        let slots = &mut self.iterations[iteration].slots;
        let node = layout.nodes.get(edge.node).filter(|node| !node.is_merge());
        // From slot to slot, without a stop between.
        if let (Some(node), Some([source, target])) = (node, slots.two_mut(from, edge.slot)) {
            get(source, target);
            return self.serve(layout, edge.node, node, iteration);
        }
        let mut tensor = None;
        get(&mut slots[from], &mut tensor);
        self.deliver_one::<true>(layout, edge, iteration, &mut tensor);
    }

    /// Counts an edge as served whose tensor is in its slot.
    #[inline(always)]
    pub(super) fn serve_edge(&mut self, layout: &Layout, edge: Edge, iteration: IterationIndex) {
        if !edge.node.is_none() {
            self.serve(layout, edge.node, &layout.nodes[edge.node], iteration);
        }
    }

    /// Counts an edge of a node that is no Merge as served.
    #[inline(always)]
    fn serve(&mut self, layout: &Layout, index: NodeIndex, node: &LayoutNode, iteration: IterationIndex) {
        match self.iterations[iteration].serve(node) {
            Arrival::Waiting => {}
            Arrival::Ready => self.push(index, iteration, false),
            Arrival::Immediate => self.hand_on_immediately(layout, node, index, iteration),
            Arrival::Dead => self.ready_though_dead(node, index, iteration),
        }
    }

    /// Takes care of a node that has all that it waits for, some of it dead.
    #[inline(never)]
    fn ready_though_dead(&mut self, node: &LayoutNode, index: NodeIndex, iteration: IterationIndex) {
        match node.role {
            Role::ControlTrigger => self.push(index, iteration, false),
            // At once: while it waited for its turn its iteration would not end.
            Role::Exit => self.dead_exit(index, iteration),
            _ => self.push(index, iteration, true),
        }
    }

    /// Hands a tensor, or that it is dead, to a Merge.
    #[inline(never)]
    fn deliver_to_merge(
        &mut self,
        layout: &Layout,
        merge: &LayoutNode,
        edge: Edge,
        iteration: IterationIndex,
        tensor: &mut Option<Tensor>,
    ) {
        let arrived_in = &mut self.iterations[iteration];
        if tensor.is_none() {
            if arrived_in.serve_merge_dead(merge) {
                self.push(edge.node, iteration, true);
            }
            return;
        }
        let arrival = arrived_in.serve_merge(merge);
        if arrival == MergeArrival::Late {
            return;
        }
        let is_ready = arrival == MergeArrival::Ready;
        if is_ready && merge.is_immediate && self.immediate < MAX_IMMEDIATE {
            self.immediate += 1;
            self.merge(layout, merge, iteration, edge.slot.offset_from(merge.inputs.start), tensor);
            self.immediate -= 1;
            return;
        }
        Tensor::shift(tensor, &mut arrived_in.slots[edge.slot]);
        if is_ready {
            self.push(edge.node, iteration, false);
        }
    }

    /// Has a node that is no Merge hand on its value, at once unless too many do.
    #[inline(never)]
    fn hand_on_immediately(&mut self, layout: &Layout, node: &LayoutNode, index: NodeIndex, iteration: IterationIndex) {
        if self.immediate == MAX_IMMEDIATE {
            return self.push(index, iteration, false);
        }
        self.immediate += 1;
        let handed_on = match node.role {
            Role::Switch { by_index } => self.switch(layout, node, iteration, by_index),
            _ => {
                self.next_iteration(layout, index, iteration);
                Ok(())
            }
        };
        self.immediate -= 1;
        if handed_on.is_err() {
            // In its turn it says what is wrong.
            self.push(index, iteration, false);
        }
    }

    /// Counts the control edges of a node as served.
    #[inline(always)]
    pub(super) fn serve_controls(
        &mut self,
        layout: &Layout,
        from: &LayoutNode,
        iteration: IterationIndex,
        is_dead: bool,
    ) {
        if !from.controls.is_empty() {
            self.serve_some_controls(layout, from, iteration, is_dead);
        }
    }

    fn serve_some_controls(&mut self, layout: &Layout, from: &LayoutNode, iteration: IterationIndex, is_dead: bool) {
        for &index in layout.controls_of(from) {
            let node = &layout.nodes[index];
            let arrived_in = &mut self.iterations[iteration];
            if node.is_merge() {
                match arrived_in.serve_merge_control(node) {
                    Arrival::Waiting => {}
                    arrival => self.push(index, iteration, arrival == Arrival::Dead),
                }
                continue;
            }
            if is_dead {
                arrived_in.note_dead(node);
            }
            self.serve(layout, index, node, iteration);
        }
    }

    // ---- nodes without kernels, and dead ones ----

    /// Runs a node that has no kernel and whose inputs are in their slots.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if what a Switch goes by is no scalar, or an Exit left its loop in an earlier iteration; INTERNAL if
    /// an input is not there.
    #[inline]
    pub(super) fn run_flow(&mut self, layout: &Layout, tagged: TaggedNode, node: &LayoutNode) -> Result<()> {
        let TaggedNode { node: index, iteration, .. } = tagged;
        let inputs = node.inputs_of(&mut self.iterations[iteration].slots);
        match node.role {
            Role::Switch { by_index } => return self.switch(layout, node, iteration, by_index),
            Role::Merge => {
                let position = inputs.iter().position(Option::is_some).ok_or_else(missing)?;
                let mut tensor = inputs[position].take();
                self.merge(layout, node, iteration, position, &mut tensor);
            }
            Role::Enter { frame, constant } => {
                let tensor = inputs[0].take().ok_or_else(missing)?;
                let entry = Entry { enter: index, frame, parent: iteration, is_constant: constant };
                self.enter(layout, node, entry, Some(tensor));
            }
            Role::Exit => {
                let tensor = inputs[0].take().ok_or_else(missing)?;
                self.exit(layout, node, index, iteration, tensor)?;
            }
            Role::NextIteration => {
                if inputs[0].is_none() {
                    return Err(missing());
                }
                self.next_iteration(layout, index, iteration);
            }
            Role::Kernel | Role::Forward | Role::ControlTrigger => {
                for output in 0..inputs.len().min(node.outputs.len()) {
                    let mut tensor = self.iterations[iteration].slots[node.inputs.at(output)].take();
                    self.deliver(layout, layout.edges_of(node, output), iteration, &mut tensor);
                }
                self.serve_controls(layout, node, iteration, false);
            }
        }
        Ok(())
    }

    /// Passes on that a node does not run.
    pub(super) fn run_dead(&mut self, layout: &Layout, tagged: TaggedNode, node: &LayoutNode) {
        let TaggedNode { node: index, iteration, .. } = tagged;
        match node.role {
            Role::Enter { frame, constant } => {
                let entry = Entry { enter: index, frame, parent: iteration, is_constant: constant };
                self.enter(layout, node, entry, None);
            }
            Role::Exit => self.dead_exit(index, iteration),
            Role::NextIteration => {}
            _ => {
                node.clear(node.inputs_of(&mut self.iterations[iteration].slots));
                for output in 0..node.outputs.len() {
                    self.deliver(layout, layout.edges_of(node, output), iteration, &mut None);
                }
                self.serve_controls(layout, node, iteration, true);
            }
        }
    }

    /// Runs a Switch.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if what it switches by is no scalar. Nothing has been handed on then.
    fn switch(&mut self, layout: &Layout, node: &LayoutNode, iteration: IterationIndex, by_index: bool) -> Result<()> {
        let inputs = node.inputs_of(&mut self.iterations[iteration].slots);
        let [Some(_), Some(choice)] = inputs else { return Err(missing()) };
        let taken = chosen(choice, by_index, node.outputs.len())?;
        Tensor::clear(&mut inputs[1]);
        for output in 0..node.outputs.len() {
            let edges = layout.edges_of(node, output);
            if output == taken {
                self.deliver_slot(layout, edges, iteration, node.inputs.start);
            } else {
                self.deliver(layout, edges, iteration, &mut None);
            }
        }
        self.serve_controls(layout, node, iteration, false);
        Ok(())
    }

    /// Runs a Merge of which this is the first live input, and this its position.
    fn merge(
        &mut self,
        layout: &Layout,
        node: &LayoutNode,
        iteration: IterationIndex,
        position: usize,
        tensor: &mut Option<Tensor>,
    ) {
        self.deliver(layout, layout.edges_of(node, 0), iteration, tensor);
        let edges = layout.edges_of(node, 1);
        if !edges.is_empty() {
            self.deliver(layout, edges, iteration, &mut Some(Tensor::scalar(position as i32)));
        }
        self.serve_controls(layout, node, iteration, false);
    }
}

#[cold]
pub(super) fn missing() -> Error {
    Error::internal("an input did not arrive")
}

/// Which output of a Switch is taken.
///
/// # Errors
/// INVALID_ARGUMENT if the choice is no scalar.
#[inline]
pub(super) fn chosen(choice: &Tensor, by_index: bool, outputs: usize) -> Result<usize> {
    if by_index {
        let index: i32 = choice.to_scalar()?;
        return Ok(usize::try_from(index).ok().filter(|&index| index < outputs).unwrap_or(outputs - 1));
    }
    match choice.as_slice::<bool>()? {
        [taken] if choice.rank() == 0 => Ok(usize::from(*taken)),
        _ => Err(Error::invalid_argument(format!("pred should be a scalar, but its shape is {}", choice.shape()))),
    }
}
