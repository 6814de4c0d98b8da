//! `TF_Buffer`: bytes on their way between the sides.

use std::ffi::c_void;
use std::ptr;

use kernlink_framework::{Error, Result};

use super::guarded;
use crate::abi::TF_Buffer;

/// Frees what [`buffer_of`] made.
unsafe extern "C" fn free_bytes(data: *mut c_void, length: usize) {
    // SAFETY: `leaked` made the pointer from a boxed slice of this length.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(data.cast::<u8>(), length)) });
}

/// Fills in bytes. What `buffer` held is not freed.
fn hold(buffer: &mut TF_Buffer, bytes: Vec<u8>) {
    let bytes = bytes.into_boxed_slice();
    buffer.length = bytes.len();
    buffer.data = Box::into_raw(bytes).cast::<c_void>();
    buffer.data_deallocator = Some(free_bytes);
}

/// A buffer of these bytes, for the caller to delete.
pub fn buffer_of(bytes: Vec<u8>) -> *mut TF_Buffer {
    let mut buffer = TF_Buffer { data: ptr::null(), length: 0, data_deallocator: None };
    hold(&mut buffer, bytes);
    Box::into_raw(Box::new(buffer))
}

/// Puts bytes into a caller's buffer, which must be empty.
///
/// # Safety
/// The pointer is null or a buffer that nothing else uses meanwhile.
///
/// # Errors
/// INVALID_ARGUMENT for null, and for a buffer that holds something.
#[track_caller]
pub unsafe fn fill(buffer: *mut TF_Buffer, bytes: Vec<u8>) -> Result<()> {
    // SAFETY: as the caller says.
    let Some(buffer) = (unsafe { buffer.as_mut() }) else {
        return Err(Error::invalid_argument("the buffer is a null pointer"));
    };
    if !buffer.data.is_null() {
        return Err(Error::invalid_argument("Passing non-empty TF_Buffer is invalid."));
    }
    hold(buffer, bytes);
    Ok(())
}

/// The bytes of a caller's buffer.
///
/// # Safety
/// The pointer is null or a buffer whose bytes are there until the result is dropped.
///
/// # Errors
/// INVALID_ARGUMENT, naming `what`, for null, and for a length without bytes.
#[track_caller]
pub unsafe fn bytes_of<'a>(what: &str, buffer: *const TF_Buffer) -> Result<&'a [u8]> {
    // SAFETY: as the caller says.
    match unsafe { buffer.as_ref() } {
        None => Err(Error::invalid_argument(format!("{what} is a null pointer"))),
        Some(buffer) if buffer.length == 0 => Ok(&[]),
        Some(buffer) if buffer.data.is_null() => Err(Error::invalid_argument(format!(
            "{what} is to have {} bytes, and its data is a null pointer",
            buffer.length
        ))),
        // SAFETY: as the caller says.
        Some(buffer) => Ok(unsafe { std::slice::from_raw_parts(buffer.data.cast(), buffer.length) }),
    }
}

/// An empty buffer.
pub unsafe extern "C" fn TF_NewBuffer() -> *mut TF_Buffer {
    guarded(ptr::null_mut(), || {
        Box::into_raw(Box::new(TF_Buffer { data: ptr::null(), length: 0, data_deallocator: None }))
    })
}

/// A buffer with a copy of bytes.
pub unsafe extern "C" fn TF_NewBufferFromString(data: *const c_void, length: usize) -> *mut TF_Buffer {
    let copied = TF_Buffer { data, length, data_deallocator: None };
    guarded(ptr::null_mut(), || {
        // SAFETY: as said in `host`.
        buffer_of(unsafe { bytes_of("the text", &raw const copied) }.map(<[u8]>::to_vec).unwrap_or_default())
    })
}

/// Frees a buffer and, by its own function, its bytes.
pub unsafe extern "C" fn TF_DeleteBuffer(buffer: *mut TF_Buffer) {
    if buffer.is_null() {
        return;
    }
    // SAFETY: it came from one of these functions, and is freed once.
    let buffer = unsafe { Box::from_raw(buffer) };
    if let Some(free) = buffer.data_deallocator {
        // SAFETY: who set the bytes set what frees them.
        unsafe { free(buffer.data.cast_mut(), buffer.length) };
    }
}

/// The struct itself, by value.
pub unsafe extern "C" fn TF_GetBuffer(buffer: *mut TF_Buffer) -> TF_Buffer {
    // SAFETY: as said in `host`.
    match unsafe { buffer.as_ref() } {
        Some(buffer) => {
            TF_Buffer { data: buffer.data, length: buffer.length, data_deallocator: buffer.data_deallocator }
        }
        None => TF_Buffer { data: ptr::null(), length: 0, data_deallocator: None },
    }
}
