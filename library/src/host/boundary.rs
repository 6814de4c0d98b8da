//! What every function of the C API does at its edges: panics are caught, errors go into the caller's status, texts are read.

use std::ffi::{CStr, c_char};

use kernlink_framework::error::catch_panic;
use kernlink_framework::{Error, Result};

use super::Status;
use crate::abi::TF_Status;

/// Runs `body`; if it fails or panics, `status` says why and `otherwise` is returned. A null status is told nothing.
///
/// # Safety
/// `status` is null or a status that nothing else uses meanwhile.
#[inline]
pub unsafe fn report<R>(status: *mut TF_Status, otherwise: R, body: impl FnOnce() -> Result<R>) -> R {
    match catch_panic("the call", body) {
        Ok(done) => {
            // SAFETY: as the caller says.
            unsafe { Status::set(status, Ok(())) };
            done
        }
        Err(error) => {
            // SAFETY: as the caller says.
            unsafe { Status::set(status, Err(&error)) };
            otherwise
        }
    }
}

/// Runs `body`, which has no way to say what failed: `otherwise` is returned then.
#[inline]
pub fn guarded<R>(otherwise: R, body: impl FnOnce() -> R) -> R {
    catch_panic("the call", || Ok(body())).unwrap_or(otherwise)
}

/// The text behind a pointer; bytes that are no UTF-8 are an error, since nothing that it could name has such a name.
///
/// # Safety
/// The pointer is null, or leads to bytes that end with a zero and stay until the text is dropped.
///
/// # Errors
/// INVALID_ARGUMENT, naming `what`, for null and for what is no UTF-8.
#[track_caller]
pub unsafe fn text<'a>(what: &str, pointer: *const c_char) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(Error::invalid_argument(format!("{what} is a null pointer")));
    }
    // SAFETY: not null, and the caller says the rest.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    bytes
        .to_str()
        .map_err(|_| Error::invalid_argument(format!("{what} is no UTF-8: \"{}\"", bytes.to_bytes().escape_ascii())))
}
