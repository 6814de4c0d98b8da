//! Objects behind pointers: how a value of Rust becomes an opaque pointer of C's, is borrowed, and is freed.
//!
//! Every function of this crate may be called with null pointers, and otherwise with pointers that a function of this crate
//! returned and that were not freed since; texts end with a zero; arrays have as many elements as the call says.

use std::ffi::{CString, c_char};
use std::sync::Arc;

use kernlink::{Error, Result};
use kernlink_library::host::text;

/// A type of C's with nothing in it but what is behind it in Rust.
pub(crate) trait Opaque {
    /// What is behind a pointer to it.
    type Behind;
    /// What messages call it.
    const NAME: &'static str;
}

/// Says what is behind types of C's.
macro_rules! opaque {
    ($($type:ty => $behind:ty, $name:literal;)*) => {
        $(impl $crate::pointer::Opaque for $type {
            type Behind = $behind;
            const NAME: &'static str = $name;
        })*
    };
}
pub(crate) use opaque;

#[track_caller]
fn null<C: Opaque>() -> Error {
    Error::invalid_argument(format!("the {} is a null pointer", C::NAME))
}

/// The pointer for C, which frees it by the function that calls [`free`].
pub(crate) fn into_c<C: Opaque>(behind: C::Behind) -> *mut C {
    Box::into_raw(Box::new(behind)).cast()
}

/// What is behind a pointer.
///
/// # Safety
/// The pointer is null or came from [`into_c`], or is one to a `C::Behind` that lives, and nothing changes it meanwhile.
///
/// # Errors
/// INVALID_ARGUMENT for null.
#[track_caller]
pub(crate) unsafe fn borrow<'a, C: Opaque>(pointer: *const C) -> Result<&'a C::Behind> {
    // SAFETY: as the caller says.
    unsafe { pointer.cast::<C::Behind>().as_ref() }.ok_or_else(null::<C>)
}

/// The same, to change it.
///
/// # Safety
/// As [`borrow`], and nothing else uses it meanwhile.
///
/// # Errors
/// INVALID_ARGUMENT for null.
#[track_caller]
pub(crate) unsafe fn borrow_mut<'a, C: Opaque>(pointer: *mut C) -> Result<&'a mut C::Behind> {
    // SAFETY: as the caller says.
    unsafe { pointer.cast::<C::Behind>().as_mut() }.ok_or_else(null::<C>)
}

/// Takes back what [`into_c`] gave.
///
/// # Safety
/// The pointer is null or came from [`into_c`], and is not used again.
///
/// # Errors
/// INVALID_ARGUMENT for null.
#[track_caller]
pub(crate) unsafe fn take<C: Opaque>(pointer: *mut C) -> Result<C::Behind> {
    if pointer.is_null() {
        return Err(null::<C>());
    }
    // SAFETY: as the caller says.
    Ok(*unsafe { Box::from_raw(pointer.cast::<C::Behind>()) })
}

/// Frees what [`into_c`] gave; null is nothing.
///
/// # Safety
/// As [`take`].
pub(crate) unsafe fn free<C: Opaque>(pointer: *mut C) {
    kernlink_library::host::guarded((), || {
        // SAFETY: as the caller says.
        drop(unsafe { take(pointer) });
    });
}

/// A shared value as a pointer, of which each holder has one: the pointer is that of the value itself.
pub(crate) fn share_with_c<C: Opaque>(behind: Arc<C::Behind>) -> *mut C {
    Arc::into_raw(behind).cast_mut().cast()
}

/// Another holder of a shared value.
///
/// # Safety
/// The pointer is null or came from [`share_with_c`], and its holder has not given it up.
///
/// # Errors
/// INVALID_ARGUMENT for null.
#[track_caller]
pub(crate) unsafe fn shared<C: Opaque>(pointer: *mut C) -> Result<Arc<C::Behind>> {
    if pointer.is_null() {
        return Err(null::<C>());
    }
    let pointer = pointer.cast::<C::Behind>().cast_const();
    // SAFETY: it came from `Arc::into_raw` and still counts, as the caller says.
    unsafe {
        Arc::increment_strong_count(pointer);
        Ok(Arc::from_raw(pointer))
    }
}

