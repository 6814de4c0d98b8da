//! What the program has: its version, its ops, its kernels.

use std::ffi::c_char;
use std::ptr;

use kernlink::Result;
use kernlink::kernel::KernelDef;
use kernlink::op::OpDef;
use kernlink::proto::{self, KernelList, Message as _, OpListOptions, encoded, op_list_to_proto};
use kernlink_library::host::{buffer_of, guarded, report, text};

use crate::abi::{TF_Buffer, TF_Status};
use crate::program::registry;

/// The version of TensorFlow whose C API this is, and whose results Kernlink's are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_Version() -> *const c_char {
    c"2.21.0".as_ptr()
}

/// All ops as a serialized OpList, for the caller to delete; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GetAllOpList() -> *mut TF_Buffer {
    guarded(ptr::null_mut(), || {
        let ops = || -> Result<Vec<u8>> {
            let registry = registry()?;
            op_list(registry.ops().map(|op| op.def))
        };
        ops().map_or(ptr::null_mut(), buffer_of)
    })
}

/// Ops as a serialized OpList, by their names.
pub(crate) fn op_list<'o>(ops: impl Iterator<Item = &'o OpDef>) -> Result<Vec<u8>> {
    encoded(&op_list_to_proto(ops, OpListOptions::default())?)
}

/// Kernels as a serialized KernelList.
fn kernel_list<'k>(kernels: impl IntoIterator<Item = &'k KernelDef>) -> Result<Vec<u8>> {
    let kernel = kernels.into_iter().map(proto::kernel_to_proto).collect::<Result<_>>()?;
    Ok(KernelList { kernel }.encode_to_vec())
}

/// All kernels as a serialized KernelList, for the caller to delete; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GetAllRegisteredKernels(status: *mut TF_Status) -> *mut TF_Buffer {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), || Ok(buffer_of(kernel_list(registry()?.kernels())?))) }
}

/// The kernels of an op as a serialized KernelList, for the caller to delete; an op that is not there has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GetRegisteredKernelsForOp(name: *const c_char, status: *mut TF_Status) -> *mut TF_Buffer {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, ptr::null_mut(), || Ok(buffer_of(kernel_list(registry()?.kernels_of(text("the op", name)?))?)))
    }
}
