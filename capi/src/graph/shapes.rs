//! What is known of the shapes of a graph's outputs, and the graph as messages.

use std::ffi::{c_char, c_int};

use kernlink::proto::{Message as _, encoded, op_to_proto};
use kernlink::shape::PartialShape;
use kernlink::{Error, Result};
use kernlink_library::host::{fill, report, text};

use super::description::unknown_op;
use super::output_in;
use crate::abi::{TF_Buffer, TF_Graph, TF_Output, TF_Status};
use crate::pointer::{borrow, slice_mut};
use crate::values::partial_shape;

/// Adds what the caller knows of an output's shape: -1 for sizes, and for a rank, that are not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphSetTensorShape(
    graph: *mut TF_Graph,
    output: TF_Output,
    dims: *const i64,
    num_dims: c_int,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let (graph, shape) = (borrow(graph.cast_const())?, partial_shape(dims, num_dims)?);
            graph.change(|state| {
                let output = output_in(graph, state, output)?;
                state.set_shape(output, &shape)
            })
        });
    }
}

/// What is known of an output's shape.
///
/// # Safety
/// As said in `pointer`.
unsafe fn shape_of(graph: *mut TF_Graph, output: TF_Output) -> Result<PartialShape> {
    // SAFETY: as the caller says.
    unsafe {
        let graph = borrow(graph.cast_const())?;
        let state = graph.read();
        let output = output_in(graph, &state.graph, output)?;
        Ok(state.graph.shape(output).clone())
    }
}

/// The rank of an output; -1 if it is not known, and on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphGetTensorNumDims(
    graph: *mut TF_Graph,
    output: TF_Output,
    status: *mut TF_Status,
) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, -1, || Ok(shape_of(graph, output)?.rank().map_or(-1, |rank| rank as c_int))) }
}

/// The sizes of an output, of which `num_dims` must be the rank: -1 for those that are not known. Of a rank that is not known
/// nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphGetTensorShape(
    graph: *mut TF_Graph,
    output: TF_Output,
    dims: *mut i64,
    num_dims: c_int,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let shape = shape_of(graph, output)?;
            let Some(sizes) = shape.dims() else { return Ok(()) };
            if usize::try_from(num_dims) != Ok(sizes.len()) {
                return Err(Error::invalid_argument(format!(
                    "Expected rank is {num_dims} but actual rank is {}",
                    sizes.len()
                )));
            }
            write_dims(slice_mut("dims", dims, num_dims)?, sizes);
            Ok(())
        });
    }
}

/// Writes sizes as C has them.
pub(crate) fn write_dims(places: &mut [i64], sizes: &[Option<usize>]) {
    for (place, size) in places.iter_mut().zip(sizes) {
        *place = size.map_or(-1, |size| size as i64);
    }
}

/// The graph as a serialized GraphDef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphToGraphDef(
    graph: *mut TF_Graph,
    output_graph_def: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let def = borrow(graph.cast_const())?.read().graph.to_def()?;
            fill(output_graph_def, encoded(&def)?)
        });
    }
}

/// The versions of the graph as a serialized VersionDef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphVersions(
    graph: *mut TF_Graph,
    output_version_def: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let versions = borrow(graph.cast_const())?.read().graph.versions().encode_to_vec();
            fill(output_version_def, versions)
        });
    }
}

/// The declaration of an op, or the signature of a function of the graph, as a serialized OpDef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphGetOpDef(
    graph: *mut TF_Graph,
    op_name: *const c_char,
    output_op_def: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let (graph, name) = (borrow(graph.cast_const())?, text("the op", op_name)?);
            let state = graph.read();
            let def = match state.graph.registry().find_op(name) {
                Some(op) => op_to_proto(op.def)?,
                None => state
                    .graph
                    .function_def(name)
                    .and_then(|function| function.signature.clone())
                    .ok_or_else(|| Error::not_found(unknown_op(&state.graph, name).message().to_owned()))?,
            };
            fill(output_op_def, encoded(&def)?)
        });
    }
}
