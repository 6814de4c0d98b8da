//! `TF_Status`: the outcome of a call.

use std::ffi::{CStr, CString, c_char, c_int};

use kernlink_framework::{Code, Error, Result};

use super::guarded;
use super::words::in_c;
use crate::abi::{TF_Code, TF_Status};

/// What is behind a `TF_Status`.
#[derive(Default)]
pub struct Status {
    /// 0 is OK.
    code: TF_Code,
    message: CString,
}

impl Status {
    /// What is behind the pointer.
    ///
    /// # Safety
    /// The pointer is null or came from [`TF_NewStatus`], and nothing else uses the status meanwhile.
    pub unsafe fn from_c<'a>(status: *mut TF_Status) -> Option<&'a mut Status> {
        // SAFETY: as the caller says.
        unsafe { status.cast::<Status>().as_mut() }
    }

    /// Leaves an outcome in a status, unless that is null.
    ///
    /// # Safety
    /// As [`Status::from_c`].
    pub unsafe fn set(status: *mut TF_Status, outcome: std::result::Result<(), &Error>) {
        // SAFETY: as the caller says.
        let Some(status) = (unsafe { Status::from_c(status) }) else { return };
        match outcome {
            Ok(()) if status.code == 0 => {}
            Ok(()) => *status = Status::default(),
            Err(error) => *status = Status { code: error.code() as TF_Code, message: message_of(error) },
        }
    }

    /// Whether it is OK, or which error it is.
    ///
    /// # Errors
    /// Its own.
    #[track_caller]
    pub fn outcome(&self) -> Result<()> {
        match self.code {
            0 => Ok(()),
            code => Err(Error::new(code_of(code), self.message.to_string_lossy())),
        }
    }

    /// The same, of a pointer.
    ///
    /// # Safety
    /// As [`Status::from_c`].
    ///
    /// # Errors
    /// INVALID_ARGUMENT for null, and the status' own.
    #[track_caller]
    pub unsafe fn outcome_of(status: *mut TF_Status) -> Result<()> {
        // SAFETY: as the caller says.
        match unsafe { Status::from_c(status) } {
            Some(status) => status.outcome(),
            None => Err(Error::invalid_argument("a failure without a status")),
        }
    }
}

/// The code with a number that C gave.
pub(super) fn code_of(number: TF_Code) -> Code {
    Code::ALL.into_iter().find(|known| *known as TF_Code == number).unwrap_or(Code::Unknown)
}

/// The message in words for C, with the node as TensorFlow names it.
fn message_of(error: &Error) -> CString {
    let mut message = error.clone().in_words(in_c).message().to_owned();
    if let Some(node) = error.node() {
        message.push_str("\n\t [[{{node ");
        message.push_str(&node.node);
        message.push_str("}}]]");
    }
    // A zero would end it.
    message.retain(|character| character != '\0');
    CString::new(message).unwrap_or_default()
}

/// A status that is OK.
pub unsafe extern "C" fn TF_NewStatus() -> *mut TF_Status {
    guarded(std::ptr::null_mut(), || Box::into_raw(Box::<Status>::default()).cast())
}

/// Frees a status.
pub unsafe extern "C" fn TF_DeleteStatus(status: *mut TF_Status) {
    if !status.is_null() {
        // SAFETY: it came from `TF_NewStatus`, and is freed once.
        drop(unsafe { Box::from_raw(status.cast::<Status>()) });
    }
}

/// Sets code and message. An OK has no message.
pub unsafe extern "C" fn TF_SetStatus(status: *mut TF_Status, code: TF_Code, message: *const c_char) {
    guarded((), || {
        // SAFETY: as said in `host`.
        let Some(status) = (unsafe { Status::from_c(status) }) else { return };
        // The message may be the status' own.
        let message = match code {
            0 => CString::default(),
            _ if message.is_null() => CString::default(),
            // SAFETY: a text of the caller's.
            _ => unsafe { CStr::from_ptr(message) }.to_owned(),
        };
        *status = Status { code, message };
    });
}

/// Does nothing: payloads are not kept.
pub unsafe extern "C" fn TF_SetPayload(_: *mut TF_Status, _: *const c_char, _: *const c_char) {}

/// Sets a status from the operating system's error number, with `context: ` before what it says.
pub unsafe extern "C" fn TF_SetStatusFromIOError(status: *mut TF_Status, error: c_int, context: *const c_char) {
    guarded((), || {
        let context = match context.is_null() {
            true => Default::default(),
            // SAFETY: a text of the caller's.
            false => unsafe { CStr::from_ptr(context) }.to_string_lossy(),
        };
        let error = std::io::Error::from_raw_os_error(error);
        // Rust adds the number, TensorFlow does not.
        let said = error.to_string();
        let said = said.rsplit_once(" (os error").map_or(&*said, |(said, _)| said);
        let code = Error::from_io("", &error).code();
        // SAFETY: as said in `host`.
        unsafe { Status::set(status, Err(&Error::new(code, format!("{context}; {said}")))) };
    });
}

/// The code; 0 is OK. Of null it is INVALID_ARGUMENT.
pub unsafe extern "C" fn TF_GetCode(status: *const TF_Status) -> TF_Code {
    // SAFETY: as said in `host`.
    unsafe { status.cast::<Status>().as_ref() }.map_or(Code::InvalidArgument as TF_Code, |status| status.code)
}

/// The message, which stays until the status changes; empty for OK.
pub unsafe extern "C" fn TF_Message(status: *const TF_Status) -> *const c_char {
    // SAFETY: as said in `host`.
    unsafe { status.cast::<Status>().as_ref() }.map_or(c"".as_ptr(), |status| status.message.as_ptr())
}
