//! `TF_Library`: libraries of ops that the program loads.

use std::ffi::{c_char, c_void};
use std::ptr;

use kernlink_library::host::{guarded, report, text};

use crate::abi::{TF_Buffer, TF_Library, TF_Status};
use crate::lists::op_list;
use crate::pointer::{borrow, free, into_c, opaque};
use crate::program::takes_registrations;

opaque! {
    TF_Library => CLibrary, "library";
}

/// What is behind a `TF_Library`: its ops as a serialized OpList. The library itself stays loaded.
pub(crate) struct CLibrary {
    ops: Vec<u8>,
}

/// Loads a library of ops into the program: one in C against `kernels.h` and `ops.h`, or one in Rust. It stays loaded; the caller deletes what
/// is returned. Null on failure. Libraries that it needs itself are looked for as for every library: in LD_LIBRARY_PATH, and in its rpath.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_LoadLibrary(library_filename: *const c_char, status: *mut TF_Status) -> *mut TF_Library {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, ptr::null_mut(), || {
            takes_registrations();
            let library = kernlink::load_op_library(text("the library's file", library_filename)?)?;
            Ok(into_c(CLibrary { ops: op_list(library.ops())? }))
        })
    }
}

/// The ops of a library as a serialized OpList, which belongs to the library. Empty for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GetOpList(lib_handle: *mut TF_Library) -> TF_Buffer {
    // SAFETY: as said in `pointer`.
    let ops = unsafe { borrow(lib_handle.cast_const()) }.map_or(&[][..], |library| &library.ops);
    TF_Buffer { data: ops.as_ptr().cast::<c_void>(), length: ops.len(), data_deallocator: None }
}

/// Frees what [`TF_LoadLibrary`] returned; the library stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeleteLibraryHandle(lib_handle: *mut TF_Library) {
    // SAFETY: as said in `pointer`.
    guarded((), || unsafe { free(lib_handle) });
}
