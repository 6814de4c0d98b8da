//! A parallel loop whose calling thread runs nothing else until it is done.
//!
//! A thread of the pool that waits for a rayon scope runs other queued jobs meanwhile. If it holds the lock of a variable,
//! such a job may be a kernel that takes the same lock: a deadlock. Here the thread takes part in the work, and then waits
//! only for shards that others have begun.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Caught, catch};

/// The parts of one piece of work.
struct Crew {
    /// Valid until `closed` is set and `busy` is zero.
    work: *const (dyn Fn(usize) + Sync),
    total: usize,
    next: AtomicUsize,
    /// Helpers that may be at work.
    busy: AtomicUsize,
    /// Whether the loop is over, so that no helper may begin.
    closed: AtomicBool,
    /// A helper's panic.
    panicked: Mutex<Option<Caught>>,
}

// SAFETY: `work` points to something `Sync`, and is used only while it is valid; see `help`.
unsafe impl Send for Crew {}
// SAFETY: as above.
unsafe impl Sync for Crew {}

impl Crew {
    /// Does parts until none is left.
    ///
    /// # Safety
    /// `work` must be valid.
    unsafe fn take_part(&self) {
        loop {
            let part = self.next.fetch_add(1, SeqCst);
            if part >= self.total {
                return;
            }
            // SAFETY: by the caller's promise.
            (unsafe { &*self.work })(part);
        }
    }

    fn help(&self) {
        self.busy.fetch_add(1, SeqCst);
        // The owner sets `closed` before it looks at `busy`, so either it sees this helper or this helper sees that it
        // came too late.
        if !self.closed.load(SeqCst) {
            // SAFETY: the owner waits until `busy` is zero.
            if let Err(caught) = catch(|| unsafe { self.take_part() }) {
                let previous = lock(&self.panicked).replace(caught);
                drop(previous);
            }
        }
        self.busy.fetch_sub(1, SeqCst);
    }
}

fn lock(panicked: &Mutex<Option<Caught>>) -> MutexGuard<'_, Option<Caught>> {
    panicked.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes the loop to helpers, even if the owner panics.
struct Close<'c>(&'c Crew);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.closed.store(true, SeqCst);
        let mut turns = 0;
        while self.0.busy.load(SeqCst) > 0 {
            turns += 1;
            if turns < 100 { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}

/// Runs `work` for each number below `total`, on this thread and on idle ones of the pool.
pub(super) fn run(pool: &rayon::ThreadPool, total: usize, work: &(dyn Fn(usize) + Sync)) {
    let work: *const (dyn Fn(usize) + Sync + '_) = work;
    // SAFETY: only the lifetime changes. `close` keeps this function from ending while a helper uses the pointer.
    let work =
        unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(work) };
    let crew = Arc::new(Crew {
        work,
        total,
        next: AtomicUsize::new(0),
        busy: AtomicUsize::new(0),
        closed: AtomicBool::new(false),
        panicked: Mutex::new(None),
    });
    let close = Close(&crew);
    for _ in 1..total.min(pool.current_num_threads()) {
        let crew = crew.clone();
        pool.spawn(move || crew.help());
    }
    // SAFETY: `work` lives until the end of this function.
    unsafe { crew.take_part() };
    drop(close);
    let panicked = lock(&crew.panicked).take();
    if let Some(caught) = panicked {
        caught.resume();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;
    use crate::error::{catch_panic, watch_panics};

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn pool() -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap()
    }

    #[test]
    fn every_part_is_done_once() {
        let pool = pool();
        for total in [0, 1, 2, 100] {
            let done: Vec<AtomicUsize> = (0..total).map(|_| AtomicUsize::new(0)).collect();
            run(&pool, total, &|part| {
                done[part].fetch_add(1, SeqCst);
            });
            assert!(done.iter().all(|count| count.load(SeqCst) == 1));
        }
    }

    #[test]
    fn a_thread_that_holds_a_lock_runs_nothing_that_wants_it() {
        let (pool, lock) = (pool(), Mutex::new(0));
        pool.scope(|scope| {
            for _ in 0..200 {
                scope.spawn(|_| {
                    let mut held = lock.lock().unwrap();
                    run(&pool, 8, &|_| std::thread::yield_now());
                    *held += 1;
                });
            }
        });
        assert_eq!(lock.into_inner().unwrap(), 200);
    }

    #[test]
    fn a_panic_reaches_the_owner() {
        let pool = pool();
        assert!(catch(|| run(&pool, 64, &|part| assert!(part < 60))).is_err());
        run(&pool, 4, &|_| {});
    }

    #[test]
    fn a_panic_of_a_helper_is_told_as_the_owners_own() {
        watch_panics();
        let (pool, owner, line) = (pool(), std::thread::current().id(), line!() + 3);
        let begun = AtomicBool::new(false);
        let work = |_| match std::thread::current().id() == owner {
            false if !begun.swap(true, SeqCst) => panic!("as asked"),
            false => {}
            // Helpers have time to begin.
            true => (0..1000).take_while(|_| !begun.load(SeqCst)).for_each(|_| std::thread::sleep(MILLISECOND)),
        };
        let error = catch_panic("the kernel", || {
            run(&pool, 64, &work);
            Ok(())
        });
        let error = error.unwrap_err();
        assert!(error.message().starts_with(&format!("the kernel panicked at {}:{line}:", file!())), "{error}");
        assert!(error.message().ends_with(": as asked"), "{error}");
    }
}
