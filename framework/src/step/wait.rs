//! Waiting for a future on a thread of its own.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::op::OpDef;
use crate::threads::{Help, Helping};

/// A boxed future that any thread may poll.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Wakes a thread that waits for a future.
struct Unpark {
    thread: Thread,
    /// Whether it was woken since it last looked. That it was unparked does not tell: what it does while it looks may park
    /// as well, and so take that for itself.
    is_woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Runs a future to its end; the thread sleeps while the future waits.
///
/// # Panics
/// If a kernel calls it, and debug assertions are on: a thread that sleeps runs nothing else, and the run may need it to
/// bring about what the kernel waits for. A kernel that waits implements
/// [`AsyncOpKernel`](crate::kernel::AsyncOpKernel), and awaits.
#[track_caller]
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    #[cfg(debug_assertions)]
    if let Some(op) = AT_WORK.get() {
        panic!(
            "the kernel of op `{}` blocks a thread that others need: let it implement AsyncOpKernel, and await what it \
             waits for",
            op.name
        );
    }
    block_on_unchecked(future)
}

#[cfg(debug_assertions)]
thread_local! {
    /// The op whose kernel runs on this thread, for [`block_on`].
    static AT_WORK: std::cell::Cell<Option<&'static OpDef>> = const { std::cell::Cell::new(None) };
}

/// Notes that a kernel of `op` runs on this thread, until the guard is dropped. Without debug assertions it does nothing.
#[inline]
pub(crate) fn at_work(op: &'static OpDef) -> AtWork {
    #[cfg(debug_assertions)]
    return AtWork(AT_WORK.replace(Some(op)));
    #[cfg(not(debug_assertions))]
    {
        _ = op;
        AtWork()
    }
}

/// See [`at_work`].
#[cfg(debug_assertions)]
pub(crate) struct AtWork(Option<&'static OpDef>);

/// See [`at_work`].
#[cfg(not(debug_assertions))]
pub(crate) struct AtWork();

#[cfg(debug_assertions)]
impl Drop for AtWork {
    fn drop(&mut self) {
        AT_WORK.set(self.0);
    }
}

/// [`block_on`] for the runtime itself.
pub(crate) fn block_on_unchecked<T>(future: impl Future<Output = T>) -> T {
    block_on_until(future, None, None, || {})
}

/// [`block_on`] for who holds a lock: meanwhile the thread does nothing for others, who may want that lock.
pub(crate) fn block_on_alone<T>(future: impl Future<Output = T>) -> T {
    wait_for(future, None, None, || {})
}

/// [`block_on`] that calls `late` if the future has not ended at `deadline`, and goes on. Meanwhile the thread helps with
/// the run that it waits for; a thread of a pool works for that.
pub(crate) fn block_on_until<T>(
    future: impl Future<Output = T>,
    help: Option<&Help>,
    deadline: Option<Instant>,
    late: impl FnMut(),
) -> T {
    wait_for(future, Helping::with_own_pool().or_else(|| help.map(Help::helping)), deadline, late)
}

/// [`block_on_until`], with what the thread does meanwhile.
fn wait_for<T>(
    future: impl Future<Output = T>,
    mut helping: Option<Helping>,
    mut deadline: Option<Instant>,
    mut late: impl FnMut(),
) -> T {
    let mut future = pin!(future);
    let unpark = Arc::new(Unpark { thread: thread::current(), is_woken: AtomicBool::new(false) });
    let waker = Waker::from(unpark.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        while !unpark.is_woken.swap(false, Ordering::Acquire) {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            match (&mut helping, left) {
                (_, Some(Duration::ZERO)) => {
                    deadline = None;
                    late();
                    break;
                }
                (Some(helping), left) => helping.wait(|| unpark.is_woken.load(Ordering::Acquire), left),
                (None, Some(left)) => thread::park_timeout(left),
                (None, None) => thread::park(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[test]
    fn what_wakes_a_thread_that_is_looking_is_not_lost() {
        let mut looks = 0;
        let looked = poll_fn(|context| {
            looks += 1;
            if looks > 1 {
                return Poll::Ready(looks);
            }
            context.waker().wake_by_ref();
            // Something else that parks, as channels do.
            thread::park();
            Poll::Pending
        });
        assert_eq!(block_on(looked), 2);
    }
}
