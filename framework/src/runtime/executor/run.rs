//! One run: who drives it, what others tell it, how it ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};

use smallvec::SmallVec;

use super::context::RunContext;
use super::driver::{Driver, Host, Message};
use super::node::Task;
use super::sampling::SAMPLE;
use super::state::TOP;
use crate::error::{Error, Result, catch_panic};
use crate::runtime::index::WaitingIndex;
use crate::runtime::plan::Plan;
use crate::runtime::plan::layout::Source;
use crate::step::{CancellationGuard, InterOp, Step, lock};
use crate::tensor::Tensor;
use crate::threads::{Help, ThreadPool};

/// One in DEPTH_OF_STACK calls that are nested goes on with a stack of its own.
const DEPTH_OF_STACK: u32 = 16;

/// The stack of a thread on which nested calls go on if there is no pool.
const STACK_BYTES: usize = 16 << 20;

/// How far the numbers of two runs are apart, so that there are as many for the loops of each.
const RUN_BITS: u32 = 32;

/// Runs a plan, as often as wanted, from as many threads as wanted.
pub(in crate::runtime) struct Executor {
    plan: Arc<Plan>,
    /// Drivers of runs that have ended well, for reuse.
    #[expect(clippy::vec_box, reason = "a run takes the box, and threads hand it on")]
    idle: Mutex<Vec<Box<Driver>>>,
    /// How many runs there were, which moves the nodes whose time is measured.
    runs: AtomicU32,
}

impl Executor {
    pub(in crate::runtime) fn new(plan: Plan) -> Executor {
        Executor { plan: Arc::new(plan), idle: Mutex::default(), runs: AtomicU32::new(0) }
    }

    pub(in crate::runtime) fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// One run of a plan.
pub(in crate::runtime) struct PlanRun {
    executor: Arc<Executor>,
    context: RunContext,
    /// Where the count begins that says which nodes are measured.
    first_sample: u32,
    /// Whether it goes on with a stack of its own, and not on that of the run that waits for it.
    is_apart: bool,
    shared: Mutex<Shared>,
}

/// What the thread that drives the run shares with others.
struct Shared {
    /// The driver, unless a thread drives the run or it has ended.
    driver: Option<Box<Driver>>,
    messages: Vec<Message>,
    /// Who waits for the end.
    waker: Option<Waker>,
    result: Option<Result<Vec<Tensor>>>,
    guard: Option<CancellationGuard>,
}

/// Within which calls a run takes place.
#[derive(Clone, Copy, Default)]
pub(in crate::runtime) struct Nesting {
    pub(in crate::runtime) depth: u32,
    /// Whether all of it runs where it is polled.
    pub(in crate::runtime) stays: bool,
}

/// Has a run look at one of its kernels that wait.
struct WakeRun {
    run: Weak<PlanRun>,
    step: Weak<Step>,
    waiting: WaitingIndex,
}

impl Wake for WakeRun {
    fn wake(self: Arc<Self>) {
        let Some(step) = self.step.upgrade() else { return };
        // As with what is done later: who wakes the run does not hold it when no longer at work for the step.
        let _at_work = step.begin_work();
        if let Some(run) = self.run.upgrade() {
            run.post(Message::Wake(self.waiting));
        }
    }
}

impl Host for Arc<PlanRun> {
    fn hand_out(&self, task: Task) {
        let work = self.later(move |run| {
            run.guarded(|| {
                let done = task.run(&run.context);
                run.finished(Message::Done(done));
            });
        });
        match self.pool() {
            Some(pool) => pool.spawn(self.context.step.id(), work),
            // Without a pool nothing is put aside as expensive.
            None => work(),
        }
    }

    fn take_messages(&self) -> Vec<Message> {
        std::mem::take(&mut lock(&self.shared).messages)
    }

