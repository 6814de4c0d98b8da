//! `TF_Tensor`: tensors as C holds them.

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use kernlink_framework::dtype::{DataType, TString};
use kernlink_framework::shape::{Shape, check_rank};
use kernlink_framework::tensor::{ALIGNMENT, Tensor};
use kernlink_framework::{Error, Result};

use super::in_use::{Use, keep_owner};
use super::{guarded, report};
use crate::abi::{Deallocator, Strings, TF_DataType, TF_Status, TF_TString, TF_Tensor};
use crate::handle::{handle_bytes, handle_from_bytes};

/// What is behind a `TF_Tensor`.
pub struct CTensor {
    shape: Shape,
    dtype: DataType,
    /// Bytes, as whoever made the tensor said: there may be more than the elements need.
    length: usize,
    data: Data,
    /// Whether C only reads the elements, as those of a kernel's inputs.
    is_read_only: bool,
}

enum Data {
    Tensor(Tensor),
    /// Strings that were made here.
    Strings(Arc<Strings>),
    /// Strings in memory that was given.
    Foreign(Arc<Memory>),
    /// A resource handle, and the bytes that C sees of it.
    Handle(Tensor, Arc<[u8]>),
}

/// Memory that C gave, and how it is freed.
struct Memory {
    pointer: *mut c_void,
    length: usize,
    free: Option<Deallocator>,
    argument: *mut c_void,
    /// Keeps the library that has the memory or frees it.
    _library: Option<Use>,
}

// SAFETY: the C API lets tensors be used and freed on any thread; who gives memory says so by giving it.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: called once, with what it was given.
            unsafe { free(self.pointer, self.length, self.argument) };
        }
    }
}

impl CTensor {
    /// What is behind the pointer.
    ///
    /// # Safety
    /// The pointer is null or a tensor of this API, and nothing changes the tensor meanwhile.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for null.
    #[track_caller]
    pub unsafe fn from_c<'a>(tensor: *const TF_Tensor) -> Result<&'a CTensor> {
        // SAFETY: as the caller says.
        unsafe { tensor.cast::<CTensor>().as_ref() }
            .ok_or_else(|| Error::invalid_argument("the tensor is a null pointer"))
    }

    /// A tensor of Kernlink's, for C. The elements are shared; strings are copied.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for elements that the host cannot read.
    #[track_caller]
    pub fn new(tensor: Tensor) -> Result<CTensor> {
        let (shape, dtype) = (tensor.shape().clone(), tensor.dtype());
        let (data, length) = match dtype {
            DataType::String => {
                let strings = Strings::of(tensor.as_slice::<TString>()?.iter().map(TString::as_bytes));
                (Data::Strings(Arc::new(strings)), shape.num_elements() * size_of::<TF_TString>())
            }
            _ if dtype.is_pod() => {
                let length = tensor.aligned_bytes()?.len();
                (Data::Tensor(tensor), length)
            }
            DataType::Resource if tensor.rank() == 0 && tensor.reference().is_none() => {
                let bytes: Arc<[u8]> = handle_bytes(&tensor)?.into();
                let length = bytes.len();
                (Data::Handle(tensor, bytes), length)
            }
            _ => (Data::Tensor(tensor), 0),
        };
        Ok(CTensor { shape, dtype, length, data, is_read_only: false })
    }

    /// The same of a tensor that C only reads.
    ///
    /// # Errors
    /// As [`CTensor::new`].
    #[track_caller]
    pub fn read_only(tensor: Tensor) -> Result<CTensor> {
        Ok(CTensor { is_read_only: true, ..CTensor::new(tensor)? })
    }

