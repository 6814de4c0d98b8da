//! What a run knows of itself: what has arrived where, which nodes are ready, which loops are under way.

use super::run::{Run, Task};
use super::wait::Waiting;
use crate::error::Error;
use crate::runtime::plan::{Action, Edge, NONE, Plan, PlanNode, ROOT};
use crate::tensor::Tensor;

/// A node that can run, in one iteration of its frame.
#[derive(Clone, Copy)]
pub(super) struct Ready {
    pub(super) node: u32,
    pub(super) iteration: u32,
    /// It passes on that its outputs will not come.
    pub(super) is_dead: bool,
}

/// One iteration of a loop, or what is in no loop.
pub(super) struct Iteration {
    /// For each node of the frame.
    counts: Vec<Count>,
    pub(super) slots: Vec<Option<Tensor>>,
    /// The loop under way, of [`State::loops`].
    in_loop: u32,
    pub(super) number: u64,
    /// The nodes that are ready or running, and the loops in it that are under way.
    outstanding: u32,
    /// For each frame within its frame, the loop that is under way in it, of [`State::loops`], or [`NONE`].
    inner: Vec<u32>,
}

/// What a node knows of its edges.
#[derive(Clone, Copy)]
struct Count {
    /// How many it waits for.
    pending: u32,
    /// How many were served dead.
    dead: u32,
}

impl Count {
    fn new(&pending: &u32) -> Count {
        Count { pending, dead: 0 }
    }
}

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
    iterations: std::collections::VecDeque<u32>,
    /// How many iterations began.
    begun: u64,
    /// What enters every iteration: the node that leads into the loop, and the tensor; `None` if it is dead.
    constants: Vec<(u32, Option<Tensor>)>,
    /// What waits for the next iteration to begin.
    next: Vec<(u32, Tensor)>,
    /// The exits of the latest iteration that were dead.
    dead_exits: Vec<u32>,
}

/// See the module. Only the thread that drives the run has it.
pub(in crate::runtime) struct State {
    pub(super) iterations: Vec<Iteration>,
    /// The iterations that have ended, of [`State::iterations`], by frame.
    free_iterations: Vec<Vec<u32>>,
    pub(super) loops: Vec<Option<Loop>>,
    free_loops: Vec<u32>,
    next_loop: u64,
    pub(super) ready: Vec<Ready>,
    pub(super) expensive: Vec<Ready>,
    pub(super) waiting: Vec<Option<Waiting>>,
    /// The positions of [`State::waiting`] that are free.
    pub(super) free_waiting: Vec<u32>,
    /// The tasks that other threads have.
    pub(super) in_flight: usize,
    pub(super) own_task: Option<Task>,
    pub(super) error: Option<Error>,
    pub(super) reclassify: bool,
    /// Counts the nodes that run, to choose those that are measured.
    pub(super) count: u32,
}

/// The iteration that stands for what is in no loop.
pub(super) const TOP: u32 = 0;

impl Iteration {
    fn new(plan: &Plan, frame: u32) -> Iteration {
        let layout = &plan.frames[frame as usize];
        Iteration {
            counts: layout.pending.iter().map(Count::new).collect(),
            slots: vec![None; layout.slots as usize],
            in_loop: NONE,
            number: 0,
            outstanding: 0,
            inner: vec![NONE; layout.children as usize],
        }
    }

    fn reset(&mut self, plan: &Plan, frame: u32) {
        let layout = &plan.frames[frame as usize];
        self.counts.iter_mut().zip(&layout.pending).for_each(|(count, pending)| *count = Count::new(pending));
        if plan.branches {
            // What arrived at nodes that have not run. Constants stay.
            for (slot, is_kept) in self.slots.iter_mut().zip(&layout.kept) {
                if !is_kept {
                    Tensor::clear(slot);
                }
            }
        }
        (self.in_loop, self.number, self.outstanding) = (NONE, 0, 0);
        self.inner.fill(NONE);
    }
}

impl State {
    pub(super) fn new(plan: &Plan) -> State {
        State {
            iterations: vec![Iteration::new(plan, ROOT)],
            free_iterations: vec![Vec::new(); plan.frames.len()],
            loops: Vec::new(),
            free_loops: Vec::new(),
            next_loop: 1,
            ready: Vec::new(),
            expensive: Vec::new(),
            waiting: Vec::new(),
            free_waiting: Vec::new(),
            in_flight: 0,
            own_task: None,
            error: None,
            reclassify: false,
            count: 0,
        }
    }

    /// Makes the state of a run that has ended well that of one that has not begun.
    pub(super) fn reset(&mut self, plan: &Plan) {
        if self.loops.len() > self.free_loops.len() {
            // A loop in which something waits for what never comes does not end.
            self.loops.clear();
            self.free_loops.clear();
            self.iterations.truncate(1);
            self.free_iterations.iter_mut().for_each(Vec::clear);
        }
        self.iterations[TOP as usize].reset(plan, ROOT);
    }

    /// Whether nothing is left that could go on.
    pub(super) fn is_done(&self) -> bool {
        self.in_flight == 0 && self.ready.is_empty() && self.waiting.len() == self.free_waiting.len()
    }

