//! Driving a run: which node runs when, here, on the pool or later, and what becomes of errors.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use super::context::{NodeRef, RunContext};
use super::node::{self, Outputs, Task, TaskDone};
use super::sampling::{Sampler, nanoseconds};
use super::state::{State, TaggedNode};
use super::static_loop;
use crate::error::{Code, Error, Result};
use crate::kernel::DynKernel;
use crate::runtime::index::{NodeIndex, Table, WaitingIndex, kind};
use crate::runtime::plan::layout::{Layout, Role};
use crate::runtime::plan::{Action, Plan};
use crate::step::BoxFuture;

/// What the thread that drives a run works with. No other thread has it meanwhile.
pub(super) struct Driver {
    pub(super) state: State,
    pub(super) sampler: Sampler,
    /// What is put aside for the pool.
    expensive: Vec<TaggedNode>,
    waiting: Table<kind::Waiting, Option<Waiting>>,
    free_waiting: Vec<WaitingIndex>,
    /// The tasks that other threads have, and the one that this thread is to run next.
    in_flight: usize,
    own_task: Option<Task>,
    /// Why the run ends early.
    pub(super) error: Option<Error>,
}

/// A node whose kernel waits.
struct Waiting {
    tagged: TaggedNode,
    future: BoxFuture<'static, Result<Outputs>>,
}

/// What a thread that does not drive the run tells the one that does.
pub(super) enum Message {
    Done(TaskDone),
    /// A kernel that waits is to be looked at.
    Wake(WaitingIndex),
    /// The step was cancelled: there is nothing else to tell.
    Cancelled,
}

/// What a driver asks of the run that it drives.
pub(super) trait Host {
    /// Has the pool run a task, and then leave a message.
    fn hand_out(&self, task: Task);
    /// What others have left.
    fn take_messages(&self) -> Vec<Message>;
    /// Leaves a message when it is woken.
    fn waker(&self, waiting: WaitingIndex) -> Waker;
}

impl Driver {
    pub(super) fn new(plan: &Plan) -> Driver {
        Driver {
            state: State::new(&plan.layout),
            sampler: Sampler::default(),
            expensive: Vec::new(),
            waiting: Table::new(),
            free_waiting: Vec::new(),
            in_flight: 0,
            own_task: None,
            error: None,
        }
    }

    /// Makes the driver of a run that has ended well that of one that has not begun.
    pub(super) fn reset(&mut self, layout: &Layout) {
        self.state.reset(layout);
    }

    /// Whether nothing is left that could go on.
    pub(super) fn is_done(&self) -> bool {
        self.in_flight == 0 && !self.state.has_ready() && self.waiting.len() == self.free_waiting.len()
    }

    /// Whether the run goes on only when `count` kernels that wait have done so, and no others wait.
    pub(super) fn waits_for(&self, count: usize) -> bool {
        self.in_flight == 0 && self.waiting.values().iter().flatten().count() == count
    }

    /// The task that this thread is to run when it has given the driver back.
    pub(super) fn take_own_task(&mut self) -> Option<Task> {
        self.own_task.take()
    }

    /// Runs what is ready. What is expensive goes to the pool, but for the last one, which is left as the thread's own
    /// task, or run at once if nothing else is under way.
    pub(super) fn run_ready(&mut self, context: &RunContext, host: &impl Host) {
        loop {
            self.run_cheap(context, host);
            let Some(last) = self.expensive.pop() else {
                if self.state.begin_deferred(&context.plan.layout) {
                    continue;
                }
                return;
            };
            if self.expensive.is_empty() && self.in_flight == 0 {
                self.run_here(context, host, last);
                continue;
            }
            self.give_to_pool(context, host);
            self.own_task = Some(Task::take(context, &mut self.state, last));
            self.in_flight += 1;
            return;
        }
    }

    /// Has threads of the pool run what was put aside.
    fn give_to_pool(&mut self, context: &RunContext, host: &impl Host) {
        for tagged in std::mem::take(&mut self.expensive) {
            let task = Task::take(context, &mut self.state, tagged);
            self.in_flight += 1;
            host.hand_out(task);
        }
    }

    /// Runs what is ready and cheap, and puts aside what is expensive.
    pub(super) fn run_cheap(&mut self, context: &RunContext, host: &impl Host) {
        while self.state.has_ready() {
            if self.sampler.tick() && self.error.is_none() {
                self.check(context, host);
            }
            if self.error.is_some() {
                self.stop();
                return;
            }
            let Some(tagged) = self.state.next() else { return };
            let node = NodeRef::of(&context.plan, tagged.node);
            if let Some(waiting) = &node.plan.waiting
                && !tagged.is_dead
                && node::takes_variable(context, &mut self.state, tagged, node)
            {
                self.wait(context, host, tagged, waiting);
                continue;
            }
            if context.is_parallel && !tagged.is_dead && node.plan.is_expensive() {
                self.expensive.push(tagged);
                continue;
            }
            let started = self.sampler.start(node.plan);
            self.step(context, host, tagged, node);
            self.sampler.end(node.plan, started);
        }
    }

    /// Runs an expensive node on this thread while it drives the run.
    fn run_here(&mut self, context: &RunContext, host: &impl Host, tagged: TaggedNode) {
        self.check(context, host);
        if self.error.is_some() {
            self.stop();
            return;
        }
        let node = NodeRef::of(&context.plan, tagged.node);
        let started = Instant::now();
        self.step(context, host, tagged, node);
        self.sampler.measured(node.plan, nanoseconds(started));
    }

