//! Python's values as tensors.

use kernlink::dtype::{DataType, TString};
use kernlink::gradient::Traced;
use kernlink::graph::Operand;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};

use crate::dlpack;
use crate::dtypes::{dtype_of, name_of};
use crate::error::Raise;
use crate::foreign::Array;
use crate::graph::SymbolicTensor;
use crate::items::{Items, hold_tensors};
use crate::matching::Flexible;
use crate::tensor::Tensor;

/// What a value is to an op.
pub(crate) enum Converted<V> {
    /// A tensor, strings, or a literal, whose dtype the op decides.
    Operand(Operand<V>),
    /// An array or Python's own, whose dtype the op decides, too.
    Flexible(Flexible),
}

/// A value for an input of an op. Numbers of Python's own, and arrays, take the dtype that the op asks for.
pub(crate) fn operand<V: Given>(value: &Bound<'_, PyAny>) -> PyResult<Converted<V>> {
    operand_as(value, None)
}

/// [`operand`], of which this dtype is asked.
fn operand_as<V: Given>(value: &Bound<'_, PyAny>, dtype: Option<DataType>) -> PyResult<Converted<V>> {
    if let Some(given) = V::given(value)? {
        return Ok(Converted::Operand(given));
    }
    if let Some(scalar) = scalar(value)? {
        return Ok(scalar.of());
    }
    // Variables stand for their values.
    if let Ok(read) = value.getattr(intern!(value.py(), "__kernlink_tensor__")) {
        let read = read.call0()?;
        let given = V::given(&read)?.ok_or_else(|| PyTypeError::new_err("__kernlink_tensor__ gives a tensor"))?;
        return Ok(Converted::Operand(given));
    }
    match plain(value, dtype)? {
        Some(constant) => Ok(constant.of()),
        None => {
            let given = V::given(&packed(value)?)?;
            let message = "a list with outputs of a graph is no tensor";
            given.map(Converted::Operand).ok_or_else(|| PyTypeError::new_err(message))
        }
    }
}

impl Converted<CoreTensor> {
    /// As an input among those of another kind.
    fn of<V>(self) -> Converted<V> {
        match self {
            Converted::Operand(Operand::Literal(tensor)) => Converted::Operand(Operand::Literal(tensor)),
            Converted::Operand(Operand::Value(tensor) | Operand::Constant(tensor)) => {
                Converted::Operand(Operand::Constant(tensor))
            }
            Converted::Flexible(flexible) => Converted::Flexible(flexible),
        }
    }

    pub(crate) fn constant(tensor: CoreTensor) -> Converted<CoreTensor> {
        Converted::Operand(Operand::Constant(tensor))
    }

    pub(crate) fn literal(tensor: CoreTensor) -> Converted<CoreTensor> {
        Converted::Operand(Operand::Literal(tensor))
    }

    pub(crate) fn python(tensor: CoreTensor) -> Converted<CoreTensor> {
        Converted::Flexible(Flexible::of_python(tensor))
    }

    fn array(tensor: CoreTensor) -> Converted<CoreTensor> {
        Converted::Flexible(Flexible::array(tensor))
    }
}

/// What ops are given beside constants: tensors, or those that tapes know, or outputs in a graph.
pub(crate) trait Given: Sized {
    /// The operand, if the value is such a thing.
    fn given(value: &Bound<'_, PyAny>) -> PyResult<Option<Operand<Self>>>;

    /// The tensor, if it is one of which a copy can take the place.
    fn as_tensor(&self) -> Option<&CoreTensor>;

    /// The dtype of its elements.
    fn dtype(&self) -> Option<DataType>;
}

impl Given for CoreTensor {
    fn given(value: &Bound<'_, PyAny>) -> PyResult<Option<Operand<CoreTensor>>> {
        Ok(value.cast::<Tensor>().ok().map(|tensor| Operand::Value(tensor.get().core().clone())))
    }

    fn as_tensor(&self) -> Option<&CoreTensor> {
        Some(self)
    }

    fn dtype(&self) -> Option<DataType> {
        Some(CoreTensor::dtype(self))
    }
}

impl Given for Traced {
    fn given(value: &Bound<'_, PyAny>) -> PyResult<Option<Operand<Traced>>> {
        match value.cast::<Tensor>() {
            Ok(tensor) => tensor.get().traced().or_raise().map(|traced| Some(Operand::Value(traced))),
            Err(_) => Ok(None),
        }
    }

    /// A copy would be another tensor to the tapes.
    fn as_tensor(&self) -> Option<&CoreTensor> {
        None
    }

