//! `TF_DeprecatedSession`: a session whose graph belongs to it, grows by GraphDefs, and is run by names.

use std::collections::{HashMap, HashSet};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use kernlink::graph::{Graph, NodeBuilder, TensorName, name_ranges, node_attrs};
use kernlink::proto::{GraphDef, NodeDef};
use kernlink::{Error, Result};
use kernlink_library::host::{report, text};
use prost::Message;

use super::partial::leave_handle;
use super::prepared::Asked;
use super::run::{Given, empty_places, give};
use super::state::CSession;
use crate::abi::{TF_Buffer, TF_DeprecatedSession, TF_Operation, TF_Output, TF_SessionOptions, TF_Status, TF_Tensor};
use crate::graph::{CGraph, GraphState};
use crate::pointer::{borrow, bytes, opaque, release, share_with_c, slice};

opaque! {
    TF_DeprecatedSession => CSession, "session";
}

/// What is asked by names.
struct Named {
    feeds: Vec<TF_Output>,
    fetches: Vec<TF_Output>,
    targets: Vec<*const TF_Operation>,
}

/// An array of texts, as C passes it.
#[derive(Clone, Copy)]
struct Names(*const *const c_char, c_int);

impl Names {
    /// # Safety
    /// As [`slice`] and [`text`].
    ///
    /// # Errors
    /// As [`slice`] and [`text`].
    unsafe fn read<'a>(self, what: &str) -> Result<Vec<&'a str>> {
        // SAFETY: as the caller says.
        let names = unsafe { slice(what, self.0, self.1) }?;
        // SAFETY: as the caller says.
        names.iter().map(|&name| unsafe { text(what, name) }).collect()
    }
}

impl Named {
    /// Finds what names mean.
    ///
    /// # Safety
    /// As [`Names::read`].
    ///
    /// # Errors
    /// INVALID_ARGUMENT for an output of no node, and while there are no nodes; NOT_FOUND for a target that is none.
    unsafe fn find(session: &CSession, inputs: Names, outputs: Names, targets: Names) -> Result<Named> {
        session.check_open()?;
        let state = session.graph.read();
        if state.graph.nodes().is_empty() {
            return Err(Error::invalid_argument("Session was not created with a graph before Run()!"));
        }
        let find_all = |names: Vec<&str>| names.into_iter().map(|name| output_of(&state, name)).collect::<Result<_>>();
        let target = |name: &str| {
            let operation = state.graph.find(name).map(|id| state.operation(id).cast_const());
            operation.ok_or_else(|| Error::not_found(format!("PruneForTargets: Some target nodes not found: {name}")))
        };
        // SAFETY: as the caller says.
        unsafe {
            Ok(Named {
                feeds: find_all(inputs.read("the name of an input")?)?,
                fetches: find_all(outputs.read("the name of an output")?)?,
                targets: targets.read("the name of a target")?.into_iter().map(target).collect::<Result<_>>()?,
            })
        }
    }

    fn asked(&self) -> Asked<'_> {
        Asked { feeds: &self.feeds, fetches: &self.fetches, targets: &self.targets }
    }
}

