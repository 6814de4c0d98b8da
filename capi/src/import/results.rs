//! `TF_ImportGraphDefResults`: what became of a message that was added to a graph.

use std::ffi::{CString, c_char, c_int};

use kernlink::graph::Imported;
use kernlink_library::host::guarded;

use crate::abi::{TF_ImportGraphDefResults, TF_Operation, TF_Output};
use crate::graph::GraphState;
use crate::pointer::{borrow_mut, c_text, free, opaque, put};

opaque! {
    TF_ImportGraphDefResults => Results, "import's results";
}

/// What is behind a `TF_ImportGraphDefResults`: the arrays that C is shown, which die with it.
pub(crate) struct Results {
    outputs: Vec<TF_Output>,
    operations: Vec<*mut TF_Operation>,
    /// The texts that `unused_names` points to.
    _names: Vec<CString>,
    unused_names: Vec<*const c_char>,
    unused_indices: Vec<c_int>,
}

impl Results {
    pub(crate) fn new(state: &GraphState, imported: Imported) -> Results {
        let unused = imported.missing_unused_inputs;
        let names: Vec<CString> = unused.iter().map(|(name, _)| c_text(name)).collect();
        Results {
            outputs: imported.outputs.into_iter().map(|output| state.output_to_c(output)).collect(),
            operations: imported.nodes.into_iter().map(|node| state.operation(node)).collect(),
            unused_names: names.iter().map(|name| name.as_ptr()).collect(),
            unused_indices: unused.iter().map(|(_, index)| *index as c_int).collect(),
            _names: names,
        }
    }
}

/// Shows an array and its length.
///
/// # Safety
/// As said in `pointer`.
unsafe fn show<T>(array: &mut [T], count: *mut c_int, first: *mut *mut T) {
    // SAFETY: as the caller says.
    unsafe {
        put(count, array.len() as c_int);
        put(first, array.as_mut_ptr());
    }
}

/// The outputs that the options asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_ImportGraphDefResultsReturnOutputs(
    results: *mut TF_ImportGraphDefResults,
    num_outputs: *mut c_int,
    outputs: *mut *mut TF_Output,
) {
    // SAFETY: as said in `pointer`.
    guarded((), || unsafe {
        if let Ok(results) = borrow_mut(results) {
            show(&mut results.outputs, num_outputs, outputs);
        }
    });
}

/// The operations that the options asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_ImportGraphDefResultsReturnOperations(
    results: *mut TF_ImportGraphDefResults,
    num_opers: *mut c_int,
    opers: *mut *mut *mut TF_Operation,
) {
    // SAFETY: as said in `pointer`.
    guarded((), || unsafe {
        if let Ok(results) = borrow_mut(results) {
            show(&mut results.operations, num_opers, opers);
        }
    });
}

/// The mappings of inputs that were not used, and that the message has not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_ImportGraphDefResultsMissingUnusedInputMappings(
    results: *mut TF_ImportGraphDefResults,
    num_missing_unused_input_mappings: *mut c_int,
    src_names: *mut *mut *const c_char,
    src_indexes: *mut *mut c_int,
) {
    // SAFETY: as said in `pointer`.
    guarded((), || unsafe {
        if let Ok(results) = borrow_mut(results) {
            show(&mut results.unused_names, num_missing_unused_input_mappings, src_names);
            show(&mut results.unused_indices, num_missing_unused_input_mappings, src_indexes);
        }
    });
}

/// Frees results, and the arrays that they showed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeleteImportGraphDefResults(results: *mut TF_ImportGraphDefResults) {
    // SAFETY: as said in `pointer`.
    unsafe { free(results) };
}
