//! Threads that kernels split their work over, and that nodes run on.
//!
//! A [`ThreadPool`] does two things: *loops*, whose parts the calling thread and idle threads of the pool work on until all
//! are done, and *jobs*, which a thread of the pool runs by itself. What makes a loop cheap is that threads stay awake for
//! a while when they have nothing to do, so that a loop reaches them in about a microsecond; one that sleeps takes 50.
//!
//! - `team`: loops. A thread that waits for the end of its loop runs nothing else, so that it may hold locks.
//! - `jobs`: jobs that wait.
//! - `signal`: what there is to do.
//! - `idle`: what a thread does that finds no work: it spins, yields, and sleeps before long. How it is woken.
//! - `help`: a thread that waits for a run and works for the pool meanwhile.
//!
//! Threads are started when there is work for them, or, with the feature `rayon`, borrowed from a pool of rayon's. The calling thread takes part, so a device that is to use two threads
//! has a pool of one.

mod help;
mod idle;
mod jobs;
mod lock;
mod signal;
mod team;

pub(crate) use help::{Help, Helping};
pub(crate) use lock::lock;

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::thread;

use self::idle::Idle;
use self::jobs::{Job, Jobs};
use self::signal::Signal;
use self::team::Team;
use crate::error::catch;

/// Stack of a pool's thread. It is large because a thread that waits within a job runs other jobs meanwhile, nested on its
/// stack.
const STACK_BYTES: usize = 16 << 20;

/// Threads for parallel loops and for jobs. They are started as work comes, and end when the pool is dropped and what it was
/// given has been done.
pub struct ThreadPool {
    shared: Arc<Shared>,
}

/// Where the threads of a pool come from.
enum Source {
    /// They are started, with names that begin with this, and sleep when there is nothing to do.
    Own(String),
    /// A pool of rayon's lends them. One that finds nothing to do goes back.
    #[cfg(feature = "rayon")]
    Rayon(Arc<rayon::ThreadPool>),
}

/// What the threads of a pool share.
struct Shared {
    source: Source,
    /// How many threads there may be.
    limit: usize,
    signal: Signal,
    team: Team,
    jobs: Mutex<Jobs>,
    idle: Idle,
}

