//! DLPack: tensors of other packages, and for them, without a copy. The structs are those of version 1.0 of its header.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use kernlink::dtype::DataType;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::error::Raise;
use crate::foreign::{canonical, lie_in_order};
use crate::tensor::Tensor;

/// The host, as `__dlpack_device__` says it.
pub(crate) const CPU: (i32, i32) = (1, 0);
/// Memory of the host that a GPU can read, which the host can, too.
const HOST_OF_GPU: [i32; 2] = [3, 11];

const PLAIN: &CStr = c"dltensor";
const PLAIN_USED: &CStr = c"used_dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const VERSIONED_USED: &CStr = c"used_dltensor_versioned";

#[repr(C)]
struct Elements {
    data: *mut c_void,
    device: (i32, i32),
    rank: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    offset: u64,
}

#[repr(C)]
struct Managed {
    elements: Elements,
    owner: *mut c_void,
    delete: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
struct ManagedVersioned {
    version: (u32, u32),
    owner: *mut c_void,
    delete: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    flags: u64,
    elements: Elements,
}

const READ_ONLY: u64 = 1;

/// DLPack's number for a kind of elements, and their bits.
fn kind_of(dtype: DataType) -> Option<(u8, u8)> {
    let bits = (dtype.size() * 8) as u8;
    Some(match dtype {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => (0, bits),
        DataType::Uint8 | DataType::Uint16 | DataType::Uint32 | DataType::Uint64 => (1, bits),
        DataType::Half | DataType::Float | DataType::Double => (2, bits),
        DataType::Bfloat16 => (4, bits),
        DataType::Complex64 | DataType::Complex128 => (5, bits),
        DataType::Bool => (6, bits),
        _ => return None,
    })
}

fn dtype_of(code: u8, bits: u8) -> Option<DataType> {
    DataType::ALL.iter().copied().find(|&dtype| kind_of(dtype) == Some((code, bits)))
}

/// What a capsule of ours owns.
struct Export {
    tensor: CoreTensor,
    /// The elements of a tensor that stores them itself, where others expect them.
    small: Aligned,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// Some packages ask for elements at multiples of this.
#[repr(align(64))]
struct Aligned([u8; 64]);

impl Export {
    fn new(tensor: &CoreTensor) -> Box<Export> {
        let shape = tensor.shape().to_i64().to_vec();
        let strides = tensor.shape().strides().iter().map(|&stride| stride as i64).collect();
        Box::new(Export { tensor: tensor.clone(), small: Aligned([0; 64]), shape, strides })
    }

    /// Describes the elements, which stay as long as this does.
    fn elements(&mut self) -> PyResult<Elements> {
        let dtype = self.tensor.dtype();
        let (code, bits) = kind_of(dtype).ok_or_else(|| {
            PyBufferError::new_err(format!("DLPack has no elements for dtype {}", crate::dtypes::name_of(dtype)))
        })?;
        let bytes = self.tensor.bytes().or_raise()?;
        let data = match self.tensor.inline_bits().and_then(|_| self.small.0.get_mut(..bytes.len())) {
            Some(small) => {
                small.copy_from_slice(bytes);
                small.as_mut_ptr()
            }
            None => bytes.as_ptr().cast_mut(),
        };
        let data = data.cast();
        Ok(Elements {
            data,
            device: CPU,
            rank: self.shape.len() as i32,
            code,
            bits,
            lanes: 1,
            shape: self.shape.as_mut_ptr(),
            strides: self.strides.as_mut_ptr(),
            offset: 0,
        })
    }
}

unsafe extern "C" fn delete(managed: *mut Managed) {
    if !managed.is_null() {
        // SAFETY: both came from boxes in `export`, and the consumer deletes once.
        unsafe {
            let managed = Box::from_raw(managed);
            drop(Box::from_raw(managed.owner.cast::<Export>()));
        }
    }
}

unsafe extern "C" fn delete_versioned(managed: *mut ManagedVersioned) {
    if !managed.is_null() {
        // SAFETY: as in `delete`.
        unsafe {
            let managed = Box::from_raw(managed);
            drop(Box::from_raw(managed.owner.cast::<Export>()));
        }
    }
}

/// Deletes what nobody took out of a capsule.
unsafe extern "C" fn forget(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls it, with the interpreter held, with the capsule, which has one of the two names until somebody takes its
    // content.
    Python::attach(|_| unsafe {
        if ffi::PyCapsule_IsValid(capsule, PLAIN.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, PLAIN.as_ptr()).cast());
        } else if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast());
        }
    });
}

