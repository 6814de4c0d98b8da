//! Functions of which TensorFlow's are called with the graph's lock held. No caller can hold that of a graph here: they take it,
//! as the others do.

use std::ffi::c_char;

use super::description::{TF_FinishOperation, TF_NewOperation};
use crate::abi::{TF_Graph, TF_Operation, TF_OperationDescription, TF_Status};

/// As [`TF_NewOperation`]; null for the same reasons.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_NewOperationLocked(
    graph: *mut TF_Graph,
    op_type: *const c_char,
    oper_name: *const c_char,
) -> *mut TF_OperationDescription {
    // SAFETY: as said in `pointer`.
    unsafe { TF_NewOperation(graph, op_type, oper_name) }
}

/// As [`TF_FinishOperation`]; the description is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_FinishOperationLocked(
    desc: *mut TF_OperationDescription,
    status: *mut TF_Status,
) -> *mut TF_Operation {
    // SAFETY: as said in `pointer`.
    unsafe { TF_FinishOperation(desc, status) }
}
