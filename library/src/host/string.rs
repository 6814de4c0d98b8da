//! The functions on `TF_TString`.

use std::ffi::c_char;
use std::ptr;

use super::guarded;
use crate::abi::{TF_TString, TF_TString_Type, string_data_pointer};

/// Makes the memory an empty string, whatever is in it.
pub unsafe extern "C" fn TF_StringInit(string: *mut TF_TString) {
    if !string.is_null() {
        // SAFETY: the caller's 24 bytes.
        unsafe { string.write(TF_TString::EMPTY) };
    }
}

/// Has the string hold a copy.
pub unsafe extern "C" fn TF_StringCopy(string: *mut TF_TString, bytes: *const c_char, length: usize) {
    guarded((), || {
        let bytes = match bytes.is_null() {
            true => &[][..],
            // SAFETY: the caller's bytes.
            false => unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) },
        };
        // SAFETY: the caller's string.
        if let Some(string) = unsafe { string.as_mut() } {
            string.assign(bytes);
        }
    });
}

/// Has the string show bytes that stay the caller's.
pub unsafe extern "C" fn TF_StringAssignView(string: *mut TF_TString, bytes: *const c_char, length: usize) {
    // SAFETY: the caller's string, and bytes that stay.
    unsafe {
        if let Some(string) = string.as_mut() {
            string.assign_view(bytes.cast(), if bytes.is_null() { 0 } else { length });
        }
    }
}

/// The first byte.
pub unsafe extern "C" fn TF_StringGetDataPointer(string: *const TF_TString) -> *const c_char {
    // SAFETY: the caller's string.
    unsafe { string.as_ref() }.map_or(ptr::null(), string_data_pointer)
}

/// 0 small, 1 large, 2 offset, 3 view.
pub unsafe extern "C" fn TF_StringGetType(string: *const TF_TString) -> TF_TString_Type {
    // SAFETY: the caller's string.
    unsafe { string.as_ref() }.map_or(0, TF_TString::kind_number)
}

/// The number of bytes.
pub unsafe extern "C" fn TF_StringGetSize(string: *const TF_TString) -> usize {
    // SAFETY: the caller's string.
    unsafe { string.as_ref() }.map_or(0, TF_TString::len)
}

/// How many bytes it can have where it is.
pub unsafe extern "C" fn TF_StringGetCapacity(string: *const TF_TString) -> usize {
    // SAFETY: the caller's string.
    unsafe { string.as_ref() }.map_or(0, TF_TString::capacity)
}

/// Frees what it has, and leaves an empty string.
pub unsafe extern "C" fn TF_StringDealloc(string: *mut TF_TString) {
    // SAFETY: the caller's string.
    if let Some(string) = unsafe { string.as_mut() } {
        string.clear();
    }
}
