//! Queues: elements that wait until a run takes them, and runs that wait for elements or for room.
//!
//! Whoever waits stands in line as an attempt. Whatever changes the queue serves both lines in order and wakes those
//! whose attempts are done.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use kernlink::dtype::DataType;
use kernlink::resource::Resource;
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::MakeRoom;
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tensors::listed;

use super::queue_store::{Element, Store};

/// What the attrs of a node say of a queue.
#[derive(Clone, PartialEq)]
pub(super) struct Spec {
    /// The kind, for errors: `FIFOQueue`.
    pub(super) kind: &'static str,
    pub(super) dtypes: Vec<DataType>,
    /// The shapes of the components; none if they are not known.
    pub(super) shapes: Vec<PartialShape>,
    /// How many elements fit.
    pub(super) capacity: usize,
    /// Whether components of a batch are padded to one shape.
    pub(super) pads: bool,
}

/// A queue.
pub(crate) struct Queue {
    name: String,
    pub(super) spec: Spec,
    state: Mutex<State>,
}

struct State {
    is_closed: bool,
    store: Store,
    next_id: u64,
    enqueues: VecDeque<Attempt<Enqueue>>,
    dequeues: VecDeque<Attempt<Dequeue>>,
    /// What came of attempts whose futures have not seen it yet.
    done: HashMap<u64, Result<Vec<Element>>>,
}

struct Attempt<W> {
    id: u64,
    waker: Option<Waker>,
    work: W,
}

enum Enqueue {
    Elements(VecDeque<Element>),
    Close,
}

struct Dequeue {
    wanted: usize,
    taken: Vec<Element>,
    /// Whether fewer will do once the queue is closed.
    takes_fewer: bool,
}

