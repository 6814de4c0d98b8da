//! Loops of TensorFlow 1: how values come into their frames and leave them, and how iterations begin and end.

use super::iteration::Iteration;
use super::loops::{BackValue, Loop, LoopConstant};
use super::{Entry, MAX_IMMEDIATE, State, TOP};
use crate::error::{Error, Result};
use crate::runtime::index::{FrameIndex, Handle, IterationIndex, LoopIndex, NodeIndex};
use crate::runtime::plan::layout::{Edge, Layout, LayoutNode};
use crate::tensor::Tensor;

impl State {
    pub(super) fn new_iteration(
        &mut self,
        layout: &Layout,
        in_loop: LoopIndex,
        frame: FrameIndex,
        number: u64,
    ) -> IterationIndex {
        let index = match self.free_iterations[frame].pop() {
            Some(index) => {
                self.iterations[index].reset(layout, frame);
                index
            }
            None => self.iterations.push(Iteration::new(layout, frame)),
        };
        let iteration = &mut self.iterations[index];
        (iteration.in_loop, iteration.number) = (in_loop, number);
        index
    }

    /// The loop under way into which a node leads that runs in an iteration outside of it; begins it if need be.
    fn loop_of(&mut self, layout: &Layout, frame: FrameIndex, parent: IterationIndex) -> LoopIndex {
        let among = layout.frames[frame].among;
        let under_way = self.iterations[parent].inner[among];
        if !under_way.is_none() {
            return under_way;
        }
        let index = self.free_loops.pop().unwrap_or_else(|| self.loops.push(None));
        self.iterations[parent].inner[among] = index;
        let first = self.new_iteration(layout, index, frame, 0);
        if parent != TOP {
            self.iterations[parent].outstanding += 1;
        }
        self.loops[index] = Some(Loop::new(layout, frame, parent, self.next_loop, first));
        self.next_loop += 1;
        index
    }

    #[inline]
    pub(super) fn loop_mut(&mut self, in_loop: LoopIndex) -> &mut Loop {
        self.loops[in_loop].as_mut().expect("a loop stays while iterations refer to it")
    }

    /// Runs an Enter, or passes on that it is dead.
    #[inline]
    pub(super) fn enter(&mut self, layout: &Layout, node: &LayoutNode, entry: Entry, tensor: Option<Tensor>) {
        let in_loop = self.loop_of(layout, entry.frame, entry.parent);
        let l = self.loop_mut(in_loop);
        if entry.is_constant {
            l.constants.push(LoopConstant { enter: entry.enter, tensor: tensor.clone() });
            for iteration in l.iterations.clone() {
                self.bring_in(layout, node, iteration, tensor.clone());
            }
        } else if let Some(&first) = l.iterations.front() {
            self.bring_in(layout, node, first, tensor);
        }
        self.loop_mut(in_loop).entries -= 1;
        if let Some(parent) = self.end_iterations(layout, in_loop) {
            self.done(layout, parent);
        }
    }

    /// Delivers what an Enter leads into a loop to one iteration, or that it is dead.
    fn bring_in(&mut self, layout: &Layout, node: &LayoutNode, iteration: IterationIndex, mut tensor: Option<Tensor>) {
        let is_dead = tensor.is_none();
        if is_dead {
            self.deliver_dead_entry(layout, layout.edges_of(node, 0), iteration);
        } else {
            self.deliver(layout, layout.edges_of(node, 0), iteration, &mut tensor);
        }
        self.serve_controls(layout, node, iteration, is_dead);
    }

    /// The Merges behind a dead entry into a loop are dead: nothing will come back to them.
    fn deliver_dead_entry(&mut self, layout: &Layout, edges: &[Edge], iteration: IterationIndex) {
        for &edge in edges {
            match layout.nodes.get(edge.node).filter(|node| node.is_merge()) {
                None => self.deliver_one::<true>(layout, edge, iteration, &mut None),
                Some(merge) => {
                    if self.iterations[iteration].serve_merge_dead_entry(merge) {
                        self.push(edge.node, iteration, true);
                    }
                }
            }
        }
    }

