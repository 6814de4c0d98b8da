//! One run: who drives it, what others tell it, how it ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use rayon::ThreadPool;
use smallvec::SmallVec;

use super::node;
use super::state::{Ready, State, TOP};
use super::wait::Outputs;
use crate::error::{Error, Result, catch_panic};
use crate::runtime::plan::{Plan, Source};
use crate::step::{CancellationGuard, InterOp, Step, lock};
use crate::tensor::Tensor;

/// Every how manieth run of a cheap node is measured.
pub(super) const SAMPLE: u32 = 64;

/// Every so many calls, one within the other, go on with a stack of their own.
const DEPTH_OF_STACK: u32 = 16;

/// The stack of a thread on which nested calls go on if there is no pool.
const STACK_BYTES: usize = 16 << 20;

/// How far the numbers of two runs are apart, so that there are as many for the loops of each.
const RUN_BITS: u32 = 32;

/// One run of a plan.
pub(in crate::runtime) struct Run {
    pub(super) plan: Arc<Plan>,
    pub(super) step: Arc<Step>,
    pub(super) feeds: SmallVec<[Tensor; 4]>,
    /// In how many calls of functions it is nested.
    pub(super) depth: u32,
    /// Tells it, and its loops, from the other runs of the step.
    pub(super) number: u64,
    /// Where the count begins that says which nodes are measured.
    pub(super) first_sample: u32,
    /// Whether expensive nodes go to the pool.
    pub(super) is_parallel: bool,
    /// Whether it goes on with a stack of its own, and not on that of the run that waits for it.
    is_apart: bool,
    shared: Mutex<Shared>,
}

/// What the thread that drives the run shares with others.
struct Shared {
    /// The state, unless a thread drives the run or it has ended.
    state: Option<Box<State>>,
    messages: Vec<Message>,
    /// Who waits for the end.
    waker: Option<Waker>,
    result: Option<Result<Vec<Tensor>>>,
    guard: Option<CancellationGuard>,
}

/// What a thread that does not drive the run tells the one that does.
pub(super) enum Message {
    /// A task has ended.
    Done { node: u32, iteration: u32, outputs: Result<Outputs>, nanoseconds: u32 },
    /// The node that waits at this position is to be looked at.
    Wake(u32),
    /// The step was cancelled: there is nothing else to tell.
    Cancelled,
}

/// A node that another thread runs, with its inputs.
pub(super) struct Task {
    pub(super) ready: Ready,
    pub(super) inputs: SmallVec<[Option<Tensor>; 4]>,
    pub(super) position: (u64, u64),
}

/// Where a run takes place: within which calls.
#[derive(Clone, Copy, Default)]
pub(in crate::runtime) struct Place {
    pub(in crate::runtime) depth: u32,
    /// Whether all of it runs where it is polled.
    pub(in crate::runtime) stays: bool,
}

impl Run {
    /// A run, not begun. `feeds` are those that the plan was laid out for, in order, checked.
    pub(in crate::runtime) fn new(
        plan: &Arc<Plan>,
        step: &Arc<Step>,
        place: Place,
        mut feeds: SmallVec<[Tensor; 4]>,
    ) -> Arc<Run> {
        let mut state = lock(&plan.idle).pop().unwrap_or_else(|| Box::new(State::new(plan)));
        for &(feed, slot) in &plan.only_uses {
            let feed = std::mem::replace(&mut feeds[feed as usize], Tensor::scalar(false));
            Tensor::put(&mut state.iterations[TOP as usize].slots[slot as usize], Some(feed));
        }
        let is_parallel = !place.stays
            && match step.inter_op() {
                InterOp::Devices => {
                    plan.has_expensive.load(Ordering::Relaxed) && plan.devices.iter().any(|d| d.pool().is_some())
                }
                InterOp::Caller => false,
                InterOp::Pool(_) => true,
            };
        Arc::new(Run {
            plan: plan.clone(),
            step: step.clone(),
            feeds,
            depth: place.depth,
            number: step.next_number() << RUN_BITS,
            first_sample: plan.runs.fetch_add(1, Ordering::Relaxed) % SAMPLE,
            is_parallel,
            is_apart: place.depth > 0 && place.depth.is_multiple_of(DEPTH_OF_STACK),
            shared: Mutex::new(Shared {
                state: Some(state),
                messages: Vec::new(),
                waker: None,
                result: None,
                guard: None,
            }),
        })
    }

    pub(super) fn pool(&self) -> Option<&Arc<ThreadPool>> {
        match self.step.inter_op() {
            InterOp::Devices => self.plan.devices.iter().find_map(|device| device.pool()),
            InterOp::Caller => None,
            InterOp::Pool(pool) => Some(pool),
        }
    }

