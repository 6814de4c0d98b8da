//! Memory of Python's objects, as tensors: what has the array interface, which NumPy's arrays have.

use std::ptr::NonNull;

use kernlink::dtype::{DataType, Element, Int2, Int4, UInt2, UInt4};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dtypes::of_array_interface;
use crate::error::Raise;

/// The array interface of an object.
pub(crate) struct Array<'py> {
    owner: Bound<'py, PyAny>,
    interface: Bound<'py, PyDict>,
}

impl<'py> Array<'py> {
    /// That of an object that has one.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> Option<Array<'py>> {
        let array = Array::given(object)?;
        let is_scalar = array.field("shape").ok().flatten().and_then(|shape| shape.is_empty().ok()) == Some(true);
        if !is_scalar {
            return Some(array);
        }
        // The interface of a scalar of NumPy's is that of an array which is gone: whoever holds the scalar does not hold it.
        match object.py().import("numpy").and_then(|numpy| numpy.call_method1("asarray", (object,))) {
            Ok(lasting) => Array::given(&lasting),
            Err(_) => Some(array),
        }
    }

    fn given(object: &Bound<'py, PyAny>) -> Option<Array<'py>> {
        let interface = object.getattr(intern!(object.py(), "__array_interface__")).ok()?;
        Some(Array { owner: object.clone(), interface: interface.cast_into::<PyDict>().ok()? })
    }

    fn field(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.interface.get_item(name)?.filter(|field| !field.is_none()))
    }

    /// The dtype of its elements; `None` if they are objects, texts or records.
    fn dtype(&self) -> PyResult<Option<DataType>> {
        let text: String = match self.field("typestr")? {
            Some(text) => text.extract()?,
            None => return Ok(None),
        };
        if let Some(dtype) = of_array_interface(&text) {
            return Ok(Some(dtype));
        }
        // Types that packages add to NumPy, such as those of `ml_dtypes`, are records to the interface.
        let name = match self.owner.getattr("dtype").and_then(|dtype| dtype.getattr("name")) {
            Ok(name) => name.extract::<String>()?,
            Err(_) => return Ok(None),
        };
        let known = DataType::ALL.iter().copied().filter(|dtype| text.contains('V') || dtype.size() == 1);
        Ok(known.filter(|dtype| dtype.is_pod()).find(|&dtype| crate::dtypes::name_of(dtype) == name))
    }

    /// The elements without a copy, if they lie one after the other; the object stays as long as the tensor does.
    ///
    /// # Errors
    /// BufferError if it has no memory that can be read.
    fn shared(&self, dtype: DataType) -> PyResult<Option<Tensor>> {
        let shape: Vec<usize> = match self.field("shape")? {
            Some(shape) => shape.extract()?,
            None => return Err(PyBufferError::new_err("the array interface has no shape")),
        };
        if let Some(strides) = self.field("strides")? {
            let strides: Vec<i64> = strides.extract()?;
            if !lie_in_order(&shape, &strides, dtype.size()) {
                return Ok(None);
            }
        }
        let shape = Shape::from(shape);
        shape.check().or_raise()?;
        let address: usize = match self.field("data")? {
            Some(data) => data.get_item(0)?.extract()?,
            None => return Err(PyBufferError::new_err("the array interface has no data")),
        };
        if shape.num_elements() == 0 {
            return Tensor::zeros(dtype, shape).or_raise().map(Some);
        }
        let Some(pointer) = NonNull::new(std::ptr::with_exposed_provenance_mut::<u8>(address)) else {
            return Err(PyBufferError::new_err("the array interface has no data"));
        };
        if !address.is_multiple_of(dtype.size().min(8)) {
            return Ok(None);
        }
        let owner = Box::new(self.owner.clone().unbind());
        // SAFETY: the object says that so many elements lie there, and stays as long as the tensor. Who writes them while a kernel
        // reads them has a race of their own making, as with any view of NumPy's.
        unsafe { Tensor::from_memory(dtype, shape, pointer, owner) }.or_raise().map(Some)
    }

    /// The elements, without a copy if they lie one after the other, in the machine's order; `None` if they are no numbers.
    pub(crate) fn tensor(&self) -> PyResult<Option<Tensor>> {
        if let Some(dtype) = self.dtype()?
            && let Some(tensor) = self.shared(dtype)?
        {
            return canonical(tensor).map(Some);
        }
        // NumPy orders them, and brings them into the machine's order of bytes.
        let py = self.owner.py();
        let array = py.import("numpy")?.call_method1("asarray", (&self.owner,))?;
        let dtype = array.getattr("dtype")?;
        if dtype.getattr("kind")?.extract::<String>()?.contains(['O', 'S', 'U', 'T', 'M', 'm']) {
            return Ok(None);
        }
        let dtype = dtype.call_method1("newbyteorder", ("=",))?;
        let ordered = py.import("numpy")?.call_method1("array", (array, dtype))?;
        let ordered = py.import("numpy")?.call_method1("ascontiguousarray", (ordered,))?;
        let ordered = match self.field("shape")? {
            // It makes vectors of scalars.
            Some(shape) => ordered.call_method1("reshape", (shape,))?,
            None => ordered,
        };
        let Some(array) = Array::of(&ordered) else { return Ok(None) };
        match array.dtype()? {
            Some(dtype) => array.shared(dtype)?.map(canonical).transpose(),
            None => Err(PyValueError::new_err(format!(
                "an array of dtype {} cannot be a tensor",
                self.owner.getattr("dtype").map(|dtype| dtype.to_string()).unwrap_or_default()
            ))),
        }
    }
}

