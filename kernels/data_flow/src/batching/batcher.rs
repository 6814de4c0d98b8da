//! Where runs meet: batches that wait, are computed, and whose results are waited for.
//!
//! A run adds its tasks and waits without a thread. A batch that is full or whose time has come is computed beside the
//! runs, by what its last run brought; a run that ends early takes its tasks with it, and with the last run a batch ends.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Instant;

use kernlink::resource::Resource;
use kernlink::step::{Background, Cancellation, Function, Task as Work};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result};
use kernlink_kernels_common::tensors::joined_rows;

use super::execution::Execution;
use super::lane::{Batch, Lane};
use super::options::Options;
use kernlink_kernels_common::alarm::Alarm;

/// What a run brings to compute a batch by.
#[derive(Clone)]
pub(super) struct Means {
    pub(super) background: Background,
    /// The function and what it captured, unless the batch is given to a run.
    pub(super) function: Option<(Arc<dyn Function>, Vec<Tensor>)>,
    pub(super) depth: u32,
}

/// Batches of several kinds, which are computed on as many threads together.
pub(super) struct Batcher {
    pub(super) options: Options,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lanes: BTreeMap<String, LaneOf>,
    runs: HashMap<u64, Run>,
    next: u64,
    computed: HashMap<u64, Computed>,
}

/// The number after another: those that are ids of runs are not negative.
fn after(id: u64) -> u64 {
    (id + 1) & (u64::MAX >> 1)
}

impl State {
    /// A new id of a run.
    fn id(&mut self) -> u64 {
        if self.next == 0 {
            // Ids of several sessions are told apart by chance.
            self.next = RandomState::new().hash_one(0) >> 1 | 1;
        }
        let id = self.next;
        self.next = after(id);
        id
    }
}

struct LaneOf {
    lane: Lane,
    /// When the open batch is due, and what calls then.
    alarm: Option<(Instant, Option<Alarm>)>,
}

/// A run that waits.
struct Run {
    means: Means,
    /// What comes of its parts.
    results: Vec<Option<Result<Vec<Tensor>>>>,
    waker: Option<Waker>,
}

/// A batch that is computed.
struct Computed {
    runs: Vec<u64>,
    work: Option<Work<()>>,
    cancellation: Cancellation,
}

thread_local! {
    /// The batchers, by their addresses, that start batches on this thread, and whether they are to look again.
    static STARTING: RefCell<Vec<(usize, bool)>> = const { RefCell::new(Vec::new()) };
}

/// A batcher that starts batches on this thread, until this is dropped.
struct Starting(usize);

impl Starting {
    /// `None` if it does so already: it looks again then.
    fn begin(batcher: &Arc<Batcher>) -> Option<Starting> {
        let address = Arc::as_ptr(batcher).addr();
        STARTING.with_borrow_mut(|starting| match starting.iter_mut().find(|(other, _)| *other == address) {
            Some((_, again)) => {
                *again = true;
                None
            }
            None => {
                starting.push((address, false));
                Some(Starting(address))
            }
        })
    }

    /// Whether it is to look again.
    fn again(&self) -> bool {
        let again = |starting: &mut Vec<(usize, bool)>| {
            let own = starting.iter_mut().find(|(other, _)| *other == self.0);
            own.is_some_and(|(_, again)| std::mem::take(again))
        };
        STARTING.with_borrow_mut(again)
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        STARTING.with_borrow_mut(|starting| starting.retain(|(other, _)| *other != self.0));
    }
}