    /// Does something for the run on another thread.
    fn elsewhere(&self, work: impl FnOnce() + Send + 'static) -> Result<()> {
        if let Some(pool) = self.pool() {
            pool.spawn(work);
            return Ok(());
        }
        let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
        spawned.map(drop).map_err(|error| {
            Error::resource_exhausted(format!("no thread for calls nested {} deep: {error}", self.depth))
        })
    }

    /// Begins the run on this thread, or on the pool if that suits its kernels better.
    pub(in crate::runtime) fn start(self: &Arc<Run>) {
        let is_meant = matches!(self.step.inter_op(), InterOp::Pool(_));
        match self.pool().filter(|_| self.is_parallel && (is_meant || rayon::current_thread_index().is_none())) {
            // On a thread of the pool, waiting for parts of a kernel means helping with them.
            Some(pool) => {
                let run = self.clone();
                pool.spawn(move || run.begin());
            }
            None => self.begin(),
        }
    }

    /// Does something for the run. If that panics, outside of any kernel, the run fails, and nothing else does.
    pub(super) fn guarded(self: &Arc<Run>, work: impl FnOnce()) {
        let done = catch_panic("the runtime", || {
            work();
            Ok(())
        });
        if let Err(error) = done {
            self.give_up(error);
        }
    }