    /// The same elements in another handle, strings too.
    pub fn share(&self) -> CTensor {
        let data = match &self.data {
            Data::Tensor(tensor) => Data::Tensor(tensor.clone()),
            Data::Strings(strings) => Data::Strings(strings.clone()),
            Data::Foreign(memory) => Data::Foreign(memory.clone()),
            Data::Handle(handle, bytes) => Data::Handle(handle.clone(), bytes.clone()),
        };
        CTensor {
            shape: self.shape.clone(),
            dtype: self.dtype,
            length: self.length,
            data,
            is_read_only: self.is_read_only,
        }
    }

    /// The pointer for C, which frees it by [`TF_DeleteTensor`].
    pub fn into_c(self) -> *mut TF_Tensor {
        Box::into_raw(Box::new(self)).cast()
    }

    /// The dtype.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The tensor, for Kernlink. The elements are shared; strings are copied, and so are bools that C gave as other bytes than 0
    /// and 1, which all but 0 stand for true.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn to_tensor(&self) -> Result<Tensor> {
        let strings = match &self.data {
            Data::Tensor(tensor) => {
                let tensor = tensor.clone().reshaped(self.shape.clone())?;
                return if self.dtype == DataType::Bool { with_bools(tensor) } else { Ok(tensor) };
            }
            Data::Handle(handle, _) => return Ok(handle.clone()),
            Data::Strings(strings) => strings.as_slice(),
            // SAFETY: who gave the memory said that so many strings are there, as `new_tensor` checked.
            Data::Foreign(memory) => unsafe {
                std::slice::from_raw_parts(memory.pointer.cast::<TF_TString>(), self.shape.num_elements())
            },
        };
        // SAFETY: they are as C leaves them.
        let copies = strings.iter().map(|string| TString::from(unsafe { string.as_bytes() })).collect();
        Tensor::from_vec::<TString>(self.shape.clone(), copies)
    }

    /// The first byte; for strings the first `TF_TString`; null if there is none.
    fn data(&mut self) -> *mut c_void {
        match &mut self.data {
            Data::Tensor(tensor) if self.is_read_only => {
                tensor.aligned_bytes().map_or(ptr::null_mut(), |bytes| bytes.as_ptr().cast_mut().cast())
            }
            Data::Tensor(tensor) => tensor.expose().cast(),
            Data::Strings(strings) => strings.as_ptr().cast(),
            Data::Foreign(memory) => memory.pointer,
            Data::Handle(_, bytes) => bytes.as_ptr().cast_mut().cast(),
        }
    }

    /// Whether nothing else shares the elements.
    fn is_sole(&mut self) -> bool {
        match &mut self.data {
            Data::Tensor(tensor) => tensor.is_unique(),
            Data::Strings(strings) => Arc::strong_count(strings) == 1,
            Data::Foreign(_) | Data::Handle(..) => false,
        }
    }
}

/// A tensor of bools whose bytes C wrote. Nothing has looked at them as bools so far.
fn with_bools(tensor: Tensor) -> Result<Tensor> {
    if tensor.bytes()?.iter().all(|&byte| byte <= 1) {
        return Ok(tensor);
    }
    let bools: Vec<bool> = tensor.bytes()?.iter().map(|&byte| byte != 0).collect();
    Tensor::from_vec(tensor.shape().clone(), bools)
}

/// The shape that C gave.
///
/// # Safety
/// From `dims` on are `rank` numbers.
///
/// # Errors
/// INVALID_ARGUMENT for null, negative sizes, more elements than memory has, and a rank above [`MAX_RANK`](kernlink_framework::shape::MAX_RANK),
/// of which no size is read.
#[track_caller]
pub unsafe fn shape_of(dims: *const i64, rank: c_int) -> Result<Shape> {
    let dims = match usize::try_from(rank) {
        Ok(0) => &[][..],
        Ok(_) if dims.is_null() => return Err(Error::invalid_argument("the dims are a null pointer")),
        Ok(rank) => {
            check_rank(rank)?;
            // SAFETY: as the caller says.
            unsafe { std::slice::from_raw_parts(dims, rank) }
        }
        Err(_) => return Err(Error::invalid_argument(format!("a tensor's rank cannot be {rank}"))),
    };
    let sizes: Vec<usize> = dims
        .iter()
        .map(|&dim| {
            usize::try_from(dim).map_err(|_| Error::invalid_argument(format!("a tensor's size cannot be {dim}")))
        })
        .collect::<Result<_>>()?;
    let shape = Shape::from(sizes);
    shape.check()?;
    Ok(shape)
}

