//! Parallel loops: a thread shares out the parts of some work, takes part itself, and runs nothing else until all are done.
//!
//! A thread that did other work while it waits might meet a lock that it holds itself, such as that of a variable which its
//! kernel changes. Here it waits only for parts that others have begun, and those wait for nothing but parts of loops
//! within them.
//!
//! Each thread begins with parts of its own, which are the same of every loop with as many: what a loop has written it
//! finds in its own cache when the next one reads that. Then it takes what others have left.
//!
//! There is room for [`LOOPS`] loops at a time; a thread that finds none runs its loop alone. So a loop costs no
//! allocation: who shares one out takes a place, writes down what is to be done, and opens it. Others enter what is open,
//! take parts until none is left, and leave. The place is free again when it is closed and all have left.

use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicUsize};

use super::idle::Idle;
use super::lock;
use super::signal::{LOOPS, Signal};
use crate::error::{Caught, catch};

/// Says of a place that others may enter; the other bits count those who are in it.
const OPEN: u32 = 1 << 31;

/// In how many groups the parts of a loop are at most.
const MOST_GROUPS: usize = 64;

/// What is done with each number.
type Work = *const (dyn Fn(usize) + Sync);

/// The loops that threads can take part in.
pub(super) struct Team {
    /// A bit for each place that is taken.
    taken: AtomicU32,
    places: [Place; LOOPS],
}

/// A count with a cache line of its own: as a rule one thread alone changes it.
#[repr(align(64))]
#[derive(Default)]
struct Taken(AtomicUsize);

/// A loop, or room for one. Each has cache lines of its own.
#[repr(align(128))]
struct Place {
    members: AtomicU32,
    /// For each group of parts, how many of them were taken.
    taken: Box<[Taken]>,
    /// Written by the owner while the place is not open and nobody is in it, and read by those who have entered it.
    task: UnsafeCell<Option<Task>>,
    /// A helper's panic.
    panicked: Mutex<Option<Caught>>,
}

/// The parts of a loop.
#[derive(Clone, Copy)]
struct Task {
    work: Work,
    total: usize,
}

// SAFETY: `task` is written by the thread alone that has claimed the place, before it is opened and after all have left;
// the work that it points to is `Sync`.
unsafe impl Sync for Place {}
// SAFETY: as above.
unsafe impl Send for Place {}

/// A place that a thread has for its loop; another thread has it when this is dropped.
pub(super) struct Claimed<'t> {
    team: &'t Team,
    index: usize,
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        self.team.taken.fetch_and(!(1 << self.index), Release);
    }
}

impl Team {
    /// Room for the loops of so many threads.
    pub(super) fn new(threads: usize) -> Team {
        let groups = threads.min(MOST_GROUPS);
        Team { taken: AtomicU32::new(0), places: std::array::from_fn(|_| Place::new(groups)) }
    }

    /// A place for a loop, if there is one.
    pub(super) fn claim(&self) -> Option<Claimed<'_>> {
        loop {
            let index = (!self.taken.load(Relaxed)).trailing_zeros() as usize;
            if index >= LOOPS {
                return None;
            }
            if self.taken.fetch_or(1 << index, Acquire) & (1 << index) == 0 {
                return Some(Claimed { team: self, index });
            }
        }
    }

    /// Runs `work` for each number below `total`, on this thread and those that join, and calls `opened` when they can.
    pub(super) fn run(
        &self,
        (signal, idle): (&Signal, &Idle),
        claimed: Claimed<'_>,
        total: usize,
        work: &(dyn Fn(usize) + Sync),
        opened: impl FnOnce(),
    ) {
        let place = &self.places[claimed.index];
        let pointer: *const (dyn Fn(usize) + Sync + '_) = work;
        // SAFETY: only the lifetime changes. `Close` keeps this function from ending while a helper uses the pointer.
        let pointer = unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), Work>(pointer) };
        // SAFETY: this thread has claimed the place, which is not open, and the one before it has waited until all had left.
        unsafe { *place.task.get() = Some(Task { work: pointer, total }) };
        place.groups(total).for_each(|group| place.taken[group].0.store(0, Relaxed));
        // If the owner of the loop before panicked, it has left the panic of a helper here.
        let left = lock(&place.panicked).take();
        drop(left);
        let close = Close { place, signal, idle, index: claimed.index };
        place.members.store(OPEN, Release);
        signal.open(claimed.index);
        opened();
        place.take_parts(total, 0, work);
        drop(close);
        let panicked = lock(&place.panicked).take();
        drop(claimed);
        if let Some(caught) = panicked {
            caught.resume();
        }
    }

    /// Takes part in a loop if one is open, as the thread of this number; those that own loops have none, which is 0.
    pub(super) fn join_one(&self, signal: &Signal, number: usize) -> bool {
        let open = signal.load().loops();
        // Threads spread over loops.
        let first = number % LOOPS;
        let in_turn = (first..LOOPS).chain(0..first).filter(|index| open & (1 << index) != 0);
        in_turn.into_iter().any(|index| self.places[index].join(signal, index, number))
    }
}

impl Place {
    fn new(groups: usize) -> Place {
        Place {
            members: AtomicU32::new(0),
            taken: std::iter::repeat_with(Taken::default).take(groups).collect(),
            task: UnsafeCell::new(None),
            panicked: Mutex::new(None),
        }
    }

    /// The groups that so many parts are in.
    fn groups(&self, total: usize) -> Range<usize> {
        0..self.taken.len().min(total)
    }

    /// Does parts until none is left, those of the thread's own group first.
    fn take_parts(&self, total: usize, number: usize, work: &(dyn Fn(usize) + Sync)) {
        let groups = self.groups(total).len();
        for group in (0..groups).map(|turn| (number + turn) % groups) {
            let parts = group * total / groups..(group + 1) * total / groups;
            loop {
                let part = parts.start + self.taken[group].0.fetch_add(1, Relaxed);
                if part >= parts.end {
                    break;
                }
                work(part);
            }
        }
    }

    /// Takes part, if the place is open and something is left to do.
    fn join(&self, signal: &Signal, index: usize, number: usize) -> bool {
        let enter = |members| (members & OPEN != 0).then(|| members + 1);
        if self.members.fetch_update(Acquire, Relaxed, enter).is_err() {
            return false;
        }
        // SAFETY: the place was open, so that its owner, who waits until this thread has left, has written what there is to
        // do, and nobody writes to it meanwhile.
        if let Some(Task { work, total }) = unsafe { *self.task.get() } {
            // SAFETY: the owner waits until this thread has left.
            if let Err(caught) = catch(|| self.take_parts(total, number, unsafe { &*work })) {
                let previous = lock(&self.panicked).replace(caught);
                drop(previous);
            }
        }
        // Nobody else need look at it. While this thread is in it the place is that of the same loop.
        signal.close_loop(index);
        self.members.fetch_sub(1, Release);
        true
    }
}

/// Closes a loop, and waits until all have left, even if the owner panics.
struct Close<'t> {
    place: &'t Place,
    signal: &'t Signal,
    idle: &'t Idle,
    index: usize,
}

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.signal.close_loop(self.index);
        let mut members = self.place.members.fetch_and(!OPEN, AcqRel) & !OPEN;
        let mut turns = 0u32;
        while members > 0 {
            turns += 1;
            if !turns.is_multiple_of(200) {
                std::hint::spin_loop();
            } else {
                // A helper may wait for the processor that this thread is on.
                self.idle.yield_now();
            }
            members = self.place.members.load(Acquire);
        }
    }
}
