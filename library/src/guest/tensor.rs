//! Tensors between the library and its host.

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

use kernlink_framework::dtype::{DataType, TString};
use kernlink_framework::shape::Shape;
use kernlink_framework::tensor::{ResourceHandle, Tensor};
use kernlink_framework::{Error, Result};

use super::functions::{Host, HostKind};
use super::status::Status;
use crate::abi::{TF_DataType, TF_OpKernelContext, TF_TString, TF_Tensor};
use crate::handle::{handle_bytes, handle_from_bytes};

/// Elements of at most so many bytes are copied: a tensor of the library's stores them itself.
const FEW_BYTES: usize = 16;

/// A handle of a tensor of the host's, which keeps its elements.
pub(super) struct HostTensor {
    host: &'static Host,
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
    pub(super) fn new(host: &'static Host, tensor: *mut TF_Tensor) -> HostTensor {
        HostTensor { host, tensor }
    }

    /// The number of its dtype.
    fn dtype(&self) -> TF_DataType {
        // SAFETY: the handle is there.
        unsafe { (self.host.TF_TensorType)(self.tensor) }
    }

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
    host: &'static Host,
    status: &Status,
    ctx: *mut TF_OpKernelContext,
    index: usize,
    dtype: DataType,
) -> Result<Tensor> {
    let mut tensor = ptr::null_mut();
    // SAFETY: as the caller says.
    status.check(|status| unsafe { (host.TF_GetInput)(ctx, index as c_int, &raw mut tensor, status) })?;
    let tensor = HostTensor::new(host, tensor);
    if dtype == DataType::Resource {
        // SAFETY: as the caller says.
        return unsafe { handle(status, ctx, index, tensor.dtype(), &tensor) };
    }
    // SAFETY: the handle is there.
    unsafe { elements(tensor, index, dtype) }
}

