//! Tensor handles.

use std::ffi::CStr;

use kernlink::dtype::TString;
use kernlink::tensor::Tensor;
use kernlink_capi::eager::*;
use kernlink_library::abi::TF_TString;
use kernlink_library::host::{CTensor, TF_DeleteTensor, TF_StringDealloc, TF_TensorData, TF_TensorElementCount};

use crate::client::*;

#[test]
fn handles_tell_what_they_hold() {
    let handle = Handle::new(Tensor::from_vec([2, 3], vec![0i64; 6]).unwrap());
    // SAFETY: the handle is alive.
    unsafe {
        assert_eq!(TFE_TensorHandleDataType(handle.0), 9);
        assert_eq!(checked(|status| TFE_TensorHandleNumDims(handle.0, status)), Ok(2));
        assert_eq!(checked(|status| TFE_TensorHandleNumElements(handle.0, status)), Ok(6));
        let dim = |index| checked(|status| TFE_TensorHandleDim(handle.0, index, status));
        assert_eq!((dim(0), dim(1)), (Ok(2), Ok(3)));
        fails(dim(2), INVALID_ARGUMENT, "dimension 2 of a tensor of rank 2");
        fails(dim(-1), INVALID_ARGUMENT, "dimension -1");
        let backing = checked(|status| TFE_TensorHandleBackingDeviceName(handle.0, status)).unwrap();
        assert_eq!(CStr::from_ptr(backing), c"/job:localhost/replica:0/task:0/device:CPU:0");
        let info = checked(|status| TFE_TensorHandleTensorDebugInfo(handle.0, status)).unwrap();
        assert_eq!(TFE_TensorDebugInfoOnDeviceNumDims(info), 2);
        let dims = [0, 1, 2, -1].map(|index| TFE_TensorDebugInfoOnDeviceDim(info, index));
        assert_eq!(dims, [2, 3, -1, -1]);
        TFE_DeleteTensorDebugInfo(info);
    }
    assert_eq!(handle.device(), "/job:localhost/replica:0/task:0/device:CPU:0");
}

#[test]
fn elements_are_shared_with_c() {
    let tensor = CTensor::new(Tensor::vector(&[1.0f32; 100]).unwrap()).unwrap().into_c();
    // SAFETY: all are alive, and deleted once.
    unsafe {
        let data = TF_TensorData(tensor);
        let handle = Handle(checked(|status| TFE_NewTensorHandle(tensor, status)).unwrap());
        let resolved = checked(|status| TFE_TensorHandleResolve(handle.0, status)).unwrap();
        assert_eq!(TF_TensorData(resolved), data);
        TF_DeleteTensor(tensor);
        drop(handle);
        assert_eq!(TF_TensorData(resolved).cast::<f32>().add(99).read(), 1.0, "the elements outlive the handle");
        TF_DeleteTensor(resolved);
    }
}

/// Frees the strings of a tensor one by one, and the tensor, as bindings do.
///
/// # Safety
/// It is a tensor of strings, and not used again.
unsafe fn delete_with_strings(tensor: *mut kernlink_capi::abi::TF_Tensor) {
    // SAFETY: as the caller says.
    unsafe {
        let strings = TF_TensorData(tensor).cast::<TF_TString>();
        for index in 0..TF_TensorElementCount(tensor) as usize {
            TF_StringDealloc(strings.add(index));
        }
        TF_DeleteTensor(tensor);
    }
}

#[test]
fn strings_can_be_freed_by_the_client() {
    let context = Context::new();
    let long = "s".repeat(100);
    let made = Tensor::vector(&["short", &long].map(TString::from)).unwrap();
    let tensor = CTensor::new(made).unwrap().into_c();
    // SAFETY: all are alive, and deleted once.
    unsafe {
        let handle = Handle(checked(|status| TFE_NewTensorHandle(tensor, status)).unwrap());
        delete_with_strings(tensor);
        let resolve = || checked(|status| TFE_TensorHandleResolve(handle.0, status)).unwrap();
        let (one, other) = (resolve(), resolve());
        assert_eq!(TF_TensorData(one), TF_TensorData(other), "both are the handle's");
        assert_eq!(texts(&CTensor::from_c(one).unwrap().to_tensor().unwrap()), ["short", &long]);
        TF_DeleteTensor(other);
        delete_with_strings(one);
        assert_eq!(texts(&context.run("StringUpper", &[&handle]).unwrap()), ["SHORT".to_owned(), "S".repeat(100)]);
    }
}

#[test]
fn handles_are_copied_between_devices() {
    let context = Context::with(&Config::two_devices());
    let handle = Handle::floats(&[1.0; 100]);
    let to = |name: &CStr| {
        // SAFETY: the context and the handle are alive.
        checked(|status| unsafe { TFE_TensorHandleCopyToDevice(handle.0, context.0, name.as_ptr(), status) })
            .map(Handle)
    };
    let copy = to(c"/device:CPU:1").unwrap();
    assert_eq!(copy.device(), "/job:localhost/replica:0/task:0/device:CPU:1");
    assert_eq!(values(&copy.tensor()), [1.0; 100]);
    fails(to(c"/device:GPU:3"), INVALID_ARGUMENT, "/device:GPU:3 unknown device.");
    fails(to(c"nonsense"), INVALID_ARGUMENT, "nonsense unknown device.");
    // SAFETY: the handle is alive.
    let shared = unsafe { Handle(checked(|status| TFE_TensorHandleCopySharingTensor(copy.0, status)).unwrap()) };
    assert_ne!(shared.0, copy.0);
    drop(copy);
    assert_eq!(shared.device(), "/job:localhost/replica:0/task:0/device:CPU:1");
    assert_eq!(values(&shared.tensor()), [1.0; 100]);
}

#[test]
fn a_handle_to_no_tensor_is_an_error() {
    // SAFETY: null is refused.
    fails(checked(|status| unsafe { TFE_NewTensorHandle(std::ptr::null(), status) }), INVALID_ARGUMENT, "null");
}
