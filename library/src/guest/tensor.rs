//! Tensors between the library and its host.

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

use kernlink_framework::dtype::{DataType, TString};
use kernlink_framework::proto::{Message as _, ResourceHandleProto, TensorProto, tensor_from_proto, tensor_to_proto};
use kernlink_framework::shape::Shape;
use kernlink_framework::tensor::{ResourceHandle, Tensor};
use kernlink_framework::{Error, Result};

use super::Functions;
use super::status::Status;
use crate::abi::{TF_OpKernelContext, TF_TString, TF_Tensor};

/// Elements of at most so many bytes are copied: a tensor of the library's stores them itself.
const FEW_BYTES: usize = 16;

/// A handle of a tensor of the host's, which keeps its elements.
struct HostTensor {
    host: &'static Functions,
    tensor: *mut TF_Tensor,
}

// SAFETY: the C API lets tensors be deleted on any thread.
unsafe impl Send for HostTensor {}
// SAFETY: shared, it is only kept.
unsafe impl Sync for HostTensor {}

impl Drop for HostTensor {
    fn drop(&mut self) {
        // SAFETY: the host gave the handle, which is deleted once.
        unsafe { (self.host.TF_DeleteTensor)(self.tensor) };
    }
}

impl HostTensor {
    fn shape(&self) -> Result<Shape> {
        // SAFETY: the handle is there.
        let rank = unsafe { (self.host.TF_NumDims)(self.tensor) };
        // SAFETY: as above; there are so many dimensions.
        let sizes = (0..rank).map(|axis| usize::try_from(unsafe { (self.host.TF_Dim)(self.tensor, axis) }));
        let sizes: Vec<usize> =
            sizes.collect::<Result<_, _>>().map_err(|_| Error::internal("an input has a negative size"))?;
        let shape = Shape::from(sizes);
        shape.check()?;
        Ok(shape)
    }

    /// The first byte of the elements, and how many bytes there are.
    fn data(&self) -> (*mut c_void, usize) {
        // SAFETY: the handle is there.
        unsafe { ((self.host.TF_TensorData)(self.tensor), (self.host.TF_TensorByteSize)(self.tensor)) }
    }
}

/// Input `index`. Elements are shared, unless they are few, strings or handles.
///
/// # Safety
/// The context is one of the host's, whose call has not ended.
///
/// # Errors
/// Those of the host; INTERNAL for an input that is not of the dtype.
pub(super) unsafe fn input(
    host: &'static Functions,
    status: &Status,
    ctx: *mut TF_OpKernelContext,
    index: usize,
    dtype: DataType,
) -> Result<Tensor> {
    let mut tensor = ptr::null_mut();
    // SAFETY: as the caller says.
    status.check(|status| unsafe { (host.TF_GetInput)(ctx, index as c_int, &raw mut tensor, status) })?;
    let tensor = HostTensor { host, tensor };
    // SAFETY: the handle is there.
    let actual = unsafe { (host.TF_TensorType)(tensor.tensor) };
    if actual != dtype.number() {
        return Err(Error::internal(format!("input {index} must be {dtype}, not dtype {actual}")));
    }
    let (shape, (first, length)) = (tensor.shape()?, tensor.data());
    let size = match dtype {
        DataType::String => size_of::<TF_TString>(),
        DataType::Resource => return handle_of(first, length),
        DataType::Variant => return Err(Error::unimplemented(format!("input {index} is a variant of the host's"))),
        _ => dtype.size(),
    };
    let needed = shape.num_elements().checked_mul(size).filter(|needed| *needed <= length);
    let Some(needed) = needed else {
        return Err(Error::internal(format!("input {index}, {dtype} of shape {shape}, has only {length} bytes")));
    };
    let Some(first) = NonNull::new(first.cast::<u8>()).filter(|_| needed > 0) else {
        return Tensor::zeros(dtype, shape);
    };
    if dtype == DataType::String {
        // SAFETY: the host says that so many strings are there.
        let strings = unsafe { std::slice::from_raw_parts(first.as_ptr().cast::<TF_TString>(), shape.num_elements()) };
        // SAFETY: they are as hosts leave strings.
        let copies = strings.iter().map(|string| TString::from(unsafe { string.as_bytes() })).collect();
        return Tensor::from_vec::<TString>(shape, copies);
    }
    // SAFETY: the host says that so many bytes are there, which nothing writes during the call.
    let bytes = unsafe { std::slice::from_raw_parts(first.as_ptr(), needed) };
    let is_aligned = first.addr().get().is_multiple_of(size.min(8));
    // Bools are bytes of which Rust knows two.
    let is_odd = dtype == DataType::Bool && bytes.iter().any(|byte| *byte > 1);
    if needed <= FEW_BYTES || !is_aligned || is_odd {
        return Tensor::from_bytes(dtype, shape, bytes);
    }
    // SAFETY: the elements are initialised, stay as long as the handle, and are not written as long as it shares them.
    unsafe { Tensor::from_memory(dtype, shape, first, Box::new(tensor)) }
}

