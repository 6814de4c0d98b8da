//! Partial runs: feeds come, and fetches go, in several calls.

use std::collections::{HashMap, HashSet};
use std::ffi::{CString, c_char, c_int};
use std::ptr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use kernlink::graph::{Graph, Output};
use kernlink::runtime::{PartialRun, Session};
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};
use kernlink_library::host::{guarded, report, text};

use super::prepared::{Asked, Resolved};
use super::run::{hand_over, tensors};
use super::state::{CSession, lock};
use crate::abi::{TF_Operation, TF_Output, TF_Session, TF_Status, TF_Tensor};
use crate::graph::output_in;
use crate::pointer::{borrow, c_text, put, slice};

/// A partial run.
pub(super) struct Partial {
    session: Arc<Session>,
    run: PartialRun,
    /// For each feed and each fetch that was set up, whether it is still to come.
    pending: Mutex<Pending>,
}

struct Pending {
    feeds: HashMap<Output, bool>,
    fetches: HashMap<Output, bool>,
}

/// An output as messages of partial runs name it.
fn name_of(graph: &Graph, output: Output) -> String {
    format!("{}:{}", graph.node(output.node).name, output.index)
}

/// Refuses what was not set up, and what comes a second time.
fn check(graph: &Graph, pending: &HashMap<Output, bool>, asked: &[Output], what: &str, done: &str) -> Result<()> {
    let mut seen = HashSet::new();
    for &output in asked {
        let name = name_of(graph, output);
        match pending.get(&output) {
            None => {
                let message = format!("The {what} {name} was not specified in partial_run_setup.");
                return Err(Error::invalid_argument(message));
            }
            Some(true) if seen.insert(output) => {}
            Some(_) => return Err(Error::invalid_argument(format!("The {what} {name} has already been {done}."))),
        }
    }
    Ok(())
}

impl Pending {
    /// Refuses fetches that depend on feeds which are to come in a later call than this one.
    fn check_fetches(&self, graph: &Graph, feeds: &[Output], fetches: &[Output]) -> Result<()> {
        let (mut stack, mut seen) = (fetches.to_vec(), HashSet::new());
        while let Some(output) = stack.pop() {
            match self.feeds.get(&output) {
                Some(true) if !feeds.contains(&output) => {
                    return Err(Error::invalid_argument(format!(
                        "Fetch {} can't be computed from the feeds that have been fed so far.",
                        name_of(graph, output)
                    )));
                }
                Some(_) => continue,
                None if !seen.insert(output.node) => continue,
                None => {}
            }
            let node = graph.node(output.node);
            stack.extend(&node.inputs);
            // What waits for a node waits for its inputs; no feed takes the place of the node itself.
            let mut controls = node.control_inputs.clone();
            while let Some(control) = controls.pop() {
                if !seen.insert(control) {
                    continue;
                }
                let node = graph.node(control);
                stack.extend(&node.inputs);
                controls.extend(&node.control_inputs);
            }
        }
        Ok(())
    }

    fn is_any(&self) -> bool {
        self.feeds.values().chain(self.fetches.values()).any(|is_pending| *is_pending)
    }
}

fn setup_first() -> Error {
    Error::invalid_argument("Must run 'setup' before performing partial runs!")
}

impl CSession {
    /// Sets up a partial run; returns its handle.
    ///
    /// # Safety
    /// As [`Asked::resolve`].
    ///
    /// # Errors
    /// As [`Asked::resolve`] and [`Session::partial_run_setup`]; CANCELLED if the session is closed.
    pub(super) unsafe fn set_up(&self, asked: &Asked<'_>) -> Result<CString> {
        self.check_open()?;
        let session = self.session()?;
        let graph = session.graph();
        // SAFETY: as the caller says.
        let Resolved { feeds, fetches, targets } = unsafe { asked.resolve(&self.graph, graph) }?;
        let names = |outputs: &[Output]| outputs.iter().map(|&output| name_of(graph, output)).collect::<Vec<_>>();
        let (feed_names, fetch_names) = (names(&feeds), names(&fetches));
        let target_names: Vec<&str> = targets.iter().map(|&target| graph.node(target).name.as_str()).collect();
        let run = session.partial_run_setup(&borrowed(&feed_names), &borrowed(&fetch_names), &target_names)?;
        let pending = Pending {
            feeds: feeds.into_iter().map(|feed| (feed, true)).collect(),
            fetches: fetches.into_iter().map(|fetch| (fetch, true)).collect(),
        };
        let number = self.partials.fetch_add(1, Ordering::Relaxed);
        let (fed, fetched, run_too) = (feed_names.join(","), fetch_names.join(","), target_names.join(","));
        let handle = c_text(&format!("{fed}->{fetched}/{run_too}/{number}"));
        let partial = Arc::new(Partial { session, run, pending: Mutex::new(pending) });
        self.partial().insert(handle.to_string_lossy().into_owned(), partial);
        Ok(handle)
    }

    /// Goes on with a partial run, which ends with the last of its feeds and fetches, and with an error of a kernel.
    ///
    /// # Safety
    /// Pointers are as said in [`pointer`](crate::pointer).
    ///
    /// # Errors
    /// CANCELLED if the session is closed; INVALID_ARGUMENT if there is no such run, and for feeds and fetches that were not set
    /// up, come a second time, or depend on what was not fed so far; and as [`PartialRun::run_with`].
    pub(super) unsafe fn go_on(
        &self,
        handle: &str,
        asked: &Asked<'_>,
        values: &[*mut TF_Tensor],
    ) -> Result<Vec<Tensor>> {
        self.check_open()?;
        let partial = self.partial().get(handle).cloned().ok_or_else(setup_first)?;
        // SAFETY: as the caller says.
        let outcome = unsafe { partial.go_on(self, asked, values) };
        if !matches!(outcome, Ok(_) | Err(Refused::Before(_))) || !lock(&partial.pending).is_any() {
            self.partial().remove(handle);
        }
        outcome.map_err(|(Refused::Before(error) | Refused::Meanwhile(error))| error)
    }
}

