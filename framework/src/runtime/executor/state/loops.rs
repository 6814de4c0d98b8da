//! A loop of TensorFlow 1 that is under way: which of its iterations are, and what the next one begins with.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::runtime::index::{FrameIndex, IterationIndex, NodeIndex};
use crate::runtime::plan::layout::{Layout, StaticLoop};
use crate::tensor::Tensor;

/// See the module.
pub(super) struct Loop {
    pub(super) frame: FrameIndex,
    /// The iteration that the loop is in.
    pub(super) parent: IterationIndex,
    /// Tells it from the other loops of a run.
    pub(super) number: u64,
    /// How many of the nodes that lead into it have not run.
    pub(super) entries: u32,
    /// The iterations that have not ended, in order.
    pub(super) iterations: VecDeque<IterationIndex>,
    /// How many iterations began.
    pub(super) begun: u64,
    /// What enters every iteration.
    pub(super) constants: Vec<LoopConstant>,
    /// What waits for the next iteration to begin.
    pub(super) next: Vec<BackValue>,
    /// The Exits of the latest iteration that were dead.
    pub(super) dead_exits: Vec<NodeIndex>,
    /// The Exits that were alive in one of the iterations, but for those of static ones.
    pub(super) live_exits: SmallVec<[NodeIndex; 4]>,
    /// Whether its iterations count what has arrived, though the loop may be static.
    pub(super) is_counted: bool,
    /// Whether it is among the loops that are deferred.
    pub(super) is_deferred: bool,
}

/// What a constant Enter leads into every iteration.
pub(in crate::runtime::executor) struct LoopConstant {
    pub(in crate::runtime::executor) enter: NodeIndex,
    /// `None` if it is dead.
    pub(in crate::runtime::executor) tensor: Option<Tensor>,
}

/// What a NextIteration leads to the iteration that is to come.
pub(super) struct BackValue {
    pub(super) node: NodeIndex,
    pub(super) tensor: Tensor,
}

impl Loop {
    /// A loop whose first iteration has begun.
    pub(super) fn new(
        layout: &Layout,
        frame: FrameIndex,
        parent: IterationIndex,
        number: u64,
        first: IterationIndex,
    ) -> Loop {
        Loop {
            frame,
            parent,
            number,
            entries: layout.frames[frame].entries,
            iterations: [first].into(),
            begun: 1,
            constants: Vec::new(),
            next: Vec::new(),
            dead_exits: Vec::new(),
            live_exits: SmallVec::new(),
            is_counted: false,
            is_deferred: false,
        }
    }

    /// How the next iteration goes if it is static: all that it begins with is there.
    pub(super) fn static_loop<'p>(&self, layout: &'p Layout) -> Option<&'p StaticLoop> {
        let static_loop = layout.frames[self.frame].static_loop.as_deref().filter(|_| !self.is_counted)?;
        let has_all = self.next.len() == static_loop.back.len()
            && self.constants.len() == static_loop.constants
            && self.constants.iter().all(|constant| constant.tensor.is_some());
        has_all.then_some(static_loop)
    }

    /// Whether another iteration may begin beside those that have not ended.
    pub(super) fn has_room(&self, layout: &Layout) -> bool {
        let frame = &layout.frames[self.frame];
        let is_static = frame.static_loop.is_some() && !self.is_counted;
        self.iterations.len() < if is_static { 1 } else { frame.parallel_iterations as usize }
    }

    /// The iteration of this number, if it has begun and not ended.
    pub(super) fn iteration(&self, number: u64) -> Option<IterationIndex> {
        let behind = self.begun.checked_sub(number)? as usize;
        let position = self.iterations.len().checked_sub(behind)?;
        self.iterations.get(position).copied()
    }
}
