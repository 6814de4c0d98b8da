//! Ctrl-C while something runs: the run is cancelled, and Python raises what it raises for the signal.
//!
//! Python looks at signals between its own instructions, of which there are none while Rust runs. So for the time of a run on
//! Python's main thread another handler stands before Python's: it wakes a thread that cancels the run.

use kernlink::step::Cancellation;
use pyo3::prelude::*;

use crate::error::Raise;

/// Does `run` without holding the interpreter, with what Ctrl-C cancels.
///
/// # Errors
/// What the handlers of signals raise, such as KeyboardInterrupt; else those of `run`.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    run: impl FnOnce(Option<Cancellation>) -> kernlink::Result<T> + Send,
) -> PyResult<T> {
    let watched = unix::Watched::begin(py)?;
    let cancellation = watched.as_ref().map(|watched| watched.cancellation.clone());
    let result = py.detach(|| run(cancellation));
    if watched.is_some_and(|watched| watched.cancellation.is_cancelled()) {
        py.check_signals()?;
    }
    result.or_raise()
}

#[cfg(target_os = "linux")]
mod unix {
    use std::cell::Cell;
    use std::mem::MaybeUninit;
    use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
    use std::sync::{Mutex, OnceLock, PoisonError};

    use kernlink::Error;
    use kernlink::step::Cancellation;
    use pyo3::prelude::*;

    /// A run on Python's main thread.
    pub(super) struct Watched {
        pub(super) cancellation: Cancellation,
        before: libc::sigaction,
    }

    /// The run that Ctrl-C cancels.
    static CURRENT: Mutex<Option<Cancellation>> = Mutex::new(None);
    /// Where the handler writes.
    static PIPE: AtomicI32 = AtomicI32::new(-1);
    /// Python's handler.
    static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

    thread_local! {
        static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
    }

    extern "C" fn interrupted(signal: libc::c_int) {
        // SAFETY: these may be called in a handler. What was Python's handler is one that takes a number.
        unsafe {
            let place = libc::__errno_location();
            let errno = *place;
            libc::write(PIPE.load(Ordering::Relaxed), [0u8].as_ptr().cast(), 1);
            let before = BEFORE.load(Ordering::Relaxed);
            if before != libc::SIG_DFL && before != libc::SIG_IGN {
                let before: extern "C" fn(libc::c_int) = std::mem::transmute(before);
                before(signal);
            }
            *place = errno;
        }
    }

    /// Starts the thread that cancels runs; false if there can be none. A forked child has no such thread, and the pipe is its
    /// parent's.
    fn watch() -> bool {
        static STARTED: OnceLock<Option<u32>> = OnceLock::new();
        let started = STARTED.get_or_init(|| start().then(std::process::id));
        *started == Some(std::process::id())
    }

    fn start() -> bool {
        let mut ends = [0; 2];
        // SAFETY: room for two descriptors.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return false;
        }
        PIPE.store(ends[1], Ordering::Relaxed);
        let watch = move || {
            let mut byte = [0u8];
            // SAFETY: room for a byte.
            while unsafe { libc::read(ends[0], byte.as_mut_ptr().cast(), 1) } == 1 {
                let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some(current) = current {
                    current.cancel(Error::cancelled("interrupted"));
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

    /// Whether a handler is called for Ctrl-C: it may be ignored, or left to the system.
    fn is_handled() -> bool {
        let mut now = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: room for what stands there; zeros are no handler.
        let now = unsafe {
            libc::sigaction(libc::SIGINT, std::ptr::null(), now.as_mut_ptr());
            now.assume_init()
        };
        now.sa_sigaction != libc::SIG_IGN && now.sa_sigaction != libc::SIG_DFL
    }

    impl Watched {
        /// `None` on other threads than the main one, which signals do not reach, within another run, and where Python has
        /// no handler.
        pub(super) fn begin(py: Python<'_>) -> PyResult<Option<Watched>> {
            if !is_main(py)? || !is_handled() || !watch() {
                return Ok(None);
            }
            let cancellation = Cancellation::new();
            {
                let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
                if current.is_some() {
                    return Ok(None);
                }
                *current = Some(cancellation.clone());
            }
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: room for what stands there; a handler of the type that is asked for; zeros are no flags and no signals.
            let before = unsafe {
                libc::sigaction(libc::SIGINT, std::ptr::null(), before.as_mut_ptr());
                let before = before.assume_init();
                // A handler of another kind is not stood before.
                if before.sa_flags & libc::SA_SIGINFO == 0 {
                    BEFORE.store(before.sa_sigaction, Ordering::Relaxed);
                    let mut own = before;
                    own.sa_sigaction = interrupted as *const () as usize;
                    libc::sigaction(libc::SIGINT, &raw const own, std::ptr::null_mut());
                }
                before
            };
            Ok(Some(Watched { cancellation, before }))
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            // SAFETY: what stood there before.
            unsafe { libc::sigaction(libc::SIGINT, &raw const self.before, std::ptr::null_mut()) };
            *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod unix {
    use kernlink::step::Cancellation;
    use pyo3::prelude::*;

    /// There is none: Python's signals come when the run has ended.
    pub(super) struct Watched {
        pub(super) cancellation: Cancellation,
    }

    impl Watched {
        pub(super) fn begin(_: Python<'_>) -> PyResult<Option<Watched>> {
            Ok(None)
        }
    }
}
