//! What goes on beside runs, and after them: functions in steps of their own, futures on the threads that nodes run on.
//!
//! A resource that works ahead, such as an iterator that prefetches, gets a [`Background`] from the call of a kernel and uses
//! it as long as its work lasts. It does not keep one between calls: a background holds the session, whose resources
//! would hold the session in turn.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant;

use super::{BoxFuture, Cancellation, Function, InterOp, SessionContext, Step, Waiters, lock};
use crate::error::{Error, Result, catch_panic};
use crate::resource::ResourceManager;
use crate::tensor::Tensor;
use crate::threads::ThreadPool;

/// Calls functions and runs futures beside a run, which may end meanwhile.
#[derive(Clone)]
pub struct Background {
    session: Arc<SessionContext>,
    inter_op: InterOp,
    pool: Option<Arc<ThreadPool>>,
    /// The step that its work is of for the threads: one of its own, so that no run works for it, whose time limit it does not know.
    step: i64,
}

impl Background {
    /// What goes on beside a step, on these threads.
    pub(crate) fn new(step: &Step, pool: Option<Arc<ThreadPool>>) -> Background {
        // Those of runs are not negative.
        static NEXT: AtomicI64 = AtomicI64::new(i64::MIN);
        let own = NEXT.fetch_add(1, Ordering::Relaxed);
        Background { session: step.session().clone(), inter_op: step.inter_op().clone(), pool, step: own }
    }

    /// The session's resources.
    pub fn resources(&self) -> &Arc<ResourceManager> {
        self.session.resources()
    }

    /// How many threads can work at a time.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.threads())
    }

    /// Whether its session goes on.
    ///
    /// # Errors
    /// CANCELLED if it was closed, or is gone.
    pub fn check(&self) -> Result<()> {
        self.session.closed().check()
    }

    /// The same without the session, for those that its resources hold.
    pub fn downgrade(&self) -> WeakBackground {
        let Background { session, inter_op, pool, step } = self;
        let (inter_op, pool) = (inter_op.clone(), pool.clone());
        WeakBackground { session: Arc::downgrade(session), inter_op, pool, step: *step }
    }

    /// Calls a function in a step of its own, so that its failure is nobody else's, which ends early if one of `until` or the
    /// session's is cancelled, or at `deadline`. Resources that go with a step go with the call. `depth` counts the calls in which this one is nested.
    ///
    /// # Errors
    /// As [`Function::call`], and the reason of a cancellation.
    pub async fn call(
        &self,
        function: &Arc<dyn Function>,
        depth: u32,
        arguments: Vec<Tensor>,
        until: &[&Cancellation],
        deadline: Option<Instant>,
    ) -> Result<Vec<Tensor>> {
        let cancellation = Cancellation::new();
        let until = until.iter().copied().chain([self.session.closed()]);
        let _forwarded = until.map(|other| other.forward_to(&cancellation)).collect::<Vec<_>>();
        let step = Step::new(&self.session, cancellation, deadline).with_inter_op(self.inter_op.clone());
        let step = Arc::new(step);
        let result = function.clone().call(&step, depth, arguments).await;
        if !step.deferred.is_any() {
            return result;
        }
        if let Err(error) = &result {
            step.cancellation.cancel(error.clone());
        }
        step.deferred.all_done().await;
        result.and_then(|value| step.deferred.check().map(|()| value))
    }

    /// Has the threads that nodes run on run a future to its end, or until what is returned is dropped; no thread is held
    /// while it waits. Without such threads it runs on the one that calls, and on those that wake it.
    ///
    /// If it panics, its result is INTERNAL.
    pub fn spawn<T: Send + 'static>(&self, future: impl Future<Output = Result<T>> + Send + 'static) -> Task<T> {
        let work = Arc::new(Work {
            future: Mutex::new(Some(Box::pin(future) as BoxFuture<'static, Result<T>>)),
            phase: AtomicU8::new(IDLE),
            is_dropped: AtomicBool::new(false),
            result: Mutex::new(None),
            done: Waiters::new(),
            pool: self.pool.clone(),
            step: self.step,
        });
        work.clone().wake();
        Task { work, is_detached: false }
    }
}

/// A [`Background`] that does not keep its session.
#[derive(Clone)]
pub struct WeakBackground {
    session: Weak<SessionContext>,
    inter_op: InterOp,
    pool: Option<Arc<ThreadPool>>,
    step: i64,
}

impl WeakBackground {
    /// The whole, as long as the session is there.
    pub fn upgrade(&self) -> Option<Background> {
        let WeakBackground { session, inter_op, pool, step } = self;
        let (inter_op, pool) = (inter_op.clone(), pool.clone());
        Some(Background { session: session.upgrade()?, inter_op, pool, step: *step })
    }
}

/// A future that runs on other threads. It is dropped where it stands if this is.
pub struct Task<T: Send + 'static> {
    work: Arc<Work<T>>,
    is_detached: bool,
}

