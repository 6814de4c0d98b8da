//! Graphs that come from messages: import with all options.

mod options;
mod results;

pub use options::*;
pub use results::*;

use std::ptr;

use kernlink::graph::Imported;
use kernlink::proto::{GraphDef, Message as _};
use kernlink::{Error, Result};
use kernlink_library::host::{bytes_of, report};

use crate::abi::{TF_Buffer, TF_Graph, TF_ImportGraphDefOptions, TF_ImportGraphDefResults, TF_Output, TF_Status};
use crate::graph::CGraph;
use crate::pointer::{borrow, into_c, slice_mut};

/// Adds the nodes of a serialized GraphDef to a graph, and tells what came of them.
///
/// # Safety
/// As said in `pointer`.
unsafe fn import(
    graph: &CGraph,
    graph_def: *const TF_Buffer,
    options: *const TF_ImportGraphDefOptions,
) -> Result<Imported> {
    // SAFETY: as the caller says.
    let (bytes, options) = unsafe { (bytes_of("the graph", graph_def)?, borrow(options)?) };
    let def = GraphDef::decode(bytes).map_err(|_| Error::invalid_argument("Invalid GraphDef"))?;
    // SAFETY: as the caller says.
    graph.change(|state| state.import_into(def, &unsafe { options.of(graph, state) }?))
}

/// Adds the nodes of a serialized GraphDef to a graph. A failure leaves the graph as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphImportGraphDef(
    graph: *mut TF_Graph,
    graph_def: *const TF_Buffer,
    options: *const TF_ImportGraphDefOptions,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), || import(borrow(graph.cast_const())?, graph_def, options).map(drop)) };
}

/// As [`TF_GraphImportGraphDef`], and writes the outputs that the options ask for, of which there must be `num_return_outputs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphImportGraphDefWithReturnOutputs(
    graph: *mut TF_Graph,
    graph_def: *const TF_Buffer,
    options: *const TF_ImportGraphDefOptions,
    return_outputs: *mut TF_Output,
    num_return_outputs: std::ffi::c_int,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let graph = borrow(graph.cast_const())?;
            let places = slice_mut("return outputs", return_outputs, num_return_outputs)?;
            let asked = borrow(options)?.num_return_outputs();
            if places.len() != asked {
                return Err(Error::invalid_argument(format!(
                    "Expected 'num_return_outputs' to be {asked}, got {}",
                    places.len()
                )));
            }
            let imported = import(graph, graph_def, options)?;
            let state = graph.read();
            for (place, output) in places.iter_mut().zip(imported.outputs) {
                *place = state.output_to_c(output);
            }
            Ok(())
        });
    }
}

/// As [`TF_GraphImportGraphDef`]; returns what the options ask for, for the caller to delete. Null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphImportGraphDefWithResults(
    graph: *mut TF_Graph,
    graph_def: *const TF_Buffer,
    options: *const TF_ImportGraphDefOptions,
    status: *mut TF_Status,
) -> *mut TF_ImportGraphDefResults {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, ptr::null_mut(), || {
            let graph = borrow(graph.cast_const())?;
            let imported = import(graph, graph_def, options)?;
            Ok(into_c(Results::new(&graph.read(), imported)))
        })
    }
}
