//! What went wrong on the device, and how those learn of it who wait for it.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use kernlink::error::{Code, Error, Result};

use crate::device::{lock, now};

/// What is to be told that the device is lost.
type OnLoss = Box<dyn FnOnce(Error) + Send>;

/// See the module.
pub(crate) struct Faults {
    /// The adapter's name.
    name: String,
    /// Whether there is anything to look for behind the lock.
    is_any: AtomicBool,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    lost: Option<String>,
    /// What wgpu has reported where nobody asked for it.
    error: Option<Error>,
    waiting: HashMap<u64, OnLoss>,
    next: u64,
}

impl Faults {
    pub(crate) fn new(name: &str) -> Faults {
        Faults { name: name.to_owned(), is_any: AtomicBool::new(false), known: Mutex::default() }
    }

    /// Fails with what went wrong since it was last asked; once the device is lost, always.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_any.load(Ordering::Acquire) { self.check_known() } else { Ok(()) }
    }

    #[cold]
    fn check_known(&self) -> Result<()> {
        let mut known = lock(&self.known);
        if let Some(lost) = &known.lost {
            return Err(self.loss(lost));
        }
        self.is_any.store(false, Ordering::Release);
        known.error.take().map_or(Ok(()), Err)
    }

    fn loss(&self, what: &str) -> Error {
        Error::new(Code::Aborted, format!("{} is lost: {what}", self.name))
    }

    /// Notes what wgpu reports where nobody asked for it.
    pub(crate) fn report(&self, error: &wgpu::Error) {
        lock(&self.known).error.get_or_insert_with(|| met(error));
        self.is_any.store(true, Ordering::Release);
    }

    /// Notes that the device is lost, and tells all who wait for it.
    pub(crate) fn lose(&self, what: &str) {
        let (waiting, error) = {
            let mut known = lock(&self.known);
            let lost = known.lost.get_or_insert_with(|| what.to_owned()).clone();
            (std::mem::take(&mut known.waiting), self.loss(&lost))
        };
        self.is_any.store(true, Ordering::Release);
        waiting.into_values().for_each(|tell| tell(error.clone()));
    }

    /// Has somebody told when the device is lost: at once if it is, or until [`Faults::has_ended`] of the number.
    pub(crate) fn wait(&self, tell: OnLoss) -> u64 {
        let lost = {
            let mut known = lock(&self.known);
            let Some(lost) = &known.lost else {
                let number = known.next;
                known.next += 1;
                known.waiting.insert(number, tell);
                return number;
            };
            self.loss(lost)
        };
        tell(lost);
        u64::MAX
    }

    /// Who waited has what it waited for.
    pub(crate) fn has_ended(&self, number: u64) {
        lock(&self.known).waiting.remove(&number);
    }

    /// Waits until the device has done all that was submitted.
    ///
    /// # Errors
    /// ABORTED if it is lost, which wgpu answers with a panic; INTERNAL if wgpu has another reason.
    pub(crate) fn settle(&self, device: &wgpu::Device) -> Result<()> {
        let polled = catch_unwind(AssertUnwindSafe(|| device.poll(wgpu::PollType::wait_indefinitely())));
        match polled {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(Error::internal(format!("cannot wait for {}: {error}", self.name))),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                self.lose(text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it does not answer"));
                self.check()
            }
        }
    }
}

/// What wgpu reports, as an error of Kernlink's.
pub(crate) fn met(error: &wgpu::Error) -> Error {
    let code = match error {
        wgpu::Error::OutOfMemory { .. } => Code::ResourceExhausted,
        _ => Code::Internal,
    };
    Error::new(code, format!("on the GPU: {error}"))
}

/// What `make` gives, or the first thing that wgpu or the driver has to say against it.
pub(crate) fn caught<T>(device: &wgpu::Device, make: impl FnOnce() -> T) -> std::result::Result<T, wgpu::Error> {
    let scopes = [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation]
        .map(|filter| device.push_error_scope(filter));
    let made = make();
    let mut first = None;
    for scope in scopes.into_iter().rev() {
        first = first.or(now(scope.pop()));
    }
    first.map_or(Ok(made), Err)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn who_waits_is_told_of_the_loss_and_who_has_ended_is_not() {
        let faults = Arc::new(Faults::new("a card"));
        let (tell, told) = channel();
        let teller = |name: &'static str| -> OnLoss {
            let tell = tell.clone();
            Box::new(move |error: Error| tell.send((name, error.code(), error.message().to_owned())).unwrap())
        };
        faults.wait(teller("one"));
        let ended = faults.wait(teller("ended"));
        faults.has_ended(ended);
        faults.check().unwrap();
        faults.lose("unplugged");
        faults.lose("unplugged again");
        faults.wait(teller("late"));
        let told: Vec<_> = told.try_iter().collect();
        let expected = ["one", "late"].map(|name| (name, Code::Aborted, "a card is lost: unplugged".to_owned()));
        assert_eq!(told, expected);
        for _ in 0..2 {
            assert_eq!(faults.check().unwrap_err().message(), "a card is lost: unplugged");
        }
    }
}
