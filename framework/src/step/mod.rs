//! Steps: what one run of a graph shares among its kernels, and what a session shares among its runs.

mod cancellation;
mod function;
mod rendezvous;
mod session;
mod stats;
mod wait;
mod waiters;

pub use crate::device::BoxFuture;
pub use cancellation::{Cancellation, CancellationGuard};
pub use function::{Function, FunctionLibrary};
pub use rendezvous::{Rendezvous, RendezvousKey};
pub use session::SessionContext;
pub(crate) use stats::{Begun, Ran};
pub use stats::{NodeStats, StepStats};
pub use wait::block_on;
pub(crate) use wait::block_on_until;
pub use waiters::Waiters;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::resource::ResourceManager;
use crate::tensor::Tensor;

/// One run of a graph, with all functions that it calls.
pub struct Step {
    id: i64,
    session: Arc<SessionContext>,
    cancellation: Cancellation,
    start: Instant,
    deadline: Option<Instant>,
    rendezvous: Rendezvous,
    /// Tensors that the step keeps for its session, by name.
    tensor_store: Mutex<HashMap<String, (Tensor, String)>>,
    has_container: AtomicBool,
    /// How many threads are at work for the step.
    at_work: AtomicUsize,
    /// Whether somebody waits until no thread is.
    is_idle_awaited: AtomicBool,
    idle: Waiters,
    numbers: AtomicU64,
    stats: Option<StepStats>,
}

static NEXT_ID: AtomicI64 = AtomicI64::new(1);

impl Step {
    /// A step of a session, which ends at `deadline` if there is one.
    pub fn new(session: &Arc<SessionContext>, cancellation: Cancellation, deadline: Option<Instant>) -> Step {
        Step {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            session: session.clone(),
            cancellation,
            start: Instant::now(),
            deadline,
            rendezvous: Rendezvous::default(),
            tensor_store: Mutex::default(),
            has_container: AtomicBool::new(false),
            at_work: AtomicUsize::new(0),
            is_idle_awaited: AtomicBool::new(false),
            idle: Waiters::new(),
            numbers: AtomicU64::new(0),
            stats: None,
        }
    }

    /// The same step, which collects statistics.
    pub fn with_stats(mut self) -> Step {
        self.stats = Some(StepStats::default());
        self
    }

    /// The statistics, if they are collected.
    pub fn stats(&self) -> Option<&StepStats> {
        self.stats.as_ref()
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
        self.deadline
    }

    /// Where kernels of the step hand tensors to each other by name.
    pub fn rendezvous(&self) -> &Rendezvous {
        &self.rendezvous
    }

    /// The container of the resources that go with the step.
    pub fn container(&self) -> String {
        self.has_container.store(true, Ordering::Relaxed);
        format!("__per_step_{}", self.id)
    }

    /// A number that no other call returns: one for each run in the step.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that a thread sets to work for the step.
    #[inline]
    pub(crate) fn begin_work(&self) {
        self.at_work.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes that a thread is done for now.
    #[inline]
    pub(crate) fn end_work(&self) {
        if self.at_work.fetch_sub(1, Ordering::SeqCst) == 1 && self.is_idle_awaited.load(Ordering::SeqCst) {
            self.idle.wake_all();
        }
    }

    /// Waits until no thread is at work for the step, which has ended.
    pub(crate) async fn all_idle(&self) {
        self.is_idle_awaited.store(true, Ordering::SeqCst);
        self.idle.until(|| (self.at_work.load(Ordering::SeqCst) == 0).then_some(())).await;
    }

    /// Keeps a tensor for the session under a name, with the handle by which it is known, if the step ends well.
    pub fn store_tensor(&self, name: &str, tensor: Tensor, handle: &str) {
        lock(&self.tensor_store).insert(name.to_owned(), (tensor, handle.to_owned()));
    }

    /// Gives what was stored to the session.
    pub(crate) fn save_stored_tensors(&self) {
        for (_, (tensor, handle)) in lock(&self.tensor_store).drain() {
            self.session.add_tensor(&handle, tensor);
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

/// A lock whose data is whole even if a holder panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
