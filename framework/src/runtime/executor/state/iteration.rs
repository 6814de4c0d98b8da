//! What has arrived in one iteration: the rules by which a node becomes ready, or dead.

use crate::runtime::index::{FrameIndex, Handle, LoopIndex, Table, kind};
use crate::runtime::plan::layout::{Count, Layout, LayoutNode, Slots};

/// One iteration of a loop, or what is in no loop.
pub(super) struct Iteration {
    pub(super) counts: Table<kind::Count, Count>,
    pub(super) slots: Slots,
    /// The loop whose iteration it is; [`Handle::NONE`] for what is in no loop.
    pub(super) in_loop: LoopIndex,
    /// Which iteration of the loop it is, from 0.
    pub(super) number: u64,
    /// The nodes that are ready or running, and the loops in it that are under way.
    pub(super) outstanding: u32,
    /// For each frame within its frame, the loop that is under way in it, or [`Handle::NONE`].
    pub(super) inner: Table<kind::Child, LoopIndex>,
    /// Whether it is one of a static loop's, in which nothing is counted.
    pub(super) is_static: bool,
}

/// What an edge that is served means for a node that is no Merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// It waits for others.
    Waiting,
    /// It can run.
    Ready,
    /// It can run, and hands on its value at once.
    Immediate,
    /// It has all that it waits for, some of it dead.
    Dead,
}

/// What a value means for a Merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MergeArrival {
    /// Another one came first: it is dropped.
    Late,
    /// It is the one that is handed on, once the control edges are served.
    Waiting,
    /// It is the one that is handed on.
    Ready,
}

impl Iteration {
    pub(super) fn new(layout: &Layout, frame: FrameIndex) -> Iteration {
        let frame = &layout.frames[frame];
        Iteration {
            counts: frame.counts.clone(),
            slots: Table::filled(None, frame.kept.len()),
            in_loop: Handle::NONE,
            number: 0,
            outstanding: 0,
            inner: Table::filled(Handle::NONE, frame.children),
            is_static: false,
        }
    }

    /// Makes it one that has not begun, of the same frame.
    pub(super) fn reset(&mut self, layout: &Layout, frame: FrameIndex) {
        let frame = &layout.frames[frame];
        self.counts.values_mut().copy_from_slice(frame.counts.values());
        if layout.branches {
            // What arrived at nodes that have not run. Constants stay.
            frame.clear(&mut self.slots);
        }
        (self.in_loop, self.number, self.outstanding) = (Handle::NONE, 0, 0);
        self.inner.values_mut().fill(Handle::NONE);
        self.is_static = false;
    }

    /// Counts an edge of a node that is no Merge as served.
    #[inline(always)]
    pub(super) fn serve(&mut self, node: &LayoutNode) -> Arrival {
        let Count { pending, dead } = &mut self.counts[node.count];
        // What several iterations of a loop hand out may come more often than it was waited for.
        *pending = pending.wrapping_sub(1);
        match (*pending, *dead) {
            (0, 0) => Arrival::Ready,
            (0, Count::IMMEDIATE) => Arrival::Immediate,
            (0, _) => Arrival::Dead,
            _ => Arrival::Waiting,
        }
    }

    /// Notes that an edge of a node that is no Merge is dead, before it is served.
    #[inline(always)]
    pub(super) fn note_dead(&mut self, node: &LayoutNode) {
        self.counts[node.count].dead += 1;
    }

    /// A value comes to a Merge. It runs with the first one, once its control edges are served.
    #[inline]
    pub(super) fn serve_merge(&mut self, merge: &LayoutNode) -> MergeArrival {
        let pending = &mut self.counts[merge.count].pending;
        // The lowest bit stands until the first value.
        if *pending & 1 == 0 {
            return MergeArrival::Late;
        }
        *pending -= 1;
        if *pending == 0 { MergeArrival::Ready } else { MergeArrival::Waiting }
    }

    /// An input of a Merge is dead. Returns whether the Merge is: all its inputs are, and its control edges are served.
    #[inline]
    pub(super) fn serve_merge_dead(&mut self, merge: &LayoutNode) -> bool {
        let Count { pending, dead } = &mut self.counts[merge.count];
        *dead += 1;
        *pending == 1 && *dead >= merge.inputs.len() as u32
    }

    /// What enters a loop by a Merge is dead, and nothing will come back to it. Returns whether the Merge is dead by that,
    /// which it is once, whatever else enters.
    pub(super) fn serve_merge_dead_entry(&mut self, merge: &LayoutNode) -> bool {
        let Count { pending, dead } = &mut self.counts[merge.count];
        *dead += 1;
        let is_dead = *pending == 1;
        if is_dead {
            *pending = 0;
        }
        is_dead
    }

    /// A control edge of a Merge is served, dead or not. Returns what the Merge is by that.
    pub(super) fn serve_merge_control(&mut self, merge: &LayoutNode) -> Arrival {
        let count = &mut self.counts[merge.count];
        count.pending = count.pending.wrapping_sub(2);
        let all_dead = count.dead >= merge.inputs.len() as u32;
        match count.pending {
            0 => Arrival::Ready,
            1 if all_dead => Arrival::Dead,
            _ => Arrival::Waiting,
        }
    }
}
