//! What a thread does that finds no work, and how it is told that there is some.
//!
//! It looks again and again for a while, and lets others have the processor now and then; if it finds that others want it,
//! or that nothing comes, it sleeps. How long it looks is bounded by [`WITHIN_RUN`] and [`AFTER_RUN`].

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::lock;

/// How long a thread looks for work while a run is under way: the kernels that use one thread seldom take longer.
const WITHIN_RUN: Duration = Duration::from_micros(300);

/// How long it looks otherwise: who runs a graph again and again takes less in between.
const AFTER_RUN: Duration = Duration::from_micros(60);

/// How often it looks before it lets others have the processor: some two microseconds.
const LOOKS: u32 = 100;

/// Whoever gives the processor away for longer than this was not alone in wanting it.
const PREEMPTED: Duration = Duration::from_micros(25);

/// How long nobody is woken for loops when a thread has found that others want its processor: they use it better.
const CONTENDED: Duration = Duration::from_millis(1);

/// Which threads there are, and which of them sleep.
#[derive(Default)]
pub(super) struct Idle {
    /// How many threads of the pool were started.
    started: AtomicUsize,
    /// How many of these sleep, and how many threads do in all.
    asleep: AtomicUsize,
    sleeping: AtomicUsize,
    sleepers: Mutex<Vec<Sleeper>>,
    /// How many runs are under way.
    runs: AtomicUsize,
    /// Work that was not shared because no thread was awake, in nanoseconds.
    missed: AtomicUsize,
    /// Until when processors count as wanted by others, in nanoseconds of [`now`].
    contended: AtomicU64,
}

/// The time, in nanoseconds from some point in time on.
fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// A thread that sleeps until there is work.
struct Sleeper {
    thread: Thread,
    /// Whether it was chosen to look for work, and is no longer among the sleepers.
    is_woken: Arc<AtomicBool>,
    /// The step whose jobs it can do: those of all if there is none.
    step: Option<i64>,
}

impl Idle {
    pub(super) fn started(&self) -> usize {
        self.started.load(Acquire)
    }

    /// The number of a thread that is to be started, if there may be more than there are.
    pub(super) fn reserve(&self, limit: usize) -> Option<usize> {
        let more = |started| (started < limit).then_some(started + 1);
        // Sequentially consistent, as what there is to do is: either who brings work sees that a borrowed thread has gone,
        // or that thread sees the work.
        if self.started.load(SeqCst) >= limit {
            return None;
        }
        self.started.fetch_update(SeqCst, SeqCst, more).ok()
    }

    /// Takes back what was reserved for a thread, which could not be started or has gone back to whom it was borrowed from.
    pub(super) fn give_up(&self) {
        self.started.fetch_sub(1, SeqCst);
    }

    /// Whether a thread of the pool does not sleep.
    pub(super) fn are_awake(&self) -> bool {
        self.started.load(Relaxed) > self.asleep.load(Relaxed)
    }

    /// Adds to the work that was not shared; returns whether it has come to so much, and begins anew then.
    pub(super) fn has_missed(&self, work: usize, limit: usize) -> bool {
        // Approximate where several threads do so at a time.
        let missed = self.missed.load(Relaxed).saturating_add(work);
        let is_enough = missed >= limit;
        self.missed.store(if is_enough { 0 } else { missed }, Relaxed);
        is_enough
    }

    pub(super) fn are_runs(&self) -> bool {
        self.runs.load(Relaxed) > 0
    }

    /// Notes that a run has begun; returns whether threads sleep that it may need.
    pub(super) fn begin_run(&self) -> bool {
        self.runs.fetch_add(1, Relaxed);
        self.asleep.load(Relaxed) > 0
    }

    pub(super) fn end_run(&self) {
        self.runs.fetch_sub(1, Relaxed);
    }

    /// Lets others have the processor; returns whether nobody has wanted it.
    pub(super) fn yield_now(&self) -> bool {
        let before = Instant::now();
        thread::yield_now();
        let is_free = before.elapsed() < PREEMPTED;
        if !is_free {
            self.contended.store(now() + CONTENDED.as_nanos() as u64, Relaxed);
        }
        is_free
    }

    /// Wakes a thread that sleeps for a loop; returns false if there may be none.
    pub(super) fn wake_for_loop(&self) -> bool {
        if self.sleeping.load(SeqCst) == 0 {
            return false;
        }
        let contended = self.contended.load(Relaxed);
        (contended > 0 && now() < contended) || self.wake_one(None)
    }

    /// Wakes a thread that sleeps, for a job of `step` if one is named; returns whether there was one.
    pub(super) fn wake_one(&self, step: Option<i64>) -> bool {
        if self.sleeping.load(SeqCst) == 0 {
            return false;
        }
        let woken = {
            let mut sleepers = lock(&self.sleepers);
            let can = |sleeper: &Sleeper| step.is_none() || sleeper.step.is_none() || sleeper.step == step;
            let Some(place) = sleepers.iter().rposition(can) else { return false };
            self.remove(&mut sleepers, place)
        };
        woken.is_woken.store(true, SeqCst);
        woken.thread.unpark();
        true
    }

    pub(super) fn wake_all(&self) {
        while self.wake_one(None) {}
    }

    fn remove(&self, sleepers: &mut Vec<Sleeper>, place: usize) -> Sleeper {
        let sleeper = sleepers.remove(place);
        self.sleeping.fetch_sub(1, SeqCst);
        if sleeper.step.is_none() {
            self.asleep.fetch_sub(1, Relaxed);
        }
        sleeper
    }

    /// Sleeps until the thread is woken for work, or by others, or the time is over; not at all if `has_work`, which is
    /// asked once those who bring some can see that this thread sleeps.
    pub(super) fn sleep(&self, step: Option<i64>, time: Option<Duration>, has_work: impl FnOnce() -> bool) {
        let is_woken = Arc::new(AtomicBool::new(false));
        {
            let mut sleepers = lock(&self.sleepers);
            sleepers.push(Sleeper { thread: thread::current(), is_woken: is_woken.clone(), step });
            self.sleeping.fetch_add(1, SeqCst);
            if step.is_none() {
                self.asleep.fetch_add(1, Relaxed);
            }
        }
        if !has_work() {
            match time {
                Some(time) => thread::park_timeout(time),
                None => thread::park(),
            }
        }
        if !is_woken.load(SeqCst) {
            let mut sleepers = lock(&self.sleepers);
            if let Some(place) = sleepers.iter().position(|sleeper| Arc::ptr_eq(&sleeper.is_woken, &is_woken)) {
                self.remove(&mut sleepers, place);
            }
        }
    }

    /// A thread that begins to look for work.
    pub(super) fn linger(&self) -> Lingering {
        Lingering { since: None }
    }
}

/// How long a thread has been looking for work.
pub(super) struct Lingering {
    since: Option<Instant>,
}

impl Lingering {
    /// Notes that it has found some.
    pub(super) fn restart(&mut self) {
        self.since = None;
    }

    /// Waits for a moment until `is_there`; returns whether to look again, and not sleep.
    pub(super) fn go_on(&mut self, idle: &Idle, is_there: impl Fn() -> bool) -> bool {
        for _ in 0..LOOKS {
            if is_there() {
                return true;
            }
            std::hint::spin_loop();
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        let limit = if idle.are_runs() { WITHIN_RUN } else { AFTER_RUN };
        since.elapsed() <= limit && idle.yield_now()
    }
}
