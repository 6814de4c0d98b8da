//! `TFE_TensorHandle`: tensors that ops take and give.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::{Arc, OnceLock};

use kernlink::device::DeviceName;
use kernlink::dtype::DataType;
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};
use kernlink_library::host::{CTensor, guarded, report, text};

use crate::abi::{TF_DataType, TF_Status, TF_Tensor, TFE_Context, TFE_TensorDebugInfo, TFE_TensorHandle};
use crate::pointer::{borrow, free, into_c, opaque, release, share_with_c};

opaque! {
    TFE_TensorHandle => CHandle, "tensor handle";
    TFE_TensorDebugInfo => Vec<usize>, "debug info";
}

/// The device in whose memory all handles' tensors are.
const HOST: &CStr = c"/job:localhost/replica:0/task:0/device:CPU:0";

/// What is behind a `TFE_TensorHandle`. Its holder and the ops that it was given to have it in common.
pub(crate) struct CHandle {
    pub(super) tensor: Tensor,
    /// The device of the op that gave it, or that it was copied to; `None` for the host.
    device: Option<Arc<CStr>>,
    /// Strings as C has them, once it has asked: whoever asks is given the same ones.
    strings: OnceLock<Result<CTensor>>,
}

impl CHandle {
    pub(super) fn new(tensor: Tensor, device: Option<Arc<CStr>>) -> CHandle {
        CHandle { tensor, device, strings: OnceLock::new() }
    }

    fn device(&self) -> &CStr {
        self.device.as_deref().unwrap_or(HOST)
    }

    /// The same tensor in another handle, on this device.
    fn on(&self, device: Option<Arc<CStr>>) -> *mut TFE_TensorHandle {
        share_with_c(Arc::new(CHandle::new(self.tensor.clone(), device)))
    }

    fn resolve(&self) -> Result<CTensor> {
        match self.tensor.dtype() {
            DataType::String => {
                let strings = self.strings.get_or_init(|| CTensor::read_only(self.tensor.clone()));
                strings.as_ref().map(CTensor::share).map_err(Clone::clone)
            }
            _ => CTensor::read_only(self.tensor.clone()),
        }
    }
}

/// A handle to a tensor, whose elements it shares; strings are copied. Null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_NewTensorHandle(t: *const TF_Tensor, status: *mut TF_Status) -> *mut TFE_TensorHandle {
    let make = || {
        // SAFETY: as said in `pointer`.
        let tensor = unsafe { CTensor::from_c(t) }?.to_tensor()?;
        Ok(share_with_c(Arc::new(CHandle::new(tensor, None))))
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), make) }
}

/// Gives up a handle. Ops that it was given to keep it until they have run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_DeleteTensorHandle(h: *mut TFE_TensorHandle) {
    // SAFETY: as said in `pointer`.
    unsafe { release(h) };
}

/// The number of the dtype; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_TensorHandleDataType(h: *mut TFE_TensorHandle) -> TF_DataType {
    // SAFETY: as said in `pointer`.
    unsafe { borrow(h) }.map_or(0, |handle| handle.tensor.dtype().number())
}

/// What a call with a status asks of a handle.
macro_rules! properties {
    ($($(#[$doc:meta])* $name:ident: $result:ty = $otherwise:expr, $property:expr;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(h: *mut TFE_TensorHandle, status: *mut TF_Status) -> $result {
                let property: fn(&CHandle) -> Result<$result> = $property;
                // SAFETY: as said in `pointer`.
                unsafe { report(status, $otherwise, || property(borrow(h)?)) }
            }
        )*
    };
}
properties! {
    /// The rank; -1 on failure.
    TFE_TensorHandleNumDims: c_int = -1, |handle| Ok(handle.tensor.shape().rank() as c_int);
    /// The number of elements; -1 on failure.
    TFE_TensorHandleNumElements: i64 = -1, |handle| Ok(handle.tensor.shape().num_elements() as i64);
    /// The device of the op that gave the tensor, or that it was copied to, for as long as the handle is there; null on failure.
    TFE_TensorHandleDeviceName: *const c_char = ptr::null(), |handle| Ok(handle.device().as_ptr());
    /// The device in whose memory the tensor is; null on failure.
    TFE_TensorHandleBackingDeviceName: *const c_char = ptr::null(), |_| Ok(HOST.as_ptr());
    /// Another handle to the tensor; null on failure.
    TFE_TensorHandleCopySharingTensor: *mut TFE_TensorHandle = ptr::null_mut(),
        |handle| Ok(handle.on(handle.device.clone()));
    /// The tensor, for the caller to delete. It shares its elements with the handle, and must not be written. Strings are those
    /// that every call gives. Null on failure.
    TFE_TensorHandleResolve: *mut TF_Tensor = ptr::null_mut(), |handle| Ok(handle.resolve()?.into_c());
    /// How the tensor lies on its device, for the caller to free: as on the host. Null on failure.
    TFE_TensorHandleTensorDebugInfo: *mut TFE_TensorDebugInfo = ptr::null_mut(),
        |handle| Ok(into_c(handle.tensor.shape().dims().to_vec()));
}

/// A size; -1, and INVALID_ARGUMENT, if there is no such dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_TensorHandleDim(
    h: *mut TFE_TensorHandle,
    dim_index: c_int,
    status: *mut TF_Status,
) -> i64 {
    let dim = || {
        // SAFETY: as said in `pointer`.
        let dims = unsafe { borrow(h) }?.tensor.shape().dims();
        let dim = usize::try_from(dim_index).ok().and_then(|index| dims.get(index));
        let rank = dims.len();
        let none = || Error::invalid_argument(format!("dimension {dim_index} of a tensor of rank {rank}"));
        dim.map(|&dim| dim as i64).ok_or_else(none)
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, -1, dim) }
}

/// A handle to the tensor on a device of the context, which shares its elements; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_TensorHandleCopyToDevice(
    h: *mut TFE_TensorHandle,
    ctx: *mut TFE_Context,
    device_name: *const c_char,
    status: *mut TF_Status,
) -> *mut TFE_TensorHandle {
    let copy = || {
        // SAFETY: as said in `pointer`.
        let (handle, context, name) = unsafe { (borrow(h)?, borrow(ctx)?, text("the device's name", device_name)?) };
        let device = DeviceName::parse(name).ok().and_then(|name| context.device(&name));
        let device = device.ok_or_else(|| Error::invalid_argument(format!("{name} unknown device.")))?;
        Ok(handle.on(Some(context.device_name(device).clone())))
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), copy) }
}

/// Frees debug info.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_DeleteTensorDebugInfo(debug_info: *mut TFE_TensorDebugInfo) {
    // SAFETY: as said in `pointer`.
    unsafe { free(debug_info) };
}

/// The rank on the device; -1 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_TensorDebugInfoOnDeviceNumDims(debug_info: *mut TFE_TensorDebugInfo) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe { borrow(debug_info) }.map_or(-1, |dims| dims.len() as c_int)
}

/// A size on the device; -1 if there is no such dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_TensorDebugInfoOnDeviceDim(debug_info: *mut TFE_TensorDebugInfo, dim_index: c_int) -> i64 {
    // SAFETY: as said in `pointer`.
    let dims = unsafe { borrow(debug_info) };
    let dim = guarded(None, || dims.ok()?.get(usize::try_from(dim_index).ok()?).copied());
    dim.map_or(-1, |dim| dim as i64)
}
