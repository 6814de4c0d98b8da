//! Steps: what one run of a graph shares among its kernels, and what a session shares among its runs.

mod background;
mod cancellation;
mod collective;
mod deferred;
mod function;
mod rendezvous;
mod session;
mod stats;
mod wait;
mod waiters;

pub(crate) use crate::threads::lock;
pub use background::{Background, Task, WeakBackground};
pub(crate) use cancellation::unless_cancelled;
pub use cancellation::{Cancellation, CancellationGuard};
pub use collective::{CollectiveExecutor, CollectiveKind, CollectiveRequest};
pub use deferred::DeferredOp;
pub(crate) use function::Holds;
pub use function::{Function, FunctionLibrary, HeldFunction};
pub use rendezvous::{Rendezvous, RendezvousKey};
pub(crate) use session::EndsSession;
pub use session::SessionContext;
pub(crate) use stats::{Begun, Ran, trace_node};
pub use stats::{NodeStats, StepStats, TracedNode, traced_node};
pub use wait::{BoxFuture, block_on};
pub(crate) use wait::{at_work, block_on_alone, block_on_unchecked, block_on_until};
pub use waiters::Waiters;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deferred::Deferred;

use crate::error::{Code, Error, Result};
use crate::resource::ResourceManager;
use crate::tensor::Tensor;
use crate::threads::ThreadPool;

/// One run of a graph, with all functions that it calls.
pub struct Step {
    id: i64,
    session: Arc<SessionContext>,
    cancellation: Cancellation,
    start: Instant,
    /// In nanoseconds after the start; [`NEVER`] if there is none.
    deadline: AtomicU64,
    rendezvous: Rendezvous,
    /// Tensors that the step keeps for its session, by name.
    tensor_store: Mutex<HashMap<String, (Tensor, String)>>,
    has_container: AtomicBool,
    /// The container of the steps that this one is a part of.
    outer_container: Option<Arc<str>>,
    /// How many threads are at work for the step.
    at_work: AtomicUsize,
    /// Whether somebody waits until no thread is.
    is_idle_awaited: AtomicBool,
    idle: Waiters,
    numbers: AtomicU64,
    stats: Option<Arc<StepStats>>,
    deferred: Arc<Deferred>,
    inter_op: InterOp,
}

/// Where the nodes of a step run.
#[derive(Clone, Default)]
pub(crate) enum InterOp {
    /// On the threads of the devices, and on the thread that asked for the run.
    #[default]
    Devices,
    /// On the thread that asked for the run.
    Caller,
    /// On these threads.
    Pool(Arc<ThreadPool>),
}

/// Stands for no deadline.
const NEVER: u64 = u64::MAX;

static NEXT_ID: AtomicI64 = AtomicI64::new(1);

impl Step {
    /// A step of a session, which ends at `deadline` if there is one.
    pub fn new(session: &Arc<SessionContext>, cancellation: Cancellation, deadline: Option<Instant>) -> Step {
        let step = Step {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            session: session.clone(),
            cancellation,
            start: Instant::now(),
            deadline: AtomicU64::new(NEVER),
            rendezvous: Rendezvous::default(),
            tensor_store: Mutex::default(),
            has_container: AtomicBool::new(false),
            outer_container: None,
            at_work: AtomicUsize::new(0),
            is_idle_awaited: AtomicBool::new(false),
            idle: Waiters::new(),
            numbers: AtomicU64::new(0),
            stats: None,
            deferred: Arc::default(),
            inter_op: InterOp::default(),
        };
        step.set_deadline(deadline);
        step
    }

    /// The same step, whose resources are in this container and outlive it.
    pub(crate) fn with_container(mut self, container: Option<Arc<str>>) -> Step {
        self.outer_container = container;
        self
    }

    /// The same step, whose nodes run there.
    pub(crate) fn with_inter_op(mut self, inter_op: InterOp) -> Step {
        self.inter_op = inter_op;
        self
    }

    /// Where nodes run.
    pub(crate) fn inter_op(&self) -> &InterOp {
        &self.inter_op
    }

    /// Keeps the step from ending until the guard is dropped.
    pub fn defer(&self) -> DeferredOp {
        self.deferred.begin()
    }

    /// The same step, which collects statistics.
    pub fn with_stats(mut self) -> Step {
        self.stats = Some(Arc::default());
        self
    }

    /// The same step, which collects statistics there.
    pub fn with_stats_in(mut self, stats: Arc<StepStats>) -> Step {
        self.stats = Some(stats);
        self
    }

    /// The statistics, if they are collected.
    pub fn stats(&self) -> Option<&StepStats> {
        self.stats.as_deref()
    }