    fn dtype(&self) -> Option<DataType> {
        Some(self.tensor().dtype())
    }
}

/// A value of Python's own, or of NumPy's; `None` for a list with tensors in it, which is [`packed`].
fn plain(value: &Bound<'_, PyAny>, dtype: Option<DataType>) -> PyResult<Option<Converted<CoreTensor>>> {
    match array(value)? {
        Some(array) => Ok(Some(array)),
        None => nested(value, dtype),
    }
}

/// A number of Python's own, without a list: what most calls are given.
fn scalar(value: &Bound<'_, PyAny>) -> PyResult<Option<Converted<CoreTensor>>> {
    if value.is_exact_instance_of::<PyFloat>() {
        return Ok(Some(Converted::literal(CoreTensor::scalar(value.extract::<f64>()?))));
    }
    if value.is_exact_instance_of::<PyInt>()
        && let Ok(number) = value.extract::<i32>()
    {
        return Ok(Some(Converted::literal(CoreTensor::scalar(number))));
    }
    if value.is_exact_instance_of::<PyBool>() {
        return Ok(Some(Converted::python(CoreTensor::scalar(value.extract::<bool>()?))));
    }
    Ok(None)
}

/// Whether a value is a number of Python's, as most elements of lists are.
pub(crate) fn is_number(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>()
}

pub(crate) fn is_list(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()
}

/// Whether a value is Python's own, which no package's protocols are asked for.
pub(crate) fn is_python(value: &Bound<'_, PyAny>) -> bool {
    is_list(value) || value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>()
}

/// What has memory of its own: an array of NumPy's, a tensor of another package's.
pub(crate) fn array(value: &Bound<'_, PyAny>) -> PyResult<Option<Converted<CoreTensor>>> {
    array_in(value, 0)
}

/// [`array`] in so many lists and arrays of objects, which may hold themselves.
///
/// # Errors
/// ValueError if they are too many.
pub(crate) fn array_in(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<Converted<CoreTensor>>> {
    if is_python(value) {
        return Ok(None);
    }
    if let Some(array) = Array::of(value) {
        return match array.tensor()? {
            Some(tensor) => Ok(Some(Converted::array(tensor))),
            None => of_objects(value, depth).map(Some),
        };
    }
    // Some packages end the process when they are asked for a capsule of strings.
    let dtype = value.getattr("dtype").and_then(|dtype| dtype.getattr("name")?.extract::<String>());
    let is_string = dtype.is_ok_and(|name| name == "string");
    if !is_string && dlpack::has(value) {
        return dlpack::import(value).map(|tensor| Some(Converted::array(tensor)));
    }
    let Ok(method) = value.getattr(intern!(value.py(), "__array__")) else { return Ok(None) };
    if value.is_instance_of::<PyType>() {
        return Ok(None);
    }
    let given = method.call0()?;
    match Array::of(&given) {
        Some(_) => array_in(&given, depth),
        None => Err(PyTypeError::new_err("__array__ gives an array of NumPy's")),
    }
}

/// An array of objects or texts of NumPy's: strings, if it has no elements.
fn of_objects(array: &Bound<'_, PyAny>, depth: usize) -> PyResult<Converted<CoreTensor>> {
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    let dtype = array.getattr("dtype")?;
    if dtype.getattr("kind")?.extract::<String>()?.contains(['M', 'm']) {
        return Err(PyTypeError::new_err(format!("an array of dtype {dtype} cannot be a tensor")));
    }
    if shape.contains(&0) {
        return CoreTensor::from_elements::<TString>(Shape::from(shape), &[]).map(Converted::constant).or_raise();
    }
    let list = array.call_method0("ravel")?.call_method0("tolist")?;
    let mut items = Items::of_objects(depth);
    items.take(&list, 0)?;
    if items.has_tensors || items.has_arrays {
        return Err(PyTypeError::new_err("an array of arrays or tensors cannot be a tensor: give a list of them"));
    }
    items.shape = shape;
    items.converted()
}

/// Numbers, texts, and lists of them, of which this dtype is asked; `None` if there are tensors among them.
fn nested(value: &Bound<'_, PyAny>, dtype: Option<DataType>) -> PyResult<Option<Converted<CoreTensor>>> {
    let mut items = Items::of_dtype(dtype);
    match items.take(value, 0) {
        Ok(()) if items.has_tensors => Ok(None),
        Ok(()) => items.converted().map(Some),
        // Beside tensors an array takes their dtype, so that it need not fit to another.
        Err(_) if items.has_arrays && hold_tensors(value, 0)? => Ok(None),
        Err(error) => Err(error),
    }
}

/// A list with tensors in it as one, which the op `Pack` makes, so that tapes and graphs know it.
///
/// # Errors
/// Those of the op.
pub(crate) fn packed<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let stacked = |item: Bound<'py, PyAny>| match is_list(&item) && nested(&item, None)?.is_none() {
        true => packed(&item),
        false => Ok(item),
    };
    let items = value.try_iter()?.map(|item| stacked(item?)).collect::<PyResult<Vec<_>>>()?;
    crate::eager::run(value.py(), "Pack", &[PyList::new(value.py(), items)?.as_any()], None)
}