/// The dtype that C named by its number.
///
/// # Errors
/// INVALID_ARGUMENT for a number that is none.
#[track_caller]
pub fn dtype_of(number: TF_DataType) -> Result<DataType> {
    DataType::from_number(number).ok_or_else(|| Error::invalid_argument(format!("there is no dtype {number}")))
}

/// Bytes of so many elements; for strings, of their places.
fn needed(dtype: DataType, shape: &Shape) -> Result<usize> {
    let size = if dtype == DataType::String { size_of::<TF_TString>() } else { dtype.size() };
    let bytes = shape.num_elements().checked_mul(size);
    bytes.ok_or_else(|| Error::invalid_argument(format!("{dtype} of shape {shape} is larger than memory")))
}

fn new_tensor(dtype: DataType, shape: Shape, memory: Memory) -> Result<CTensor> {
    let (length, bytes) = (memory.length, needed(dtype, &shape)?);
    if length < bytes || (bytes > 0 && memory.pointer.is_null()) {
        return Err(Error::invalid_argument(format!("{dtype} of shape {shape} needs {bytes} bytes, not {length}")));
    }
    let data = match dtype {
        DataType::String if memory.pointer.cast::<TF_TString>().is_aligned() => Data::Foreign(Arc::new(memory)),
        DataType::String => return Err(Error::invalid_argument("strings must be aligned to eight bytes")),
        DataType::Resource if shape.rank() == 0 && length > 0 && !memory.pointer.is_null() => {
            // SAFETY: C said that so many bytes are there.
            let bytes: Arc<[u8]> = unsafe { std::slice::from_raw_parts(memory.pointer.cast::<u8>(), length) }.into();
            Data::Handle(handle_from_bytes(&bytes)?, bytes)
        }
        _ if !dtype.is_pod() => {
            return Err(Error::invalid_argument(format!("elements of {dtype} cannot be made of bytes")));
        }
        _ if memory.pointer.is_null() || !memory.pointer.addr().is_multiple_of(ALIGNMENT) => {
            let mut tensor = Tensor::alloc(dtype, shape.clone())?.to_shareable()?;
            let copy = tensor.expose();
            if bytes > 0 {
                // SAFETY: both have so many bytes, and the copy is nobody else's.
                unsafe { ptr::copy_nonoverlapping(memory.pointer.cast::<u8>(), copy, bytes) };
            }
            drop(memory);
            Data::Tensor(tensor)
        }
        _ => {
            let pointer = NonNull::new(memory.pointer.cast::<u8>()).ok_or_else(|| Error::internal("checked above"))?;
            // SAFETY: C said that these bytes are there and gave them away until they are freed. Bools are looked at by `to_tensor`
            // before anything reads them as such.
            Data::Tensor(unsafe { Tensor::from_memory(dtype, shape.clone(), pointer, Box::new(memory)) }?)
        }
    };
    Ok(CTensor { shape, dtype, length, data, is_read_only: false })
}

/// Bytes of an element; 0 for those of no fixed size, and for what is no dtype.
pub unsafe extern "C" fn TF_DataTypeSize(dtype: TF_DataType) -> usize {
    // References have the numbers above 100.
    DataType::from_number(if dtype > 100 { dtype - 100 } else { dtype }).map_or(0, DataType::size)
}

/// What data is aligned to that is not copied.
pub unsafe extern "C" fn TF_TensorDefaultAlignment() -> usize {
    ALIGNMENT
}