    fn waker(&self, waiting: WaitingIndex) -> Waker {
        let step = Arc::downgrade(&self.context.step);
        Arc::new(WakeRun { run: Arc::downgrade(self), step, waiting }).into()
    }
}

impl PlanRun {
    /// A run, not begun. `feeds` are those that the plan was laid out for, in order, checked.
    pub(in crate::runtime) fn new(
        executor: &Arc<Executor>,
        step: &Arc<Step>,
        nesting: Nesting,
        mut feeds: SmallVec<[Tensor; 4]>,
    ) -> Arc<PlanRun> {
        let plan = &executor.plan;
        let mut driver = lock(&executor.idle).pop().unwrap_or_else(|| Box::new(Driver::new(plan)));
        for moved in &plan.layout.moved_feeds {
            let feed = std::mem::replace(&mut feeds[moved.feed.position()], Tensor::scalar(false));
            Tensor::put(&mut driver.state.slots(TOP)[moved.slot], Some(feed));
        }
        let is_parallel = !nesting.stays
            && match step.inter_op() {
                InterOp::Devices => {
                    plan.has_expensive.load(Ordering::Relaxed) && plan.devices.iter().any(|d| d.pool().is_some())
                }
                InterOp::Caller => false,
                InterOp::Pool(_) => true,
            };
        Arc::new(PlanRun {
            executor: executor.clone(),
            context: RunContext {
                plan: plan.clone(),
                step: step.clone(),
                feeds,
                depth: nesting.depth,
                number: step.next_number() << RUN_BITS,
                is_parallel,
            },
            first_sample: executor.runs.fetch_add(1, Ordering::Relaxed) % SAMPLE,
            is_apart: nesting.depth > 0 && nesting.depth.is_multiple_of(DEPTH_OF_STACK),
            shared: Mutex::new(Shared {
                driver: Some(driver),
                messages: Vec::new(),
                waker: None,
                result: None,
                guard: None,
            }),
        })
    }

    fn pool(&self) -> Option<&Arc<ThreadPool>> {
        match self.context.step.inter_op() {
            InterOp::Devices => self.context.plan.devices.iter().find_map(|device| device.pool()),
            InterOp::Caller => None,
            InterOp::Pool(pool) => Some(pool),
        }
    }

