//! `TF_DeprecatedSession`: a session whose graph belongs to it, grows by GraphDefs, and is run by names.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use kernlink::graph::{ImportOptions, TensorName};
use kernlink::proto::GraphDef;
use kernlink::{Error, Result};
use kernlink_library::host::{report, text};
use prost::Message;

use super::partial::leave_handle;
use super::prepared::Asked;
use super::run::{Given, hand_over};
use super::state::CSession;
use crate::abi::{TF_Buffer, TF_DeprecatedSession, TF_Operation, TF_Output, TF_SessionOptions, TF_Status, TF_Tensor};
use crate::graph::{CGraph, GraphState};
use crate::pointer::{borrow, bytes, opaque, release, share_with_c, slice, texts};

opaque! {
    TF_DeprecatedSession => CSession, "session";
}

/// What is asked by names.
struct Named {
    feeds: Vec<TF_Output>,
    fetches: Vec<TF_Output>,
    targets: Vec<*const TF_Operation>,
}

/// An array of names, as C passes it.
type Names = (*const *const c_char, c_int);

impl Named {
    /// Finds what names mean.
    ///
    /// # Safety
    /// As [`texts`], for each of the arrays.
    ///
    /// # Errors
    /// As [`texts`]; INVALID_ARGUMENT for an output of no node, and while there are no nodes; NOT_FOUND for a target that is none.
    unsafe fn find(session: &CSession, inputs: Names, outputs: Names, targets: Names) -> Result<Named> {
        session.check_open()?;
        let state = session.graph.read();
        if state.graph.nodes().is_empty() {
            return Err(Error::invalid_argument("Session was not created with a graph before Run()!"));
        }
        let find_all = |names: Vec<&str>| names.into_iter().map(|name| output_of(&state, name)).collect::<Result<_>>();
        // What is behind a colon does not count: the operation runs.
        let target = |name: &str| {
            let node = TensorName::parse(name).map_or(name, |parsed| parsed.node);
            let node = state.graph.find(node.strip_prefix('^').unwrap_or(node));
            let operation = node.map(|id| state.operation(id).cast_const());
            operation.ok_or_else(|| Error::not_found(format!("PruneForTargets: Some target nodes not found: {name}")))
        };
        // SAFETY: as the caller says.
        unsafe {
            Ok(Named {
                feeds: find_all(texts("the name of an input", inputs.0, inputs.1)?)?,
                fetches: find_all(texts("the name of an output", outputs.0, outputs.1)?)?,
                targets: texts("the name of a target", targets.0, targets.1)?
                    .into_iter()
                    .map(target)
                    .collect::<Result<_>>()?,
            })
        }
    }

    fn asked(&self) -> Asked<'_> {
        Asked { feeds: &self.feeds, fetches: &self.fetches, targets: &self.targets }
    }
}

/// The output that `node` or `node:1` names.
///
/// # Errors
/// OUT_OF_RANGE for `^node`, which names none of its outputs; INVALID_ARGUMENT for what names none otherwise.
fn output_of(state: &GraphState, name: &str) -> Result<TF_Output> {
    if let Some(node) = name.strip_prefix('^').and_then(|node| state.graph.find(node)) {
        let node = state.graph.node(node);
        return Err(Error::out_of_range(format!(
            "Node '{}' (type: '{}', num of outputs: {}) does not have output -1",
            node.name,
            node.op.def.name,
            node.signature.outputs.len()
        )));
    }
    let found = TensorName::parse(name).ok().and_then(|parsed| Some((state.graph.find(parsed.node)?, parsed.index)));
    let output =
        found.map(|(id, index)| TF_Output { oper: state.operation(id), index: c_int::try_from(index).unwrap_or(-1) });
    output.ok_or_else(|| {
        let name = if name.contains(':') { name.to_owned() } else { format!("{name}:0") };
        Error::invalid_argument(format!(
            "Tensor {name}, specified in either feed_devices or fetch_devices was not found in the Graph"
        ))
    })
}

/// Adds the nodes and functions of a message to a graph.
///
/// # Errors
/// INVALID_ARGUMENT if the graph has a node of the message already; as [`Graph::import_into`](kernlink::graph::Graph::import_into).
pub(super) fn extend(graph: &CGraph, def: GraphDef) -> Result<()> {
    graph.change(|graph| {
        if let Some(known) = def.node.iter().find(|node| graph.find(&node.name).is_some()) {
            return Err(Error::invalid_argument(format!(
                "GraphDef argument to Extend includes node '{}', which was created by a previous call to Create or Extend in \
                 this session.",
                known.name
            )));
        }
        graph.import_into(def, &ImportOptions { links_by_name: true, ..ImportOptions::default() }).map(drop)
    })
}

