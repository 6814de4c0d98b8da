//! Reading what C points to: null, counts and arrays are checked in one place.

use std::ffi::c_int;

use kernlink::{Error, Result};

/// What a pointer leads to.
///
/// # Safety
/// The pointer is null or leads to a `T` that nothing changes until the result is dropped.
///
/// # Errors
/// INVALID_ARGUMENT, naming `what`, for null.
#[track_caller]
pub(crate) unsafe fn get<'a, T>(what: &str, pointer: *const T) -> Result<&'a T> {
    // SAFETY: as the caller says.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// The same, to change.
///
/// # Safety
/// The pointer is null or leads to a `T` that nothing else uses until the result is dropped.
///
/// # Errors
/// INVALID_ARGUMENT, naming `what`, for null.
#[track_caller]
pub(crate) unsafe fn get_mut<'a, T>(what: &str, pointer: *mut T) -> Result<&'a mut T> {
    // SAFETY: as the caller says.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(what))
}

/// An array and its length.
///
/// # Safety
/// From `first` on are `count` elements that nothing changes until the result is dropped.
///
/// # Errors
/// INVALID_ARGUMENT, naming `what`, for a negative count, and for null unless there are no elements.
#[track_caller]
pub(crate) unsafe fn list<'a, T>(what: &str, first: *const T, count: c_int) -> Result<&'a [T]> {
    match usize::try_from(count) {
        Ok(0) => Ok(&[]),
        Ok(_) if first.is_null() => Err(null(what)),
        // SAFETY: as the caller says.
        Ok(count) => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
        Err(_) => Err(Error::invalid_argument(format!("there cannot be {count} {what}"))),
    }
}

/// An array for results, and how many have room in it.
///
/// # Safety
/// From `first` on is room for `count` elements, initialised or not, that nothing else uses until the result is dropped.
///
/// # Errors
/// As [`list`].
#[track_caller]
pub(crate) unsafe fn room<'a, T>(
    what: &str,
    first: *mut T,
    count: c_int,
) -> Result<&'a mut [std::mem::MaybeUninit<T>]> {
    match usize::try_from(count) {
        Ok(0) => Ok(&mut []),
        Ok(_) if first.is_null() => Err(null(what)),
        // SAFETY: as the caller says.
        Ok(count) => Ok(unsafe { std::slice::from_raw_parts_mut(first.cast(), count) }),
        Err(_) => Err(Error::invalid_argument(format!("there cannot be {count} {what}"))),
    }
}

/// Writes a result, unless the caller wants none.
///
/// # Safety
/// The pointer is null or leads to room for a `T`.
pub(crate) unsafe fn put<T>(pointer: *mut T, value: T) {
    if !pointer.is_null() {
        // SAFETY: as the caller says.
        unsafe { pointer.write(value) };
    }
}

#[track_caller]
fn null(what: &str) -> Error {
    Error::invalid_argument(format!("{what} is a null pointer"))
}