impl<T: Send + 'static> Task<T> {
    /// Waits for the result, which is taken out: nobody else gets it.
    ///
    /// # Errors
    /// Those of the future.
    pub async fn result(&mut self) -> Result<T> {
        self.work.done.until(|| lock(&self.work.result).take()).await
    }

    /// Lets it run to its end with nobody who waits for the result.
    pub fn detach(mut self) {
        self.is_detached = true;
    }

    /// Whether it has ended.
    pub fn is_done(&self) -> bool {
        self.work.phase.load(Ordering::SeqCst) == OVER
    }
}

impl<T: Send + 'static> Drop for Task<T> {
    fn drop(&mut self) {
        if !self.is_detached {
            self.work.is_dropped.store(true, Ordering::SeqCst);
            self.work.forget_if_dropped();
        }
    }
}

/// The phases of a [`Work`]: nobody polls it, somebody will, somebody does, and again afterwards, it has ended.
const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const RUNNING: u8 = 2;
const AGAIN: u8 = 3;
const OVER: u8 = 4;

struct Work<T: Send + 'static> {
    future: Mutex<Option<BoxFuture<'static, Result<T>>>>,
    phase: AtomicU8,
    is_dropped: AtomicBool,
    result: Mutex<Option<Result<T>>>,
    done: Waiters,
    pool: Option<Arc<ThreadPool>>,
    step: i64,
}

impl<T: Send + 'static> Work<T> {
    /// Drops the future if nobody wants its result, unless somebody polls it, who will do so.
    fn forget_if_dropped(&self) {
        if self.is_dropped.load(Ordering::SeqCst) {
            let future = self.future.try_lock().ok().and_then(|mut future| future.take());
            drop(future);
        }
    }

    /// Polls until the future has ended or waits.
    fn run(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        loop {
            self.phase.store(RUNNING, Ordering::SeqCst);
            let polled = {
                let mut future = lock(&self.future);
                let Some(polled) = future.as_mut() else { return };
                let polled = catch_panic("what goes on beside a run", || {
                    Ok(polled.as_mut().poll(&mut Context::from_waker(&waker)))
                });
                let polled = polled.unwrap_or_else(|panicked: Error| Poll::Ready(Err(panicked)));
                if polled.is_ready() || self.is_dropped.load(Ordering::SeqCst) {
                    let ended = future.take();
                    drop(future);
                    drop(ended);
                }
                polled
            };
            // Who drops the task meanwhile has not got the lock.
            self.forget_if_dropped();
            if let Poll::Ready(result) = polled {
                *lock(&self.result) = Some(result);
                self.phase.store(OVER, Ordering::SeqCst);
                self.done.wake_all();
                return;
            }
            if self.phase.compare_exchange(RUNNING, IDLE, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                return;
            }
            // It was woken meanwhile, perhaps by itself, so that what waits for the thread has a turn.
            if let Some(pool) = self.pool.clone().filter(|pool| pool.can_work()) {
                self.phase.store(QUEUED, Ordering::SeqCst);
                return pool.spawn_behind(self.step, move || self.run());
            }
        }
    }
}

impl<T: Send + 'static> Wake for Work<T> {
    fn wake(self: Arc<Self>) {
        let next = |phase| match phase {
            IDLE => Some(QUEUED),
            RUNNING => Some(AGAIN),
            _ => None,
        };
        if self.phase.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next) == Ok(IDLE) {
            match self.pool.clone() {
                Some(pool) => pool.spawn(self.step, move || self.run()),
                None => self.run(),
            }
        }
    }
}