/// A session without nodes. Null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_NewDeprecatedSession(
    options: *const TF_SessionOptions,
    status: *mut TF_Status,
) -> *mut TF_DeprecatedSession {
    let make = || {
        // SAFETY: as said in `pointer`.
        let options = unsafe { borrow(options) }?;
        Ok(share_with_c(CSession::new(CGraph::new()?, options)?))
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), make) }
}

/// As [`TF_CloseSession`](super::TF_CloseSession).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_CloseDeprecatedSession(session: *mut TF_DeprecatedSession, status: *mut TF_Status) {
    let close = || {
        // SAFETY: as said in `pointer`.
        unsafe { borrow(session) }?.close();
        Ok(())
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), close) };
}

/// As [`TF_DeleteSession`](super::TF_DeleteSession).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeleteDeprecatedSession(session: *mut TF_DeprecatedSession, status: *mut TF_Status) {
    // SAFETY: as said in `pointer`.
    unsafe {
        release(session);
        report(status, (), || Ok(()));
    }
}

/// Adds the nodes of a serialized GraphDef, which may take what there is already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_ExtendGraph(
    session: *mut TF_DeprecatedSession,
    proto: *const c_void,
    length: usize,
    status: *mut TF_Status,
) {
    let run = || {
        // SAFETY: as said in `pointer`.
        let (session, proto) = unsafe { (borrow(session)?, bytes("the GraphDef", proto.cast(), length)?) };
        session.check_open()?;
        let def = GraphDef::decode(proto).map_err(|_| Error::invalid_argument("Invalid GraphDef"))?;
        extend(&session.graph, def)
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), run) };
}

/// As [`TF_SessionRun`](super::TF_SessionRun), by names: `node` or `node:1`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_Run(
    session: *mut TF_DeprecatedSession,
    run_options: *const TF_Buffer,
    input_names: *const *const c_char,
    inputs: *const *mut TF_Tensor,
    ninputs: c_int,
    output_names: *const *const c_char,
    outputs: *mut *mut TF_Tensor,
    noutputs: c_int,
    target_oper_names: *const *const c_char,
    ntargets: c_int,
    run_metadata: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    let run = || unsafe {
        let session = borrow(session)?;
        let targets = (target_oper_names, ntargets);
        let named = Named::find(session, (input_names, ninputs), (output_names, noutputs), targets)?;
        let values = slice("inputs", inputs, ninputs)?;
        session.run(&named.asked(), &Given { options: run_options, values, metadata: run_metadata })
    };
    // SAFETY: as said in `pointer`.
    unsafe { hand_over(outputs, noutputs, status, run) };
}

/// As [`TF_SessionPRunSetup`](super::TF_SessionPRunSetup), by names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_PRunSetup(
    session: *mut TF_DeprecatedSession,
    input_names: *const *const c_char,
    ninputs: c_int,
    output_names: *const *const c_char,
    noutputs: c_int,
    target_oper_names: *const *const c_char,
    ntargets: c_int,
    handle: *mut *const c_char,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    let set_up = || unsafe {
        let session = borrow(session)?;
        let targets = (target_oper_names, ntargets);
        let named = Named::find(session, (input_names, ninputs), (output_names, noutputs), targets)?;
        session.set_up(&named.asked())
    };
    // SAFETY: as said in `pointer`.
    unsafe { leave_handle(handle, status, set_up) };
}

/// As [`TF_SessionPRun`](super::TF_SessionPRun), by names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_PRun(
    session: *mut TF_DeprecatedSession,
    handle: *const c_char,
    input_names: *const *const c_char,
    inputs: *const *mut TF_Tensor,
    ninputs: c_int,
    output_names: *const *const c_char,
    outputs: *mut *mut TF_Tensor,
    noutputs: c_int,
    _target_oper_names: *const *const c_char,
    _ntargets: c_int,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    let run = || unsafe {
        let session = borrow(session)?;
        let named = Named::find(session, (input_names, ninputs), (output_names, noutputs), (ptr::null(), 0))?;
        let values = slice("inputs", inputs, ninputs)?;
        session.go_on(text("the handle", handle)?, &named.asked(), values)
    };
    // SAFETY: as said in `pointer`.
    unsafe { hand_over(outputs, noutputs, status, run) };
}
