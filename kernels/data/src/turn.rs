//! A lock that is waited for without a thread.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use kernlink::step::Waiters;

/// A value that one at a time has. Who waits for it holds no thread.
pub(crate) struct Turn<T> {
    value: Mutex<Option<T>>,
    waiters: Waiters,
}

impl<T> Turn<T> {
    pub(crate) fn new(value: T) -> Turn<T> {
        Turn { value: Mutex::new(Some(value)), waiters: Waiters::new() }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<T>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else has the value.
    pub(crate) async fn take(&self) -> Taken<'_, T> {
        let value = self.waiters.until(|| self.slot().take()).await;
        Taken { turn: self, value: Some(value) }
    }
}

/// A value that is somebody's until this is dropped.
pub(crate) struct Taken<'t, T> {
    turn: &'t Turn<T>,
    value: Option<T>,
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        match &self.value {
            Some(value) => value,
            None => unreachable!("it is given back when this is dropped"),
        }
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.value {
            Some(value) => value,
            None => unreachable!("it is given back when this is dropped"),
        }
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        *self.turn.slot() = self.value.take();
        self.turn.waiters.wake_all();
    }
}