/// A capsule with the elements, which cannot be written to: it says so to consumers who ask for version 1.0.
pub(crate) fn export<'py>(
    py: Python<'py>,
    tensor: &CoreTensor,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let option = |name: &str| -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(options.map(|options| options.get_item(name)).transpose()?.flatten().filter(|value| !value.is_none()))
    };
    if let Some(device) = option("dl_device")?
        && device.extract::<(i32, i32)>()? != CPU
    {
        return Err(PyBufferError::new_err("a tensor is in the memory of the host, (1, 0)"));
    }
    let is_versioned = match option("max_version")? {
        Some(version) => version.extract::<(u32, u32)>()?.0 >= 1,
        None => false,
    };
    let mut tensor = tensor.clone();
    if let Some(copy) = option("copy")?
        && copy.extract()?
    {
        tensor.make_unique().or_raise()?;
    }
    // What is small lies in the tensor itself, and moves with it: so the owner is where it stays before anybody asks for the address.
    let mut owner = Export::new(&tensor);
    let elements = owner.elements()?;
    let owner = Box::into_raw(owner).cast();
    let (content, name): (*mut c_void, _) = match is_versioned {
        true => {
            let (version, flags) = ((1, 0), READ_ONLY);
            let managed = ManagedVersioned { version, owner, delete: Some(delete_versioned), flags, elements };
            (Box::into_raw(Box::new(managed)).cast(), VERSIONED)
        }
        false => (Box::into_raw(Box::new(Managed { elements, owner, delete: Some(delete) })).cast(), PLAIN),
    };
    // SAFETY: the pointer is not null and the name is static; what it returns is ours, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(content, name.as_ptr(), Some(forget))) }
}

/// Whether an object gives a capsule.
pub(crate) fn has(object: &Bound<'_, PyAny>) -> bool {
    object.hasattr("__dlpack__").unwrap_or(false) || object.is_instance_of::<PyCapsule>()
}

const TAKEN: &CStr = c"kernlink_tensor";
const TAKEN_VERSIONED: &CStr = c"kernlink_tensor_versioned";

/// Deletes what was taken out of another package's capsule. Python calls it with the interpreter held, whoever lets go.
unsafe extern "C" fn give_back(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls it once, with a capsule of one of the two names, whose content is deleted by nobody else.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, TAKEN.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, TAKEN.as_ptr()).cast::<Managed>();
            if let Some(delete) = (*managed).delete {
                delete(managed);
            }
        } else if ffi::PyCapsule_IsValid(capsule, TAKEN_VERSIONED.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, TAKEN_VERSIONED.as_ptr()).cast::<ManagedVersioned>();
            if let Some(delete) = (*managed).delete {
                delete(managed);
            }
        }
    }
}