/// Elements as Kernlink has them: a copy of bools, of which other bytes than 0 and 1 stand for true, and of integers of less than
/// 8 bits, of which only the low bits count elsewhere. Python may write any bytes.
pub(crate) fn canonical(tensor: Tensor) -> PyResult<Tensor> {
    // To memory that is aligned as others expect it who take tensors by DLPack.
    fn copied<T: Element>(tensor: &Tensor, element: fn(u8) -> T) -> kernlink::Result<Tensor> {
        let mut copy = Tensor::zeros(tensor.dtype(), tensor.shape().clone())?;
        let places = copy.as_mut_slice::<T>()?.iter_mut();
        places.zip(tensor.bytes()?).for_each(|(place, &byte)| *place = element(byte));
        Ok(copy)
    }
    match tensor.dtype() {
        DataType::Bool => copied(&tensor, |byte| byte != 0).or_raise(),
        DataType::Int2 => copied(&tensor, Int2::from_low_bits).or_raise(),
        DataType::Int4 => copied(&tensor, Int4::from_low_bits).or_raise(),
        DataType::Uint2 => copied(&tensor, UInt2::from_low_bits).or_raise(),
        DataType::Uint4 => copied(&tensor, UInt4::from_low_bits).or_raise(),
        _ => Ok(tensor),
    }
}

/// Whether elements lie one after the other, the last dimension first: each stride is that of an element, `unit`, times the sizes of
/// the dimensions behind it. Those of dimensions in which nobody steps do not count.
pub(crate) fn lie_in_order(sizes: &[usize], strides: &[i64], unit: usize) -> bool {
    if sizes.len() != strides.len() {
        return false;
    }
    let mut expected = unit as i64;
    let mut dimensions = sizes.iter().zip(strides).rev();
    sizes.contains(&0)
        || dimensions.all(|(&size, &stride)| {
            let is_expected = size <= 1 || stride == expected;
            expected = expected.saturating_mul(size as i64);
            is_expected
        })
}

/// Whether others may write to the memory of a tensor.
pub(crate) fn is_shared(tensor: &Tensor) -> bool {
    let is_here = tensor.dtype().is_pod() && tensor.device_memory().is_none();
    // Only memory of Kernlink's own has a stamp.
    is_here && tensor.inline_bits().is_none() && tensor.content_stamp().is_none()
}