impl Batcher {
    pub(super) fn new(options: Options) -> Batcher {
        Batcher { options, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the inputs of a run to the batches of a kind, and waits for what comes of them. `id` is the id of the run.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for too many rows; UNAVAILABLE if too many batches wait; what becomes of the batch.
    pub(super) async fn add(
        self: &Arc<Self>,
        kind: &str,
        inputs: Vec<Tensor>,
        rows: usize,
        means: Means,
    ) -> Result<Vec<Tensor>> {
        let id = self.enter(kind, &inputs, rows, means)?;
        let _place = Place { batcher: self, id };
        let results = poll_fn(|context| {
            if let Some(run) = self.lock().runs.get_mut(&id) {
                run.waker = Some(context.waker().clone());
            }
            // After the waker is there: what comes between wakes this run.
            self.start();
            let mut state = self.lock();
            let Some(run) = state.runs.get_mut(&id) else { return Poll::Ready(Vec::new()) };
            if run.results.iter().any(Option::is_none) {
                return Poll::Pending;
            }
            Poll::Ready(std::mem::take(&mut run.results))
        });
        let results = results.await.into_iter().flatten();
        let mut parts = scratch::collected_ok(results)?;
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        let outputs = parts.first().map_or(0, Vec::len);
        let joined = |output: usize| joined_rows(&scratch::collected(parts.iter().map(|part| &part[output]))?);
        (0..outputs).map(joined).collect()
    }

    /// The id of a run that has nothing to add.
    pub(super) fn id(&self) -> i64 {
        self.lock().id() as i64
    }

    /// Puts a run in its place in the batches.
    fn enter(self: &Arc<Self>, kind: &str, inputs: &[Tensor], rows: usize, means: Means) -> Result<u64> {
        let mut state = self.lock();
        let id = state.id();
        let lane = state.lanes.entry(kind.to_owned()).or_insert_with(|| LaneOf { lane: Lane::new(), alarm: None });
        let count = match lane.lane.enter(id, inputs, rows, &self.options) {
            Ok(count) => count,
            Err(error) => {
                lane.lane.forget(id);
                return Err(error);
            }
        };
        let results = std::iter::repeat_with(|| None).take(count).collect();
        state.runs.insert(id, Run { means, results, waker: None });
        Ok(id)
    }

    /// Starts all batches that are to be computed now.
    pub(super) fn start(self: &Arc<Self>) {
        // What is computed on this thread at once comes here when it has ended: the first call goes on then.
        let Some(starting) = Starting::begin(self) else { return };
        loop {
            while let Some((id, execution)) = self.next() {
                let background = execution.means.background.clone();
                let work = background.spawn(execution.run());
                let mut state = self.lock();
                // It may have ended, and the runs as well.
                let left = match state.computed.get_mut(&id) {
                    Some(computed) => computed.work.replace(work),
                    None => Some(work),
                };
                drop(state);
                drop(left);
            }
            if !starting.again() {
                return;
            }
        }
    }

    /// The next batch that is to be computed now.
    fn next(self: &Arc<Self>) -> Option<(u64, Execution)> {
        let mut state = self.lock();
        let State { lanes, runs, computed, next } = &mut *state;
        if computed.len() >= self.options.threads {
            // Who has computed one comes back.
            lanes.values_mut().for_each(|lane| lane.alarm = None);
            return None;
        }
        let now = Instant::now();
        for lane in lanes.values_mut() {
            let batch = lane.lane.take(now, &self.options);
            if let Some(batch) = batch {
                let last = batch.tasks.last().and_then(|task| runs.get(&task.run));
                let Some(means) = last.map(|run| run.means.clone()) else { continue };
                let id = *next;
                *next = after(id);
                let cancellation = Cancellation::new();
                let of_runs = batch.tasks.iter().map(|task| task.run).collect();
                computed.insert(id, Computed { runs: of_runs, work: None, cancellation: cancellation.clone() });
                let batcher = self.clone();
                return Some((id, Execution { batcher, id, batch, means, cancellation, outcome: None }));
            }
            let due = lane.lane.due();
            if lane.alarm.as_ref().map(|(time, _)| *time) != due {
                let weak = Arc::downgrade(self);
                let wake = move || {
                    if let Some(batcher) = weak.upgrade() {
                        batcher.wake_all();
                    }
                };
                lane.alarm = due.map(|due| (due, Alarm::at(due, wake)));
            }
        }
        None
    }

    /// Has all runs look again.
    fn wake_all(&self) {
        let wakers: Vec<Waker> = self.lock().runs.values_mut().filter_map(|run| run.waker.take()).collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Gives the runs of a batch what came of it: for each task its outputs.
    pub(super) fn finish(self: &Arc<Self>, id: u64, batch: &Batch, outcome: Result<Vec<Vec<Tensor>>>) {
        let mut state = self.lock();
        let ended = state.computed.remove(&id);
        let mut wakers = Vec::new();
        let mut outputs = outcome.map(Vec::into_iter);
        for task in &batch.tasks {
            let result = match &mut outputs {
                Ok(outputs) => outputs.next().ok_or_else(|| Error::internal("a batch has a result for each task")),
                Err(error) => Err(error.clone()),
            };
            let Some(run) = state.runs.get_mut(&task.run) else { continue };
            if let Some(place) = run.results.get_mut(task.part) {
                *place = Some(result);
            }
            wakers.extend(run.waker.take());
        }
        drop(state);
        drop(ended);
        wakers.into_iter().for_each(Waker::wake);
        self.start();
    }
}

/// The place of a run, which it leaves when it is dropped.
struct Place<'b> {
    batcher: &'b Arc<Batcher>,
    id: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.batcher.lock();
        let run = state.runs.remove(&self.id);
        if run.as_ref().is_none_or(|run| run.results.iter().all(Option::is_some)) {
            drop(state);
            return;
        }
        let State { lanes, runs, computed, .. } = &mut *state;
        lanes.values_mut().for_each(|lane| lane.lane.forget(self.id));
        let mut ended = Vec::new();
        for computed in computed.values_mut() {
            if computed.runs.contains(&self.id) && !computed.runs.iter().any(|run| runs.contains_key(run)) {
                ended.push((computed.work.take(), computed.cancellation.clone()));
            }
        }
        drop(state);
        drop(run);
        for (work, cancellation) in ended {
            cancellation.cancel(Error::cancelled("all runs of the batch have ended"));
            drop(work);
        }
        self.batcher.start();
    }
}

impl Resource for Batcher {
    fn type_name() -> &'static str {
        "tensorflow::BatchResource"
    }

    fn debug_string(&self) -> String {
        "BatchResource".to_owned()
    }
}
