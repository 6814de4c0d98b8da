//! Ctrl-C while something runs: what Python does for the signal happens at once, and if that raises an error the run is cancelled.
//!
//! Python looks at signals between its own instructions, of which there are none while Rust runs. So for the time of a run on
//! Python's main thread another handler stands before Python's: it wakes a thread that sees to the run. Where Python's own handler is
//! in place, which raises KeyboardInterrupt, the run is cancelled. A handler of the program's may do anything, and only on the main
//! thread: for it that thread is kept free, and the run is on another.

use std::sync::Arc;

use kernlink::step::Cancellation;
use pyo3::prelude::*;

use self::watch::Watched;
use crate::aside::{self, Bell};
use crate::error::Raise;

/// What is done for the signal.
#[derive(Clone)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "no run is watched there"))]
enum Means {
    Cancel(Cancellation),
    Ring(Arc<Bell>),
}

/// Does `run` without holding the interpreter, with what Ctrl-C cancels.
///
/// # Errors
/// What the handlers of signals raise, such as KeyboardInterrupt; else those of `run`.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    run: impl FnOnce(Option<Cancellation>) -> kernlink::Result<T> + Send,
) -> PyResult<T> {
    let Some(watched) = Watched::begin(py)? else { return py.detach(|| run(None)).or_raise() };
    match watched.means() {
        Means::Cancel(cancellation) => {
            let result = py.detach(|| run(Some(cancellation.clone())));
            let is_cancelled = cancellation.is_cancelled();
            drop(watched);
            if is_cancelled {
                py.check_signals()?;
            }
            result.or_raise()
        }
        Means::Ring(bell) => {
            let handle = || {
                // The run has the tapes that record it: what a handler runs meanwhile would wait for them.
                let handled = crate::tape::without(|| py.check_signals());
                // What Python calls for the signal may have set another handler.
                watched.stand();
                handled
            };
            aside::run(py, bell, |cancellation| run(Some(cancellation)), handle)?.or_raise()
        }
    }
}

#[cfg(target_os = "linux")]
mod watch {
    use std::cell::{Cell, UnsafeCell};
    use std::mem::MaybeUninit;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

    use kernlink::Error;
    use kernlink::step::Cancellation;
    use pyo3::prelude::*;
    use pyo3::sync::PyOnceLock;

    use super::Means;

    /// A run on Python's main thread.
    pub(super) struct Watched {
        means: Means,
        before: libc::sigaction,
    }

    /// The run that Ctrl-C is for, with its number.
    static CURRENT: Mutex<Option<(u64, Means)>> = Mutex::new(None);
    /// The number of that run; 0 if there is none.
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    /// The number of the last run for which there was a signal.
    static INTERRUPTED: AtomicU64 = AtomicU64::new(0);
    /// How many signals there were that were not seen to.
    static SIGNALS: Semaphore = Semaphore(UnsafeCell::new(MaybeUninit::zeroed()));
    /// Python's handler.
    static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

    thread_local! {
        static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
    }

    /// What a handler may post. Unlike a pipe it has no descriptor, which a program that closes all of them would close, so that the
    /// handler would write to whatever file gets the number.
    struct Semaphore(UnsafeCell<MaybeUninit<libc::sem_t>>);

    // SAFETY: semaphores are for several threads; it is initialized before there is a second.
    unsafe impl Sync for Semaphore {}

    impl Semaphore {
        fn get(&self) -> *mut libc::sem_t {
            self.0.get().cast()
        }
    }

