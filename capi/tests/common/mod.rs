//! Graphs as a client in C makes them, with failures as values.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::ffi::{CStr, CString, c_int};
use std::ptr;

use kernlink_capi::abi::*;
use kernlink_capi::graph::*;
use kernlink_library::host::{
    TF_DeleteBuffer, TF_DeleteStatus, TF_GetCode, TF_Message, TF_NewBuffer, TF_NewStatus, TF_SetStatus, bytes_of,
};

/// What a failure says.
pub(crate) type Failure = (u32, String);

pub(crate) const INVALID_ARGUMENT: u32 = 3;
pub(crate) const NOT_FOUND: u32 = 5;
pub(crate) const FLOAT: TF_DataType = 1;
pub(crate) const INT32: TF_DataType = 3;

/// Calls with a status that has an error at first, which calls overwrite.
pub(crate) fn checked<R>(call: impl FnOnce(*mut TF_Status) -> R) -> Result<R, Failure> {
    // SAFETY: the status is alive, and the message is copied.
    unsafe {
        let status = TF_NewStatus();
        TF_SetStatus(status, 2, c"from before".as_ptr());
        let result = call(status);
        let (code, message) = (TF_GetCode(status), CStr::from_ptr(TF_Message(status)).to_str().unwrap().to_owned());
        TF_DeleteStatus(status);
        if code == 0 { Ok(result) } else { Err((code as u32, message)) }
    }
}

/// Expects a failure with this code, whose message has this in it.
#[track_caller]
pub(crate) fn fails<R>(result: Result<R, Failure>, code: u32, part: &str) {
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

/// The first output of an operation.
pub(crate) fn first(oper: *mut TF_Operation) -> TF_Output {
    TF_Output { oper, index: 0 }
}

pub(crate) struct Graph(pub(crate) *mut TF_Graph);

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: it is this one's.
        unsafe { TF_DeleteGraph(self.0) };
    }
}

impl Graph {
    pub(crate) fn new() -> Graph {
        // SAFETY: there is nothing to ask of the caller.
        let graph = unsafe { TF_NewGraph() };
        assert!(!graph.is_null());
        Graph(graph)
    }

    /// Begins an operation.
    pub(crate) fn describe(&self, op: &str, name: &str) -> Description {
        let (op, name) = (CString::new(op).unwrap(), CString::new(name).unwrap());
        // SAFETY: the graph is alive.
        let description = unsafe { TF_NewOperation(self.0, op.as_ptr(), name.as_ptr()) };
        assert!(!description.is_null());
        Description(description)
    }

    /// An operation of these inputs, whose attrs follow from them.
    pub(crate) fn node(&self, op: &str, name: &str, inputs: &[TF_Output]) -> Result<*mut TF_Operation, Failure> {
        inputs.iter().fold(self.describe(op, name), |description, &input| description.input(input)).finish()
    }

    /// A placeholder; of any rank without dims.
    pub(crate) fn placeholder(&self, name: &str, dtype: TF_DataType, dims: Option<&[i64]>) -> *mut TF_Operation {
        let (first, rank) = dims.map_or((ptr::null(), -1), |dims| (dims.as_ptr(), dims.len() as c_int));
        // SAFETY: the description is alive.
        let placeholder = self.describe("Placeholder", name).with(|it| unsafe {
            TF_SetAttrType(it, c"dtype".as_ptr(), dtype);
            TF_SetAttrShape(it, c"shape".as_ptr(), first, rank);
        });
        placeholder.finish().unwrap()
    }
}

/// An operation that is being described.
pub(crate) struct Description(*mut TF_OperationDescription);

impl Description {
    /// Describes something of it.
    pub(crate) fn with(self, part: impl FnOnce(*mut TF_OperationDescription)) -> Description {
        part(self.0);
        self
    }

    pub(crate) fn input(self, input: TF_Output) -> Description {
        // SAFETY: the description is alive.
        self.with(|it| unsafe { TF_AddInput(it, input) })
    }

    /// Adds it to its graph. The operation is null just if that fails.
    pub(crate) fn finish(self) -> Result<*mut TF_Operation, Failure> {
        let mut made = ptr::null_mut();
        // SAFETY: the description is finished once.
        let result = checked(|status| made = unsafe { TF_FinishOperation(self.0, status) });
        assert_eq!(made.is_null(), result.is_err());
        result.map(|()| made)
    }
}
