//! Static loops: whoever runs one goes through its iterations with tensors that the state lends.

use smallvec::SmallVec;

use super::State;
use super::loops::{BackValue, LoopConstant};
use crate::runtime::index::IterationIndex;
use crate::runtime::plan::layout::{BackEdge, Layout, LoopExit, Slots, StaticLoop};
use crate::tensor::Tensor;

/// The tensors of a running static loop.
pub(in crate::runtime::executor) struct Lent {
    pub(in crate::runtime::executor) slots: Slots,
    /// What enters every iteration.
    pub(in crate::runtime::executor) constants: Vec<LoopConstant>,
}

impl State {
    /// The loop whose iteration a node stands for, if it is a static one.
    #[inline]
    pub(in crate::runtime::executor) fn static_loop<'p>(
        &self,
        layout: &'p Layout,
        iteration: IterationIndex,
    ) -> Option<&'p StaticLoop> {
        let iteration = &self.iterations[iteration];
        if !iteration.is_static {
            return None;
        }
        let frame = self.loops.get(iteration.in_loop)?.as_ref()?.frame;
        layout.frames[frame].static_loop.as_deref()
    }

    /// Lends the tensors of a static loop, with which whoever runs it goes through its iterations.
    pub(in crate::runtime::executor) fn lend(&mut self, iteration: IterationIndex) -> Lent {
        let in_loop = self.iterations[iteration].in_loop;
        Lent {
            slots: std::mem::take(&mut self.iterations[iteration].slots),
            constants: std::mem::take(&mut self.loop_mut(in_loop).constants),
        }
    }

    /// Takes back what was lent.
    pub(in crate::runtime::executor) fn take_back(&mut self, iteration: IterationIndex, lent: Lent) {
        let in_loop = self.iterations[iteration].in_loop;
        self.iterations[iteration].slots = lent.slots;
        self.loop_mut(in_loop).constants = lent.constants;
    }

    /// Makes an iteration of a static loop the next one.
    #[inline]
    pub(in crate::runtime::executor) fn advance(&mut self, iteration: IterationIndex) {
        let iteration = &mut self.iterations[iteration];
        iteration.number += 1;
        let in_loop = iteration.in_loop;
        self.loop_mut(in_loop).begun += 1;
    }

    /// Goes on with an iteration of a static loop later.
    pub(in crate::runtime::executor) fn pause_static(&mut self, static_loop: &StaticLoop, iteration: IterationIndex) {
        self.push(static_loop.merge, iteration, false);
    }

    /// Ends a static loop with an iteration that was its last: delivers what leaves it. Takes back what was lent.
    pub(in crate::runtime::executor) fn end_static(
        &mut self,
        layout: &Layout,
        static_loop: &StaticLoop,
        iteration: IterationIndex,
        mut lent: Lent,
    ) {
        let take = |exit: &LoopExit| {
            let slot = &mut lent.slots[exit.slot];
            if exit.is_last { slot.take() } else { slot.clone() }
        };
        let left: SmallVec<[Option<Tensor>; 4]> = static_loop.exits.iter().map(take).collect();
        let in_loop = self.iterations[iteration].in_loop;
        layout.frames[self.loop_mut(in_loop).frame].clear(&mut lent.slots);
        self.take_back(iteration, lent);
        for (exit, tensor) in static_loop.exits.iter().zip(left) {
            match tensor {
                Some(tensor) => self.leave(layout, &layout.nodes[exit.node], iteration, tensor),
                None => self.dead_exit(exit.node, iteration),
            }
        }
    }

    /// Has a static loop count what arrives, from this iteration on, which has not begun: several then run at once.
    pub(in crate::runtime::executor) fn count_from_here(
        &mut self,
        static_loop: &StaticLoop,
        iteration: IterationIndex,
    ) {
        let counted = &mut self.iterations[iteration];
        counted.is_static = false;
        let begins_with = |back: &BackEdge| {
            let tensor = counted.slots[back.slot].take()?;
            Some(BackValue { node: back.node, tensor })
        };
        let next: Vec<BackValue> = static_loop.back.iter().filter_map(begins_with).collect();
        let in_loop = counted.in_loop;
        let l = self.loop_mut(in_loop);
        (l.next, l.is_counted) = (next, true);
        // It begins anew.
        l.begun -= 1;
    }
}