/// The handle that a host's scalar holds: as a message.
fn handle_of(first: *mut c_void, length: usize) -> Result<Tensor> {
    let bytes = match first.is_null() || length == 0 {
        true => &[][..],
        // SAFETY: the host says that so many bytes are there.
        false => unsafe { std::slice::from_raw_parts(first.cast::<u8>(), length) },
    };
    let handle = ResourceHandleProto::decode(bytes)
        .map_err(|error| Error::invalid_argument(format!("the host's resource handle cannot be read: {error}")))?;
    tensor_from_proto(&TensorProto {
        dtype: DataType::Resource.number(),
        tensor_shape: Some(Default::default()),
        resource_handle_val: vec![handle],
        ..TensorProto::default()
    })
}

/// Sets output `index`. Elements are shared, unless they are few, strings or handles.
///
/// # Safety
/// As [`input`].
///
/// # Errors
/// Those of the host; UNIMPLEMENTED for what cannot leave the library.
pub(super) unsafe fn set_output(
    host: &'static Functions,
    status: &Status,
    ctx: *mut TF_OpKernelContext,
    index: usize,
    output: Tensor,
) -> Result<()> {
    let dtype = output.dtype();
    let dims: Vec<i64> = output.shape().dims().iter().map(|&size| size as i64).collect();
    let allocate = |length: usize| {
        // SAFETY: as the caller says.
        let allocated = status.check(|status| unsafe {
            let (index, rank) = (index as c_int, dims.len() as c_int);
            (host.TF_AllocateOutput)(ctx, index, dtype.number(), dims.as_ptr(), rank, length, status)
        })?;
        let tensor = HostTensor { host, tensor: allocated };
        let (first, room) = tensor.data();
        match (first.is_null() && length > 0) || room < length {
            true => Err(Error::resource_exhausted(format!("the host gave no {length} bytes for output {index}"))),
            false => Ok((tensor, first)),
        }
    };
    let given = match dtype {
        DataType::String => {
            let strings = output.as_slice::<TString>()?;
            let (_kept, first) = allocate(strings.len() * size_of::<TF_TString>())?;
            for (place, string) in strings.iter().enumerate() {
                // SAFETY: the host made so many empty strings there.
                unsafe { (*first.cast::<TF_TString>().add(place)).assign(string.as_bytes()) };
            }
            return Ok(());
        }
        DataType::Resource => {
            let bytes = handle_bytes(&output)?;
            let length = bytes.len();
            give(host, dtype, &dims, bytes, |bytes| bytes.as_mut_ptr().cast(), length)
        }
        DataType::Variant => return Err(Error::unimplemented("a variant cannot leave its library")),
        _ => {
            let length = output.aligned_bytes()?.len();
            if length <= FEW_BYTES {
                let (_kept, first) = allocate(length)?;
                // SAFETY: there is room for so many bytes.
                unsafe { ptr::copy_nonoverlapping(output.aligned_bytes()?.as_ptr(), first.cast::<u8>(), length) };
                return Ok(());
            }
            let first = output.aligned_bytes()?.as_ptr().cast_mut().cast();
            give(host, dtype, &dims, output, |_| first, length)
        }
    };
    if given.tensor.is_null() {
        return Err(Error::internal(format!("the host takes no {dtype} of these sizes: {dims:?}")));
    }
    // SAFETY: as the caller says.
    status.check(|status| unsafe { (host.TF_SetOutput)(ctx, index as c_int, given.tensor, status) })
}

/// The message of the handle that a scalar holds.
fn handle_bytes(output: &Tensor) -> Result<Vec<u8>> {
    if output.as_slice::<ResourceHandle>()?.iter().any(|handle| handle.owned.is_some()) {
        let message = "a handle that owns its resource cannot leave its library: give the resource a shared_name";
        return Err(Error::unimplemented(message));
    }
    match &tensor_to_proto(output)?.resource_handle_val[..] {
        [handle] if output.rank() == 0 => Ok(handle.encode_to_vec()),
        _ => Err(Error::unimplemented("only a scalar of dtype resource can leave its library")),
    }
}

/// A tensor of the host's over memory that `owner` keeps, which is dropped when the host needs it no more.
fn give<O: Send>(
    host: &'static Functions,
    dtype: DataType,
    dims: &[i64],
    owner: O,
    first: impl FnOnce(&mut O) -> *mut c_void,
    length: usize,
) -> HostTensor {
    unsafe extern "C" fn release<O>(_: *mut c_void, _: usize, owner: *mut c_void) {
        // SAFETY: the box that was given, once.
        drop(unsafe { Box::from_raw(owner.cast::<O>()) });
    }

    let mut owner = Box::new(owner);
    let first = first(&mut owner);
    let (rank, owner) = (dims.len() as c_int, Box::into_raw(owner).cast());
    // SAFETY: there are `rank` sizes and `length` bytes, which stay until `release` is called.
    let tensor =
        unsafe { (host.TF_NewTensor)(dtype.number(), dims.as_ptr(), rank, first, length, Some(release::<O>), owner) };
    HostTensor { host, tensor }
}
