//! Loops of TensorFlow 1: their iterations, what enters and leaves them, and when they end.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::run::Run;
use super::state::{Iteration, PASSING, State, TOP};
use crate::error::{Error, Result};
use crate::runtime::plan::{Back, Frame, NONE, Plan, PlanNode, Straight};
use crate::tensor::Tensor;

/// A loop that is under way.
pub(super) struct Loop {
    /// Which of [`Plan::frames`].
    frame: u32,
    /// The iteration that the loop is in.
    parent: u32,
    pub(super) number: u64,
    /// How many of the nodes that lead into it have not run.
    entries: u32,
    /// The iterations that have not ended, in order, of [`State::iterations`].
    iterations: VecDeque<u32>,
    /// How many iterations began.
    begun: u64,
    /// What enters every iteration: the node that leads into the loop, and the tensor; `None` if it is dead.
    constants: Vec<(u32, Option<Tensor>)>,
    /// What waits for the next iteration to begin.
    next: Vec<(u32, Tensor)>,
    /// The exits of the latest iteration that were dead.
    dead_exits: Vec<u32>,
    /// The exits that were alive in one of the iterations, but for those of straight ones.
    live_exits: SmallVec<[u32; 4]>,
    /// Whether its iterations count what has arrived, though they could go straight.
    is_counted: bool,
    /// Whether it is among [`State::held_back`].
    is_held_back: bool,
}

impl Loop {
    /// How the next iteration goes if it goes straight: all that it begins with is there.
    fn straight<'p>(&self, plan: &'p Plan) -> Option<&'p Straight> {
        let straight = plan.frames[self.frame as usize].straight.as_deref().filter(|_| !self.is_counted)?;
        let has_all = self.next.len() == straight.back.len()
            && self.constants.len() == straight.constants
            && self.constants.iter().all(|(_, tensor)| tensor.is_some());
        has_all.then_some(straight)
    }

    /// How many iterations may be under way.
    fn limit(&self, plan: &Plan) -> usize {
        let frame = &plan.frames[self.frame as usize];
        if frame.straight.is_some() && !self.is_counted { 1 } else { frame.parallel_iterations as usize }
    }
}

impl State {
    fn new_iteration(&mut self, plan: &Plan, frame: u32, in_loop: u32, number: u64) -> u32 {
        let index = match self.free_iterations[frame as usize].pop() {
            Some(index) => {
                self.iterations[index as usize].reset(plan, frame);
                index
            }
            None => {
                self.iterations.push(Iteration::new(plan, frame));
                self.iterations.len() as u32 - 1
            }
        };
        let iteration = &mut self.iterations[index as usize];
        (iteration.in_loop, iteration.number) = (in_loop, number);
        index
    }

    /// The loop under way into which a node leads that runs in an iteration outside of it; begins it if need be.
    fn loop_of(&mut self, plan: &Plan, frame: u32, parent: u32) -> u32 {
        let among = plan.frames[frame as usize].among as usize;
        let under_way = self.iterations[parent as usize].inner[among];
        if under_way != NONE {
            return under_way;
        }
        let index = self.free_loops.pop().unwrap_or_else(|| {
            self.loops.push(None);
            self.loops.len() as u32 - 1
        });
        self.iterations[parent as usize].inner[among] = index;
        let first = self.new_iteration(plan, frame, index, 0);
        if parent != TOP {
            self.iterations[parent as usize].outstanding += 1;
        }
        self.loops[index as usize] = Some(Loop {
            frame,
            parent,
            number: self.next_loop,
            entries: plan.frames[frame as usize].entries,
            iterations: [first].into(),
            begun: 1,
            constants: Vec::new(),
            next: Vec::new(),
            dead_exits: Vec::new(),
            live_exits: SmallVec::new(),
            is_counted: false,
            is_held_back: false,
        });
        self.next_loop += 1;
        index
    }

    /// The loop that an iteration belongs to.
    fn under_way(&mut self, in_loop: u32) -> &mut Loop {
        self.loops[in_loop as usize].as_mut().expect("a loop stays while iterations refer to it")
    }

    /// A number of the loop that an iteration belongs to, or of the run outside of loops, and the iteration's own.
    pub(super) fn position(&self, run: &Run, iteration: u32) -> (u64, u64) {
        let place = &self.iterations[iteration as usize];
        let number = self.loops.get(place.in_loop as usize).and_then(Option::as_ref).map_or(0, |l| l.number);
        (run.number + number, place.number)
    }

    /// A node that leads into a loop has run.
    pub(super) fn enter(
        &mut self,
        plan: &Plan,
        node: &PlanNode,
        index: u32,
        place: (u32, u32, bool),
        tensor: Option<Tensor>,
    ) {
        let (frame, parent, constant) = place;
        let in_loop = self.loop_of(plan, frame, parent);
        if constant {
            self.under_way(in_loop).constants.push((index, tensor.clone()));
            let iterations = self.under_way(in_loop).iterations.clone();
            for iteration in iterations {
                self.bring_in(plan, node, iteration, tensor.clone());
            }
        } else if let Some(&first) = self.under_way(in_loop).iterations.front() {
            self.bring_in(plan, node, first, tensor);
        }
        self.under_way(in_loop).entries -= 1;
        if let Some(parent) = self.end_iterations(plan, in_loop) {
            self.done(plan, parent);
        }
    }