impl Queue {
    pub(super) fn new(name: &str, spec: Spec, store: Store) -> Queue {
        let state = State {
            is_closed: false,
            store,
            next_id: 0,
            enqueues: VecDeque::new(),
            dequeues: VecDeque::new(),
            done: HashMap::new(),
        };
        Queue { name: name.to_owned(), spec, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A kernel that panicked left elements and attempts whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn title(&self) -> String {
        format!("{} '{}'", self.spec.kind, self.name)
    }

    /// Checks that a node means this queue.
    pub(super) fn ensure_spec(&self, spec: &Spec, node: &str) -> Result<()> {
        let (name, own) = (&self.name, &self.spec);
        ensure!(
            own.kind == spec.kind,
            InvalidArgument,
            "Shared queue '{name}' has type '{}' that does not match type of Node '{node}': {}",
            own.kind,
            spec.kind
        );
        ensure!(
            own.capacity == spec.capacity,
            InvalidArgument,
            "Shared queue '{name}' has capacity {} but requested capacity was {}",
            own.capacity,
            spec.capacity
        );
        ensure!(
            own.dtypes == spec.dtypes,
            InvalidArgument,
            "Shared queue '{name}' has component types {} but requested component types were {}",
            listed(&own.dtypes),
            listed(&spec.dtypes)
        );
        ensure!(
            own.shapes == spec.shapes,
            InvalidArgument,
            "Shared queue '{name}' has component shapes {:?} but requested component shapes were {:?}",
            own.shapes,
            spec.shapes
        );
        Ok(())
    }

    pub(super) fn size(&self) -> usize {
        self.lock().store.len()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn cancelled(&self) -> Error {
        Error::cancelled(format!("{} is closed.", self.title()))
    }

    /// Serves attempts as far as possible; returns whom to wake, without the lock.
    fn serve(&self, state: &mut State) -> Vec<Waker> {
        let mut woken = Vec::new();
        loop {
            let mut progress = false;
            while let Some(attempt) = state.enqueues.front_mut() {
                let before = state.store.len();
                let outcome = match &mut attempt.work {
                    Enqueue::Close if state.is_closed => {
                        Some(Err(Error::cancelled(format!("Queue '{}' is already closed.", self.name))))
                    }
                    Enqueue::Close => {
                        state.is_closed = true;
                        Some(Ok(Vec::new()))
                    }
                    Enqueue::Elements(_) if state.is_closed => Some(Err(self.cancelled())),
                    Enqueue::Elements(elements) => {
                        let mut outcome = Ok(Vec::new());
                        while state.store.len() < self.spec.capacity
                            && let Some(element) = elements.pop_front()
                        {
                            if let Err(error) = state.store.push(element) {
                                outcome = Err(error);
                                elements.clear();
                            }
                        }
                        elements.is_empty().then_some(outcome)
                    }
                };
                progress |= state.store.len() != before;
                let Some(outcome) = outcome else { break };
                progress = true;
                if let Some(attempt) = state.enqueues.pop_front() {
                    state.done.insert(attempt.id, outcome);
                    woken.extend(attempt.waker);
                }
            }
            while let Some(attempt) = state.dequeues.front_mut() {
                let work = &mut attempt.work;
                let (left, missing) = (state.store.len(), work.wanted - work.taken.len());
                let mut outcome = None;
                if state.is_closed && left < missing {
                    // What was taken goes back: the next in line may want less.
                    state.store.give_back(std::mem::take(&mut work.taken));
                    let left = state.store.len();
                    if work.takes_fewer && left > 0 {
                        work.wanted = left;
                    } else if work.takes_fewer && !state.enqueues.is_empty() {
                        break;
                    } else {
                        outcome = Some(Err(Error::out_of_range(format!(
                            "{} is closed and has insufficient elements (requested {}, current size {left})",
                            self.title(),
                            work.wanted
                        ))));
                    }
                }
                if outcome.is_none() {
                    while work.taken.len() < work.wanted && state.store.available(state.is_closed) > 0 {
                        if let Err(error) = work.taken.make_room(1) {
                            outcome = Some(Err(error));
                            break;
                        }
                        let Some(element) = state.store.pop() else { break };
                        work.taken.push(element);
                        progress = true;
                    }
                    if outcome.is_some() {
                        state.store.give_back(std::mem::take(&mut work.taken));
                    } else if work.taken.len() < work.wanted {
                        break;
                    } else {
                        outcome = Some(Ok(std::mem::take(&mut work.taken)));
                    }
                }
                progress = true;
                if let (Some(attempt), Some(outcome)) = (state.dequeues.pop_front(), outcome) {
                    state.done.insert(attempt.id, outcome);
                    woken.extend(attempt.waker);
                }
            }
            if !progress {
                return woken;
            }
        }
    }

    /// Changes the queue, and then serves whoever waits.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = change(&mut state);
        let woken = self.serve(&mut state);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        result
    }

    /// Waits in line until an attempt is done.
    async fn wait(&self, enter: impl FnOnce(&mut State, u64)) -> Result<Vec<Element>> {
        let id = self.change(|state| {
            let id = state.next_id;
            state.next_id += 1;
            enter(state, id);
            id
        });
        let _place = Place { queue: self, id };
        poll_fn(|context| {
            let mut state = self.lock();
            if let Some(outcome) = state.done.remove(&id) {
                return Poll::Ready(outcome);
            }
            let waker = Some(context.waker().clone());
            if let Some(attempt) = state.enqueues.iter_mut().find(|attempt| attempt.id == id) {
                attempt.waker = waker;
            } else if let Some(attempt) = state.dequeues.iter_mut().find(|attempt| attempt.id == id) {
                attempt.waker = waker;
            }
            Poll::Pending
        })
        .await
    }

    /// Adds elements; waits while there is no room.
    pub(super) async fn enqueue(&self, elements: VecDeque<Element>) -> Result<()> {
        if elements.is_empty() {
            return Ok(());
        }
        let enter = |state: &mut State, id| {
            state.enqueues.push_back(Attempt { id, waker: None, work: Enqueue::Elements(elements) });
        };
        self.wait(enter).await.map(drop)
    }

    /// Takes elements; waits until there are as many, or if `takes_fewer` until the queue is closed.
    pub(crate) async fn dequeue(&self, wanted: usize, takes_fewer: bool) -> Result<Vec<Element>> {
        let work = Dequeue { wanted, taken: Vec::new(), takes_fewer };
        self.wait(|state, id| state.dequeues.push_back(Attempt { id, waker: None, work })).await
    }

    /// Closes the queue once those that wait to add elements have added them; or at once, and they fail.
    pub(super) async fn close(&self, cancel_pending: bool) -> Result<()> {
        if !cancel_pending {
            let enter = |state: &mut State, id| {
                state.enqueues.push_back(Attempt { id, waker: None, work: Enqueue::Close });
            };
            return self.wait(enter).await.map(drop);
        }
        let woken: Vec<Waker> = self.change(|state| {
            state.is_closed = true;
            let pending = std::mem::take(&mut state.enqueues);
            let cancelled = |attempt: Attempt<Enqueue>| {
                let error = Error::cancelled("Enqueue operation was cancelled");
                state.done.insert(attempt.id, Err(error));
                attempt.waker
            };
            pending.into_iter().filter_map(cancelled).collect()
        });
        woken.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Checks the components of an element, each with the dimensions `front` before its shape.
    pub(super) fn ensure_components(&self, components: &[Tensor], front: Option<usize>) -> Result<()> {
        let spec = &self.spec;
        ensure!(
            components.len() == spec.dtypes.len(),
            InvalidArgument,
            "Wrong number of components in tuple. Expected {}, got {}",
            spec.dtypes.len(),
            components.len()
        );
        for (index, (component, dtype)) in components.iter().zip(&spec.dtypes).enumerate() {
            ensure!(
                component.dtype() == *dtype,
                InvalidArgument,
                "Type mismatch in tuple component {index}. Expected {dtype}, got {}",
                component.dtype()
            );
            if let Some(shape) = spec.shapes.get(index) {
                let whole = shape.dims().map_or_else(PartialShape::unknown, |dims| {
                    PartialShape::from_known(front.map(Some).into_iter().chain(dims.iter().copied()))
                });
                ensure!(
                    whole.accepts(component.shape()),
                    InvalidArgument,
                    "Shape mismatch in tuple component {index}. Expected {whole}, got {}",
                    component.shape()
                );
            }
        }
        Ok(())
    }

    /// Checks that several elements can be joined.
    pub(super) fn ensure_shapes(&self) -> Result<()> {
        if self.spec.shapes.len() == self.spec.dtypes.len() {
            return Ok(());
        }
        bail!(
            InvalidArgument,
            "{}'s DequeueMany and DequeueUpTo require the components to have specified shapes.",
            self.spec.kind
        )
    }
}

/// The place of a future in line, which it leaves when it is dropped.
struct Place<'q> {
    queue: &'q Queue,
    id: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let id = self.id;
        let mut state = self.queue.lock();
        let returned = match state.done.remove(&id) {
            Some(outcome) => outcome.unwrap_or_default(),
            None => {
                if let Some(at) = state.enqueues.iter().position(|attempt| attempt.id == id) {
                    state.enqueues.remove(at);
                    Vec::new()
                } else if let Some(at) = state.dequeues.iter().position(|attempt| attempt.id == id) {
                    state.dequeues.remove(at).map(|attempt| attempt.work.taken).unwrap_or_default()
                } else {
                    // The future saw the outcome: nobody waits for what it changed.
                    return;
                }
            }
        };
        // What was taken for the cancelled run waits for others.
        state.store.give_back(returned);
        let woken = self.queue.serve(&mut state);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}

impl Resource for Queue {
    fn type_name() -> &'static str {
        "tensorflow::QueueInterface"
    }

    fn debug_string(&self) -> String {
        format!("{} with {} elements", self.title(), self.size())
    }
}
