//! Partial runs: feeds come, and fetches go, one after another while the run waits.

use std::collections::HashSet;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Instant;

use super::executor::{Executor, RunFuture};
use super::options::RunOptions;
use super::plan::{feed_key, fetch_key};
use crate::error::{Error, Result};
use crate::step::{CancellationGuard, Step, block_on_until, lock};
use crate::tensor::Tensor;

/// A run that takes its feeds and gives its fetches in several calls; see
/// [`Session::partial_run_setup`](super::Session::partial_run_setup).
pub struct PartialRun {
    feeds: Vec<String>,
    fetches: Vec<String>,
    step: Arc<Step>,
    executor: Arc<Executor>,
    state: Mutex<State>,
    _on_close: CancellationGuard,
}

struct State {
    running: RunFuture,
    result: Option<Result<()>>,
    fed: HashSet<usize>,
    fetched: HashSet<usize>,
}

impl PartialRun {
    pub(super) fn new(
        feeds: Vec<String>,
        fetches: Vec<String>,
        (step, _on_close): (Arc<Step>, CancellationGuard),
        executor: Arc<Executor>,
        running: RunFuture,
    ) -> PartialRun {
        let state = State { running, result: None, fed: HashSet::new(), fetched: HashSet::new() };
        PartialRun { feeds, fetches, step, executor, state: Mutex::new(state), _on_close }
    }

    /// Feeds some of what was set up, and waits for some of the fetches. Each is fed and fetched once. With the last
    /// fetch the run ends.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a feed or fetch that was not set up, comes a second time, has another dtype or shape, or
    /// depends on what was not fed; CANCELLED if the session was closed; and whatever a kernel meets, which ends the run.
    pub fn run(&self, feeds: &[(&str, Tensor)], fetches: &[&str]) -> Result<Vec<Tensor>> {
        self.run_with(feeds, fetches, &RunOptions::default())
    }

    /// [`PartialRun::run`] with options, of which `timeout` and `cancellation` count for this call: they end the partial
    /// run, which cannot be continued then. Nodes run on the thread that calls.
    ///
    /// # Errors
    /// See [`PartialRun::run`]; DEADLINE_EXCEEDED if the time is up; the reason with which it was cancelled.
    pub fn run_with(&self, feeds: &[(&str, Tensor)], fetches: &[&str], options: &RunOptions) -> Result<Vec<Tensor>> {
        let mut state = lock(&self.state);
        let state = &mut *state;
        let find = |names: &[String], name: &str, what: &str| {
            let canonical = name.strip_suffix(":0").unwrap_or(name);
            names.iter().position(|other| other == canonical).ok_or_else(|| {
                Error::invalid_argument(format!(
                    "`{name}` is no {what} of this partial run: name it when setting it up"
                ))
            })
        };
        let mut given = Vec::with_capacity(feeds.len());
        for (name, tensor) in feeds {
            let index = find(&self.feeds, name, "feed")?;
            if state.fed.contains(&index) || given.iter().any(|(other, _)| *other == index) {
                return Err(Error::invalid_argument(format!("The feed {name} has already been fed.")));
            }
            self.executor.plan().feeds[index].check(tensor)?;
            given.push((index, tensor));
        }
        let wanted = fetches.iter().map(|name| find(&self.fetches, name, "fetch")).collect::<Result<Vec<_>>>()?;
        let is_twice = |(position, index)| wanted[..position].contains(index) || state.fetched.contains(index);
        if let Some((_, index)) = wanted.iter().enumerate().find(|&fetch| is_twice(fetch)) {
            let name = &self.fetches[*index];
            return Err(Error::invalid_argument(format!("The fetch {name} has already been fetched.")));
        }
        for (index, tensor) in given {
            self.step.rendezvous().send(&feed_key(index), Some(tensor.clone()))?;
            state.fed.insert(index);
        }
        let mut fetched: Vec<Option<Tensor>> = vec![None; wanted.len()];
        let deadline = options.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self.step.set_deadline(deadline);
        let on_cancel = options.cancellation.as_ref().map(|outer| outer.forward_to(self.step.cancellation()));
        let wait = poll_fn(|context| {
            state.advance(context);
            for (slot, &index) in fetched.iter_mut().zip(&wanted) {
                if slot.is_none()
                    && let Some(Ok(tensor)) = self.step.rendezvous().try_receive(&fetch_key(index))
                {
                    *slot = tensor;
                }
            }
            let is_done = fetched.iter().all(Option::is_some);
            match &state.result {
                Some(Err(error)) => Poll::Ready(Err(error.clone())),
                _ if is_done => Poll::Ready(Ok(())),
                Some(Ok(())) => Poll::Ready(Err(Error::invalid_argument(
                    "a fetch does not have a value: its node did not run, as on the branch that was not taken",
                ))),
                None if state.is_stuck(&self.feeds) => {
                    Poll::Ready(Err(Error::invalid_argument("a fetch depends on a feed that was not fed yet")))
                }
                None => Poll::Pending,
            }
        });
        let waited = block_on_until(wait, None, deadline, || self.step.time_out());
        drop(on_cancel);
        self.step.set_deadline(None);
        let ended = match state.result.take() {
            Some(result) => state.result.insert(self.step.end_run(result, &self.executor.plan().devices)).clone(),
            None => Ok(()),
        };
        if let Err(error) = waited.and(ended) {
            // What is there already can be fetched later.
            for (tensor, &index) in fetched.into_iter().zip(&wanted).filter(|(tensor, _)| tensor.is_some()) {
                self.step.rendezvous().send(&fetch_key(index), tensor)?;
            }
            return Err(error);
        }
        state.fetched.extend(wanted);
        Ok(fetched.into_iter().flatten().collect())
    }
}

impl State {
    fn advance(&mut self, context: &mut Context<'_>) {
        if self.result.is_none()
            && let Poll::Ready(result) = Pin::new(&mut self.running).poll(context)
        {
            self.result = Some(result.map(drop));
        }
    }

    /// Whether nothing goes on before more is fed.
    fn is_stuck(&self, feeds: &[String]) -> bool {
        self.running.waits_for(feeds.len() - self.fed.len())
    }
}

impl Drop for PartialRun {
    fn drop(&mut self) {
        self.step.cancellation().cancel(Error::cancelled("the partial run was dropped"));
    }
}