/// What a call of a partial run fails with.
enum Refused {
    /// Nothing has happened: the run can go on.
    Before(Error),
    /// The run has ended with it.
    Meanwhile(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused::Before(error)
    }
}

impl Partial {
    /// # Safety
    /// As [`CSession::go_on`].
    unsafe fn go_on(
        &self,
        session: &CSession,
        asked: &Asked<'_>,
        values: &[*mut TF_Tensor],
    ) -> Result<Vec<Tensor>, Refused> {
        let graph = self.session.graph();
        let resolve = |outputs: &[TF_Output], what: &str| {
            // SAFETY: as the caller says.
            let resolve = |&output: &TF_Output| unsafe { output_in(&session.graph, graph, output) };
            let resolved = outputs.iter().map(resolve).collect::<Result<Vec<_>>>();
            resolved.map_err(|error| error.context(format!("the {what} was not specified in partial_run_setup")))
        };
        let (feeds, fetches) = (resolve(asked.feeds, "feed")?, resolve(asked.fetches, "fetch")?);
        // SAFETY: as the caller says.
        let tensors = unsafe { tensors(values) }?;
        let mut pending = lock(&self.pending);
        check(graph, &pending.feeds, &feeds, "feed", "fed")?;
        check(graph, &pending.fetches, &fetches, "fetch", "fetched")?;
        pending.check_fetches(graph, &feeds, &fetches)?;
        for (&feed, tensor) in feeds.iter().zip(&tensors) {
            let expected = graph.node(feed.node).signature.outputs[feed.index].dtype;
            if tensor.dtype() != expected {
                let (name, dtype) = (name_of(graph, feed), tensor.dtype());
                let message = format!("The feed {name} must be {expected}, and is {dtype}");
                return Err(Refused::Meanwhile(Error::invalid_argument(message)));
            }
        }
        let names: Vec<String> = feeds.iter().map(|&feed| name_of(graph, feed)).collect();
        let fed: Vec<(&str, Tensor)> = names.iter().map(String::as_str).zip(tensors).collect();
        let fetch_names: Vec<String> = fetches.iter().map(|&fetch| name_of(graph, fetch)).collect();
        let fetched = self.run.run_with(&fed, &borrowed(&fetch_names), &session.run_options);
        let fetched = fetched.map_err(Refused::Meanwhile)?;
        pending.feeds.extend(feeds.iter().map(|&feed| (feed, false)));
        pending.fetches.extend(fetches.iter().map(|&fetch| (fetch, false)));
        Ok(fetched)
    }
}

fn borrowed(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// Leaves the handle of a partial run, for [`TF_DeletePRunHandle`], or null.
///
/// # Safety
/// `place` is null or may be written, and the rest is as said in [`pointer`](crate::pointer).
pub(super) unsafe fn leave_handle(
    place: *mut *const c_char,
    status: *mut TF_Status,
    set_up: impl FnOnce() -> Result<CString>,
) {
    // SAFETY: as the caller says.
    unsafe {
        put(place, ptr::null());
        let leave = || {
            if place.is_null() {
                return Err(Error::invalid_argument("the place for the handle is a null pointer"));
            }
            place.write(set_up()?.into_raw());
            Ok(())
        };
        report(status, (), leave);
    }
}

/// Sets up a run whose feeds come, and fetches go, in several calls of [`TF_SessionPRun`]. The handle is the caller's to free by
/// [`TF_DeletePRunHandle`], and null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_SessionPRunSetup(
    session: *mut TF_Session,
    inputs: *const TF_Output,
    ninputs: c_int,
    outputs: *const TF_Output,
    noutputs: c_int,
    target_opers: *const *const TF_Operation,
    ntargets: c_int,
    handle: *mut *const c_char,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    let set_up = || unsafe {
        let session = borrow(session)?;
        session.set_up(&Asked::of((inputs, ninputs), (outputs, noutputs), (target_opers, ntargets))?)
    };
    // SAFETY: as said in `pointer`.
    unsafe { leave_handle(handle, status, set_up) };
}

/// Goes on with a partial run: feeds some of what was set up, and fetches some. The targets are those that were set up: what is
/// given here does not count. If it fails, all output values are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_SessionPRun(
    session: *mut TF_Session,
    handle: *const c_char,
    inputs: *const TF_Output,
    input_values: *const *mut TF_Tensor,
    ninputs: c_int,
    outputs: *const TF_Output,
    output_values: *mut *mut TF_Tensor,
    noutputs: c_int,
    _target_opers: *const *const TF_Operation,
    _ntargets: c_int,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    let run = || unsafe {
        let session = borrow(session)?;
        let asked = Asked::of((inputs, ninputs), (outputs, noutputs), (ptr::null(), 0))?;
        let values = slice("input values", input_values, ninputs)?;
        session.go_on(text("the handle", handle)?, &asked, values)
    };
    // SAFETY: as said in `pointer`.
    unsafe { hand_over(output_values, noutputs, status, run) };
}

/// Frees a handle. Null is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeletePRunHandle(handle: *const c_char) {
    if !handle.is_null() {
        // SAFETY: it came from `CString::into_raw`, and is freed once.
        guarded((), || drop(unsafe { CString::from_raw(handle.cast_mut()) }));
    }
}
