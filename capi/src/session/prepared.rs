//! What is asked of a graph, resolved once: runs that ask the same again find it by the pointers that they pass.

use std::collections::{HashMap, HashSet};
use std::ffi::c_int;
use std::sync::{Arc, PoisonError, RwLock};

use kernlink::dtype::DataType;
use kernlink::graph::{Graph, NodeId, Output};
use kernlink::runtime::Callable;
use kernlink::{Error, Result};
use smallvec::SmallVec;

use super::state::CSession;
use crate::abi::{TF_Operation, TF_Output};
use crate::graph::{CGraph, node_in, output_in};
use crate::pointer::{borrow, slice};

/// What is to be fed, fetched and run, as C names it.
#[derive(Clone, Copy)]
pub(super) struct Asked<'c> {
    pub(super) feeds: &'c [TF_Output],
    pub(super) fetches: &'c [TF_Output],
    pub(super) targets: &'c [*const TF_Operation],
}

/// The same in a graph.
pub(super) struct Resolved {
    pub(super) feeds: Vec<Output>,
    pub(super) fetches: Vec<Output>,
    pub(super) targets: Vec<NodeId>,
}

/// A run that was asked for before.
pub(super) struct Prepared {
    pub(super) callable: Callable,
    /// What the feeds must be.
    pub(super) feeds: SmallVec<[FeedType; 4]>,
}

/// What a feed must be.
pub(super) struct FeedType {
    pub(super) dtype: DataType,
    /// Its place among the feeds in the order of their names, by which TensorFlow's messages name it.
    pub(super) place: usize,
}

/// The addresses and indices of an [`Asked`], with their numbers: equal for what asks the same. Operations keep their addresses
/// as long as the graph, which the session keeps.
type Key = SmallVec<[usize; 24]>;

/// The runs that were asked for.
#[derive(Default)]
pub(super) struct PreparedRuns(RwLock<HashMap<Box<[usize]>, Arc<Prepared>>>);

impl<'c> Asked<'c> {
    /// What C passes.
    ///
    /// # Safety
    /// As [`slice`], for each of the arrays.
    ///
    /// # Errors
    /// As [`slice`].
    pub(super) unsafe fn of(
        (inputs, ninputs): (*const TF_Output, c_int),
        (outputs, noutputs): (*const TF_Output, c_int),
        (targets, ntargets): (*const *const TF_Operation, c_int),
    ) -> Result<Asked<'c>> {
        // SAFETY: as the caller says.
        unsafe {
            Ok(Asked {
                feeds: slice("inputs", inputs, ninputs)?,
                fetches: slice("outputs", outputs, noutputs)?,
                targets: slice("target operations", targets, ntargets)?,
            })
        }
    }

    fn key(&self) -> Key {
        let mut key = Key::new();
        key.push(self.feeds.len());
        key.push(self.fetches.len());
        for output in self.feeds.iter().chain(self.fetches) {
            key.push(output.oper.addr());
            key.push(output.index as usize);
        }
        key.extend(self.targets.iter().map(|target| target.addr()));
        key
    }

    /// Finds what is asked in a graph, as `state` has it.
    ///
    /// # Safety
    /// The operations are null or of graphs that are alive.
    ///
    /// # Errors
    /// OUT_OF_RANGE for outputs that a node has too few of; INVALID_ARGUMENT for other operations and outputs that are not in
    /// the graph, what is fed twice, or fed and fetched, and if nothing is asked.
    pub(super) unsafe fn resolve(&self, graph: &CGraph, state: &Graph) -> Result<Resolved> {
        let outputs = |outputs: &[TF_Output]| {
            // SAFETY: as the caller says.
            let resolve = |&output: &TF_Output| unsafe { output_of(graph, state, output) };
            outputs.iter().map(resolve).collect::<Result<Vec<_>>>()
        };
        let (feeds, fetches) = (outputs(self.feeds)?, outputs(self.fetches)?);
        // SAFETY: as the caller says.
        let targets = self.targets.iter().map(|&target| unsafe { node_in(graph, target) });
        let targets = targets.collect::<Result<Vec<_>>>()?;
        let name = |output: Output| format!("{}:{}", state.node(output.node).name, output.index);
        let mut fed = HashSet::new();
        if let Some(&twice) = feeds.iter().find(|&&feed| !fed.insert(feed)) {
            return Err(Error::invalid_argument(format!("Endpoint \"{}\" fed more than once.", name(twice))));
        }
        if let Some(&both) = fetches.iter().find(|fetch| fed.contains(fetch)) {
            return Err(Error::invalid_argument(format!("{} is both fed and fetched.", name(both))));
        }
        if fetches.is_empty() && targets.is_empty() {
            return Err(Error::invalid_argument("Must specify at least one target to fetch or execute."));
        }
        Ok(Resolved { feeds, fetches, targets })
    }
}

/// As [`output_in`], with TensorFlow's code for an index that is too large.
///
/// # Safety
/// As [`output_in`].
///
/// # Errors
/// As [`output_in`]; OUT_OF_RANGE.
unsafe fn output_of(graph: &CGraph, state: &Graph, output: TF_Output) -> Result<Output> {
    // SAFETY: as the caller says.
    let (resolved, operation) = unsafe { (output_in(graph, state, output), borrow(output.oper)) };
    let is_ours = operation.is_ok_and(|operation| operation.is_of(graph) && state.get(operation.id).is_some());
    match resolved {
        Err(error) if is_ours && output.index >= 0 => Err(Error::out_of_range(error.message())),
        resolved => resolved,
    }
}

impl CSession {
    /// The run that is asked for, which is planned if nobody has asked before.
    ///
    /// # Safety
    /// As [`Asked::resolve`].
    ///
    /// # Errors
    /// As [`Asked::resolve`], [`CSession::session`] and [`Session::callable_of`](kernlink::runtime::Session::callable_of).
    pub(super) unsafe fn prepared(&self, asked: &Asked<'_>) -> Result<Arc<Prepared>> {
        let key = asked.key();
        let known = self.prepared.0.read().unwrap_or_else(PoisonError::into_inner).get(&*key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        // SAFETY: as the caller says.
        let prepared = Arc::new(unsafe { self.prepare(asked) }?);
        let mut runs = self.prepared.0.write().unwrap_or_else(PoisonError::into_inner);
        Ok(runs.entry(key.into_boxed_slice()).or_insert(prepared).clone())
    }

    /// # Safety
    /// As [`Asked::resolve`].
    #[cold]
    unsafe fn prepare(&self, asked: &Asked<'_>) -> Result<Prepared> {
        let session = self.session()?;
        let graph = session.graph();
        // SAFETY: as the caller says.
        let Resolved { feeds, fetches, targets } = unsafe { asked.resolve(&self.graph, graph) }?;
        let callable = session.callable_of(&feeds, &fetches, &targets)?;
        let name = |feed: &Output| format!("{}:{}", graph.node(feed.node).name, feed.index);
        let names: Vec<String> = feeds.iter().map(name).collect();
        let feeds = feeds.iter().zip(&names).map(|(feed, name)| FeedType {
            dtype: graph.node(feed.node).signature.outputs[feed.index].dtype,
            place: names.iter().filter(|other| *other < name).count(),
        });
        Ok(Prepared { callable, feeds: feeds.collect() })
    }
}