/// [`packed`], cast to a dtype if one is asked for.
fn packed_as<'py>(value: &Bound<'py, PyAny>, dtype: Option<DataType>) -> PyResult<Bound<'py, PyAny>> {
    let packed = packed(value)?;
    let own = match packed.cast::<SymbolicTensor>() {
        Ok(output) => output.get().core_dtype(),
        Err(_) => packed.cast::<Tensor>()?.get().core_dtype(),
    };
    match dtype {
        Some(wanted) if wanted != own => {
            let wanted = PyString::new(value.py(), name_of(wanted)).into_any();
            crate::eager::run(value.py(), "Cast", &[&packed], Some(("DstT", wanted)))
        }
        _ => Ok(packed),
    }
}

/// The bytes of a text, UTF-8 for a `str`.
pub(crate) fn text(value: &Bound<'_, PyAny>) -> PyResult<Option<TString>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(TString::from(text.extract::<String>()?.into_bytes())));
    }
    Ok(value.cast::<PyBytes>().ok().map(|bytes| TString::from(bytes.as_bytes().to_vec())))
}

/// A value as a tensor of a dtype: that which is asked for, or that of the value; Python's integers are int32, if they fit, and its
/// floats float32.
pub(crate) fn tensor_of(value: &Bound<'_, PyAny>, dtype: Option<DataType>) -> PyResult<CoreTensor> {
    constant_of(operand_as::<CoreTensor>(value, dtype)?, dtype)
}

/// Numbers, and lists of them, as they are, for a tensor of a dtype beside them.
///
/// # Errors
/// Those of conversion; TypeError for what is none.
pub(crate) fn numbers_for(value: &Bound<'_, PyAny>, dtype: DataType) -> PyResult<CoreTensor> {
    match plain(value, Some(dtype))? {
        Some(Converted::Flexible(flexible)) => Ok(flexible.tensor),
        Some(Converted::Operand(Operand::Literal(tensor))) => Ok(tensor),
        _ => Err(PyTypeError::new_err("no numbers")),
    }
}

/// Refuses integers below zero where those of a dtype have no sign and are not cut: of 64 bits, as in TensorFlow.
fn check_signs(numbers: &CoreTensor, dtype: DataType) -> PyResult<()> {
    let negative = match (dtype, numbers.dtype()) {
        (DataType::Uint64, DataType::Int32) => {
            numbers.as_slice::<i32>().or_raise()?.iter().find(|number| **number < 0).map(|number| i64::from(*number))
        }
        (DataType::Uint64, DataType::Int64) => {
            numbers.as_slice::<i64>().or_raise()?.iter().find(|number| **number < 0).copied()
        }
        _ => None,
    };
    match negative {
        None => Ok(()),
        Some(number) => Err(PyValueError::new_err(format!("{number} is no uint64: it has no numbers below zero"))),
    }
}

fn constant_of(converted: Converted<CoreTensor>, dtype: Option<DataType>) -> PyResult<CoreTensor> {
    match converted {
        Converted::Operand(Operand::Literal(literal)) => match dtype {
            Some(dtype) => {
                check_signs(&literal, dtype)?;
                literal_as(literal, dtype)
            }
            None if literal.dtype() == DataType::Double => {
                check_floats(&literal, DataType::Float)?;
                literal_as(literal, DataType::Float)
            }
            None => Ok(literal),
        },
        Converted::Operand(Operand::Value(tensor) | Operand::Constant(tensor)) => {
            check_dtype(tensor.dtype(), dtype)?;
            Ok(tensor)
        }
        Converted::Flexible(flexible) => match dtype {
            Some(wanted) if flexible.tensor.dtype() != wanted => {
                if flexible.is_of_python_beyond_int64() && wanted.is_integer() {
                    return Err(beyond_int64());
                }
                if !flexible.is_array {
                    check_signs(&flexible.tensor, wanted)?;
                }
                // Where a dtype is asked for, integers are cut to it.
                let is_cut = flexible.tensor.dtype().is_integer() && wanted.is_integer();
                match flexible.becomes(wanted) || is_cut {
                    true => crate::eager::cast(flexible.tensor, wanted),
                    false => Err(PyTypeError::new_err(format!(
                        "a value of dtype {} cannot be one of dtype {}",
                        name_of(flexible.tensor.dtype()),
                        name_of(wanted)
                    ))),
                }
            }
            None if flexible.is_of_python_beyond_int64() => Err(beyond_int64()),
            _ => Ok(flexible.tensor),
        },
    }
}

