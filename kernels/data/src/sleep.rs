//! Datasets that wait. No thread is held: one for all of them wakes those whose time has come.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use kernlink::kernel::RawContext;
use kernlink::{Error, Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Element, Spec, scalar};
use crate::transform::{Input, Transform, set_transformed};

/// Those who wait, by the time when they want to be woken and a ticket.
#[derive(Default)]
struct Alarms {
    waiting: Mutex<(u64, BTreeMap<(Instant, u64), Waker>)>,
    changed: Condvar,
}

impl Alarms {
    /// Those of the process, with a thread that wakes them.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there can be no more threads.
    fn get() -> Result<&'static Alarms> {
        static ALARMS: LazyLock<Alarms> = LazyLock::new(Alarms::default);
        static THREAD: OnceLock<std::result::Result<(), String>> = OnceLock::new();
        let start = || {
            let builder = std::thread::Builder::new().name("kernlink-alarms".to_owned());
            builder.spawn(|| ALARMS.run()).map(drop).map_err(|error| error.to_string())
        };
        match THREAD.get_or_init(start) {
            Ok(()) => Ok(&ALARMS),
            Err(error) => Err(Error::resource_exhausted(format!("no thread could be started that wakes: {error}"))),
        }
    }

    fn lock(&self) -> MutexGuard<'_, (u64, BTreeMap<(Instant, u64), Waker>)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) -> ! {
        let mut waiting = self.lock();
        loop {
            let now = Instant::now();
            let Some((&(time, ticket), _)) = waiting.1.first_key_value() else {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if time > now {
                let result = self.changed.wait_timeout(waiting, time - now);
                waiting = result.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let waker = waiting.1.remove(&(time, ticket));
            drop(waiting);
            // It may do anything, but not end the thread.
            let woken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| waker.map(Waker::wake)));
            drop(woken);
            waiting = self.lock();
        }
    }
}

/// Ready when its time has come.
struct Alarm {
    alarms: &'static Alarms,
    time: Instant,
    ticket: Option<u64>,
}

impl Alarm {
    fn leave(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            let waker = self.alarms.lock().1.remove(&(self.time, ticket));
            drop(waker);
        }
    }
}

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.leave();
        if Instant::now() >= self.time {
            return Poll::Ready(());
        }
        let mut waiting = self.alarms.lock();
        waiting.0 += 1;
        let (ticket, waker) = (waiting.0, context.waker().clone());
        waiting.1.insert((self.time, ticket), waker);
        drop(waiting);
        self.ticket = Some(ticket);
        self.alarms.changed.notify_one();
        Poll::Pending
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.leave();
    }
}

struct Sleep(Duration);

impl Transform for Sleep {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        if let Some(time) = Instant::now().checked_add(self.0).filter(|_| !self.0.is_zero()) {
            Alarm { alarms: Alarms::get()?, time, ticket: None }.await;
            cx.check()?;
        }
        input.next(cx).await
    }

    fn cardinality(&self, input: i64) -> i64 {
        input
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::SleepDataset, ops::ExperimentalSleepDataset])]
fn sleep(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let time: i64 = scalar(ctx, "sleep_microseconds")?;
    ensure!(time >= 0, InvalidArgument, "`sleep_microseconds` must be >= 0");
    set_transformed(ctx, spec, Sleep(Duration::from_micros(time as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::step::block_on;

    #[test]
    fn alarms_come_in_the_order_of_their_times() {
        let alarms = Alarms::get().unwrap();
        let start = Instant::now();
        let after = |time| Alarm { alarms, time: start + Duration::from_millis(time), ticket: None };
        std::thread::scope(|scope| {
            for time in [30, 5, 60, 0] {
                scope.spawn(move || {
                    block_on(after(time));
                    assert!(start.elapsed() >= Duration::from_millis(time));
                });
            }
        });
        // One that is given up wakes nobody, and is forgotten.
        let mut alarm = Box::pin(after(1 << 40));
        assert!(alarm.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(alarms.lock().1.len(), 1);
        drop(alarm);
        assert!(alarms.lock().1.is_empty());
    }
}