thread_local! {
    /// The pool that this thread belongs to, or works for at present.
    static CURRENT: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

impl ThreadPool {
    /// A pool of up to `threads` threads, named `NAME-INDEX`, beside those that call. None is started yet.
    pub fn new(name: impl Into<String>, threads: usize) -> ThreadPool {
        ThreadPool::of(Source::Own(name.into()), threads)
    }

    /// A pool that works on threads of one of rayon's, as many as that has: a program that computes on `pool` itself has no
    /// others beside them. The thread that calls counts as one, so that loops take no more than one thread less of `pool`.
    ///
    /// A thread is borrowed while there is work, and goes back some tens of microseconds after it: what else the program
    /// gives `pool` waits as long. A loop reaches one that has gone back by rayon's queue, which takes longer than to
    /// reach one that is awake.
    #[cfg(feature = "rayon")]
    pub fn on_rayon(pool: Arc<rayon::ThreadPool>) -> ThreadPool {
        let threads = pool.current_num_threads().saturating_sub(1);
        ThreadPool::of(Source::Rayon(pool), threads)
    }

    fn of(source: Source, threads: usize) -> ThreadPool {
        ThreadPool {
            shared: Arc::new(Shared {
                source,
                limit: threads,
                signal: Signal::default(),
                team: Team::new(threads + 1),
                jobs: Mutex::default(),
                idle: Idle::default(),
            }),
        }
    }

    /// How many threads can work on a loop: those of the pool and the one that calls.
    pub fn threads(&self) -> usize {
        self.shared.limit + 1
    }

    /// Whether a thread of the pool is awake, so that short work can be shared with it.
    pub(crate) fn are_awake(&self) -> bool {
        self.shared.idle.are_awake()
    }

    /// Notes that work was not shared as nobody was awake, in nanoseconds; returns whether there has been so much of it, of
    /// which it is counted anew then.
    pub(crate) fn has_missed(&self, work: usize, limit: usize) -> bool {
        self.shared.idle.has_missed(work, limit)
    }

    /// Runs `work` for each number below `parts`, on this thread and on idle ones of the pool, in any order. The thread runs
    /// nothing else until all are done: at the end it waits only for parts that others have begun.
    ///
    /// `is_long` says whether the whole is worth waking threads that sleep, which takes some 50 µs; otherwise only those
    /// that are awake take part.
    ///
    /// # Panics
    /// If a part does. The others are done nevertheless, but for those that this thread would have done.
    pub fn for_each(&self, parts: usize, is_long: bool, work: impl Fn(usize) + Sync) {
        self.shared.for_each(parts, is_long, &work);
    }

    /// Has a thread of the pool run `work`, or the one that called for the run of `step` while it waits for that.
    pub(crate) fn spawn(&self, step: i64, work: impl FnOnce() + Send + 'static) {
        self.spawn_by(Jobs::push, step, work);
    }

    /// Whether threads can work, or could be started if they were needed.
    pub(crate) fn can_work(&self) -> bool {
        self.shared.can_work()
    }

    /// The same for what gives way to all that waits for a thread already.
    pub(crate) fn spawn_behind(&self, step: i64, work: impl FnOnce() + Send + 'static) {
        self.spawn_by(Jobs::push_behind, step, work);
    }

    fn spawn_by(&self, push: fn(&mut Jobs, Job), step: i64, work: impl FnOnce() + Send + 'static) {
        if !self.shared.can_work() {
            return work();
        }
        {
            let mut jobs = lock(&self.shared.jobs);
            push(&mut jobs, Job { step, work: Box::new(work) });
            self.shared.signal.has_jobs(true);
        }
        self.shared.wake_for(Some(step));
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.signal.close();
        self.shared.idle.wake_all();
    }
}

impl Shared {
    /// Does something that is to be done, if there is anything: of jobs only those for `step`, if one is named. `number` is
    /// that of the thread among those that work on loops.
    fn work_once(&self, step: Option<i64>, number: usize) -> bool {
        let signal = self.signal.load();
        if signal.has_loops() && self.team.join_one(&self.signal, number) {
            return true;
        }
        let job = if signal.are_jobs() { self.take_job(step) } else { None };
        let Some(job) = job else { return false };
        // A job tells of its own panics; the thread goes on in any case.
        drop(catch(job.work));
        true
    }

    fn take_job(&self, step: Option<i64>) -> Option<Job> {
        let mut jobs = lock(&self.jobs);
        let job = jobs.take(step);
        self.signal.has_jobs(!jobs.is_empty());
        job
    }

    /// Whether [`Shared::work_once`] may find something.
    fn has_work(&self, step: Option<i64>) -> bool {
        let signal = self.signal.load();
        signal.has_loops() || (signal.are_jobs() && lock(&self.jobs).has(step))
    }

    /// Whether there is a thread, or one can be started.
    fn can_work(self: &Arc<Self>) -> bool {
        self.idle.started() > 0 || self.start_one()
    }

    /// Has a thread look for work: one that sleeps, or a new one. `step` is whom a job is for.
    fn wake_for(self: &Arc<Self>, step: Option<i64>) {
        if !self.idle.wake_one(step) {
            self.start_one();
        }
    }

    /// Starts a thread if there may be more.
    fn start_one(self: &Arc<Self>) -> bool {
        let Some(index) = self.idle.reserve(self.limit) else { return false };
        let shared = self.clone();
        let is_started = match &self.source {
            Source::Own(name) => {
                let builder = thread::Builder::new().name(format!("{name}-{index}")).stack_size(STACK_BYTES);
                builder.spawn(move || shared.work(index)).is_ok()
            }
            #[cfg(feature = "rayon")]
            Source::Rayon(pool) => {
                pool.spawn(move || shared.visit(index));
                true
            }
        };
        if !is_started {
            self.idle.give_up();
        }
        is_started
    }

    /// What a borrowed thread does: it works as the pool's own would, but goes back where that would sleep.
    #[cfg(feature = "rayon")]
    fn visit(self: Arc<Self>, index: usize) {
        // It may be within a job of another pool that waits for rayon.
        let before = CURRENT.replace(Some(self.clone()));
        let mut lingering = self.idle.linger();
        self.wake_others();
        loop {
            if self.work_once(None, index + 1) {
                lingering.restart();
            } else if !lingering.go_on(&self.idle, || !self.signal.load().is_silent()) {
                break;
            }
        }
        self.idle.give_up();
        // Whoever has brought a job meanwhile may have counted on this thread, which was still there; whoever looks from
        // now on finds that one can be borrowed.
        if self.has_work(None) {
            self.start_one();
        }
        CURRENT.set(before);
    }

    /// What a thread of the pool does.
    fn work(self: Arc<Self>, index: usize) {
        CURRENT.set(Some(self.clone()));
        let mut lingering = self.idle.linger();
        // Who started it may have work for more.
        self.wake_others();
        loop {
            if self.work_once(None, index + 1) {
                lingering.restart();
            } else if self.signal.load().is_closed() {
                return;
            } else if !lingering.go_on(&self.idle, || !self.signal.load().is_silent()) {
                self.idle.sleep(None, None, || self.has_work(None) || self.signal.load().is_closed());
                self.wake_others();
                lingering.restart();
            }
        }
    }

    /// Wakes up to two threads if there may be work for them: each that wakes does so, so that many wake soon.
    fn wake_others(self: &Arc<Self>) {
        for _ in 0..2 {
            if self.signal.load().is_silent() {
                if !self.idle.are_runs() || !self.idle.wake_one(None) {
                    return;
                }
            } else if !self.idle.wake_one(None) && !self.start_one() {
                return;
            }
        }
    }

    fn for_each(self: &Arc<Self>, parts: usize, is_long: bool, work: &(dyn Fn(usize) + Sync)) {
        let is_shared = parts > 1 && self.limit > 0 && (is_long || self.idle.are_awake());
        let place = if is_shared { self.team.claim() } else { None };
        let Some(place) = place else { return (0..parts).for_each(work) };
        self.team.run((&self.signal, &self.idle), place, parts, work, || {
            if is_long && !self.idle.wake_for_loop() {
                self.start_one();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::atomic::{AtomicBool, AtomicUsize};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::error::{catch_panic, watch_panics};

    const MILLISECOND: Duration = Duration::from_millis(1);

    /// How often what races is repeated.
    const TURNS: usize = if cfg!(miri) { 20 } else { 2000 };

    #[test]
    fn every_part_is_done_once() {
        for threads in 0..4 {
            let pool = ThreadPool::new("test", threads);
            for turn in 0..TURNS {
                let total = turn % 40;
                let done: Vec<AtomicUsize> = (0..total).map(|_| AtomicUsize::new(0)).collect();
                pool.for_each(total, turn % 3 > 0, |part| _ = done[part].fetch_add(1, SeqCst));
                assert!(done.iter().all(|count| count.load(SeqCst) == 1));
            }
        }
    }

    #[test]
    fn what_is_missed_adds_up_until_it_is_worth_waking_a_thread() {
        let pool = ThreadPool::new("test", 1);
        let missed: Vec<bool> = (0..6).map(|_| pool.has_missed(20, 60)).collect();
        assert_eq!(missed, [false, false, true, false, false, true]);
        assert!(pool.has_missed(usize::MAX, 60));
        assert!(!pool.has_missed(1, 60));
    }

    #[test]
    fn loops_of_many_threads_and_loops_within_loops_end() {
        let pool = ThreadPool::new("test", 2);
        let sum = AtomicUsize::new(0);
        thread::scope(|scope| {
            // More than there are places.
            for _ in 0..signal::LOOPS + 4 {
                scope.spawn(|| {
                    for _ in 0..TURNS / 20 {
                        pool.for_each(5, true, |part| {
                            pool.for_each(3, true, |inner| _ = sum.fetch_add(3 * part + inner, SeqCst));
                        });
                    }
                });
            }
        });
        assert_eq!(sum.load(SeqCst), (signal::LOOPS + 4) * (TURNS / 20) * (0..15).sum::<usize>());
    }

    #[test]
    fn a_thread_that_holds_a_lock_runs_nothing_that_wants_it() {
        let pool = Arc::new(ThreadPool::new("test", 3));
        let held = Arc::new(Mutex::new(0));
        for _ in 0..200 {
            let (within, held) = (pool.clone(), held.clone());
            pool.spawn(1, move || {
                let mut held = held.lock().unwrap();
                within.for_each(8, true, |_| thread::yield_now());
                *held += 1;
            });
        }
        while *held.lock().unwrap() < 200 {
            thread::yield_now();
        }
    }

    #[test]
    fn a_panic_reaches_the_owner_and_the_pool_goes_on() {
        let pool = ThreadPool::new("test", 3);
        for turn in 0..TURNS / 20 {
            let bad = turn % 64;
            assert!(catch(|| pool.for_each(64, true, |part| assert!(part != bad))).is_err());
            let sum = AtomicUsize::new(0);
            pool.for_each(64, true, |part| _ = sum.fetch_add(part, SeqCst));
            assert_eq!(sum.into_inner(), 63 * 32);
        }
    }

    #[test]
    fn a_panic_of_a_helper_is_told_as_the_owners_own() {
        watch_panics();
        let (pool, owner, line) = (ThreadPool::new("test", 2), thread::current().id(), line!() + 3);
        let begun = AtomicBool::new(false);
        let work = |_| match thread::current().id() == owner {
            false if !begun.swap(true, SeqCst) => panic!("as asked"),
            false => {}
            // Helpers have time to begin.
            true => (0..1000).take_while(|_| !begun.load(SeqCst)).for_each(|_| thread::sleep(MILLISECOND)),
        };
        let error = catch_panic("the kernel", || {
            pool.for_each(64, true, work);
            Ok(())
        });
        let error = error.unwrap_err();
        assert!(error.message().starts_with(&format!("the kernel panicked at {}:{line}:", file!())), "{error}");
        assert!(error.message().ends_with(": as asked"), "{error}");
    }

    #[test]
    fn a_panic_of_owner_and_helper_is_not_told_to_the_next_loop() {
        let (pool, owner) = (ThreadPool::new("test", 1), thread::current().id());
        for _ in 0..TURNS / 20 {
            let has_helped = AtomicBool::new(false);
            let both = |_| {
                if thread::current().id() == owner {
                    (0..100).take_while(|_| !has_helped.load(SeqCst)).for_each(|_| thread::sleep(MILLISECOND / 10));
                } else {
                    has_helped.store(true, SeqCst);
                }
                panic!("as asked");
            };
            assert!(catch(|| pool.for_each(2, true, both)).is_err());
            pool.for_each(2, true, |_| {});
        }
    }

    #[test]
    fn jobs_run_on_threads_that_are_started_for_them_and_outlive_the_pool() {
        let pool = ThreadPool::new("test", 2);
        assert_eq!(pool.shared.idle.started(), 0);
        let (sender, receiver) = mpsc::channel();
        for number in 0..100 {
            let sender = sender.clone();
            pool.spawn(1, move || {
                assert!(number % 10 != 3, "a job that panics ends no thread");
                sender.send((number, thread::current().name().map(str::to_owned))).unwrap();
            });
            if number % 7 == 0 {
                // Threads fall asleep meanwhile.
                thread::sleep(MILLISECOND);
            }
        }
        drop((pool, sender));
        let mut done: Vec<_> = receiver.iter().collect();
        done.sort();
        assert!(done.iter().map(|(number, _)| *number).eq((0..100).filter(|number| number % 10 != 3)));
        assert!(done.iter().all(|(_, name)| name.as_deref().is_some_and(|name| name.starts_with("test-"))));
    }

    #[test]
    fn a_thread_that_waits_does_the_jobs_of_its_step_and_no_others() {
        let pool = Arc::new(ThreadPool::new("test", 1));
        let (hold, held) = mpsc::channel::<()>();
        // The only thread is busy.
        let (begin, begun) = mpsc::channel();
        pool.spawn(1, move || {
            begin.send(()).unwrap();
            _ = held.recv();
        });
        begun.recv().unwrap();
        let (here, ran) = (thread::current().id(), Arc::new(AtomicUsize::new(0)));
        for step in [2, 3] {
            let ran = ran.clone();
            pool.spawn(step, move || {
                ran.fetch_add(if thread::current().id() == here { 1 } else { 100 }, SeqCst);
            });
        }
        let help = Help::begin(&pool, 3, true);
        let mut helping = help.helping();
        for _ in 0..10 {
            helping.wait(|| false, Some(MILLISECOND));
        }
        assert_eq!(ran.load(SeqCst), 1);
        drop((helping, help, hold));
        while ran.load(SeqCst) != 101 {
            thread::yield_now();
        }
    }

    #[cfg(feature = "rayon")]
    mod on_rayon {
        use super::*;

        fn pool(threads: usize) -> (Arc<rayon::ThreadPool>, ThreadPool) {
            let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
            (pool.clone(), ThreadPool::on_rayon(pool))
        }

        #[test]
        fn every_part_is_done_once_outside_and_inside_of_rayon() {
            for threads in 1..4 {
                let (rayon, pool) = pool(threads);
                assert_eq!(pool.threads(), threads);
                let turns = || {
                    for turn in 0..TURNS / 4 {
                        let total = turn % 40;
                        let done: Vec<AtomicUsize> = (0..total).map(|_| AtomicUsize::new(0)).collect();
                        pool.for_each(total, turn % 3 > 0, |part| _ = done[part].fetch_add(1, SeqCst));
                        assert!(done.iter().all(|count| count.load(SeqCst) == 1));
                    }
                };
                turns();
                rayon.install(turns);
                rayon.broadcast(|_| turns());
            }
        }

        #[test]
        fn loops_run_on_its_threads_which_go_back() {
            let (rayon, pool) = pool(3);
            let (owner, begun) = (thread::current().id(), AtomicBool::new(false));
            pool.for_each(16, true, |_| {
                if thread::current().id() == owner {
                    (0..1000).take_while(|_| !begun.load(SeqCst)).for_each(|_| thread::sleep(MILLISECOND));
                } else {
                    assert!(rayon.current_thread_index().is_some());
                    begun.store(true, SeqCst);
                }
            });
            assert!(begun.load(SeqCst));
            // Each thread does this once.
            assert_eq!(rayon.broadcast(|_| ()).len(), 3);
            while pool.shared.idle.started() > 0 {
                thread::yield_now();
            }
        }

        #[test]
        fn no_job_waits_for_a_thread_that_has_gone_back() {
            let (_rayon, pool) = pool(2);
            let done = Arc::new(AtomicUsize::new(0));
            for turn in 0..TURNS / 4 {
                let finished = done.clone();
                pool.spawn(1, move || _ = finished.fetch_add(1, SeqCst));
                // About as long as a thread stays, so that it goes when the next job comes.
                let pause = Duration::from_micros(50 + turn as u64 % 30);
                let begin = std::time::Instant::now();
                while begin.elapsed() < pause {
                    std::hint::spin_loop();
                }
            }
            while done.load(SeqCst) < TURNS / 4 {
                thread::yield_now();
            }
        }

        #[test]
        fn a_panic_reaches_the_owner_and_no_other_work_of_rayon() {
            let (rayon, pool) = pool(3);
            for turn in 0..TURNS / 20 {
                let bad = turn % 64;
                assert!(catch(|| pool.for_each(64, true, |part| assert!(part != bad))).is_err());
                pool.spawn(1, || panic!("as asked"));
            }
            assert_eq!(rayon.install(|| 1), 1);
        }

        #[test]
        fn what_it_was_given_is_done_after_it_is_dropped() {
            let (sender, receiver) = mpsc::channel();
            let (rayon, pool) = pool(2);
            for number in 0..100 {
                let sender = sender.clone();
                pool.spawn(1, move || sender.send(number).unwrap());
            }
            drop((pool, rayon, sender));
            let mut done: Vec<i32> = receiver.iter().collect();
            done.sort_unstable();
            assert!(done.into_iter().eq(0..100));
        }
    }
}
