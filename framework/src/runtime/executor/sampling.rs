//! Which runs of nodes are timed, to find out which kernels are expensive.

use std::time::Instant;

use crate::runtime::plan::layout::CHECK_INTERVAL;
use crate::runtime::plan::{Action, PlanNode};

/// One in SAMPLE runs of a cheap node is timed.
pub(super) const SAMPLE: u32 = 64;

/// See the module.
#[derive(Default)]
pub(super) struct Sampler {
    /// How many nodes have run, from a number that differs from run to run.
    pub(super) count: u32,
    /// Whether a node turned out to be expensive, or to be so no longer.
    pub(super) reclassify: bool,
}

impl Sampler {
    /// Counts a node. Returns whether it is time to look at the clock.
    #[inline(always)]
    pub(super) fn tick(&mut self) -> bool {
        self.count = self.count.wrapping_add(1);
        self.count.is_multiple_of(CHECK_INTERVAL)
    }

    /// When a node begins, if this run of it is timed. In a loop it is another node's turn after some iterations.
    #[inline(always)]
    pub(super) fn start(&self, node: &PlanNode) -> Option<Instant> {
        let is_sampled = self.count.wrapping_add(self.count / CHECK_INTERVAL).is_multiple_of(SAMPLE);
        (is_sampled || node.is_unmeasured()).then(Instant::now)
    }

    /// Takes in how long a node took that is timed.
    #[inline(always)]
    pub(super) fn end(&mut self, node: &PlanNode, started: Option<Instant>) {
        if let Some(started) = started {
            self.measured(node, nanoseconds(started));
        }
    }

    /// Takes in how long a node took.
    pub(super) fn measured(&mut self, node: &PlanNode, nanoseconds: u32) {
        if matches!(node.action, Action::Compute(_)) && node.measured(nanoseconds) {
            self.reclassify = true;
        }
    }
}

/// The time since then.
pub(super) fn nanoseconds(started: Instant) -> u32 {
    started.elapsed().as_nanos().try_into().unwrap_or(u32::MAX)
}
