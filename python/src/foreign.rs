//! Memory of Python's objects, as tensors: what has the array interface, which NumPy's arrays have.

use std::ptr::NonNull;

use kernlink::dtype::DataType;
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
            let strides: Vec<isize> = strides.extract()?;
            let mut expected = dtype.size() as isize;
            for (&size, &stride) in shape.iter().zip(&strides).rev() {
                if size > 1 && stride != expected && !shape.contains(&0) {
                    return Ok(None);
                }
                expected = expected.saturating_mul(size as isize);
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
            return if dtype == DataType::Bool { bools(tensor).map(Some) } else { Ok(Some(tensor)) };
        }
        // NumPy orders them, and brings them into the machine's order of bytes.
        let py = self.owner.py();
        let array = py.import("numpy")?.call_method1("asarray", (&self.owner,))?;
        let dtype = array.getattr("dtype")?;
        if dtype.getattr("kind")?.extract::<String>()?.contains(['O', 'S', 'U', 'M', 'm']) {
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
            Some(DataType::Bool) => array.shared(DataType::Bool)?.map(bools).transpose(),
            Some(dtype) => array.shared(dtype),
            None => Err(PyValueError::new_err(format!(
                "an array of dtype {} cannot be a tensor",
                self.owner.getattr("dtype").map(|dtype| dtype.to_string()).unwrap_or_default()
            ))),
        }
    }
}

/// A copy of bools: Python may write other bytes than 0 and 1, which stand for true.
pub(crate) fn bools(tensor: Tensor) -> PyResult<Tensor> {
    let bools: Vec<bool> = tensor.bytes().or_raise()?.iter().map(|&byte| byte != 0).collect();
    Tensor::from_vec(tensor.shape().clone(), bools).or_raise()
}
