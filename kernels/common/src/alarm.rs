//! Calls at a later time, by one thread of the process, which sleeps until then. No run holds a thread meanwhile.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use kernlink::{Error, Result};

type Call = Box<dyn FnOnce() + Send>;

/// A call that is made at its time, unless this is dropped before.
pub struct Alarm((Instant, u64));

/// Calls that wait, by time and number, and the number of the last one.
type Waiting = (BTreeMap<(Instant, u64), Call>, u64);

#[derive(Default)]
struct Calls {
    waiting: Mutex<Waiting>,
    added: Condvar,
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes calls for ever.
    fn serve(&self) {
        let mut calls = self.lock();
        loop {
            let now = Instant::now();
            calls = match calls.0.first_key_value().map(|((time, _), _)| time.saturating_duration_since(now)) {
                None => self.added.wait(calls).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => {
                    let first = calls.0.pop_first();
                    drop(calls);
                    if let Some((_, call)) = first {
                        // One that panics does not end the thread, which others need, too.
                        drop(catch_unwind(AssertUnwindSafe(call)));
                    }
                    self.lock()
                }
                Some(left) => self.added.wait_timeout(calls, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }
}

/// The calls of the process; `None` where no thread can be made.
fn calls() -> Option<&'static Calls> {
    static CALLS: OnceLock<Calls> = OnceLock::new();
    static HAS_THREAD: OnceLock<bool> = OnceLock::new();
    let calls = CALLS.get_or_init(Calls::default);
    let start = || thread::Builder::new().name("kernlink-alarms".to_owned()).spawn(|| calls.serve()).is_ok();
    HAS_THREAD.get_or_init(start).then_some(calls)
}

impl Alarm {
    /// When something is due for which there is so much time. Where there is no thread for calls, that is now: then
    /// nobody else comes either while one waits.
    pub fn due(timeout: Duration) -> Instant {
        let timeout = if calls().is_some() { timeout } else { Duration::ZERO };
        Instant::now() + timeout
    }

    /// Has `call` be made at a time, by a thread that others need too: it does no more than wake someone. `None` if there is
    /// no such thread.
    pub fn at(time: Instant, call: impl FnOnce() + Send + 'static) -> Option<Alarm> {
        let calls = calls()?;
        let mut waiting = calls.lock();
        waiting.1 += 1;
        let key = (time, waiting.1);
        waiting.0.insert(key, Box::new(call));
        drop(waiting);
        calls.added.notify_one();
        Some(Alarm(key))
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        let call = calls().and_then(|calls| calls.lock().0.remove(&self.0));
        drop(call);
    }
}

/// Waits until a time without a thread.
///
/// # Errors
/// RESOURCE_EXHAUSTED if no thread can be started that wakes whoever waits.
pub async fn sleep_until(time: Instant) -> Result<()> {
    Until { time, alarm: None }.await
}

struct Until {
    time: Instant,
    alarm: Option<Alarm>,
}

impl Future for Until {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if Instant::now() >= self.time {
            return Poll::Ready(Ok(()));
        }
        let waker = context.waker().clone();
        self.alarm = Alarm::at(self.time, move || waker.wake());
        match self.alarm {
            Some(_) => Poll::Pending,
            None => Poll::Ready(Err(Error::resource_exhausted("no thread can be started that wakes whoever waits"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use kernlink::step::block_on;

    use super::*;

    #[test]
    fn whoever_sleeps_is_woken_in_time() {
        let start = Instant::now();
        thread::scope(|scope| {
            for millis in [30, 5, 60, 0] {
                scope.spawn(move || {
                    let time = Duration::from_millis(millis);
                    block_on(sleep_until(start + time)).unwrap();
                    assert!(start.elapsed() >= time);
                });
            }
        });
    }

    #[test]
    fn one_that_is_dropped_is_forgotten() {
        let far = Instant::now() + Duration::from_secs(1 << 30);
        let alarm = Alarm::at(far, || {}).unwrap();
        let key = alarm.0;
        assert!(calls().unwrap().lock().0.contains_key(&key));
        drop(alarm);
        assert!(!calls().unwrap().lock().0.contains_key(&key));
    }

    #[test]
    fn calls_come_in_order_and_not_before_their_time() {
        let (sender, receiver) = channel();
        let start = Instant::now();
        let at = |millis: u64| {
            let sender = sender.clone();
            Alarm::at(start + Duration::from_millis(millis), move || sender.send(millis).unwrap())
        };
        let alarms = [at(60), at(20), at(40)];
        drop(at(30));
        let came: Vec<_> = (0..3).map(|_| receiver.recv_timeout(Duration::from_secs(20)).unwrap()).collect();
        assert_eq!(came, [20, 40, 60]);
        assert!(start.elapsed() >= Duration::from_millis(60));
        drop(alarms);
        assert!(receiver.try_recv().is_err());
    }
}