    /// Hands what a node leads into a loop to one iteration, or that it is dead.
    fn bring_in(&mut self, plan: &Plan, node: &PlanNode, iteration: u32, mut tensor: Option<Tensor>) {
        let is_dead = tensor.is_none();
        if is_dead {
            self.deliver_dead_entry(plan, plan.edges_of(node, 0), iteration);
        } else {
            self.deliver(plan, plan.edges_of(node, 0), iteration, &mut tensor);
        }
        self.serve_controls(plan, node, iteration, is_dead);
    }

    /// A node that leaves a loop has run.
    ///
    /// # Errors
    /// INTERNAL, as with TensorFlow, if it had done so in another iteration.
    pub(super) fn exit(
        &mut self,
        plan: &Plan,
        node: &PlanNode,
        index: u32,
        iteration: u32,
        tensor: Tensor,
    ) -> Result<()> {
        let in_loop = self.iterations[iteration as usize].in_loop;
        let l = self.under_way(in_loop);
        if l.live_exits.contains(&index) {
            return Err(Error::internal("the node has left its loop in an earlier iteration already"));
        }
        l.live_exits.push(index);
        self.leave(plan, node, iteration, tensor);
        Ok(())
    }

    /// Hands a value on to where the loop of an iteration is.
    pub(super) fn leave(&mut self, plan: &Plan, node: &PlanNode, iteration: u32, tensor: Tensor) {
        let in_loop = self.iterations[iteration as usize].in_loop;
        let parent = self.under_way(in_loop).parent;
        self.deliver(plan, plan.edges_of(node, 0), parent, &mut Some(tensor));
        self.serve_controls(plan, node, parent, false);
    }

    /// A node that leaves a loop is dead.
    pub(super) fn dead_exit(&mut self, index: u32, iteration: u32) {
        let place = &self.iterations[iteration as usize];
        let (in_loop, number) = (place.in_loop, place.number);
        let l = self.under_way(in_loop);
        // Whether it stays dead is known when the loop ends.
        if number + 1 == l.begun {
            l.dead_exits.push(index);
        }
    }

    /// A node that leads to the next iteration has run.
    pub(super) fn next_iteration(&mut self, plan: &Plan, index: u32, iteration: u32) {
        let place = &mut self.iterations[iteration as usize];
        let (in_loop, number) = (place.in_loop, place.number);
        let mut tensor = place.slots[plan.nodes[index as usize].inputs.start as usize].take();
        let l = self.under_way(in_loop);
        if number + 1 == l.begun {
            if l.iterations.len() >= l.limit(plan) {
                l.next.extend(tensor.map(|tensor| (index, tensor)));
                if l.entries > 0 && !l.is_counted && !l.is_held_back {
                    l.is_held_back = true;
                    self.held_back.push(in_loop);
                }
                return;
            }
            let next = self.begin_iteration(plan, in_loop);
            return self.lead_to(plan, index, next, &mut tensor);
        }
        let behind = (l.begun - (number + 1)) as usize;
        let next = l.iterations.len().checked_sub(behind).and_then(|position| l.iterations.get(position));
        if let Some(&next) = next {
            self.lead_to(plan, index, next, &mut tensor);
        }
    }

    /// Hands what leads to the next iteration to that.
    #[inline]
    fn lead_to(&mut self, plan: &Plan, index: u32, iteration: u32, tensor: &mut Option<Tensor>) {
        let node = &plan.nodes[index as usize];
        self.deliver(plan, plan.edges_of(node, 0), iteration, tensor);
        self.serve_controls(plan, node, iteration, false);
    }

    fn begin_iteration(&mut self, plan: &Plan, in_loop: u32) -> u32 {
        let l = self.under_way(in_loop);
        let (frame, number) = (l.frame, l.begun);
        l.begun += 1;
        l.dead_exits.clear();
        let iteration = self.new_iteration(plan, frame, in_loop, number);
        let l = self.under_way(in_loop);
        l.iterations.push_back(iteration);
        if let Some(straight) = l.straight(plan) {
            let next = std::mem::take(&mut l.next);
            let place = &mut self.iterations[iteration as usize];
            place.is_straight = true;
            for (index, tensor) in next {
                let slot = plan.nodes[index as usize].inputs.start;
                Tensor::put(&mut place.slots[slot as usize], Some(tensor));
            }
            self.push(straight.merge, iteration, false);
            return iteration;
        }
        l.is_counted = true;
        if l.next.is_empty() && l.constants.is_empty() {
            return iteration;
        }
        let (waiting, constants) = (std::mem::take(&mut l.next), std::mem::take(&mut l.constants));
        // No iteration begins within: it would find the constants gone.
        let passing = std::mem::replace(&mut self.passing, PASSING);
        for (index, tensor) in waiting {
            self.lead_to(plan, index, iteration, &mut Some(tensor));
        }
        for (index, tensor) in &constants {
            self.bring_in(plan, &plan.nodes[*index as usize], iteration, tensor.clone());
        }
        self.passing = passing;
        self.under_way(in_loop).constants = constants;
        iteration
    }