/// The tensor of an object that gives a capsule, or of a capsule. Elements that lie one after the other are not copied.
///
/// # Errors
/// BufferError for memory of other devices, other orders of elements, and what is no capsule of DLPack's.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<CoreTensor> {
    let py = object.py();
    let capsule = match object.is_instance_of::<PyCapsule>() {
        true => object.clone(),
        false => {
            let (kind, _): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
            if kind != CPU.0 && !HOST_OF_GPU.contains(&kind) {
                return Err(PyBufferError::new_err(
                    "the tensor is in the memory of a device: copy it to the host first",
                ));
            }
            let version = PyDict::new(py);
            version.set_item("max_version", (1, 0))?;
            match object.call_method("__dlpack__", (), Some(&version)) {
                Err(error) if error.is_instance_of::<PyTypeError>(py) => object.call_method0("__dlpack__")?,
                capsule => capsule?,
            }
        }
    };
    let capsule = capsule.as_ptr();
    let own = |content: *mut c_void, name: &'static CStr| -> PyResult<Py<PyAny>> {
        // SAFETY: the pointer is not null and the name is static; what it returns is ours, or null with an exception set.
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(content, name.as_ptr(), Some(give_back))) }
            .map(Bound::unbind)
    };
    // SAFETY: the capsule's names say what is in it; renamed, it does not delete that any more.
    let (owner, elements) = unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast::<ManagedVersioned>();
            let (major, minor) = (*managed).version;
            if major != 1 {
                return Err(PyBufferError::new_err(format!("version {major}.{minor} of DLPack is not known")));
            }
            ffi::PyCapsule_SetName(capsule, VERSIONED_USED.as_ptr());
            (own(managed.cast(), TAKEN_VERSIONED)?, &(*managed).elements)
        } else if ffi::PyCapsule_IsValid(capsule, PLAIN.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, PLAIN.as_ptr()).cast::<Managed>();
            ffi::PyCapsule_SetName(capsule, PLAIN_USED.as_ptr());
            (own(managed.cast(), TAKEN)?, &(*managed).elements)
        } else {
            return Err(PyBufferError::new_err("this is no capsule of DLPack's, or its tensor was taken already"));
        }
    };
    if elements.device.0 != CPU.0 && !HOST_OF_GPU.contains(&elements.device.0) {
        return Err(PyBufferError::new_err("the tensor is in the memory of a device: copy it to the host first"));
    }
    let dtype = dtype_of(elements.code, elements.bits).filter(|_| elements.lanes == 1).ok_or_else(|| {
        let (code, bits, lanes) = (elements.code, elements.bits, elements.lanes);
        PyBufferError::new_err(format!("there is no dtype for DLPack's kind {code} of {bits} bits in {lanes} lanes"))
    })?;
    let rank = usize::try_from(elements.rank).map_err(|_| PyBufferError::new_err("the rank is negative"))?;
    let numbers = |pointer: *mut i64| match pointer.is_null() || rank == 0 {
        true => &[][..],
        // SAFETY: as many numbers as the rank says are there.
        false => unsafe { std::slice::from_raw_parts(pointer, rank) },
    };
    let (dims, strides) = (numbers(elements.shape), numbers(elements.strides));
    let shape = Shape::from_dims(dims).or_raise()?;
    shape.check().or_raise()?;
    if shape.num_elements() == 0 {
        return CoreTensor::zeros(dtype, shape).or_raise();
    }
    if !strides.is_empty() && !lie_in_order(shape.dims(), strides, 1) {
        let message = "the elements do not lie one after the other: make them contiguous first";
        return Err(PyBufferError::new_err(message));
    }
    let address = elements.data.cast::<u8>().wrapping_add(elements.offset as usize);
    let pointer = NonNull::new(address).ok_or_else(|| PyBufferError::new_err("the tensor has no memory"))?;
    if !pointer.addr().get().is_multiple_of(dtype.size().min(8)) {
        // SAFETY: the elements lie one after the other from there on.
        let bytes = unsafe { std::slice::from_raw_parts(address, shape.num_elements() * dtype.size()) };
        return CoreTensor::from_bytes(dtype, shape, bytes).or_raise();
    }
    // SAFETY: the producer says that so many elements are there, and keeps them until it is told.
    canonical(unsafe { CoreTensor::from_memory(dtype, shape, pointer, Box::new(owner)) }.or_raise()?)
}

/// The tensor of an object of another package that has `__dlpack__`, or of a capsule of DLPack's, without a copy.
#[pyfunction]
pub(crate) fn from_dlpack(object: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    match has(object) {
        true => import(object).map(Tensor::new),
        false => Err(PyTypeError::new_err(format!("what is of type {} has no __dlpack__", object.get_type().name()?))),
    }
}