    /// Notes that a node is ready.
    #[inline(always)]
    fn push(&mut self, node: u32, iteration: u32, is_dead: bool) {
        if iteration != TOP {
            self.iterations[iteration as usize].outstanding += 1;
        }
        self.ready.push(Ready { node, iteration, is_dead });
    }

    /// Hands the output of a node on, or that it will not come. Takes the tensor if anything takes it.
    #[inline(always)]
    pub(super) fn deliver(&mut self, plan: &Plan, edges: &[Edge], iteration: u32, tensor: &mut Option<Tensor>) {
        let Some((last, edges)) = edges.split_last() else { return };
        for &edge in edges {
            self.deliver_one(plan, edge, iteration, &mut tensor.clone());
        }
        self.deliver_one(plan, *last, iteration, tensor);
    }

    #[inline(always)]
    fn deliver_one(&mut self, plan: &Plan, edge: Edge, iteration: u32, tensor: &mut Option<Tensor>) {
        let place = &mut self.iterations[iteration as usize];
        if edge.node == NONE {
            Tensor::shift(tensor, &mut place.slots[edge.slot as usize]);
            return;
        }
        let node = &plan.nodes[edge.node as usize];
        if node.is_merge() {
            return self.deliver_to_merge(node, edge, iteration, tensor);
        }
        let is_dead = tensor.is_none();
        Tensor::shift(tensor, &mut place.slots[edge.slot as usize]);
        if is_dead {
            place.counts[node.local as usize].dead += 1;
        }
        self.served(edge.node, node, iteration);
    }

    /// [`State::deliver`] of what is in a slot of the iteration, and empties the slot.
    pub(super) fn move_on(&mut self, plan: &Plan, edges: &[Edge], iteration: u32, from: u32) {
        let Some((last, edges)) = edges.split_last() else {
            return Tensor::clear(&mut self.iterations[iteration as usize].slots[from as usize]);
        };
        for &edge in edges {
            self.move_to(plan, edge, iteration, from, |slot, target| Tensor::copy(slot, target));
        }
        self.move_to(plan, *last, iteration, from, Tensor::shift);
    }

    /// Hands what `get` makes of a slot to where an edge leads.
    #[inline(always)]
    fn move_to(
        &mut self,
        plan: &Plan,
        edge: Edge,
        iteration: u32,
        from: u32,
        get: impl FnOnce(&mut Option<Tensor>, &mut Option<Tensor>),
    ) {
        let slots = &mut self.iterations[iteration as usize].slots;
        let node = plan.nodes.get(edge.node as usize).filter(|node| !node.is_merge());
        // From slot to slot, without a stop between.
        if let (Some(node), Ok([source, target])) = (node, slots.get_disjoint_mut([from as usize, edge.slot as usize]))
        {
            get(source, target);
            return self.served(edge.node, node, iteration);
        }
        let mut tensor = None;
        get(&mut slots[from as usize], &mut tensor);
        self.deliver_one(plan, edge, iteration, &mut tensor);
    }

    /// Counts an edge of a node that is no merge as served.
    #[inline(always)]
    pub(super) fn served(&mut self, index: u32, node: &PlanNode, iteration: u32) {
        let place = &mut self.iterations[iteration as usize];
        let Count { pending, dead } = &mut place.counts[node.local as usize];
        // What several iterations of a loop hand out may come more often than it was waited for.
        *pending = pending.wrapping_sub(1);
        if *pending == 0 {
            if *dead > 0 {
                return self.push_dead(node, index, iteration);
            }
            self.push(index, iteration, false);
        }
    }

    /// Notes that a node is ready which some edge was served dead.
    #[inline(never)]
    fn push_dead(&mut self, node: &PlanNode, index: u32, iteration: u32) {
        match node.action {
            Action::ControlTrigger => self.push(index, iteration, false),
            // At once: while it waited for its turn its iteration would not end.
            Action::Exit => self.dead_exit(index, iteration),
            _ => self.push(index, iteration, true),
        }
    }

    /// A merge runs once its control edges are served, when the first live input is there or all are dead.
    #[inline(never)]
    fn deliver_to_merge(&mut self, node: &PlanNode, edge: Edge, iteration: u32, tensor: &mut Option<Tensor>) {
        let place = &mut self.iterations[iteration as usize];
        let Count { pending, dead } = &mut place.counts[node.local as usize];
        match tensor {
            Some(_) => {
                // The lowest bit stands until the first live input: only that one counts.
                if *pending & 1 == 1 {
                    *pending -= 1;
                    Tensor::shift(tensor, &mut place.slots[edge.slot as usize]);
                    if *pending == 0 {
                        self.push(edge.node, iteration, false);
                    }
                }
            }
            None => {
                *dead += 1;
                if *pending == 1 && *dead >= node.inputs.len() as u32 {
                    self.push(edge.node, iteration, true);
                }
            }
        }
    }