    /// A number that no other step of this process has.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// What the session shares among its runs.
    pub fn session(&self) -> &Arc<SessionContext> {
        &self.session
    }

    /// The session's resources.
    pub fn resources(&self) -> &ResourceManager {
        self.session.resources()
    }

    /// Whether and why the step is to end early.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// When the step began.
    pub fn start(&self) -> Instant {
        self.start
    }

    /// When the step must have ended.
    pub fn deadline(&self) -> Option<Instant> {
        match self.deadline.load(Ordering::Relaxed) {
            NEVER => None,
            nanoseconds => self.start.checked_add(Duration::from_nanos(nanoseconds)),
        }
    }

    /// Sets when the step must have ended.
    pub(crate) fn set_deadline(&self, deadline: Option<Instant>) {
        let after = |deadline: Instant| deadline.saturating_duration_since(self.start).as_nanos();
        let nanoseconds = deadline.map_or(NEVER, |deadline| after(deadline).try_into().unwrap_or(NEVER));
        self.deadline.store(nanoseconds, Ordering::Relaxed);
    }

    /// Whether the step is to go on: it is not if it was cancelled, or its time is up. Who runs for long without a stop asks
    /// now and then.
    ///
    /// # Errors
    /// The reason of the cancellation; DEADLINE_EXCEEDED.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.deadline().is_some_and(|deadline| Instant::now() >= deadline) {
            self.time_out();
        }
        self.cancellation.check()
    }

    /// Cancels the step as one whose time is up.
    #[cold]
    pub(crate) fn time_out(&self) {
        self.cancellation.cancel(Error::new(Code::DeadlineExceeded, "Timed out waiting for the run to end"));
    }

    /// Where kernels of the step hand tensors to each other by name.
    pub fn rendezvous(&self) -> &Rendezvous {
        &self.rendezvous
    }

    /// The container of the resources that go with the step.
    pub fn container(&self) -> String {
        if let Some(container) = &self.outer_container {
            return container.to_string();
        }
        self.has_container.store(true, Ordering::Relaxed);
        format!("__per_step_{}", self.id)
    }

    /// A number that no other call returns: one for each run in the step.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that a thread is at work for the step, until the guard is dropped.
    #[inline]
    pub(crate) fn begin_work(&self) -> Working<'_> {
        self.at_work.fetch_add(1, Ordering::SeqCst);
        Working(self)
    }

    /// Waits until no thread is at work for the step, which has ended.
    pub(crate) fn wait_until_idle(&self) {
        /// Threads that have found nothing to do leave in less than a microsecond.
        const LOOKS: u32 = 100;
        for _ in 0..LOOKS {
            if self.at_work.load(Ordering::SeqCst) == 0 {
                return;
            }
            std::hint::spin_loop();
        }
        self.is_idle_awaited.store(true, Ordering::SeqCst);
        block_on_unchecked(self.idle.until(|| (self.at_work.load(Ordering::SeqCst) == 0).then_some(())));
    }

    /// Keeps a tensor for the session under a name, with the handle by which it is known, if the step ends well.
    pub fn store_tensor(&self, name: &str, tensor: Tensor, handle: &str) {
        lock(&self.tensor_store).insert(name.to_owned(), (tensor, handle.to_owned()));
    }

    /// Waits for what was deferred, of a step of which nothing else runs any more, and cancels it first if the step has
    /// failed.
    pub(crate) fn end_deferred<T>(&self, result: Result<T>) -> Result<T> {
        if self.deferred.is_any() {
            if let Err(error) = &result {
                self.cancellation.cancel(error.clone());
            }
            block_on_unchecked(self.deferred.all_done());
        }
        result.and_then(|value| self.deferred.check().map(|()| value))
    }

    /// Gives the session what was stored for it, at the end of a step that went well.
    pub(crate) fn deliver_stored_tensors(&self) {
        for (_, (tensor, handle)) in lock(&self.tensor_store).drain() {
            self.session.add_tensor(&handle, tensor);
        }
    }
}

/// A thread is at work for a step; see [`Step::begin_work`].
pub(crate) struct Working<'s>(&'s Step);

impl Drop for Working<'_> {
    #[inline]
    fn drop(&mut self) {
        let step = self.0;
        if step.at_work.fetch_sub(1, Ordering::SeqCst) == 1 && step.is_idle_awaited.load(Ordering::SeqCst) {
            step.idle.wake_all();
        }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if *self.has_container.get_mut() {
            let container = self.container();
            self.resources().cleanup(&container);
        }
    }
}