/// The output that `node` or `node:1` names.
fn output_of(state: &GraphState, name: &str) -> Result<TF_Output> {
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

/// Adds the nodes of a message to a graph.
///
/// # Errors
/// INVALID_ARGUMENT if the graph has a node of the message already; as [`Graph::import`]; UNIMPLEMENTED for functions and loops of
/// TensorFlow 1 in another message than the first.
fn extend(graph: &CGraph, def: &GraphDef) -> Result<()> {
    graph.change(|graph| {
        if let Some(known) = def.node.iter().find(|node| graph.find(&node.name).is_some()) {
            return Err(Error::invalid_argument(format!(
                "GraphDef argument to Extend includes node '{}', which was created by a previous call to Create or Extend in \
                 this session.",
                known.name
            )));
        }
        if graph.nodes().is_empty() {
            *graph = Graph::import(def, graph.registry())?;
            return Ok(());
        }
        if def.library.as_ref().is_some_and(|library| !library.function.is_empty()) {
            return Err(Error::unimplemented("TF_ExtendGraph adds functions only with the first nodes of a session"));
        }
        // Nothing is added if something is wrong.
        let mut extended = graph.clone();
        in_order(def)?.into_iter().try_for_each(|node| add(&mut extended, node))?;
        in_order(def)?.into_iter().try_for_each(|node| add(graph, node))
    })
}

/// The name of the node that an input names.
fn source(input: &str) -> Result<&str> {
    match input.strip_prefix('^') {
        Some(control) => Ok(control),
        None => Ok(TensorName::parse(input)?.node),
    }
}

/// The nodes of a message, inputs before what takes them.
fn in_order(def: &GraphDef) -> Result<Vec<&NodeDef>> {
    let places: HashMap<&str, usize> = def.node.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
    let (mut ordered, mut open, mut done) = (Vec::with_capacity(def.node.len()), HashSet::new(), HashSet::new());
    for first in 0..def.node.len() {
        // A node is looked at twice: before its inputs, and after them.
        let mut stack = vec![first];
        while let Some(&at) = stack.last() {
            let node = &def.node[at];
            if done.contains(&at) || !open.insert(at) {
                stack.pop();
                if done.insert(at) {
                    ordered.push(node);
                }
                continue;
            }
            for input in &node.input {
                match places.get(source(input)?) {
                    Some(before) if open.contains(before) && !done.contains(before) => {
                        return Err(Error::unimplemented(format!(
                            "TF_ExtendGraph adds loops only with the first nodes of a session: `{}` is in one",
                            node.name
                        )));
                    }
                    Some(before) => stack.push(*before),
                    None => {}
                }
            }
        }
    }
    Ok(ordered)
}

/// Adds a node, whose inputs are there.
pub(super) fn add(graph: &mut Graph, node: &NodeDef) -> Result<()> {
    let op = graph.registry().op(&node.op)?.def;
    let ranges = name_ranges(node, op)?;
    let (mut inputs, mut controls) = (Vec::new(), Vec::new());
    for input in &node.input {
        match input.strip_prefix('^') {
            Some(control) => controls.push(graph.find_or_suggest(control)?),
            None => inputs.push(graph.output(input)?),
        }
    }
    let attrs = node_attrs(node, op)?;
    let mut builder = NodeBuilder::new(graph, op);
    builder.name(&node.name).device(&node.device);
    for arg in &*op.inputs {
        let range = ranges.inputs.get(&*arg.name).cloned().unwrap_or_default();
        let given = inputs.get(range).ok_or_else(|| {
            Error::invalid_argument(format!("node '{}' has too few inputs for op {}", node.name, node.op))
        })?;
        match given {
            [one] if !arg.is_list() => builder.input(*one),
            several => builder.input_list(several.iter().copied()),
        };
    }
    for (name, value) in attrs.iter().filter(|(name, _)| op.attr(name).is_some() || name.starts_with('_')) {
        builder.attr(name, value.clone());
    }
    for control in controls {
        builder.control_input(control);
    }
    builder.build().map(drop)
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
        extend(&session.graph, &def)
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
        let places = empty_places(outputs, noutputs)?;
        let session = borrow(session)?;
        let (names, targets) = (Names(input_names, ninputs), Names(target_oper_names, ntargets));
        let named = Named::find(session, names, Names(output_names, noutputs), targets)?;
        let values = slice("inputs", inputs, ninputs)?;
        let given = Given { options: run_options, values, metadata: run_metadata };
        give(session.run(&named.asked(), &given)?, places)
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), run) };
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
        let (names, targets) = (Names(input_names, ninputs), Names(target_oper_names, ntargets));
        let named = Named::find(session, names, Names(output_names, noutputs), targets)?;
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
        let places = empty_places(outputs, noutputs)?;
        let session = borrow(session)?;
        let (inputs_named, outputs_named) = (Names(input_names, ninputs), Names(output_names, noutputs));
        let named = Named::find(session, inputs_named, outputs_named, Names(ptr::null(), 0))?;
        let values = slice("inputs", inputs, ninputs)?;
        give(session.go_on(text("the handle", handle)?, &named.asked(), values)?, places)
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), run) };
}