    fn current() -> MutexGuard<'static, Option<(u64, Means)>> {
        crate::locks::locked(&CURRENT)
    }

    extern "C" fn interrupted(signal: libc::c_int) {
        // SAFETY: these may be called in a handler. What was Python's handler is one that takes a number. It comes first: who is
        // woken asks Python whether there was a signal.
        unsafe {
            let place = libc::__errno_location();
            let errno = *place;
            let before = BEFORE.load(Ordering::Relaxed);
            if before != libc::SIG_DFL && before != libc::SIG_IGN {
                let before: extern "C" fn(libc::c_int) = std::mem::transmute(before);
                before(signal);
            }
            // Another thread's handler may be between these for a later run.
            INTERRUPTED.fetch_max(NUMBER.load(Ordering::Acquire), Ordering::Release);
            libc::sem_post(SIGNALS.get());
            *place = errno;
        }
    }

    /// Starts the thread that sees to runs; false if there can be none. A forked child has no such thread.
    fn watch() -> bool {
        static STARTED: OnceLock<Option<u32>> = OnceLock::new();
        let started = STARTED.get_or_init(|| start().then(std::process::id));
        *started == Some(std::process::id())
    }

    fn start() -> bool {
        // SAFETY: room for a semaphore, which nothing uses yet, for the threads of this process.
        if unsafe { libc::sem_init(SIGNALS.get(), 0, 0) } != 0 {
            return false;
        }
        let watch = || {
            loop {
                // SAFETY: it was initialized.
                if unsafe { libc::sem_wait(SIGNALS.get()) } != 0 {
                    // A handler of another signal ran on this thread.
                    continue;
                }
                // A signal for a run that has ended meanwhile is not for the next.
                let number = INTERRUPTED.load(Ordering::Acquire);
                let means = current().clone().filter(|(own, _)| *own == number);
                match means {
                    Some((_, Means::Cancel(cancellation))) => cancellation.cancel(Error::cancelled("interrupted")),
                    Some((_, Means::Ring(bell))) => bell.ring(),
                    None => {}
                }
            }
        };
        std::thread::Builder::new().name("kernlink-interrupt".to_owned()).spawn(watch).is_ok()
    }

    fn is_main(py: Python<'_>) -> PyResult<bool> {
        if let Some(known) = IS_MAIN.get() {
            return Ok(known);
        }
        let threading = py.import("threading")?;
        let is_main = threading.call_method0("current_thread")?.is(threading.call_method0("main_thread")?);
        IS_MAIN.set(Some(is_main));
        Ok(is_main)
    }

    /// Whether Python's handler of the signal is that which raises KeyboardInterrupt, and nothing else.
    fn is_pythons_own(py: Python<'_>) -> PyResult<bool> {
        static FUNCTIONS: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
        // Python's `signal` makes members of enums of what this gives, which takes longer than a call of a small op.
        let (get, own) = FUNCTIONS.get_or_try_init(py, || -> PyResult<_> {
            let signal = py.import("_signal")?;
            Ok((signal.getattr("getsignal")?.unbind(), signal.getattr("default_int_handler")?.unbind()))
        })?;
        Ok(get.bind(py).call1((libc::SIGINT,))?.is(own.bind(py)))
    }

    /// The handler that stands.
    fn standing() -> libc::sigaction {
        let mut now = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: room for what stands there; zeros are no flags and no signals.
        unsafe {
            libc::sigaction(libc::SIGINT, std::ptr::null(), now.as_mut_ptr());
            now.assume_init()
        }
    }

    fn is_ours(action: &libc::sigaction) -> bool {
        action.sa_sigaction == interrupted as *const () as usize
    }

    impl Watched {
        /// `None` on other threads than the main one, which signals do not reach, within another run, and where Python has
        /// no handler.
        pub(super) fn begin(py: Python<'_>) -> PyResult<Option<Watched>> {
            static LAST: AtomicU64 = AtomicU64::new(0);
            if !is_main(py)? {
                return Ok(None);
            }
            let before = standing();
            // The signal may be ignored, or left to the system; a handler of another kind is not stood before.
            let is_handled = before.sa_sigaction != libc::SIG_IGN && before.sa_sigaction != libc::SIG_DFL;
            if !is_handled || is_ours(&before) || before.sa_flags & libc::SA_SIGINFO != 0 || !watch() {
                return Ok(None);
            }
            let means = match is_pythons_own(py)? {
                true => Means::Cancel(Cancellation::new()),
                false => Means::Ring(Arc::default()),
            };
            {
                let mut current = current();
                if current.is_some() {
                    return Ok(None);
                }
                let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
                *current = Some((number, means.clone()));
                NUMBER.store(number, Ordering::Release);
            }
            let watched = Watched { means, before };
            watched.install();
            Ok(Some(watched))
        }

        pub(super) fn means(&self) -> &Means {
            &self.means
        }

        /// Has the handler stand before Python's, if that stands there.
        pub(super) fn stand(&self) {
            if standing().sa_sigaction == self.before.sa_sigaction {
                self.install();
            }
        }

        fn install(&self) {
            BEFORE.store(self.before.sa_sigaction, Ordering::Relaxed);
            let mut own = self.before;
            own.sa_sigaction = interrupted as *const () as usize;
            // SAFETY: a handler of the type that is asked for, with the flags of Python's.
            unsafe { libc::sigaction(libc::SIGINT, &raw const own, std::ptr::null_mut()) };
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            if is_ours(&standing()) {
                // SAFETY: what stood there before.
                unsafe { libc::sigaction(libc::SIGINT, &raw const self.before, std::ptr::null_mut()) };
            }
            let mut current = current();
            NUMBER.store(0, Ordering::Release);
            *current = None;
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod watch {
    use pyo3::prelude::*;

    use super::Means;

    /// There is none: Python's signals come when the run has ended.
    pub(super) enum Watched {}

    impl Watched {
        pub(super) fn begin(_: Python<'_>) -> PyResult<Option<Watched>> {
            Ok(None)
        }

        pub(super) fn means(&self) -> &Means {
            match *self {}
        }

        pub(super) fn stand(&self) {
            match *self {}
        }
    }
}