    /// Runs an Exit.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it has run in another iteration: the loop is malformed (TensorFlow says INTERNAL).
    #[inline]
    pub(super) fn exit(
        &mut self,
        layout: &Layout,
        node: &LayoutNode,
        index: NodeIndex,
        iteration: IterationIndex,
        tensor: Tensor,
    ) -> Result<()> {
        let in_loop = self.iterations[iteration].in_loop;
        let l = self.loop_mut(in_loop);
        if l.live_exits.contains(&index) {
            return Err(Error::invalid_argument(
                "the node has left its loop in an earlier iteration already: what leaves a loop, or is fetched inside of \
                 one, has a value in one iteration only",
            ));
        }
        l.live_exits.push(index);
        self.leave(layout, node, iteration, tensor);
        Ok(())
    }

    /// Delivers a value to where the loop of an iteration is.
    #[inline]
    pub(super) fn leave(&mut self, layout: &Layout, node: &LayoutNode, iteration: IterationIndex, tensor: Tensor) {
        let in_loop = self.iterations[iteration].in_loop;
        let parent = self.loop_mut(in_loop).parent;
        self.deliver(layout, layout.edges_of(node, 0), parent, &mut Some(tensor));
        self.serve_controls(layout, node, parent, false);
    }

    /// Notes that an Exit is dead. Whether it stays so is known when the loop ends.
    pub(super) fn dead_exit(&mut self, index: NodeIndex, iteration: IterationIndex) {
        let Iteration { in_loop, number, .. } = self.iterations[iteration];
        let l = self.loop_mut(in_loop);
        if number + 1 == l.begun {
            l.dead_exits.push(index);
        }
    }

    /// Runs a NextIteration whose input is in its slot.
    #[inline]
    pub(super) fn next_iteration(&mut self, layout: &Layout, index: NodeIndex, iteration: IterationIndex) {
        let Iteration { in_loop, number, .. } = self.iterations[iteration];
        let slot = layout.nodes[index].inputs.start;
        let mut tensor = self.iterations[iteration].slots[slot].take();
        let l = self.loop_mut(in_loop);
        if number + 1 < l.begun {
            if let Some(next) = l.iteration(number + 1) {
                self.deliver_back(layout, index, next, &mut tensor);
            }
            return;
        }
        if l.has_room(layout) {
            let next = self.begin_iteration(layout, in_loop);
            return self.deliver_back(layout, index, next, &mut tensor);
        }
        l.next.extend(tensor.map(|tensor| BackValue { node: index, tensor }));
        if l.entries > 0 && !l.is_counted && !l.is_deferred {
            l.is_deferred = true;
            self.deferred.push(in_loop);
        }
    }

    /// Delivers a NextIteration's output to its iteration.
    #[inline]
    fn deliver_back(
        &mut self,
        layout: &Layout,
        index: NodeIndex,
        iteration: IterationIndex,
        tensor: &mut Option<Tensor>,
    ) {
        let node = &layout.nodes[index];
        self.deliver(layout, layout.edges_of(node, 0), iteration, tensor);
        self.serve_controls(layout, node, iteration, false);
    }

