//! Calls that end with a status, whose failures become values.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::ffi::CStr;

use kernlink_library::abi::{TF_Buffer, TF_Code, TF_Status};
use kernlink_library::host::{
    TF_DeleteBuffer, TF_DeleteStatus, TF_GetCode, TF_Message, TF_NewBuffer, TF_NewStatus, TF_SetStatus, bytes_of,
};

/// What a failure says.
pub(crate) type Failure = (TF_Code, String);

pub(crate) const CANCELLED: TF_Code = 1;
pub(crate) const INVALID_ARGUMENT: TF_Code = 3;
pub(crate) const DEADLINE_EXCEEDED: TF_Code = 4;
pub(crate) const NOT_FOUND: TF_Code = 5;
pub(crate) const FAILED_PRECONDITION: TF_Code = 9;
pub(crate) const OUT_OF_RANGE: TF_Code = 11;
pub(crate) const UNIMPLEMENTED: TF_Code = 12;

/// Calls with a status that has an error at first, which calls overwrite.
pub(crate) fn checked<R>(call: impl FnOnce(*mut TF_Status) -> R) -> Result<R, Failure> {
    // SAFETY: the status is alive, and the message is copied.
    unsafe {
        let status = TF_NewStatus();
        TF_SetStatus(status, 2, c"from before".as_ptr());
        let result = call(status);
        let (code, message) = (TF_GetCode(status), CStr::from_ptr(TF_Message(status)).to_str().unwrap().to_owned());
        TF_DeleteStatus(status);
        if code == 0 { Ok(result) } else { Err((code, message)) }
    }
}

/// Expects a failure with this code, whose message has this in it.
#[track_caller]
pub(crate) fn fails<R>(result: Result<R, Failure>, code: TF_Code, part: &str) {
    match result {
        Ok(_) => panic!("it goes well, in place of: {part}"),
        Err((actual, message)) => {
            assert!(actual == code && message.contains(part), "{actual}: {message}, in place of {code}: {part}");
        }
    }
}

/// What a call writes into a buffer.
pub(crate) fn buffer(call: impl FnOnce(*mut TF_Buffer, *mut TF_Status)) -> Result<Vec<u8>, Failure> {
    // SAFETY: the buffer is alive until its bytes are copied.
    unsafe {
        let buffer = TF_NewBuffer();
        let result = checked(|status| call(buffer, status)).map(|()| bytes_of("the buffer", buffer).unwrap().to_vec());
        TF_DeleteBuffer(buffer);
        result
    }
}
