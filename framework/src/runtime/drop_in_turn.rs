//! The executors of functions' bodies go one after the other, whatever the depth of the calls: each has the next in its plan.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use super::executor::Executor;
use crate::step::lock;

/// Drops an executor, and those that go with it, without one call within the other.
///
/// # Panics
/// If a kernel that goes does, after the others have gone.
pub(super) fn drop_in_turn(executor: Arc<Executor>) {
    let mut next = Some(executor);
    let is_first = with_others(|others| match others {
        Some(others) => {
            others.extend(next.take());
            false
        }
        None => {
            *others = Some(Vec::new());
            true
        }
    });
    if !is_first {
        return;
    }
    // A kernel may panic when it goes: the others go all the same.
    let mut panicked = None;
    while let Some(executor) = next {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(executor))) {
            panicked.get_or_insert(payload);
        }
        // In one turn: another thread may add to the list that they share.
        next = with_others(|others| {
            let next = others.as_mut().and_then(Vec::pop);
            if next.is_none() {
                *others = None;
            }
            next
        });
    }
    if let Some(payload) = panicked
        && !std::thread::panicking()
    {
        resume_unwind(payload);
    }
}

/// What is still to be dropped while one goes; `None` while none does.
type Others = Option<Vec<Arc<Executor>>>;

/// Looks at the list of this thread, or, at the thread's end, when that is gone, at one that such threads share.
fn with_others<T>(look: impl FnOnce(&mut Others) -> T) -> T {
    thread_local! {
        static OTHERS: RefCell<Others> = const { RefCell::new(None) };
    }
    static AT_ENDS: Mutex<Others> = Mutex::new(None);
    match OTHERS.try_with(|_| ()) {
        Ok(()) => OTHERS.with(|others| look(&mut others.borrow_mut())),
        Err(_) => look(&mut lock(&AT_ENDS)),
    }
}
