//! A session, which follows its graph: what was added to the graph since the last run is there in the next one.

use std::collections::HashMap;
use std::ffi::{c_char, c_int};
use std::io::Write;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use kernlink::graph::Graph;
use kernlink::runtime::{RunOptions, Session};
use kernlink::{Error, Result};
use kernlink_library::host::report;

use super::options::Options;
use super::partial::Partial;
use super::prepared::PreparedRuns;
use crate::abi::{TF_Graph, TF_Session, TF_SessionOptions, TF_Status};
use crate::graph::CGraph;
use crate::pointer::{borrow, opaque, release, share_with_c, shared, texts};
use crate::program::registry;

opaque! {
    TF_Session => CSession, "session";
}

/// What is behind a `TF_Session`.
pub(crate) struct CSession {
    pub(super) graph: Arc<CGraph>,
    extent: RwLock<Extent>,
    pub(super) prepared: PreparedRuns,
    /// Partial runs that have not ended, by their handles.
    partial: Mutex<HashMap<String, Arc<Partial>>>,
    /// How many partial runs were set up.
    pub(super) partials: AtomicU64,
    pub(super) run_options: RunOptions,
    logs_placement: bool,
    is_closed: AtomicBool,
}

/// The session of the graph as it was when it had so much.
struct Extent {
    session: Arc<Session>,
    nodes: usize,
    functions_version: u64,
}

/// The sessions that were not deleted: [`TF_Reset`] closes them.
static LIVE: Mutex<Vec<Weak<CSession>>> = Mutex::new(Vec::new());

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CSession {
    /// A session that has seen nothing of its graph so far.
    ///
    /// # Errors
    /// As [`Options::session`] and [`Session::with_options`].
    pub(super) fn new(graph: Arc<CGraph>, options: &Options) -> Result<Arc<CSession>> {
        let session = Session::with_options(Graph::new(&registry()?), &options.session()?)?;
        Ok(CSession::of(graph, session, options))
    }

    /// A session of a graph, which begins with the nodes of `session`'s.
    pub(super) fn of(graph: Arc<CGraph>, session: Session, options: &Options) -> Arc<CSession> {
        let (nodes, functions_version) = (session.graph().nodes().len(), session.graph().functions_version());
        let made = Arc::new(CSession {
            graph,
            extent: RwLock::new(Extent { session: Arc::new(session), nodes, functions_version }),
            prepared: PreparedRuns::default(),
            partial: Mutex::default(),
            partials: AtomicU64::new(0),
            run_options: options.run(),
            logs_placement: options.logs_placement(),
            is_closed: AtomicBool::new(false),
        });
        let mut live = lock(&LIVE);
        live.retain(|session| session.strong_count() > 0);
        live.push(Arc::downgrade(&made));
        made
    }

    /// The session of the graph as it is.
    ///
    /// # Errors
    /// As [`Session::extended`].
    pub(super) fn session(&self) -> Result<Arc<Session>> {
        let state = self.graph.read();
        let graph = &state.graph;
        let (nodes, functions_version) = (graph.nodes().len(), graph.functions_version());
        let is_same = |extent: &Extent| extent.nodes == nodes && extent.functions_version == functions_version;
        {
            let extent = self.extent.read().unwrap_or_else(PoisonError::into_inner);
            if is_same(&extent) {
                return Ok(extent.session.clone());
            }
        }
        let mut extent = self.extent.write().unwrap_or_else(PoisonError::into_inner);
        if !is_same(&extent) {
            let session = Arc::new(extent.session.extended(graph.clone())?);
            if self.logs_placement {
                log_placement(&session, extent.nodes);
            }
            *extent = Extent { session, nodes, functions_version };
        }
        Ok(extent.session.clone())
    }

    /// The session of the graph as it was when it was last looked at.
    pub(super) fn last_session(&self) -> Arc<Session> {
        self.extent.read().unwrap_or_else(PoisonError::into_inner).session.clone()
    }

    /// Refuses what comes after the session was closed.
    ///
    /// # Errors
    /// CANCELLED.
    pub(super) fn check_open(&self) -> Result<()> {
        match self.is_closed.load(Ordering::Acquire) {
            true => Err(Error::cancelled("Session has been closed.")),
            false => Ok(()),
        }
    }

    /// Ends what runs, and refuses what would.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.last_session().close();
        lock(&self.partial).clear();
    }

    /// The partial runs that have not ended, by their handles.
    pub(super) fn partial(&self) -> MutexGuard<'_, HashMap<String, Arc<Partial>>> {
        lock(&self.partial)
    }
}

/// Writes where the nodes from `first` on are placed.
fn log_placement(session: &Session, first: usize) {
    let graph = session.graph();
    for id in graph.ids().skip(first) {
        if let Ok(device) = session.device_of(id) {
            let node = graph.node(id);
            // Who closed the standard error does not want to know.
            _ = writeln!(std::io::stderr(), "{}: ({}): {device}", node.name, node.op_name());
        }
    }
}

/// A session of a graph, which stays as long as its sessions. Null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_NewSession(
    graph: *mut TF_Graph,
    options: *const TF_SessionOptions,
    status: *mut TF_Status,
) -> *mut TF_Session {
    let make = || {
        // SAFETY: as said in `pointer`.
        let (graph, options) = unsafe { (shared(graph)?, borrow(options)?) };
        Ok(share_with_c(CSession::new(graph, options)?))
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), make) }
}

/// Ends what runs, and refuses what would. A session may be closed several times.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_CloseSession(session: *mut TF_Session, status: *mut TF_Status) {
    let close = || {
        // SAFETY: as said in `pointer`.
        unsafe { borrow(session) }?.close();
        Ok(())
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), close) };
}

/// Frees a session. Null is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeleteSession(session: *mut TF_Session, status: *mut TF_Status) {
    // SAFETY: as said in `pointer`.
    unsafe {
        release(session);
        report(status, (), || Ok(()));
    }
}

/// Has the session see what its graph has, as each run does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_ExtendSession(session: *mut TF_Session, status: *mut TF_Status) {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), || borrow(session)?.session().map(drop)) };
}

/// Removes the resources in these containers, or in the default one if none are named, of all sessions, and closes these.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_Reset(
    options: *const TF_SessionOptions,
    containers: *const *const c_char,
    ncontainers: c_int,
    status: *mut TF_Status,
) {
    let reset = || {
        // SAFETY: as said in `pointer`.
        let (options, named) = unsafe { (borrow(options)?, texts("containers", containers, ncontainers)) };
        options.check_target()?;
        let named = named?;
        let containers = if named.is_empty() { &[""][..] } else { &named[..] };
        let live: Vec<_> = lock(&LIVE).iter().filter_map(Weak::upgrade).collect();
        for session in live {
            session.close();
            let last = session.last_session();
            containers.iter().for_each(|container| last.resources().cleanup(container));
        }
        Ok(())
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), reset) };
}
