//! The statistics of ops that run eagerly.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::runtime::options::RunMetadata;
use crate::sort::CompactSort as _;
use crate::step::{NodeStats, Step, StepStats, lock};

/// Collects what each op took, while it is on.
#[derive(Default)]
pub(super) struct EagerTrace {
    is_on: AtomicBool,
    collected: Mutex<Collected>,
}

#[derive(Default)]
struct Collected {
    /// From when on the starts of ops are counted.
    start: Option<Instant>,
    stats: Vec<NodeStats>,
}

impl EagerTrace {
    pub(super) fn turn_on(&self) {
        lock(&self.collected).start.get_or_insert_with(Instant::now);
        self.is_on.store(true, Ordering::Release);
    }

    /// Stops collecting, and drops what was collected.
    pub(super) fn turn_off(&self) {
        self.is_on.store(false, Ordering::Release);
        *lock(&self.collected) = Collected::default();
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    /// Takes in the statistics of a step that has ended, if it has some.
    pub(super) fn add(&self, step: &Step) {
        let Some(stats) = step.stats().map(StepStats::take) else { return };
        let mut collected = lock(&self.collected);
        let Some(start) = collected.start else { return };
        let offset = step.start().saturating_duration_since(start);
        collected.stats.extend(stats.into_iter().map(|node| NodeStats { start: node.start + offset, ..node }));
    }

    /// What was collected, by start; begins anew.
    pub(super) fn export(&self) -> RunMetadata {
        let mut collected = lock(&self.collected);
        let start = collected.start.replace(Instant::now());
        let mut step_stats = std::mem::take(&mut collected.stats);
        step_stats.compact_sort_by_key(|stats| stats.start);
        RunMetadata {
            step_stats,
            time: start.map(|start| start.elapsed()).unwrap_or_default(),
            ..RunMetadata::default()
        }
    }
}
