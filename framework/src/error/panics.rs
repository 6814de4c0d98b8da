//! Panics, where the runtime calls what others have written: they become errors, which say where the panic began if the
//! program [watches](watch_panics) for that.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;

use super::{Error, PanicPlace, Result};

thread_local! {
    /// How often this thread has panicked.
    static COUNT: Cell<u64> = const { Cell::new(0) };
    /// Where it did last.
    static LAST: RefCell<Option<PanicPlace>> = const { RefCell::new(None) };
}

/// Has errors say from now on where a panic began: of a kernel, its constructor or a shape function. What is unwound does
/// not tell, so that without this they have what the panic said alone.
///
/// It sets a panic hook that notes the place and then calls the one that was set before. A program calls it once, at its
/// beginning, and after whatever else sets a hook: one that is set later, and does not call the hook before it, costs the
/// errors the place. Further calls do nothing. The command and [`testing`](crate::testing) call it.
///
/// ```
/// kernlink_framework::error::watch_panics();
/// // ... load a model, run it
/// ```
pub fn watch_panics() {
    static ONCE: Once = Once::new();
    // A hook cannot be set while a thread panics; a later call may.
    if std::thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            note(info.location().map(|at| PanicPlace {
                file: at.file().to_owned(),
                line: at.line(),
                column: at.column(),
            }));
            previous(info);
        }));
    });
}

/// Notes a panic of this thread. A thread that ends has no place for it any more.
fn note(place: Option<PanicPlace>) {
    COUNT.set(COUNT.get() + 1);
    _ = LAST.try_with(|last| last.replace(place));
}

/// A panic that was caught.
pub(crate) struct Caught {
    payload: Box<dyn Any + Send>,
    /// Where it began, if that is known.
    place: Option<PanicPlace>,
}

impl Caught {
    /// Goes on with the panic on this thread, which need not be the one where it began. No hook is called again.
    pub(crate) fn resume(self) -> ! {
        if self.place.is_some() {
            note(self.place);
        }
        resume_unwind(self.payload)
    }

    /// What the panic said.
    fn text(&self) -> &str {
        let text = self.payload.downcast_ref::<&str>().copied();
        text.or_else(|| self.payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
    }
}

/// Calls `body`, and catches its panic.
#[inline(always)]
pub(crate) fn catch<T>(body: impl FnOnce() -> T) -> Result<T, Caught> {
    let before = COUNT.get();
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| caught(payload, before))
}

/// What has been caught, on a thread that had panicked so often `before`. What another thread threw comes without a call of
/// the hook: this thread's last panic is another one then.
#[cold]
fn caught(payload: Box<dyn Any + Send>, before: u64) -> Caught {
    let place = LAST.try_with(RefCell::take).ok().flatten();
    Caught { payload, place: place.filter(|_| COUNT.get() != before) }
}

/// Calls `body`; a panic in it becomes an INTERNAL error that says that `what` panicked, and where.
///
/// # Errors
/// Those of `body`, and that.
#[track_caller]
#[inline(always)]
pub fn catch_panic<T>(what: &str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch(body) {
        Ok(done) => done,
        Err(caught) => Err(panicked(what, caught)),
    }
}

#[cold]
#[track_caller]
fn panicked(what: &str, caught: Caught) -> Error {
    let at = caught.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
    let error = Error::internal(format!("{what} panicked{at}: {}", caught.text()));
    match caught.place {
        Some(place) => error.begun_at(place),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Code;
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_says_where() {
        watch_panics();
        let line = line!() + 1;
        let error = catch_panic::<()>("the kernel", || panic!("a {}", "fault")).unwrap_err();
        let place = format!("{}:{line}:", file!());
        assert_eq!(error.code(), Code::Internal);
        assert!(error.message().starts_with(&format!("the kernel panicked at {place}")), "{error}");
        assert!(error.message().ends_with(": a fault"), "{error}");
        assert!(format!("{error:?}").contains(&format!("raised at {place}")), "{error:?}");
    }

    #[test]
    fn what_is_thrown_again_says_no_place_of_another() {
        watch_panics();
        let thrown = || catch_panic::<()>("the kernel", || resume_unwind(Box::new("thrown"))).unwrap_err();
        assert_eq!(thrown().message(), "the kernel panicked: thrown");
        // One that somebody else has caught before, on the same thread.
        catch_unwind(|| panic!("another")).unwrap_err();
        assert_eq!(thrown().message(), "the kernel panicked: thrown");
    }

    #[test]
    fn a_panic_keeps_its_place_on_another_thread() {
        watch_panics();
        let line = line!() + 1;
        let caught = std::thread::spawn(|| catch::<()>(|| panic!("far")).err().unwrap()).join().unwrap();
        let error = catch_panic::<()>("the kernel", || caught.resume()).unwrap_err();
        assert!(error.message().starts_with(&format!("the kernel panicked at {}:{line}:", file!())), "{error}");
        assert!(error.message().ends_with(": far"), "{error}");
    }
}
