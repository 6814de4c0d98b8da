//! What a run knows of itself: what has arrived where, which nodes are ready, which loops are under way.

use super::loops::Loop;
use super::run::Task;
use super::wait::Waiting;
use crate::error::{Error, Result};
use crate::runtime::plan::{Action, Count, Edge, NONE, Plan, PlanNode, ROOT};
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
    pub(super) in_loop: u32,
    pub(super) number: u64,
    /// The nodes that are ready or running, and the loops in it that are under way.
    pub(super) outstanding: u32,
    /// For each frame within its frame, the loop that is under way in it, of [`State::loops`], or [`NONE`].
    pub(super) inner: Vec<u32>,
    /// Whether it goes straight through its nodes: nothing in it is counted.
    pub(super) is_straight: bool,
}

/// See the module. Only the thread that drives the run has it.
pub(in crate::runtime) struct State {
    pub(super) iterations: Vec<Iteration>,
    /// The iterations that have ended, of [`State::iterations`], by frame.
    pub(super) free_iterations: Vec<Vec<u32>>,
    pub(super) loops: Vec<Option<Loop>>,
    pub(super) free_loops: Vec<u32>,
    pub(super) next_loop: u64,
    /// The loops that wait for all that enters them before they begin with the next iteration.
    pub(super) held_back: Vec<u32>,
    pub(super) ready: Vec<Ready>,
    /// Whose turn it was last, of [`State::ready`], when the clock was looked at.
    pub(super) turn: usize,
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
    /// How many nodes are passing on their values, each to the next.
    pub(super) passing: u32,
}

/// So many nodes at most pass on a value at once, each to the next: the stack is bounded, and so is the time between two
/// looks at the clock.
pub(super) const PASSING: u32 = 8;

/// The iteration that stands for what is in no loop.
pub(super) const TOP: u32 = 0;

impl Iteration {
    pub(super) fn new(plan: &Plan, frame: u32) -> Iteration {
        let layout = &plan.frames[frame as usize];
        Iteration {
            counts: layout.counts.clone(),
            slots: vec![None; layout.slots as usize],
            in_loop: NONE,
            number: 0,
            outstanding: 0,
            inner: vec![NONE; layout.children as usize],
            is_straight: false,
        }
    }

