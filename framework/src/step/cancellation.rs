//! Cancellation: a step ends early because a kernel failed, time is up, or somebody asked for it.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use super::lock;
use crate::error::{Error, Result};

type Callback = Box<dyn FnOnce() + Send>;

/// Says to all that share it whether they are to end early. Clones share it.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Shared>);

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    reason: Option<Error>,
    next: u64,
    callbacks: HashMap<u64, Callback>,
}

impl Cancellation {
    /// One that nobody cancelled yet.
    pub fn new() -> Cancellation {
        Cancellation::default()
    }

    /// Whether it was cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Why it was cancelled.
    pub fn reason(&self) -> Option<Error> {
        lock(&self.0.state).reason.clone()
    }

    /// `Ok`, or the reason as an error.
    ///
    /// # Errors
    /// The reason.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(self.reason().unwrap_or_else(|| Error::cancelled("cancelled"))) } else { Ok(()) }
    }

    /// Cancels, and calls whoever asked for it. The first reason stays.
    pub fn cancel(&self, reason: Error) {
        let callbacks = {
            let mut state = lock(&self.0.state);
            if state.reason.is_some() {
                return;
            }
            state.reason = Some(reason);
            self.0.cancelled.store(true, Ordering::Release);
            std::mem::take(&mut state.callbacks)
        };
        callbacks.into_values().for_each(|callback| callback());
    }

    /// Calls `callback` once when cancelled, at once if it is already, and never after the guard is dropped.
    pub fn on_cancel(&self, callback: impl FnOnce() + Send + 'static) -> CancellationGuard {
        let mut state = lock(&self.0.state);
        if state.reason.is_some() {
            drop(state);
            callback();
            return CancellationGuard { cancellation: None, key: 0 };
        }
        let key = state.next;
        state.next += 1;
        state.callbacks.insert(key, Box::new(callback));
        CancellationGuard { cancellation: Some(self.clone()), key }
    }

    /// Cancels `other` when this one is, until the guard is dropped.
    pub fn forward_to(&self, other: &Cancellation) -> CancellationGuard {
        let (own, other) = (Arc::downgrade(&self.0), other.clone());
        self.on_cancel(move || {
            let reason = own.upgrade().and_then(|own| lock(&own.state).reason.clone());
            other.cancel(reason.unwrap_or_else(|| Error::cancelled("cancelled")));
        })
    }
}

/// What a future gives; or the reason for a cancellation that comes first, by which the future is dropped.
pub(crate) async fn unless_cancelled<T>(
    future: impl Future<Output = Result<T>>,
    cancellation: &Cancellation,
) -> Result<T> {
    let (mut future, mut guard) = (pin!(future), None);
    poll_fn(|context| {
        if let Poll::Ready(result) = future.as_mut().poll(context) {
            return Poll::Ready(result);
        }
        let waker = context.waker();
        guard.get_or_insert_with(|| {
            let waker = waker.clone();
            cancellation.on_cancel(move || waker.wake())
        });
        cancellation.check().map_or_else(|reason| Poll::Ready(Err(reason)), |()| Poll::Pending)
    })
    .await
}

/// Takes back what [`Cancellation::on_cancel`] registered when it is dropped.
#[must_use = "the callback is taken back when the guard is dropped"]
pub struct CancellationGuard {
    cancellation: Option<Cancellation>,
    key: u64,
}

impl Drop for CancellationGuard {
    fn drop(&mut self) {
        if let Some(cancellation) = &self.cancellation {
            let callback = lock(&cancellation.0.state).callbacks.remove(&self.key);
            drop(callback);
        }
    }
}