/// The elements behind a handle, those of input `index`: shared, unless they are few or strings.
///
/// # Safety
/// The handle is there.
///
/// # Errors
/// INTERNAL for an input that is not of the dtype; UNIMPLEMENTED for a variant.
unsafe fn elements(tensor: HostTensor, index: usize, dtype: DataType) -> Result<Tensor> {
    let actual = tensor.dtype();
    if actual != dtype.number() {
        return Err(Error::internal(format!("input {index} must be {dtype}, not dtype {actual}")));
    }
    let (shape, (first, length)) = (tensor.shape()?, tensor.data());
    let size = match dtype {
        DataType::String => size_of::<TF_TString>(),
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

/// The handle that input `index` holds, a tensor of dtype `actual`.
///
/// # Safety
/// As [`input`].
unsafe fn handle(
    status: &Status,
    ctx: *mut TF_OpKernelContext,
    index: usize,
    actual: TF_DataType,
    tensor: &HostTensor,
) -> Result<Tensor> {
    let host = tensor.host;
    if actual == DataType::String.number() {
        return handle_in_string(tensor, index);
    }
    // SAFETY: it takes nothing.
    let buffer = unsafe { (host.TF_NewBuffer)() };
    // SAFETY: as the caller says.
    let asked = status
        .check(|status| unsafe { (host.TF_GetSerializedResourceHandleProto)(ctx, index as c_int, buffer, status) });
    let handle = asked.and_then(|()| {
        // SAFETY: the host left so many bytes in the buffer.
        handle_from_bytes(unsafe {
            match (*buffer).length {
                0 => &[],
                length => std::slice::from_raw_parts((*buffer).data.cast::<u8>(), length),
            }
        })
    });
    // SAFETY: the host's own, deleted once.
    unsafe { (host.TF_DeleteBuffer)(buffer) };
    handle
}

/// The handle whose bytes are the string of a scalar.
fn handle_in_string(tensor: &HostTensor, index: usize) -> Result<Tensor> {
    let string = tensor.data().0.cast::<TF_TString>();
    if tensor.shape()?.rank() != 0 || string.is_null() {
        return Err(Error::invalid_argument(format!("input {index}, a resource's handle, must be a scalar")));
    }
    // SAFETY: a scalar is one string, which is as hosts leave strings.
    handle_from_bytes(unsafe { (*string).as_bytes() })
}

/// Input `index` of a host that is Kernlink, from a handle: as [`elements`], and what a handle of a resource names.
///
/// # Safety
/// The handle is there.
///
/// # Errors
/// As [`elements`]; INVALID_ARGUMENT for bytes that are no handle of a resource.
pub(super) unsafe fn input_of(tensor: HostTensor, index: usize, dtype: DataType) -> Result<Tensor> {
    match dtype {
        DataType::Resource if tensor.dtype() == DataType::String.number() => handle_in_string(&tensor, index),
        DataType::Resource => {
            let bytes = match tensor.data() {
                (_, 0) => &[],
                // SAFETY: the host says that so many bytes are there: those of the handle.
                (first, length) => unsafe { std::slice::from_raw_parts(first.cast::<u8>(), length) },
            };
            handle_from_bytes(bytes)
        }
        // SAFETY: as the caller says.
        _ => unsafe { elements(tensor, index, dtype) },
    }
}

/// Sets output `index`. Elements are shared, unless they are few, strings or handles.
///
/// # Safety
/// As [`input`].
///
/// # Errors
/// Those of the host; UNIMPLEMENTED for what cannot leave the library.
pub(super) unsafe fn set_output(
    host: &'static Host,
    status: &Status,
    ctx: *mut TF_OpKernelContext,
    index: usize,
    output: Tensor,
) -> Result<()> {
    let dtype = output.dtype();
    let dims: Vec<i64> = output.shape().dims().iter().map(|&size| size as i64).collect();
    let place = Place { host, status, ctx, index, dims: &dims };
    let given = match dtype {
        DataType::String => {
            let strings = output.as_slice::<TString>()?;
            // SAFETY: as the caller says.
            return unsafe { place.copy_strings(strings.iter().map(TString::as_bytes)) };
        }
        DataType::Resource => {
            if output.as_slice::<ResourceHandle>()?.iter().any(|handle| handle.owned.is_some()) {
                let message = "a handle that owns its resource cannot leave its library: name it by a shared_name";
                return Err(Error::unimplemented(message));
            }
            let bytes = handle_bytes(&output)?;
            // SAFETY: as the caller says.
            if unsafe { (host.TF_ExpectedOutputDataType)(ctx, index as c_int) } == DataType::String.number() {
                // SAFETY: as the caller says.
                return unsafe { place.copy_strings([&*bytes].into_iter()) };
            }
            if host.kind == HostKind::TensorFlow {
                return Err(Error::unimplemented("a handle of a resource cannot be made by TensorFlow's C API"));
            }
            let length = bytes.len();
            give(host, dtype, &dims, bytes, |bytes| bytes.as_mut_ptr().cast(), length)
        }
        DataType::Variant => return Err(Error::unimplemented("a variant cannot leave its library")),
        _ => {
            let length = output.aligned_bytes()?.len();
            if length <= FEW_BYTES {
                // SAFETY: as the caller says.
                let (_kept, first) = unsafe { place.allocate(dtype, length) }?;
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

/// An output, and its sizes.
struct Place<'p> {
    host: &'static Host,
    status: &'p Status,
    ctx: *mut TF_OpKernelContext,
    index: usize,
    dims: &'p [i64],
}

impl Place<'_> {
    /// The output, as the host allocates it, and its first byte.
    ///
    /// # Safety
    /// As [`input`].
    unsafe fn allocate(&self, dtype: DataType, length: usize) -> Result<(HostTensor, *mut c_void)> {
        let (index, rank) = (self.index as c_int, self.dims.len() as c_int);
        // SAFETY: as the caller says; there are `rank` sizes.
        let allocated = self.status.check(|status| unsafe {
            let allocate = self.host.TF_AllocateOutput;
            allocate(self.ctx, index, dtype.number(), self.dims.as_ptr(), rank, length, status)
        })?;
        let tensor = HostTensor { host: self.host, tensor: allocated };
        let (first, room) = tensor.data();
        if (first.is_null() && length > 0) || room < length {
            return Err(Error::resource_exhausted(format!("the host gave no {length} bytes for output {index}")));
        }
        Ok((tensor, first))
    }

    /// Sets the output to copies of strings, as many as the sizes say.
    ///
    /// # Safety
    /// As [`input`].
    unsafe fn copy_strings<'s>(&self, strings: impl ExactSizeIterator<Item = &'s [u8]>) -> Result<()> {
        // SAFETY: as the caller says.
        let (_kept, first) = unsafe { self.allocate(DataType::String, strings.len() * size_of::<TF_TString>()) }?;
        for (position, string) in strings.enumerate() {
            // SAFETY: the host made so many empty strings there.
            unsafe { (*first.cast::<TF_TString>().add(position)).assign(string) };
        }
        Ok(())
    }
}

/// A tensor of the host's over memory that `owner` keeps, which is dropped when the host needs it no more.
fn give<O: Send>(
    host: &'static Host,
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
