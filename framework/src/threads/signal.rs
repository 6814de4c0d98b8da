//! What there is to do, in one word that all threads look at.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, SeqCst};

/// How many loops can be shared out at a time.
pub(super) const LOOPS: usize = 16;

const JOBS: u32 = 1 << LOOPS;
const CLOSED: u32 = 1 << (LOOPS + 1);

/// A bit for each loop that can be joined, one for jobs, and one for the end.
#[repr(align(128))]
#[derive(Default)]
pub(super) struct Signal(AtomicU32);

/// A [`Signal`] as it was.
#[derive(Clone, Copy)]
pub(super) struct Signalled(u32);

impl Signal {
    #[inline]
    pub(super) fn load(&self) -> Signalled {
        Signalled(self.0.load(SeqCst))
    }

    /// Shows that a loop can be joined.
    pub(super) fn open(&self, index: usize) {
        self.0.fetch_or(1 << index, SeqCst);
    }

    /// Shows that it cannot.
    pub(super) fn close_loop(&self, index: usize) {
        self.0.fetch_and(!(1 << index), AcqRel);
    }

    /// Shows whether there are jobs. The queue is locked meanwhile.
    pub(super) fn has_jobs(&self, are_there: bool) {
        if are_there {
            self.0.fetch_or(JOBS, SeqCst)
        } else {
            self.0.fetch_and(!JOBS, AcqRel)
        };
    }

    /// Shows that nothing more will come.
    pub(super) fn close(&self) {
        self.0.fetch_or(CLOSED, SeqCst);
    }
}

impl Signalled {
    /// A bit for each loop that can be joined.
    pub(super) fn loops(self) -> u32 {
        self.0 & (JOBS - 1)
    }

    pub(super) fn has_loops(self) -> bool {
        self.loops() != 0
    }

    pub(super) fn are_jobs(self) -> bool {
        self.0 & JOBS != 0
    }

    pub(super) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    /// Whether nothing is to be done.
    pub(super) fn is_silent(self) -> bool {
        self.0 == 0
    }
}