/// Gives up a shared value; null is nothing.
///
/// # Safety
/// The pointer is null or came from [`share_with_c`], and its holder does not use it again.
pub(crate) unsafe fn release<C: Opaque>(pointer: *mut C) {
    if !pointer.is_null() {
        // SAFETY: as the caller says.
        let behind = unsafe { Arc::from_raw(pointer.cast::<C::Behind>().cast_const()) };
        kernlink_library::host::guarded((), || drop(behind));
    }
}

/// The number of elements of an array.
#[track_caller]
fn length_of<T>(what: &str, count: impl TryInto<usize>) -> Result<usize> {
    match count.try_into() {
        Ok(count) if count <= isize::MAX as usize / size_of::<T>().max(1) => Ok(count),
        Ok(count) => Err(Error::invalid_argument(format!("there cannot be {count} elements of {what}"))),
        Err(_) => Err(Error::invalid_argument(format!("the number of {what} is negative"))),
    }
}

/// The elements of an array of C's. None may be null.
///
/// # Safety
/// `first` is null, or from there on are `count` elements that nothing changes meanwhile.
///
/// # Errors
/// INVALID_ARGUMENT, naming `what`, for a count that is negative or larger than memory, and for null with elements.
#[track_caller]
pub(crate) unsafe fn slice<'a, T>(what: &str, first: *const T, count: impl TryInto<usize>) -> Result<&'a [T]> {
    let count = length_of::<T>(what, count)?;
    match (count, first.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(Error::invalid_argument(format!("{what} is a null pointer, with {count} elements"))),
        // SAFETY: as the caller says.
        (_, false) => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}

/// The same, to be written.
///
/// # Safety
/// As [`slice`], and nothing else uses the elements meanwhile.
///
/// # Errors
/// As [`slice`].
#[track_caller]
pub(crate) unsafe fn slice_mut<'a, T>(what: &str, first: *mut T, count: impl TryInto<usize>) -> Result<&'a mut [T]> {
    let count = length_of::<T>(what, count)?;
    match (count, first.is_null()) {
        (0, _) => Ok(&mut []),
        (_, true) => Err(Error::invalid_argument(format!("{what} is a null pointer, with {count} elements"))),
        // SAFETY: as the caller says.
        (_, false) => Ok(unsafe { std::slice::from_raw_parts_mut(first, count) }),
    }
}

/// The texts of an array of C's.
///
/// # Safety
/// As [`slice`] and [`text`].
///
/// # Errors
/// As [`slice`] and [`text`].
pub(crate) unsafe fn texts<'a>(
    what: &str,
    first: *const *const c_char,
    count: impl TryInto<usize>,
) -> Result<Vec<&'a str>> {
    // SAFETY: as the caller says.
    let pointers = unsafe { slice(what, first, count) }?;
    // SAFETY: as the caller says.
    pointers.iter().map(|&pointer| unsafe { text(what, pointer) }).collect()
}

/// Writes a result through a pointer, unless that is null.
///
/// # Safety
/// The pointer is null or may be written.
pub(crate) unsafe fn put<T>(pointer: *mut T, value: T) {
    if !pointer.is_null() {
        // SAFETY: as the caller says.
        unsafe { pointer.write(value) };
    }
}

/// A text for C, without the zeros that would end it early.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// The bytes of a text of C's with its length, which need not end with a zero.
///
/// # Safety
/// As [`slice`].
///
/// # Errors
/// As [`slice`].
#[track_caller]
pub(crate) unsafe fn bytes<'a>(what: &str, first: *const c_char, length: usize) -> Result<&'a [u8]> {
    // SAFETY: as the caller says.
    unsafe { slice(what, first.cast::<u8>(), length) }
}