/// A tensor over the caller's memory, or over a copy if that is not aligned; `deallocator` frees it. Null, with the memory freed,
/// if it has too few bytes or its dtype or shape is none.
pub unsafe extern "C" fn TF_NewTensor(
    dtype: TF_DataType,
    dims: *const i64,
    rank: c_int,
    data: *mut c_void,
    length: usize,
    deallocator: Option<Deallocator>,
    argument: *mut c_void,
) -> *mut TF_Tensor {
    guarded(ptr::null_mut(), || {
        let addresses = [data.addr(), deallocator.map_or(0, |free| free as usize)];
        let memory = Memory { pointer: data, length, free: deallocator, argument, _library: keep_owner(addresses) };
        // SAFETY: as said in `host`.
        let made = dtype_of(dtype).and_then(|dtype| new_tensor(dtype, unsafe { shape_of(dims, rank) }?, memory));
        made.map_or(ptr::null_mut(), CTensor::into_c)
    })
}

/// Elements, all of them zero, at the start of so many bytes, which C may write.
fn with_room(dtype: DataType, shape: &Shape, length: usize) -> Result<Tensor> {
    let room = length.div_ceil(dtype.size().max(1));
    if !dtype.is_pod() || room == shape.num_elements() {
        return Tensor::zeros(dtype, shape.clone())?.to_shareable();
    }
    Tensor::zeros(dtype, [room])?.to_shareable()?.slice_rows(0, shape.num_elements())?.reshaped(shape.clone())
}

/// A tensor with `length` bytes of its own, of which the first are its elements. Null if they are too few or there is not so much
/// memory. Strings, and what is no plain bytes, have room for the elements only, whatever length is named.
pub unsafe extern "C" fn TF_AllocateTensor(
    dtype: TF_DataType,
    dims: *const i64,
    rank: c_int,
    length: usize,
) -> *mut TF_Tensor {
    guarded(ptr::null_mut(), || {
        let allocate = || -> Result<CTensor> {
            // SAFETY: as said in `host`.
            let (dtype, shape) = (dtype_of(dtype)?, unsafe { shape_of(dims, rank) }?);
            let bytes = needed(dtype, &shape)?;
            if dtype != DataType::String && length < bytes {
                return Err(Error::invalid_argument("too few bytes"));
            }
            let (data, length) = match dtype {
                DataType::String => (Data::Strings(Arc::new(Strings::empty(shape.num_elements()))), length.min(bytes)),
                _ => {
                    let length = if dtype.is_pod() { length } else { bytes };
                    (Data::Tensor(with_room(dtype, &shape, length)?), length)
                }
            };
            Ok(CTensor { shape, dtype, length, data, is_read_only: false })
        };
        allocate().map_or(ptr::null_mut(), CTensor::into_c)
    })
}

/// The tensor itself if nothing else shares its elements, which a callee may change then; else null. The handle stays one: it is
/// deleted once, whichever of the two pointers does it.
pub unsafe extern "C" fn TF_TensorMaybeMove(tensor: *mut TF_Tensor) -> *mut TF_Tensor {
    // SAFETY: as said in `host`.
    let Some(inner) = (unsafe { tensor.cast::<CTensor>().as_mut() }) else { return ptr::null_mut() };
    guarded(ptr::null_mut(), || if inner.is_sole() { tensor } else { ptr::null_mut() })
}

/// Frees a handle; the elements go with the last.
pub unsafe extern "C" fn TF_DeleteTensor(tensor: *mut TF_Tensor) {
    if !tensor.is_null() {
        // SAFETY: it came from `CTensor::into_c`, and is freed once.
        guarded((), || drop(unsafe { Box::from_raw(tensor.cast::<CTensor>()) }));
    }
}

/// The number of the dtype; 0 for null.
pub unsafe extern "C" fn TF_TensorType(tensor: *const TF_Tensor) -> TF_DataType {
    // SAFETY: as said in `host`.
    unsafe { CTensor::from_c(tensor) }.map_or(0, |tensor| tensor.dtype.number())
}