    /// Begins the next iteration of a loop, with what waits for it.
    fn begin_iteration(&mut self, layout: &Layout, in_loop: LoopIndex) -> IterationIndex {
        let l = self.loop_mut(in_loop);
        let (frame, number) = (l.frame, l.begun);
        l.begun += 1;
        l.dead_exits.clear();
        let iteration = self.new_iteration(layout, in_loop, frame, number);
        let l = self.loop_mut(in_loop);
        l.iterations.push_back(iteration);
        if let Some(static_loop) = l.static_loop(layout) {
            let next = std::mem::take(&mut l.next);
            let begun = &mut self.iterations[iteration];
            begun.is_static = true;
            for BackValue { node, tensor } in next {
                Tensor::put(&mut begun.slots[layout.nodes[node].inputs.start], Some(tensor));
            }
            self.push(static_loop.merge, iteration, false);
            return iteration;
        }
        l.is_counted = true;
        if l.next.is_empty() && l.constants.is_empty() {
            return iteration;
        }
        let (waiting, constants) = (std::mem::take(&mut l.next), std::mem::take(&mut l.constants));
        // No iteration begins within: it would find the constants gone.
        let immediate = std::mem::replace(&mut self.immediate, MAX_IMMEDIATE);
        for BackValue { node, tensor } in waiting {
            self.deliver_back(layout, node, iteration, &mut Some(tensor));
        }
        for LoopConstant { enter, tensor } in &constants {
            self.bring_in(layout, &layout.nodes[*enter], iteration, tensor.clone());
        }
        self.immediate = immediate;
        self.loop_mut(in_loop).constants = constants;
        iteration
    }

    /// Begins the next iterations of the static loops that are deferred because they wait for all that enters them, which
    /// may be what comes of those iterations. Returns whether there were any.
    #[inline]
    pub(in crate::runtime::executor) fn begin_deferred(&mut self, layout: &Layout) -> bool {
        !self.deferred.is_empty() && self.begin_some_deferred(layout)
    }

    #[cold]
    fn begin_some_deferred(&mut self, layout: &Layout) -> bool {
        let mut some = false;
        for in_loop in std::mem::take(&mut self.deferred) {
            let l = self.loop_mut(in_loop);
            l.is_deferred = false;
            if l.entries == 0 || l.is_counted {
                continue;
            }
            l.is_counted = true;
            if !l.next.is_empty() && l.has_room(layout) {
                self.begin_iteration(layout, in_loop);
                some = true;
            }
        }
        some
    }

    /// A node has run, or is dead, and all that comes of it was handed on.
    #[inline]
    pub(in crate::runtime::executor) fn done(&mut self, layout: &Layout, iteration: IterationIndex) {
        let mut idle = self.count_down(iteration);
        // A loop that ends may end those around it.
        while let Some(in_loop) = idle {
            idle = self.end_iterations(layout, in_loop).and_then(|parent| self.count_down(parent));
        }
    }

    /// Notes that an iteration has one thing less to do; returns its loop if nothing is left.
    #[inline]
    fn count_down(&mut self, iteration: IterationIndex) -> Option<LoopIndex> {
        if iteration == TOP {
            return None;
        }
        let iteration = &mut self.iterations[iteration];
        iteration.outstanding -= 1;
        (iteration.outstanding == 0).then_some(iteration.in_loop)
    }

    /// Ends the first iterations of a loop that have nothing left to do, begins the next one if it waits, and ends the
    /// loop with its last iteration. Returns the iteration that a loop was in which has ended.
    fn end_iterations(&mut self, layout: &Layout, in_loop: LoopIndex) -> Option<IterationIndex> {
        loop {
            let Some(l) = &mut self.loops[in_loop] else { return None };
            let Some(&first) = l.iterations.front() else { break };
            let is_first_ever = l.begun as usize == l.iterations.len();
            // In its first iteration a loop waits for all that enters it.
            if self.iterations[first].outstanding > 0 || (is_first_ever && l.entries > 0) {
                return None;
            }
            l.iterations.pop_front();
            self.free_iterations[l.frame].push(first);
            if !l.next.is_empty() {
                self.begin_iteration(layout, in_loop);
            }
        }
        let ended = self.loops[in_loop].take()?;
        if ended.is_deferred {
            self.deferred.retain(|&deferred| deferred != in_loop);
        }
        self.free_loops.push(in_loop);
        let among = layout.frames[ended.frame].among;
        self.iterations[ended.parent].inner[among] = Handle::NONE;
        for index in ended.dead_exits.into_iter().filter(|index| !ended.live_exits.contains(index)) {
            let node = &layout.nodes[index];
            self.deliver(layout, layout.edges_of(node, 0), ended.parent, &mut None);
            self.serve_controls(layout, node, ended.parent, true);
        }
        Some(ended.parent)
    }
}