/// That an integer of Python's has no dtype unless one is asked for.
pub(crate) fn beyond_int64() -> PyErr {
    PyValueError::new_err(
        "an integer of 2**63 or more is beyond int64: give the dtype that it is to be of, such as uint64",
    )
}

/// Refuses floats that would be infinite in a dtype that nobody asked for.
pub(crate) fn check_floats(floats: &CoreTensor, dtype: DataType) -> PyResult<()> {
    let numbers = floats.as_slice::<f64>().or_raise()?;
    let beyond = match dtype {
        DataType::Float => numbers.iter().find(|number| number.is_finite() && (**number as f32).is_infinite()),
        _ => {
            let there = crate::eager::cast(floats.clone(), dtype)?;
            let back = crate::eager::cast(there, DataType::Double)?;
            let pairs = numbers.iter().zip(back.as_slice::<f64>().or_raise()?);
            pairs.into_iter().find(|(number, back)| number.is_finite() && !back.is_finite()).map(|(number, _)| number)
        }
    };
    match beyond {
        None => Ok(()),
        Some(number) => Err(PyValueError::new_err(format!(
            "{number:?} is beyond {}: give the dtype that it is to be of, such as float64",
            name_of(dtype)
        ))),
    }
}

fn literal_as(literal: CoreTensor, dtype: DataType) -> PyResult<CoreTensor> {
    if literal.dtype() == dtype {
        return Ok(literal);
    }
    if literal.num_elements() == 0 {
        return CoreTensor::zeros(dtype, literal.shape().clone()).or_raise();
    }
    // A float is no integer, however exact, and a number no bool.
    let is_float = literal.dtype() == DataType::Double;
    if dtype == DataType::Bool || (is_float && !(dtype.is_floating() || dtype.is_complex())) {
        let kind = if is_float { "a float" } else { "an integer" };
        return Err(PyTypeError::new_err(format!("{kind} cannot be of dtype {}", name_of(dtype))));
    }
    crate::eager::cast(literal, dtype)
}

/// Refuses a tensor of another dtype than that which is asked for.
fn check_dtype(own: DataType, wanted: Option<DataType>) -> PyResult<()> {
    match wanted {
        Some(wanted) if own != wanted => Err(PyTypeError::new_err(format!(
            "the value is of dtype {}, not {}: cast it first",
            name_of(own),
            name_of(wanted)
        ))),
        _ => Ok(()),
    }
}

/// The value as a tensor. Arrays of NumPy's, and tensors of other packages, share their memory with it where they can; `copy`
/// has it own its elements. A tensor is given back as it is, but with `copy` not one that shares memory; so is an output of a
/// graph, and what an op makes of variables and of lists with tensors, which tapes and graphs know.
#[pyfunction]
#[pyo3(signature = (value, dtype=None, copy=false))]
pub(crate) fn as_tensor<'py>(
    value: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = dtype.map(dtype_of).transpose()?;
    if is_list(value) {
        return match nested(value, dtype)? {
            Some(converted) => constant_tensor(value.py(), constant_of(converted, dtype)?, copy),
            None => given_tensor(packed_as(value, dtype)?, dtype, copy),
        };
    }
    if value.is_instance_of::<Tensor>() || value.is_instance_of::<SymbolicTensor>() {
        return given_tensor(value.clone(), dtype, copy);
    }
    let converted = match scalar(value)? {
        Some(scalar) => Some(scalar),
        None => match value.getattr(intern!(value.py(), "__kernlink_tensor__")) {
            Ok(read) => return given_tensor(read.call0()?, dtype, copy),
            Err(_) => plain(value, dtype)?,
        },
    };
    let converted = converted.ok_or_else(|| PyTypeError::new_err("only lists hold tensors"))?;
    constant_tensor(value.py(), constant_of(converted, dtype)?, copy)
}

/// A tensor with the elements.
fn constant_tensor(py: Python<'_>, mut tensor: CoreTensor, copy: bool) -> PyResult<Bound<'_, PyAny>> {
    if copy {
        tensor.make_unique().or_raise()?;
    }
    Ok(Bound::new(py, Tensor::new(tensor))?.into_any())
}

/// A tensor or an output of a graph, if it is of the dtype.
fn given_tensor(value: Bound<'_, PyAny>, dtype: Option<DataType>, copy: bool) -> PyResult<Bound<'_, PyAny>> {
    if let Ok(output) = value.cast::<SymbolicTensor>() {
        check_dtype(output.get().core_dtype(), dtype)?;
        return Ok(value);
    }
    let tensor = value.cast_into::<Tensor>().map_err(|_| PyTypeError::new_err("__kernlink_tensor__ gives a tensor"))?;
    check_dtype(tensor.get().core_dtype(), dtype)?;
    if copy { Tensor::owned(tensor).map(Bound::into_any) } else { Ok(tensor.into_any()) }
}
