//! Runs on another thread, while the main one is free to do what Python's handlers of signals do.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use crate::locks::{locked, unpoisoned};

use kernlink::Error;
use kernlink::step::Cancellation;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Wakes the main thread, which waits for a run.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_rung: bool,
    has_begun: bool,
    has_ended: bool,
    /// With what the run panicked.
    panic: Option<Box<dyn Any + Send>>,
}

impl Bell {
    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Says that there was a signal.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "no run is watched there"))]
    pub(crate) fn ring(&self) {
        self.lock().is_rung = true;
        self.changed.notify_all();
    }

    /// Waits until there was a signal, which is true, or until the run has ended.
    fn wait(&self) -> bool {
        let waits = |state: &mut State| !state.is_rung && !state.has_ended;
        let mut state = unpoisoned(self.changed.wait_while(self.lock(), waits));
        std::mem::take(&mut state.is_rung)
    }

    fn wait_for_end(&self) {
        drop(self.changed.wait_while(self.lock(), |state| !state.has_ended));
    }

    fn end(&self, panic: Option<Box<dyn Any + Send>>) {
        let mut state = self.lock();
        state.has_ended = true;
        state.panic = panic;
        drop(state);
        self.changed.notify_all();
    }
}

/// Does `run` on another thread. Whenever there was a signal `handle` is called on this one, which cancels the run if it fails. The bell
/// serves one run.
///
/// # Errors
/// What `handle` raises; else those of `run`; RuntimeError if there can be no thread.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    bell: &Arc<Bell>,
    run: impl FnOnce(Cancellation) -> T + Send,
    mut handle: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    let cancellation = Cancellation::new();
    let (given, mut result, mut raised) = (cancellation.clone(), None, None);
    let work = || result = Some(run(given));
    during(py, bell, Box::new(work), || {
        while py.detach(|| bell.wait()) {
            if raised.is_none()
                && let Err(error) = handle()
            {
                raised = Some(error);
                cancellation.cancel(Error::cancelled("interrupted"));
            }
        }
    })?;
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Some(result)) => Ok(result),
        (None, None) => Err(PyRuntimeError::new_err("the run did not end")),
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// Work, and whom to tell that it has ended.
type Job = (Work, Arc<Bell>);

/// Does `meanwhile` while another thread does `work`, which has ended when this returns.
fn during<'w>(
    py: Python<'_>,
    bell: &Arc<Bell>,
    work: Box<dyn FnOnce() + Send + 'w>,
    meanwhile: impl FnOnce(),
) -> PyResult<()> {
    /// Waits for the run also if what is done meanwhile panics.
    struct Ended<'a, 'py>(Python<'py>, &'a Bell);

    impl Drop for Ended<'_, '_> {
        fn drop(&mut self) {
            let bell = self.1;
            if !bell.lock().has_ended {
                self.0.detach(|| bell.wait_for_end());
            }
        }
    }

    // Another run's end would be taken for this one's.
    if std::mem::replace(&mut bell.lock().has_begun, true) {
        return Err(PyRuntimeError::new_err("a bell is for one run"));
    }
    // SAFETY: what the work borrows is there for longer than this function. The thread has dropped the work when it says that it has
    // ended, for which the guard waits; a work that was not handed over is dropped here.
    let work = unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + 'w>, Work>(work) };
    hand_over(work, bell.clone())
        .map_err(|error| PyRuntimeError::new_err(format!("there can be no thread for the run: {error}")))?;
    let ended = Ended(py, bell);
    meanwhile();
    drop(ended);
    let panic = bell.lock().panic.take();
    panic.map_or(Ok(()), |panic| resume_unwind(panic))
}

/// Gives work to a thread that waits between runs: another takes longer to start than a small function to run.
fn hand_over(work: Work, bell: Arc<Bell>) -> std::io::Result<()> {
    static WORKER: Mutex<Option<Sender<Job>>> = Mutex::new(None);
    let mut worker = locked(&WORKER);
    let job = match &*worker {
        None => (work, bell),
        Some(sender) => match sender.send((work, bell)) {
            Ok(()) => return Ok(()),
            Err(SendError(job)) => job,
        },
    };
    let (sender, jobs) = channel();
    // As large a stack as main threads have.
    let thread = std::thread::Builder::new().name("kernlink-run".to_owned()).stack_size(8 << 20);
    thread.spawn(move || work_on(&jobs))?;
    sender.send(job).map_err(|_| std::io::Error::other("it has ended"))?;
    *worker = Some(sender);
    Ok(())
}

fn work_on(jobs: &Receiver<Job>) {
    for (work, bell) in jobs {
        let panic = catch_unwind(AssertUnwindSafe(work)).err();
        bell.end(panic);
    }
}