    /// The merges behind a dead entry into a loop are dead: nothing will come back to them.
    fn deliver_dead_entry(&mut self, plan: &Plan, edges: &[Edge], iteration: u32) {
        for &edge in edges {
            let is_merge = plan.nodes.get(edge.node as usize).is_some_and(PlanNode::is_merge);
            if !is_merge {
                self.deliver_one(plan, edge, iteration, &mut None);
                continue;
            }
            let node = &plan.nodes[edge.node as usize];
            let place = &mut self.iterations[iteration as usize];
            let Count { pending, dead } = &mut place.counts[node.local as usize];
            *dead += 1;
            if *pending == 1 {
                // It runs once, whatever else enters.
                *pending = 0;
                self.push(edge.node, iteration, true);
            }
        }
    }

    /// Counts the control edges of a node as served.
    #[inline(always)]
    pub(super) fn serve_controls(&mut self, plan: &Plan, from: &PlanNode, iteration: u32, is_dead: bool) {
        if !from.controls.is_empty() {
            self.serve_some_controls(plan, from, iteration, is_dead);
        }
    }

    fn serve_some_controls(&mut self, plan: &Plan, from: &PlanNode, iteration: u32, is_dead: bool) {
        for &index in &plan.controls[from.controls.start as usize..from.controls.end as usize] {
            let node = &plan.nodes[index as usize];
            let place = &mut self.iterations[iteration as usize];
            if node.is_merge() {
                let count = &mut place.counts[node.local as usize];
                count.pending = count.pending.wrapping_sub(2);
                let Count { pending, dead } = *count;
                let all_dead = dead >= node.inputs.len() as u32;
                if pending == 0 || (pending == 1 && all_dead) {
                    self.push(index, iteration, pending == 1);
                }
                continue;
            }
            if is_dead {
                place.counts[node.local as usize].dead += 1;
            }
            self.served(index, node, iteration);
        }
    }

    /// Hands on that no output of a node will come.
    pub(super) fn deliver_dead(&mut self, plan: &Plan, node: &PlanNode, iteration: u32) {
        let slots = &mut self.iterations[iteration as usize].slots;
        node.clear(&mut slots[node.inputs.start as usize..node.inputs.end as usize]);
        for output in 0..node.outputs.len() {
            self.deliver(plan, plan.edges_of(node, output), iteration, &mut None);
        }
        self.serve_controls(plan, node, iteration, true);
    }

    // ---- loops ----

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
    pub(super) fn exit(&mut self, plan: &Plan, node: &PlanNode, index: u32, iteration: u32, tensor: Option<Tensor>) {
        let in_loop = self.iterations[iteration as usize].in_loop;
        let parent = self.under_way(in_loop).parent;
        match tensor {
            Some(tensor) => {
                self.deliver(plan, plan.edges_of(node, 0), parent, &mut Some(tensor));
                self.serve_controls(plan, node, parent, false);
            }
            None => self.dead_exit(index, iteration),
        }
    }

    /// A node that leaves a loop is dead.
    fn dead_exit(&mut self, index: u32, iteration: u32) {
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
            let limit = plan.frames[l.frame as usize].parallel_iterations as usize;
            if l.iterations.len() >= limit {
                l.next.extend(tensor.map(|tensor| (index, tensor)));
                return;
            }
            self.begin_iteration(plan, in_loop);
        }
        let l = self.under_way(in_loop);
        let behind = (l.begun - (number + 1)) as usize;
        let Some(&next) = l.iterations.len().checked_sub(behind).and_then(|position| l.iterations.get(position)) else {
            return;
        };
        let node = &plan.nodes[index as usize];
        self.deliver(plan, plan.edges_of(node, 0), next, &mut tensor);
        self.serve_controls(plan, node, next, false);
    }

    fn begin_iteration(&mut self, plan: &Plan, in_loop: u32) {
        let l = self.under_way(in_loop);
        let (frame, number) = (l.frame, l.begun);
        l.begun += 1;
        l.dead_exits.clear();
        let iteration = self.new_iteration(plan, frame, in_loop, number);
        let l = self.under_way(in_loop);
        l.iterations.push_back(iteration);
        if l.next.is_empty() && l.constants.is_empty() {
            return;
        }
        let (waiting, constants) = (std::mem::take(&mut l.next), std::mem::take(&mut l.constants));
        for (index, tensor) in waiting {
            let node = &plan.nodes[index as usize];
            self.deliver(plan, plan.edges_of(node, 0), iteration, &mut Some(tensor));
            self.serve_controls(plan, node, iteration, false);
        }
        for (index, tensor) in &constants {
            self.bring_in(plan, &plan.nodes[*index as usize], iteration, tensor.clone());
        }
        self.under_way(in_loop).constants = constants;
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
        self.free_loops.push(in_loop);
        let among = plan.frames[ended.frame as usize].among as usize;
        self.iterations[ended.parent as usize].inner[among] = NONE;
        for index in ended.dead_exits {
            let node = &plan.nodes[index as usize];
            self.deliver(plan, plan.edges_of(node, 0), ended.parent, &mut None);
            self.serve_controls(plan, node, ended.parent, true);
        }
        Some(ended.parent)
    }
}
