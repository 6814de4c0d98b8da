//! Functions that Kernlink does not have say so by name, and those that are others under another name do as those.

use std::ffi::{CStr, c_int};
use std::ptr;

use kernlink_capi::abi::*;
use kernlink_capi::absent::*;
use kernlink_capi::export::*;
use kernlink_capi::graph::*;
use kernlink_capi::tensor::TF_TensorFromProto;

const INVALID_ARGUMENT: c_int = 3;
const UNIMPLEMENTED: c_int = 12;

/// What a call returns, and how it ends.
fn outcome<T>(call: impl FnOnce(*mut TF_Status) -> T) -> (T, c_int, String) {
    // SAFETY: the status is freed once, after its last use.
    unsafe {
        let status = TF_NewStatus();
        let returned = call(status);
        let message = CStr::from_ptr(TF_Message(status)).to_str().unwrap().to_owned();
        let code = TF_GetCode(status);
        TF_DeleteStatus(status);
        (returned, code, message)
    }
}

#[test]
fn functions_that_are_not_there_say_so() {
    // SAFETY: null is allowed everywhere.
    unsafe {
        let (server, code, message) = outcome(|status| TF_NewServer(ptr::null(), 0, status));
        assert!(server.is_null());
        assert_eq!((code, &*message), (UNIMPLEMENTED, "TF_NewServer is not implemented by Kernlink's C API"));
        let output = TF_Output { oper: ptr::null_mut(), index: 0 };
        let input = TF_Input { oper: ptr::null_mut(), index: 0 };
        let ((), code, message) = outcome(|status| TF_UpdateEdge(ptr::null_mut(), output, input, status));
        assert_eq!((code, &*message), (UNIMPLEMENTED, "TF_UpdateEdge is not implemented by Kernlink's C API"));
        // Without a status, nothing happens.
        TF_NewServer(ptr::null(), 0, ptr::null_mut());
        TF_DeleteServer(ptr::null_mut());
        assert!(TF_ServerTarget(ptr::null_mut()).is_null());
        assert!(TF_GetHandleShapeAndType(ptr::null_mut(), output).is_null());
    }
}

#[test]
fn a_tensor_becomes_what_a_message_says() {
    // SAFETY: what is made is freed once; the shape and the message are as long as said.
    unsafe {
        let dims = [1i64];
        let tensor = TF_AllocateTensor(3, dims.as_ptr(), 1, 4);
        let read = |message: &[u8]| {
            let buffer = TF_NewBufferFromString(message.as_ptr().cast(), message.len());
            let ((), code, message) = outcome(|status| TF_TensorFromProto(buffer, tensor, status));
            TF_DeleteBuffer(buffer);
            (code, message)
        };
        let (code, message) = read(b"\xff\xff");
        assert_eq!(code, INVALID_ARGUMENT);
        assert!(message.starts_with("Unparseable tensorflow.TensorProto proto"), "{message}");
        assert_eq!((TF_TensorType(tensor), TF_TensorByteSize(tensor)), (3, 4));
        // Two floats, of which the message has one.
        assert_eq!(read(b"\x08\x01\x12\x04\x12\x02\x08\x02\x2a\x04\x00\x00\x80\x3f").0, 0);
        assert_eq!((TF_TensorType(tensor), TF_NumDims(tensor), TF_Dim(tensor, 0)), (1, 1, 2));
        let values = std::slice::from_raw_parts(TF_TensorData(tensor).cast::<f32>(), 2);
        assert_eq!(values, [1.0, 1.0]);
        TF_DeleteTensor(tensor);
        let ((), code, _) = outcome(|status| TF_TensorFromProto(ptr::null(), ptr::null_mut(), status));
        assert_eq!(code, INVALID_ARGUMENT);
    }
}

#[test]
fn operations_are_added_by_the_functions_for_a_held_lock() {
    // SAFETY: the graph is freed once, after its last use; finishing frees the description.
    unsafe {
        let graph = TF_NewGraph();
        let description = TF_NewOperationLocked(graph, c"NoOp".as_ptr(), c"nothing".as_ptr());
        let (operation, code, message) = outcome(|status| TF_FinishOperationLocked(description, status));
        assert_eq!((code, &*message), (0, ""));
        assert_eq!(operation, TF_GraphOperationByName(graph, c"nothing".as_ptr()));
        TF_DeleteGraph(graph);
    }
}
