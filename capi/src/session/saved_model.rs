//! Sessions of SavedModels.

use std::ffi::{c_char, c_int};
use std::path::Path;
use std::ptr;

use kernlink::formats::{LoadOptions, SavedModel, choose_meta_graph, read_saved_model_folder};
use kernlink::graph::Graph;
use kernlink::{Error, Result};
use kernlink_library::host::{fill, report, text};
use prost::Message;

use super::run::parse_options;
use super::state::CSession;
use crate::abi::{TF_Buffer, TF_Graph, TF_Session, TF_SessionOptions, TF_Status};
use crate::pointer::{borrow, share_with_c, shared, slice};
use crate::program::registry;

/// A session of the graph in a SavedModel's folder that has these tags, all of them: its variables are restored and its
/// initialiser has run. Fills the graph, which must be empty, and `meta_graph_def`, unless that is null, with the MetaGraphDef.
/// Of `run_options` nothing counts. Null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_LoadSessionFromSavedModel(
    session_options: *const TF_SessionOptions,
    run_options: *const TF_Buffer,
    export_dir: *const c_char,
    tags: *const *const c_char,
    tags_len: c_int,
    graph: *mut TF_Graph,
    meta_graph_def: *mut TF_Buffer,
    status: *mut TF_Status,
) -> *mut TF_Session {
    // SAFETY: as said in `pointer`.
    let load = || unsafe {
        let (options, graph) = (borrow(session_options)?, shared(graph)?);
        let folder = Path::new(text("the folder", export_dir)?);
        let tags = slice("tags", tags, tags_len)?.iter().map(|&tag| Ok(text("a tag", tag)?.to_owned()));
        let tags = tags.collect::<Result<Vec<String>>>()?;
        if !run_options.is_null() {
            parse_options(run_options)?;
        }
        if meta_graph_def.as_ref().is_some_and(|buffer| !buffer.data.is_null()) {
            return Err(Error::invalid_argument("Passing non-empty TF_Buffer is invalid."));
        }
        let check_empty = |graph: &Graph| match graph.nodes().is_empty() && graph.num_functions() == 0 {
            true => Ok(()),
            false => Err(Error::invalid_argument("Graph is non-empty.")),
        };
        check_empty(&graph.read().graph)?;
        let def = choose_meta_graph(read_saved_model_folder(folder)?, Some(&tags))?;
        let bytes = (!meta_graph_def.is_null()).then(|| def.encode_to_vec());
        let load = LoadOptions::new().session(options.session()?).variables_may_be_missing();
        let session = SavedModel::start(folder, def, &registry()?, &load)?.into_session();
        graph.change(|empty| {
            check_empty(empty)?;
            *empty = session.graph().clone();
            Ok(())
        })?;
        if let Some(bytes) = bytes {
            fill(meta_graph_def, bytes)?;
        }
        Ok(share_with_c(CSession::of(graph, session, options)))
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), load) }
}