    pub(super) fn reset(&mut self, plan: &Plan, frame: u32) {
        let layout = &plan.frames[frame as usize];
        self.counts.copy_from_slice(&layout.counts);
        if plan.branches {
            // What arrived at nodes that have not run. Constants stay.
            layout.clear(&mut self.slots);
        }
        (self.in_loop, self.number, self.outstanding) = (NONE, 0, 0);
        self.inner.fill(NONE);
        self.is_straight = false;
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
            held_back: Vec::new(),
            ready: Vec::new(),
            turn: 0,
            expensive: Vec::new(),
            waiting: Vec::new(),
            free_waiting: Vec::new(),
            in_flight: 0,
            own_task: None,
            error: None,
            reclassify: false,
            count: 0,
            passing: 0,
        }
    }

    /// Makes the state of a run that has ended well that of one that has not begun.
    pub(super) fn reset(&mut self, plan: &Plan) {
        if self.loops.len() > self.free_loops.len() {
            // A loop in which something waits for what never comes does not end.
            self.loops.clear();
            self.free_loops.clear();
            self.held_back.clear();
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
    pub(super) fn push(&mut self, node: u32, iteration: u32, is_dead: bool) {
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
            self.deliver_one::<false>(plan, edge, iteration, tensor);
        }
        self.deliver_one::<true>(plan, *last, iteration, tensor);
    }

    /// Hands a tensor, or a clone of it, or that it will not come, to where an edge leads.
    #[inline(always)]
    fn deliver_one<const TAKES: bool>(&mut self, plan: &Plan, edge: Edge, iteration: u32, tensor: &mut Option<Tensor>) {
        let put: fn(&mut Option<Tensor>, &mut Option<Tensor>) =
            if TAKES { Tensor::shift } else { |tensor, slot| Tensor::copy(tensor, slot) };
        let place = &mut self.iterations[iteration as usize];
        if edge.node == NONE {
            put(tensor, &mut place.slots[edge.slot as usize]);
            return;
        }
        let node = &plan.nodes[edge.node as usize];
        if node.is_merge() {
            if TAKES {
                return self.deliver_to_merge(plan, node, edge, iteration, tensor);
            }
            return self.deliver_to_merge(plan, node, edge, iteration, &mut tensor.clone());
        }
        let is_dead = tensor.is_none();
        put(tensor, &mut place.slots[edge.slot as usize]);
        if is_dead {
            place.counts[node.local as usize].dead += 1;
        }
        self.served(plan, edge.node, node, iteration);
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
            return self.served(plan, edge.node, node, iteration);
        }
        let mut tensor = None;
        get(&mut slots[from as usize], &mut tensor);
        self.deliver_one::<true>(plan, edge, iteration, &mut tensor);
    }

    /// Counts an edge of a node that is no merge as served.
    #[inline(always)]
    pub(super) fn served(&mut self, plan: &Plan, index: u32, node: &PlanNode, iteration: u32) {
        let place = &mut self.iterations[iteration as usize];
        let Count { pending, dead } = &mut place.counts[node.local as usize];
        // What several iterations of a loop hand out may come more often than it was waited for.
        *pending = pending.wrapping_sub(1);
        if *pending == 0 {
            let dead = *dead;
            if dead > 0 {
                return self.ready_otherwise(plan, node, index, iteration, dead);
            }
            self.push(index, iteration, false);
        }
    }

    /// Takes care of a node that is ready and waits for no turn, or which some edge was served dead.
    #[inline(never)]
    fn ready_otherwise(&mut self, plan: &Plan, node: &PlanNode, index: u32, iteration: u32, dead: u32) {
        if dead == Count::PASSED {
            return self.pass(plan, node, index, iteration);
        }
        match node.action {
            Action::ControlTrigger => self.push(index, iteration, false),
            // At once: while it waited for its turn its iteration would not end.
            Action::Exit => self.dead_exit(index, iteration),
            _ => self.push(index, iteration, true),
        }
    }

    /// A merge runs once its control edges are served, when the first live input is there or all are dead.
    #[inline(never)]
    fn deliver_to_merge(
        &mut self,
        plan: &Plan,
        node: &PlanNode,
        edge: Edge,
        iteration: u32,
        tensor: &mut Option<Tensor>,
    ) {
        let place = &mut self.iterations[iteration as usize];
        let Count { pending, dead } = &mut place.counts[node.local as usize];
        match tensor {
            Some(_) => {
                // The lowest bit stands until the first live input: only that one counts.
                if *pending & 1 == 1 {
                    *pending -= 1;
                    let is_ready = *pending == 0;
                    if is_ready && node.is_passed && self.passing < PASSING {
                        self.passing += 1;
                        self.merge(plan, node, iteration, edge.slot - node.inputs.start, tensor);
                        self.passing -= 1;
                        return;
                    }
                    Tensor::shift(tensor, &mut place.slots[edge.slot as usize]);
                    if is_ready {
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

    /// Has a node that is no merge pass on its value, at once unless too many do.
    fn pass(&mut self, plan: &Plan, node: &PlanNode, index: u32, iteration: u32) {
        if self.passing == PASSING {
            return self.push(index, iteration, false);
        }
        self.passing += 1;
        let passed = match node.action {
            Action::Switch { by_index } => self.switch(plan, node, iteration, by_index),
            _ => {
                self.next_iteration(plan, index, iteration);
                Ok(())
            }
        };
        self.passing -= 1;
        if passed.is_err() {
            // In its turn it says what is wrong.
            self.push(index, iteration, false);
        }
    }

    /// Runs a switch.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if what it switches by is no scalar. Nothing has been handed on then.
    pub(super) fn switch(&mut self, plan: &Plan, node: &PlanNode, iteration: u32, by_index: bool) -> Result<()> {
        let slots = &mut self.iterations[iteration as usize].slots;
        let inputs = &mut slots[node.inputs.start as usize..node.inputs.end as usize];
        let [Some(_), Some(choice)] = inputs else { return Err(missing()) };
        let taken = chosen(choice, by_index, node.outputs.len())?;
        Tensor::clear(&mut inputs[1]);
        for output in 0..node.outputs.len() {
            let edges = plan.edges_of(node, output);
            if output == taken {
                self.move_on(plan, edges, iteration, node.inputs.start);
            } else {
                self.deliver(plan, edges, iteration, &mut None);
            }
        }
        self.serve_controls(plan, node, iteration, false);
        Ok(())
    }

    /// Runs a merge of which this is the first live input, and this its position.
    pub(super) fn merge(
        &mut self,
        plan: &Plan,
        node: &PlanNode,
        iteration: u32,
        position: u32,
        tensor: &mut Option<Tensor>,
    ) {
        self.deliver(plan, plan.edges_of(node, 0), iteration, tensor);
        let edges = plan.edges_of(node, 1);
        if !edges.is_empty() {
            self.deliver(plan, edges, iteration, &mut Some(Tensor::scalar(position as i32)));
        }
        self.serve_controls(plan, node, iteration, false);
    }

    /// The merges behind a dead entry into a loop are dead: nothing will come back to them.
    pub(super) fn deliver_dead_entry(&mut self, plan: &Plan, edges: &[Edge], iteration: u32) {
        for &edge in edges {
            let is_merge = plan.nodes.get(edge.node as usize).is_some_and(PlanNode::is_merge);
            if !is_merge {
                self.deliver_one::<true>(plan, edge, iteration, &mut None);
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
            self.served(plan, index, node, iteration);
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
}

#[cold]
pub(super) fn missing() -> Error {
    Error::internal("an input did not arrive")
}

/// Which output of a switch is taken.
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