    /// Ends the run though its state is lost.
    #[cold]
    fn give_up(&self, error: Error) {
        self.step.cancellation().cancel(error.clone());
        let (state, messages, waker, guard) = {
            let mut shared = lock(&self.shared);
            shared.result.get_or_insert(Err(error));
            (shared.state.take(), std::mem::take(&mut shared.messages), shared.waker.take(), shared.guard.take())
        };
        drop((state, messages, guard));
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Begins the run on this thread.
    pub(in crate::runtime) fn begin(self: &Arc<Run>) {
        self.guarded(|| self.begin_here());
    }

    fn begin_here(self: &Arc<Run>) {
        let Some(mut state) = lock(&self.shared).state.take() else { return };
        if self.plan.waits {
            let run = Arc::downgrade(self);
            let cancelled = move || {
                if let Some(run) = run.upgrade() {
                    run.post(Message::Cancelled);
                }
            };
            let guard = self.step.cancellation().on_cancel(cancelled);
            lock(&self.shared).guard = Some(guard);
        }
        state.count = self.first_sample;
        // Nothing runs of what was cancelled before it began.
        state.error = self.step.cancellation().check().err();
        let initial = |&node: &u32| Ready { node, iteration: TOP, is_dead: false };
        if self.plan.branches {
            // A loop may wait for what others do.
            state.ready.extend(self.plan.initial.iter().rev().map(initial));
            return self.drive(state);
        }
        for node in &self.plan.initial {
            state.ready.push(initial(node));
            // Cheap nodes run at once: the list of what is ready stays short.
            if !self.plan.nodes[*node as usize].is_expensive() {
                node::run_cheap(self, &mut state);
            }
        }
        self.drive(state);
    }

    /// Takes what others have left, if nobody else does.
    pub(super) fn resume(self: &Arc<Run>) {
        let state = {
            let mut shared = lock(&self.shared);
            if shared.messages.is_empty() { None } else { shared.state.take() }
        };
        if let Some(state) = state {
            self.guarded(|| self.drive(state));
        }
    }

    /// Runs what is ready until nothing is, and gives the state back.
    fn drive(self: &Arc<Run>, state: Box<State>) {
        let _at_work = self.step.begin_work();
        self.drive_on(state);
    }

    fn drive_on(self: &Arc<Run>, mut state: Box<State>) {
        loop {
            node::run_ready(self, &mut state);
            let task = state.own_task.take();
            let messages = {
                let mut shared = lock(&self.shared);
                if task.is_some() {
                    shared.state = Some(state);
                    if !shared.messages.is_empty() {
                        // Nobody else will look at them before the task is done.
                        let run = self.clone();
                        let _ = self.elsewhere(move || run.resume());
                    }
                    None
                } else if shared.messages.is_empty() {
                    if state.is_done() {
                        drop(shared);
                        return self.end(state);
                    }
                    shared.state = Some(state);
                    return;
                } else {
                    Some((std::mem::take(&mut shared.messages), state))
                }
            };
            let (messages, taken) = match (messages, task) {
                (Some(messages), _) => messages,
                (None, Some(task)) => {
                    // The others go on meanwhile.
                    let message = node::run_task(self, task);
                    let mut shared = lock(&self.shared);
                    shared.messages.push(message);
                    match shared.state.take() {
                        Some(state) => (std::mem::take(&mut shared.messages), state),
                        None => return,
                    }
                }
                (None, None) => return,
            };
            state = taken;
            for message in messages {
                node::receive(self, &mut state, message);
            }
        }
    }

    /// Leaves a message from a thread that may be anyone's, and has the run go on.
    pub(super) fn post(self: &Arc<Run>, message: Message) {
        let waker = {
            let mut shared = lock(&self.shared);
            if shared.result.is_some() {
                return;
            }
            shared.messages.push(message);
            if shared.state.is_none() {
                // Who drives the run will see it.
                return;
            }
            shared.waker.clone()
        };
        if self.is_apart || (self.is_parallel && self.pool().is_some()) {
            let run = self.clone();
            if self.elsewhere(move || run.resume()).is_ok() {
                return;
            }
        }
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// What others have left.
    pub(super) fn take_messages(&self) -> Vec<Message> {
        std::mem::take(&mut lock(&self.shared).messages)
    }

    /// Leaves the message of a task that this thread of the pool has run, and goes on with the run if nobody does.
    pub(super) fn finished(self: &Arc<Run>, message: Message) {
        lock(&self.shared).messages.push(message);
        self.resume();
    }

    /// Collects the fetches.
    fn end(self: &Arc<Run>, mut state: Box<State>) {
        let plan = &*self.plan;
        if state.reclassify {
            state.reclassify = false;
            plan.classify();
        }
        let result = match state.error.take() {
            // Tensors that were on their way stay in the slots; the state goes with them.
            Some(error) => Err(error),
            None => {
                let result = self.collect(&mut state);
                state.reset(plan);
                lock(&plan.idle).push(state);
                result
            }
        };
        let (waker, guard) = {
            let mut shared = lock(&self.shared);
            shared.result = Some(result);
            shared.messages.clear();
            (shared.waker.take(), shared.guard.take())
        };
        drop(guard);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn collect(&self, state: &mut State) -> Result<Vec<Tensor>> {
        let plan = &*self.plan;
        let mut fetched = Vec::with_capacity(plan.fetches.len());
        for (index, &source) in plan.fetches.iter().enumerate() {
            // A reference is read as the run ends: TensorFlow hands out the variable's own memory, in which updates that
            // come after the fetch show.
            let tensor = match source {
                Source::Constant(index) => plan.constants[index as usize].clone(),
                Source::Feed(index) => self.feeds[index as usize].clone(),
                Source::Node { node, .. } => {
                    let slot = &mut state.iterations[TOP as usize].slots[plan.fetch_slots + index];
                    slot.take().ok_or_else(|| {
                        let name = &plan.nodes[node as usize].name;
                        Error::invalid_argument(format!(
                            "Retval[{index}] does not have value: node '{name}' did not run, as on the branch that was not \
                             taken"
                        ))
                    })?
                }
            };
            fetched.push(match tensor.reference() {
                None => tensor,
                Some(reference) => reference.get().ok_or_else(|| {
                    let name = match source {
                        Source::Node { node, .. } => plan.nodes[node as usize].name.as_str(),
                        _ => "",
                    };
                    Error::failed_precondition(format!("Attempting to use uninitialized value {name}"))
                })?,
            });
        }
        Ok(fetched)
    }

    /// The result, if the run has ended.
    pub(in crate::runtime) fn take_result(&self) -> Option<Result<Vec<Tensor>>> {
        lock(&self.shared).result.take()
    }
}

/// A run as a future. It begins when first polled.
pub(in crate::runtime) struct Running {
    run: Arc<Run>,
    has_begun: bool,
}

impl Running {
    pub(in crate::runtime) fn new(run: Arc<Run>) -> Running {
        Running { run, has_begun: false }
    }

    /// Whether the run goes on only when `count` kernels that wait have done so, and no others wait.
    pub(in crate::runtime) fn waits_for(&self, count: usize) -> bool {
        let shared = lock(&self.run.shared);
        let waits = |state: &State| state.in_flight == 0 && state.waiting.iter().flatten().count() == count;
        shared.messages.is_empty() && shared.state.as_deref().is_some_and(waits)
    }

    /// A run that has begun.
    pub(in crate::runtime) fn begun(run: Arc<Run>) -> Running {
        Running { run, has_begun: true }
    }
}

impl Drop for Running {
    /// What waits within goes with it, level by level: not all on one stack.
    fn drop(&mut self) {
        if self.run.is_apart && lock(&self.run.shared).state.is_some() {
            let run = self.run.clone();
            let _ = self.run.elsewhere(move || drop(run));
        }
    }
}

impl Future for Running {
    type Output = Result<Vec<Tensor>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.has_begun {
            self.has_begun = true;
            if self.run.is_apart {
                lock(&self.run.shared).waker = Some(context.waker().clone());
                let run = self.run.clone();
                self.run.elsewhere(move || {
                    let _at_work = run.step.begin_work();
                    run.begin();
                })?;
                return Poll::Pending;
            }
            self.run.begin();
            if let Some(result) = self.run.take_result() {
                return Poll::Ready(result);
            }
        }
        lock(&self.run.shared).waker = Some(context.waker().clone());
        if !self.run.is_parallel && !self.run.is_apart {
            self.run.resume();
        }
        match self.run.take_result() {
            Some(result) => Poll::Ready(result),
            None => Poll::Pending,
        }
    }
}