    /// Something that is to be done for the run if somebody still waits for it then. It does not keep the run, and does not
    /// hold it when it is no longer at work for the step: a step that is idle has ended with all that belonged to it.
    fn later(self: &Arc<PlanRun>, work: impl FnOnce(&Arc<PlanRun>) + Send + 'static) -> impl FnOnce() + Send + 'static {
        let (run, step) = (Arc::downgrade(self), self.context.step.clone());
        move || {
            let _at_work = step.begin_work();
            if let Some(run) = run.upgrade() {
                work(&run);
            }
        }
    }

    /// Does something for the run on another thread.
    fn elsewhere(&self, work: impl FnOnce() + Send + 'static) -> Result<()> {
        if let Some(pool) = self.pool() {
            pool.spawn(self.context.step.id(), work);
            return Ok(());
        }
        let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
        spawned.map(drop).map_err(|error| {
            Error::resource_exhausted(format!("no thread for calls nested {} deep: {error}", self.context.depth))
        })
    }

    /// Begins the run, on this thread unless it was asked for another.
    pub(in crate::runtime) fn start(self: &Arc<PlanRun>) {
        match self.context.step.inter_op() {
            InterOp::Pool(pool) => pool.spawn(self.context.step.id(), self.later(PlanRun::begin)),
            InterOp::Devices | InterOp::Caller => self.begin(),
        }
    }

    /// Whether other threads may work for the run.
    pub(in crate::runtime) fn is_parallel(&self) -> bool {
        self.context.is_parallel
    }

    /// Keeps the threads awake that the run uses, until it is dropped, if there are any; the thread that waits for the run
    /// can help them.
    pub(in crate::runtime) fn help(&self) -> Option<Help> {
        let is_parallel = self.context.is_parallel;
        // What waits may wait for a function, whose run has work for other threads.
        let has_work = is_parallel || self.context.plan.waits;
        let is_own = matches!(self.context.step.inter_op(), InterOp::Devices);
        let pool = if is_own && has_work { self.pool() } else { None };
        pool.map(|pool| Help::begin(pool, self.context.step.id(), is_parallel))
    }

    /// Does something for the run. If that panics, outside of any kernel, the run fails, and nothing else does.
    fn guarded(self: &Arc<PlanRun>, work: impl FnOnce()) {
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
        self.context.step.cancellation().cancel(error.clone());
        let (state, messages, waker, guard) = {
            let mut shared = lock(&self.shared);
            shared.result.get_or_insert(Err(error));
            (shared.driver.take(), std::mem::take(&mut shared.messages), shared.waker.take(), shared.guard.take())
        };
        drop((state, messages, guard));
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Begins the run on this thread.
    pub(in crate::runtime) fn begin(self: &Arc<PlanRun>) {
        self.guarded(|| self.begin_here());
    }

    fn begin_here(self: &Arc<PlanRun>) {
        let Some(mut driver) = lock(&self.shared).driver.take() else { return };
        if self.context.plan.waits {
            let run = Arc::downgrade(self);
            let cancelled = move || {
                if let Some(run) = run.upgrade() {
                    run.post(Message::Cancelled);
                }
            };
            let guard = self.context.step.cancellation().on_cancel(cancelled);
            lock(&self.shared).guard = Some(guard);
        }
        driver.sampler.count = self.first_sample;
        // Nothing runs of what was cancelled before it began.
        driver.error = self.context.step.cancellation().check().err();
        let plan = &*self.context.plan;
        if plan.layout.branches {
            // A loop may wait for what others do.
            plan.initial.iter().rev().for_each(|&node| driver.state.begin(node));
            return self.drive(driver);
        }
        for &node in &plan.initial {
            driver.state.begin(node);
            // Cheap nodes run at once: the list of what is ready stays short.
            if !plan.nodes[node].is_expensive() {
                driver.run_cheap(&self.context, self);
            }
        }
        self.drive(driver);
    }

    /// Takes what others have left, if nobody else does.
    fn resume(self: &Arc<PlanRun>) {
        let driver = {
            let mut shared = lock(&self.shared);
            if shared.messages.is_empty() { None } else { shared.driver.take() }
        };
        if let Some(driver) = driver {
            self.guarded(|| self.drive(driver));
        }
    }

    /// Runs what is ready until nothing is, and gives the driver back.
    fn drive(self: &Arc<PlanRun>, driver: Box<Driver>) {
        let _at_work = self.context.step.begin_work();
        self.drive_on(driver);
    }

    fn drive_on(self: &Arc<PlanRun>, mut driver: Box<Driver>) {
        loop {
            driver.run_ready(&self.context, self);
            let task = driver.take_own_task();
            let messages = {
                let mut shared = lock(&self.shared);
                if task.is_some() {
                    shared.driver = Some(driver);
                    if !shared.messages.is_empty() {
                        // Nobody else will look at them before the task is done.
                        let _ = self.elsewhere(self.later(PlanRun::resume));
                    }
                    None
                } else if shared.messages.is_empty() {
                    if driver.is_done() {
                        drop(shared);
                        return self.end(driver);
                    }
                    shared.driver = Some(driver);
                    return;
                } else {
                    Some((std::mem::take(&mut shared.messages), driver))
                }
            };
            let (messages, taken) = match (messages, task) {
                (Some(messages), _) => messages,
                (None, Some(task)) => {
                    // The others go on meanwhile.
                    let done = task.run(&self.context);
                    let mut shared = lock(&self.shared);
                    shared.messages.push(Message::Done(done));
                    match shared.driver.take() {
                        Some(driver) => (std::mem::take(&mut shared.messages), driver),
                        None => return,
                    }
                }
                (None, None) => return,
            };
            driver = taken;
            for message in messages {
                driver.receive(&self.context, self, message);
            }
        }
    }

    /// Leaves a message from a thread that may be anyone's, and has the run go on.
    fn post(self: &Arc<PlanRun>, message: Message) {
        let waker = {
            let mut shared = lock(&self.shared);
            if shared.result.is_some() {
                return;
            }
            shared.messages.push(message);
            if shared.driver.is_none() {
                // Who drives the run will see it.
                return;
            }
            shared.waker.clone()
        };
        let goes_elsewhere = self.is_apart || (self.context.is_parallel && self.pool().is_some());
        if goes_elsewhere && self.elsewhere(self.later(PlanRun::resume)).is_ok() {
            return;
        }
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Leaves the message of a task that this thread of the pool has run, and goes on with the run if nobody does.
    fn finished(self: &Arc<PlanRun>, message: Message) {
        lock(&self.shared).messages.push(message);
        self.resume();
    }

    /// Ends the run, of which nothing is under way any more.
    fn end(self: &Arc<PlanRun>, mut driver: Box<Driver>) {
        let plan = &*self.context.plan;
        if driver.sampler.reclassify {
            driver.sampler.reclassify = false;
            plan.classify();
        }
        let result = match driver.error.take() {
            // Tensors that were on their way stay in the slots; the driver goes with them.
            Some(error) => Err(error),
            None => {
                let result = self.collect(&mut driver);
                driver.reset(&plan.layout);
                lock(&self.executor.idle).push(driver);
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

    /// Collects the fetches.
    fn collect(&self, driver: &mut Driver) -> Result<Vec<Tensor>> {
        let plan = &*self.context.plan;
        let slots = driver.state.slots(TOP);
        let mut fetched = Vec::with_capacity(plan.fetches.len());
        for (index, &source) in plan.fetches.iter().enumerate() {
            // A reference is read as the run ends: TensorFlow hands out the variable's own memory, in which updates that
            // come after the fetch show.
            let tensor = match source {
                Source::Constant(index) => plan.constants[index].clone(),
                Source::Feed(index) => self.context.feeds[index.position()].clone(),
                Source::Node { node, .. } => slots[plan.layout.fetches.at(index)].take().ok_or_else(|| {
                    let name = &plan.nodes[node].name;
                    Error::invalid_argument(format!(
                        "Retval[{index}] does not have value: node '{name}' did not run, as on the branch that was not \
                         taken"
                    ))
                })?,
            };
            fetched.push(match tensor.reference() {
                None => tensor,
                Some(reference) => reference.lock()?.clone().ok_or_else(|| {
                    let name = match source {
                        Source::Node { node, .. } => plan.nodes[node].name.as_str(),
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
pub(in crate::runtime) struct RunFuture {
    run: Arc<PlanRun>,
    has_begun: bool,
}

impl RunFuture {
    pub(in crate::runtime) fn new(run: Arc<PlanRun>) -> RunFuture {
        RunFuture { run, has_begun: false }
    }

    /// Whether the run goes on only when `count` kernels that wait have done so, and no others wait.
    pub(in crate::runtime) fn waits_for(&self, count: usize) -> bool {
        let shared = lock(&self.run.shared);
        shared.messages.is_empty() && shared.driver.as_deref().is_some_and(|driver| driver.waits_for(count))
    }

    /// A run that has begun.
    pub(in crate::runtime) fn begun(run: Arc<PlanRun>) -> RunFuture {
        RunFuture { run, has_begun: true }
    }
}

impl Drop for RunFuture {
    /// What waits within goes with it, level by level: not all on one stack.
    fn drop(&mut self) {
        if self.run.is_apart && lock(&self.run.shared).driver.is_some() {
            let run = self.run.clone();
            let _ = self.run.elsewhere(move || drop(run));
        }
    }
}

impl Future for RunFuture {
    type Output = Result<Vec<Tensor>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.has_begun {
            self.has_begun = true;
            if self.run.is_apart {
                lock(&self.run.shared).waker = Some(context.waker().clone());
                self.run.elsewhere(self.run.later(PlanRun::begin))?;
                return Poll::Pending;
            }
            self.run.begin();
            if let Some(result) = self.run.take_result() {
                return Poll::Ready(result);
            }
        }
        lock(&self.run.shared).waker = Some(context.waker().clone());
        if !self.run.context.is_parallel && !self.run.is_apart {
            self.run.resume();
        }
        match self.run.take_result() {
            Some(result) => Poll::Ready(result),
            None => Poll::Pending,
        }
    }
}
