//! Threads that wait, for the end of a run mostly, and work for a pool meanwhile.

use std::sync::Arc;
use std::time::Duration;

use super::idle::Lingering;
use super::{CURRENT, Shared, ThreadPool};

/// A run that is under way on the threads of a pool: they stay awake as long as it has work. The thread that called for it
/// can help with it.
pub(crate) struct Help {
    shared: Arc<Shared>,
    step: i64,
}

impl Help {
    /// Notes that the run of a step begins, and has threads look for its work if there will soon be some.
    pub(crate) fn begin(pool: &ThreadPool, step: i64, is_parallel: bool) -> Help {
        let shared = pool.shared.clone();
        if shared.idle.begin_run() && is_parallel {
            shared.idle.wake_for_loop();
        }
        Help { shared, step }
    }

    /// Work of the step for the thread that waits for it.
    pub(crate) fn helping(&self) -> Helping {
        Helping { lingering: self.shared.idle.linger(), shared: self.shared.clone(), step: Some(self.step) }
    }
}

impl Drop for Help {
    fn drop(&mut self) {
        self.shared.idle.end_run();
    }
}

/// What a thread that waits does meanwhile.
pub(crate) struct Helping {
    shared: Arc<Shared>,
    lingering: Lingering,
    /// Whose jobs it does; those of all if there is none.
    step: Option<i64>,
}

impl Helping {
    /// Work of any kind, for a thread of a pool: others may wait for what it would do if it did not wait.
    pub(crate) fn with_own_pool() -> Option<Helping> {
        let shared = CURRENT.with_borrow(Clone::clone)?;
        Some(Helping { lingering: shared.idle.linger(), shared, step: None })
    }

    /// Does something, if there is anything, else waits for a while: until `is_over`, or the thread is unparked, or the time
    /// is up, or none of these.
    pub(crate) fn wait(&mut self, is_over: impl Fn() -> bool, time: Option<Duration>) {
        if self.shared.work_once(self.step, 0) {
            self.lingering.restart();
            return;
        }
        let (shared, step) = (&self.shared, self.step);
        let is_there = || is_over() || shared.signal.load().has_loops();
        if !self.lingering.go_on(&shared.idle, is_there) {
            shared.idle.sleep(step, time, || is_over() || shared.has_work(step));
            self.lingering.restart();
        }
    }
}

impl Drop for Helping {
    fn drop(&mut self) {
        // This thread may have been woken for what it has not done.
        if !self.shared.signal.load().is_silent() {
            self.shared.wake_for(None);
        }
    }
}