/// Gives the tensor another shape. One that the memory is too small for has no effect.
pub unsafe extern "C" fn TF_SetShape(tensor: *mut TF_Tensor, dims: *const i64, rank: c_int) {
    guarded((), || {
        // SAFETY: as said in `host`.
        let (tensor, shape) = unsafe { (tensor.cast::<CTensor>().as_mut(), shape_of(dims, rank)) };
        if let (Some(tensor), Ok(shape)) = (tensor, shape)
            && shape.num_elements() == tensor.shape.num_elements()
        {
            tensor.shape = shape;
        }
    });
}

/// The rank; -1 for null.
pub unsafe extern "C" fn TF_NumDims(tensor: *const TF_Tensor) -> c_int {
    // SAFETY: as said in `host`.
    unsafe { CTensor::from_c(tensor) }.map_or(-1, |tensor| tensor.shape.rank() as c_int)
}

/// A size; -1 if there is no such dimension.
pub unsafe extern "C" fn TF_Dim(tensor: *const TF_Tensor, index: c_int) -> i64 {
    // SAFETY: as said in `host`.
    let shape = unsafe { CTensor::from_c(tensor) }.map(CTensor::shape);
    let dim = shape.ok().and_then(|shape| shape.dims().get(usize::try_from(index).ok()?).copied());
    dim.map_or(-1, |dim| dim as i64)
}

/// Bytes, as the tensor's maker said.
pub unsafe extern "C" fn TF_TensorByteSize(tensor: *const TF_Tensor) -> usize {
    // SAFETY: as said in `host`.
    unsafe { CTensor::from_c(tensor) }.map_or(0, |tensor| tensor.length)
}

/// The first byte of the elements; of strings, the first `TF_TString`.
pub unsafe extern "C" fn TF_TensorData(tensor: *const TF_Tensor) -> *mut c_void {
    guarded(ptr::null_mut(), || {
        // SAFETY: as said in `host`. Only whether the elements may be written is noted.
        unsafe { tensor.cast_mut().cast::<CTensor>().as_mut() }.map_or(ptr::null_mut(), CTensor::data)
    })
}

/// The number of elements.
pub unsafe extern "C" fn TF_TensorElementCount(tensor: *const TF_Tensor) -> i64 {
    // SAFETY: as said in `host`.
    unsafe { CTensor::from_c(tensor) }.map_or(0, |tensor| tensor.shape.num_elements() as i64)
}

/// Has `to` show the bytes of `from` as elements of another dtype and shape.
pub unsafe extern "C" fn TF_TensorBitcastFrom(
    from: *const TF_Tensor,
    dtype: TF_DataType,
    to: *mut TF_Tensor,
    dims: *const i64,
    rank: c_int,
    status: *mut TF_Status,
) {
    let cast = || {
        // SAFETY: as said in `host`.
        let (from, shape) = unsafe { (CTensor::from_c(from)?, shape_of(dims, rank)?) };
        let cast = CTensor::new(from.to_tensor()?.bitcast(dtype_of(dtype)?, shape)?)?;
        // SAFETY: as said in `host`.
        let to = unsafe { to.cast::<CTensor>().as_mut() };
        *to.ok_or_else(|| Error::invalid_argument("the tensor to change is a null pointer"))? = cast;
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { report(status, (), cast) };
}

/// Whether the elements are aligned as kernels like them.
pub unsafe extern "C" fn TF_TensorIsAligned(tensor: *const TF_Tensor) -> bool {
    // SAFETY: as said in `host`.
    match unsafe { CTensor::from_c(tensor) } {
        Ok(CTensor { data: Data::Tensor(tensor), .. }) => tensor
            .aligned_bytes()
            .is_ok_and(|bytes| bytes.is_empty() || bytes.as_ptr().addr().is_multiple_of(ALIGNMENT)),
        _ => true,
    }
}