    /// Begins the next iterations that straight loops hold back while they wait for all that enters them, which may be what
    /// comes of those iterations. Returns whether there were any.
    #[cold]
    pub(super) fn let_go(&mut self, plan: &Plan) -> bool {
        let mut some = false;
        for in_loop in std::mem::take(&mut self.held_back) {
            let l = self.under_way(in_loop);
            l.is_held_back = false;
            if l.entries == 0 || l.is_counted {
                continue;
            }
            l.is_counted = true;
            if !l.next.is_empty() && l.iterations.len() < l.limit(plan) {
                self.begin_iteration(plan, in_loop);
                some = true;
            }
        }
        some
    }

    /// The frame of an iteration of a loop.
    pub(super) fn frame<'p>(&mut self, plan: &'p Plan, iteration: u32) -> &'p Frame {
        let in_loop = self.iterations[iteration as usize].in_loop;
        &plan.frames[self.under_way(in_loop).frame as usize]
    }

    /// Gives what an iteration was to begin with to one that counts what has arrived, as do all that follow.
    pub(super) fn count_from_here(&mut self, straight: &Straight, iteration: u32) {
        let place = &mut self.iterations[iteration as usize];
        place.is_straight = false;
        let begins_with = |back: &Back| Some((back.node, place.slots[back.slot as usize].take()?));
        let next: Vec<(u32, Tensor)> = straight.back.iter().filter_map(begins_with).collect();
        let in_loop = place.in_loop;
        let l = self.under_way(in_loop);
        (l.next, l.is_counted) = (next, true);
        // It begins anew.
        l.begun -= 1;
    }

    /// What enters every iteration of a loop that goes straight. It is to be given back.
    pub(super) fn lend_constants(&mut self, iteration: u32) -> Vec<(u32, Option<Tensor>)> {
        let in_loop = self.iterations[iteration as usize].in_loop;
        std::mem::take(&mut self.under_way(in_loop).constants)
    }

    pub(super) fn take_back_constants(&mut self, iteration: u32, constants: Vec<(u32, Option<Tensor>)>) {
        let in_loop = self.iterations[iteration as usize].in_loop;
        self.under_way(in_loop).constants = constants;
    }

    /// Makes an iteration that goes straight the next one of its loop.
    #[inline]
    pub(super) fn advance(&mut self, iteration: u32) {
        let place = &mut self.iterations[iteration as usize];
        place.number += 1;
        let in_loop = place.in_loop;
        self.under_way(in_loop).begun += 1;
    }

    /// A node has run, and all that it makes ready is noted.
    #[inline]
    pub(super) fn done(&mut self, plan: &Plan, iteration: u32) {
        let mut idle = self.count_down(iteration);
        // A loop that ends may end those around it.
        while let Some(in_loop) = idle {
            idle = self.end_iterations(plan, in_loop).and_then(|parent| self.count_down(parent));
        }
    }

    /// Notes that an iteration has one thing less to do; returns its loop if nothing is left.
    #[inline]
    fn count_down(&mut self, iteration: u32) -> Option<u32> {
        if iteration == TOP {
            return None;
        }
        let place = &mut self.iterations[iteration as usize];
        place.outstanding -= 1;
        (place.outstanding == 0).then_some(place.in_loop)
    }

    /// Ends the first iterations of a loop that have nothing left to do, begins the next one if it waits, and ends the
    /// loop with its last iteration. Returns the iteration that a loop was in which has ended.
    fn end_iterations(&mut self, plan: &Plan, in_loop: u32) -> Option<u32> {
        loop {
            let Some(l) = &mut self.loops[in_loop as usize] else { return None };
            let Some(&first) = l.iterations.front() else { break };
            let (entries, is_first_ever) = (l.entries, l.begun as usize == l.iterations.len());
            // In its first iteration a loop waits for all that enters it.
            if self.iterations[first as usize].outstanding > 0 || (is_first_ever && entries > 0) {
                return None;
            }
            l.iterations.pop_front();
            self.free_iterations[l.frame as usize].push(first);
            if !l.next.is_empty() {
                self.begin_iteration(plan, in_loop);
            }
        }
        let ended = self.loops[in_loop as usize].take()?;
        if ended.is_held_back {
            self.held_back.retain(|&held_back| held_back != in_loop);
        }
        self.free_loops.push(in_loop);
        let among = plan.frames[ended.frame as usize].among as usize;
        self.iterations[ended.parent as usize].inner[among] = NONE;
        for index in ended.dead_exits.into_iter().filter(|index| !ended.live_exits.contains(index)) {
            let node = &plan.nodes[index as usize];
            self.deliver(plan, plan.edges_of(node, 0), ended.parent, &mut None);
            self.serve_controls(plan, node, ended.parent, true);
        }
        Some(ended.parent)
    }
}
