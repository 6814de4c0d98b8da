//! Functions that Kernlink does not have say so by name, and those that are others under another name do as those.

mod common;

use std::ptr;

use common::{Failure, INVALID_ARGUMENT, UNIMPLEMENTED, checked, fails};
use kernlink_capi::abi::*;
use kernlink_capi::absent::*;
use kernlink_capi::export::*;
use kernlink_capi::graph::*;
use kernlink_capi::tensor::TF_TensorFromProto;

fn unimplemented(function: &str) -> Result<(), Failure> {
    Err((UNIMPLEMENTED, format!("{function} is not implemented by Kernlink's C API")))
}

#[test]
fn functions_that_are_not_there_say_so() {
    // SAFETY: null is allowed everywhere.
    unsafe {
        let mut server = ptr::dangling_mut();
        let told = checked(|status| server = TF_NewServer(ptr::null(), 0, status));
        assert_eq!((told, server), (unimplemented("TF_NewServer"), ptr::null_mut()));
        let output = TF_Output { oper: ptr::null_mut(), index: 0 };
        let input = TF_Input { oper: ptr::null_mut(), index: 0 };
        let told = checked(|status| TF_UpdateEdge(ptr::null_mut(), output, input, status));
        assert_eq!(told, unimplemented("TF_UpdateEdge"));
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
            let told = checked(|status| TF_TensorFromProto(buffer, tensor, status));
            TF_DeleteBuffer(buffer);
            told
        };
        fails(read(b"\xff\xff"), INVALID_ARGUMENT, "Unparseable tensorflow.TensorProto proto");
        assert_eq!((TF_TensorType(tensor), TF_TensorByteSize(tensor)), (3, 4));
        // Two floats, of which the message has one.
        assert_eq!(read(b"\x08\x01\x12\x04\x12\x02\x08\x02\x2a\x04\x00\x00\x80\x3f"), Ok(()));
        assert_eq!((TF_TensorType(tensor), TF_NumDims(tensor), TF_Dim(tensor, 0)), (1, 1, 2));
        let values = std::slice::from_raw_parts(TF_TensorData(tensor).cast::<f32>(), 2);
        assert_eq!(values, [1.0, 1.0]);
        TF_DeleteTensor(tensor);
        let told = checked(|status| TF_TensorFromProto(ptr::null(), ptr::null_mut(), status));
        fails(told, INVALID_ARGUMENT, "null pointer");
    }
}

#[test]
fn operations_are_added_by_the_functions_for_a_held_lock() {
    // SAFETY: the graph is freed once, after its last use; finishing frees the description.
    unsafe {
        let graph = TF_NewGraph();
        let description = TF_NewOperationLocked(graph, c"NoOp".as_ptr(), c"nothing".as_ptr());
        let operation = checked(|status| TF_FinishOperationLocked(description, status)).unwrap();
        assert_eq!(operation, TF_GraphOperationByName(graph, c"nothing".as_ptr()));
        TF_DeleteGraph(graph);
    }
}
