//! Waiters: kernels that wait until a resource has changed, without a thread.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use super::lock;

/// Those who wait for something to change.
///
/// Whoever changes what they wait for calls [`Waiters::wake_all`] afterwards.
#[derive(Default)]
pub struct Waiters(Mutex<List>);

#[derive(Default)]
struct List {
    next: u64,
    /// By ticket: the first to come is the first to be woken.
    wakers: BTreeMap<u64, Waker>,
}

impl Waiters {
    /// Nobody.
    pub fn new() -> Waiters {
        Waiters::default()
    }

    /// Has everybody who waits look again.
    pub fn wake_all(&self) {
        let wakers = std::mem::take(&mut lock(&self.0).wakers);
        wakers.into_values().for_each(Waker::wake);
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        lock(&self.0).wakers.len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until `attempt` gives something. It is tried at once, and again after each [`Waiters::wake_all`].
    pub fn until<T, F: FnMut() -> Option<T>>(&self, attempt: F) -> Until<'_, F> {
        Until { waiters: self, attempt, ticket: None }
    }
}

/// The future of [`Waiters::until`].
pub struct Until<'a, F> {
    waiters: &'a Waiters,
    attempt: F,
    ticket: Option<u64>,
}

// Nothing in it is pinned: `attempt` is only called.
impl<F> Unpin for Until<'_, F> {}

impl<F> Until<'_, F> {
    fn leave(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            let waker = lock(&self.waiters.0).wakers.remove(&ticket);
            drop(waker);
        }
    }
}

impl<T, F: FnMut() -> Option<T>> Future for Until<'_, F> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.leave();
        if let Some(value) = (self.attempt)() {
            return Poll::Ready(value);
        }
        {
            let mut list = lock(&self.waiters.0);
            let ticket = list.next;
            list.next += 1;
            list.wakers.insert(ticket, context.waker().clone());
            drop(list);
            self.ticket = Some(ticket);
        }
        // What changed between the attempt and the entry in the list woke nobody.
        match (self.attempt)() {
            Some(value) => {
                self.leave();
                Poll::Ready(value)
            }
            None => Poll::Pending,
        }
    }
}

impl<F> Drop for Until<'_, F> {
    fn drop(&mut self) {
        self.leave();
    }
}