    /// Ends the run early if its step was cancelled or its time is up. If it goes on, so does what waits until nothing is
    /// ready any more: a loop may go round until something else in the run has happened.
    #[cold]
    fn check(&mut self, context: &RunContext, host: &impl Host) {
        if let Err(error) = context.step.check() {
            self.error.get_or_insert(error);
            return;
        }
        for message in host.take_messages() {
            self.receive(context, host, message);
        }
        self.give_to_pool(context, host);
        self.state.take_turns();
    }

    /// Runs a node, and notes what that makes ready.
    #[inline(always)]
    fn step(&mut self, context: &RunContext, host: &impl Host, tagged: TaggedNode, node: NodeRef<'_>) {
        let layout = &context.plan.layout;
        let state = &mut self.state;
        let done = if tagged.is_dead {
            node::dead(context, state, tagged, node)
        } else {
            match &node.plan.action {
                Action::Compute(kernel) => node::compute(context, state, tagged.iteration, node, kernel),
                Action::Wait(kernel) => return self.wait(context, host, tagged, kernel),
                Action::Flow => {
                    if node.layout.role == Role::Merge
                        && let Some(static_loop) = state.static_loop(layout, tagged.iteration)
                    {
                        return match static_loop::run(context, state, &mut self.sampler, tagged, static_loop) {
                            Ok(()) => state.done(layout, tagged.iteration),
                            Err(failed) => self.fail(context, failed.node, failed.error),
                        };
                    }
                    node::flow(context, state, tagged, node)
                }
            }
        };
        match done {
            Ok(()) => state.done(layout, tagged.iteration),
            Err(error) => self.fail(context, tagged.node, error),
        }
    }

    /// Drops what has not run.
    #[cold]
    fn stop(&mut self) {
        self.state.clear_ready();
        self.expensive.clear();
        // What a future holds may want to tell the run something: it finds the lock free.
        let waiting = std::mem::take(&mut self.waiting);
        self.free_waiting.clear();
        drop(waiting);
    }

    /// Notes an error, the first one as that of the run, and ends the step early.
    #[cold]
    fn fail(&mut self, context: &RunContext, node: NodeIndex, error: Error) {
        if self.error.is_none() {
            let node = &context.plan.nodes[node];
            let device = context.plan.devices[node.device as usize].name();
            let is_end = matches!(error.code(), Code::Cancelled | Code::Aborted | Code::DeadlineExceeded);
            let error = match context.step.cancellation().reason() {
                // The run was ended, and the kernel merely says so.
                Some(reason) if is_end => reason,
                // One of a function that the kernel has called is of a node of that function.
                _ if error.node().is_some() => error,
                _ => {
                    let function = node.function.as_deref().unwrap_or(&context.plan.function);
                    error.at_node(&node.name, &node.op.name, device).in_function(function)
                }
            };
            context.step.cancellation().cancel(error.clone());
            self.error = Some(error);
        }
        self.stop();
    }

    // ---- kernels that wait, and what others say ----

    /// Begins with a kernel that may wait.
    fn wait(&mut self, context: &RunContext, host: &impl Host, tagged: TaggedNode, kernel: &Arc<dyn DynKernel>) {
        let task = Task::take(context, &mut self.state, tagged);
        let future = match task.run_async(context, kernel.clone()) {
            Ok(future) => future,
            Err(error) => return self.fail(context, tagged.node, error),
        };
        let index = self.free_waiting.pop().unwrap_or_else(|| self.waiting.push(None));
        self.waiting[index] = Some(Waiting { tagged, future });
        self.poll(context, host, index);
    }

    /// Looks whether a kernel has done waiting.
    fn poll(&mut self, context: &RunContext, host: &impl Host, index: WaitingIndex) {
        let Some(mut waiting) = self.waiting.get_mut(index).and_then(Option::take) else { return };
        let waker = host.waker(index);
        match waiting.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => self.waiting[index] = Some(waiting),
            Poll::Ready(outputs) => {
                self.free_waiting.push(index);
                self.finish(context, waiting.tagged, outputs);
            }
        }
    }

    /// Takes in what another thread says.
    pub(super) fn receive(&mut self, context: &RunContext, host: &impl Host, message: Message) {
        // Whoever waits for a function's run may have left it, and the step have ended without it: what is under way ends,
        // and nothing else begins.
        if self.error.is_none()
            && let Err(error) = context.step.cancellation().check()
        {
            self.error = Some(error);
            self.stop();
        }
        match message {
            Message::Done(TaskDone { tagged, outputs, nanoseconds }) => {
                self.in_flight -= 1;
                self.sampler.measured(&context.plan.nodes[tagged.node], nanoseconds);
                self.finish(context, tagged, outputs);
            }
            Message::Wake(index) => self.poll(context, host, index),
            // It has been looked at.
            Message::Cancelled => {}
        }
    }

    /// Hands on what a kernel has computed apart from the state.
    fn finish(&mut self, context: &RunContext, tagged: TaggedNode, outputs: Result<Outputs>) {
        if self.error.is_some() {
            return;
        }
        let (plan, state) = (&*context.plan, &mut self.state);
        let node = NodeRef::of(plan, tagged.node);
        let handed_on =
            outputs.and_then(|mut outputs| node::hand_on(plan, state, tagged.iteration, node, &mut outputs));
        match handed_on {
            Ok(()) => state.done(&plan.layout, tagged.iteration),
            Err(error) => self.fail(context, tagged.node, error),
        }
    }
}
