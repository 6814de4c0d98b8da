//! `TF_Status` as the library uses it.

use std::ffi::{CStr, CString};

use kernlink_framework::{Code, Error, Result};

use super::functions::Host;
use crate::abi::{TF_Code, TF_Status};

/// A status of the host's.
pub(super) struct Status {
    host: &'static Host,
    status: *mut TF_Status,
}

impl Status {
    pub(super) fn new(host: &'static Host) -> Status {
        // SAFETY: it takes nothing.
        Status { host, status: unsafe { (host.TF_NewStatus)() } }
    }

    /// Runs a call that reports to the status.
    #[track_caller]
    pub(super) fn check<R>(&self, call: impl FnOnce(*mut TF_Status) -> R) -> Result<R> {
        let result = call(self.status);
        // SAFETY: the status lives as long as this.
        let code = unsafe { (self.host.TF_GetCode)(self.status) };
        if code == 0 { Ok(result) } else { Err(self.error(code)) }
    }

    /// The error that it holds, which it forgets.
    #[cold]
    #[track_caller]
    fn error(&self, code: TF_Code) -> Error {
        // SAFETY: the message stays until the status changes.
        let message = unsafe { CStr::from_ptr((self.host.TF_Message)(self.status)) }.to_string_lossy().into_owned();
        // SAFETY: as above.
        unsafe { (self.host.TF_SetStatus)(self.status, 0, c"".as_ptr()) };
        let code = Code::ALL.into_iter().find(|known| *known as TF_Code == code).unwrap_or(Code::Unknown);
        Error::new(code, message)
    }

    /// The status, to hand on with this error.
    pub(super) fn with(&self, error: &Error) -> *mut TF_Status {
        // SAFETY: the status lives as long as this.
        unsafe { set(self.host, self.status, error) };
        self.status
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        // SAFETY: made by the host, deleted once.
        unsafe { (self.host.TF_DeleteStatus)(self.status) };
    }
}

/// Leaves an error in a status.
///
/// # Safety
/// It is a status of the host's.
pub(super) unsafe fn set(host: &Host, status: *mut TF_Status, error: &Error) {
    let message = text(error.message());
    // SAFETY: as the caller says; the host copies the message.
    unsafe { (host.TF_SetStatus)(status, error.code() as TF_Code, message.as_ptr()) };
}

/// A text for C, which cannot hold zeros.
pub(super) fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}
