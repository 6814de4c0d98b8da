//! Tensors in pickles, which `copy.deepcopy` of what holds them makes, too: dtype, shape, and the elements as bytes.

use kernlink::dtype::{DataType, TString};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::dtypes::{dtype_of, name_of};
use crate::error::Raise;
use crate::tensor::Tensor;

/// What [`from_pickle`] takes.
///
/// # Errors
/// TypeError for resources and variants, which are of one process.
pub(crate) fn to_pickle<'py>(py: Python<'py>, tensor: &CoreTensor) -> PyResult<Bound<'py, PyTuple>> {
    let elements = match tensor.dtype() {
        DataType::String => {
            let texts = tensor.as_slice::<TString>().or_raise()?.iter();
            PyList::new(py, texts.map(|text| PyBytes::new(py, text.as_bytes())))?.into_any()
        }
        dtype if dtype.is_pod() => PyBytes::new(py, tensor.bytes().or_raise()?).into_any(),
        dtype => {
            let message =
                format!("a tensor of dtype {} cannot be pickled: it is of this process alone", name_of(dtype));
            return Err(PyTypeError::new_err(message));
        }
    };
    (name_of(tensor.dtype()), tensor.shape().dims().to_vec(), cfg!(target_endian = "little"), elements)
        .into_pyobject(py)
}

/// The tensor of a pickle: its dtype, its shape, whether the least significant byte of an element is first, and the elements.
///
/// # Errors
/// InvalidArgumentError if there are not as many elements as the shape says.
#[pyfunction]
pub(crate) fn from_pickle(
    dtype: &Bound<'_, PyAny>,
    shape: Vec<i64>,
    is_little_endian: bool,
    elements: &Bound<'_, PyAny>,
) -> PyResult<Tensor> {
    let (dtype, shape) = (dtype_of(dtype)?, Shape::from_dims(&shape).or_raise()?);
    shape.check().or_raise()?;
    let tensor = if dtype == DataType::String {
        let texts = elements.try_iter()?.map(|text| Ok(TString::from(text?.extract::<Vec<u8>>()?)));
        CoreTensor::from_vec(shape, texts.collect::<PyResult<Vec<_>>>()?)
    } else {
        let bytes = elements.cast::<PyBytes>()?.as_bytes();
        // The parts of a complex number are numbers of their own.
        let part = if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() };
        match is_little_endian == cfg!(target_endian = "little") || part <= 1 {
            true => CoreTensor::from_bytes(dtype, shape, bytes),
            false => {
                let swapped: Vec<u8> = bytes.chunks(part).flat_map(|part| part.iter().rev().copied()).collect();
                CoreTensor::from_bytes(dtype, shape, &swapped)
            }
        }
    };
    tensor.or_raise().map(Tensor::new)
}
