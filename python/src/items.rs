//! The elements of nested lists: numbers, texts, and what has memory of its own.

use kernlink::dtype::{Complex64, DataType, TString};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyByteArray, PyComplex, PyFloat, PyInt, PyList, PyMemoryView, PyRange, PyType};

use crate::convert::{Converted, is_list, is_number, is_python, text};
use crate::dtypes::dtype_of;
use crate::error::Raise;
use crate::symbolic::SymbolicTensor;
use crate::tensor::Tensor;

/// What Python's plain values are.
enum Plain {
    Bools(Vec<bool>),
    /// Integers, of which all or not all fit in 32 bits.
    Integers(Vec<i64>),
    /// Integers above those.
    Large(Vec<u64>),
    Floats(Vec<f64>),
    Complex(Vec<Complex64>),
    Strings(Vec<TString>),
}

/// The elements of nested lists.
#[derive(Default)]
pub(crate) struct Items {
    pub(crate) shape: Vec<usize>,
    /// The rank at which elements were found.
    depth: Option<usize>,
    plain: Option<Plain>,
    /// The dtype of the first element, if it is a float of NumPy's: floats after it take it.
    first: Option<DataType>,
    /// Whether there are arrays among them, whose elements were not taken.
    pub(crate) has_arrays: bool,
    /// Whether there are tensors, or outputs of a graph.
    pub(crate) has_tensors: bool,
}

/// No tensor has a higher rank.
pub(crate) const MOST_DEEP: usize = 254;

impl Items {
    /// All of them as a tensor of the shape.
    pub(crate) fn converted(self) -> PyResult<Converted<CoreTensor>> {
        let Items { shape, plain, first, .. } = self;
        let shape = Shape::from(shape);
        let converted = match plain {
            None => CoreTensor::from_elements::<f64>(shape, &[]).map(Converted::literal),
            Some(Plain::Bools(bools)) => CoreTensor::from_vec(shape, bools).map(Converted::python),
            Some(Plain::Integers(numbers)) => {
                let small: Result<Vec<i32>, _> = numbers.iter().map(|&number| i32::try_from(number)).collect();
                match small {
                    Ok(small) => CoreTensor::from_vec(shape, small).map(Converted::literal),
                    Err(_) => CoreTensor::from_vec(shape, numbers).map(Converted::python),
                }
            }
            Some(Plain::Large(numbers)) => CoreTensor::from_vec(shape, numbers).map(Converted::python),
            Some(Plain::Floats(numbers)) => match (CoreTensor::from_vec(shape, numbers), first) {
                (Ok(tensor), Some(dtype)) if dtype != DataType::Double => {
                    return crate::eager::cast(tensor, dtype).map(Converted::python);
                }
                (tensor, Some(_)) => tensor.map(Converted::python),
                (tensor, None) => tensor.map(Converted::literal),
            },
            Some(Plain::Complex(numbers)) => CoreTensor::from_vec(shape, numbers).map(Converted::python),
            Some(Plain::Strings(texts)) => CoreTensor::from_vec(shape, texts).map(Converted::constant),
        };
        converted.or_raise()
    }

    pub(crate) fn take(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if !is_list(value) {
            if let Some(list) = as_list(value)? {
                return self.take(&list, depth);
            }
            if depth > 0 && is_tensor(value) {
                self.has_tensors = true;
            } else if depth > 0 && rank(value).is_some_and(|rank| rank > 0) {
                self.has_arrays = true;
            }
            if self.has_tensors || self.has_arrays {
                return Ok(());
            }
            if *self.depth.get_or_insert(depth) != depth {
                return Err(ragged());
            }
            if self.plain.is_none() {
                self.first = numpy_float(value);
            }
            return self.element(value);
        }
        if depth >= MOST_DEEP {
            return Err(PyValueError::new_err(format!("lists are nested {MOST_DEEP} deep at most")));
        }
        let length = value.len()?;
        match self.shape.get(depth) {
            None if self.depth.is_some_and(|elements| depth >= elements) => return Err(ragged()),
            None => self.shape.push(length),
            Some(&expected) if expected != length && !(self.has_tensors || self.has_arrays) => return Err(ragged()),
            Some(_) => {}
        }
        for item in value.try_iter()? {
            self.take(&item?, depth + 1)?;
        }
        Ok(())
    }

    fn element(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if value.is_instance_of::<PyBool>() {
            let value: bool = value.extract()?;
            // Behind numbers they are numbers, too, as in TensorFlow, but no number is a bool.
            match self.plain.get_or_insert_with(|| Plain::Bools(Vec::new())) {
                Plain::Bools(bools) => bools.push(value),
                Plain::Integers(numbers) => numbers.push(value.into()),
                Plain::Large(numbers) => numbers.push(value.into()),
                Plain::Floats(numbers) => numbers.push(value.into()),
                Plain::Complex(numbers) => numbers.push(f64::from(value).into()),
                other @ Plain::Strings(_) => return Err(mixed("a bool", other)),
            }
        } else if value.is_instance_of::<PyInt>() {
            self.integer(value)?;
        } else if value.is_instance_of::<PyFloat>() {
            let value: f64 = value.extract()?;
            if let Some(Plain::Integers(numbers)) = &self.plain {
                self.plain = Some(Plain::Floats(numbers.iter().map(|&number| number as f64).collect()));
            }
            match self.plain.get_or_insert_with(|| Plain::Floats(Vec::new())) {
                Plain::Floats(numbers) => numbers.push(value),
                Plain::Complex(numbers) => numbers.push(value.into()),
                other => return Err(mixed("a float", other)),
            }
        } else if let Ok(value) = value.cast::<PyComplex>() {
            let value = Complex64::new(value.real(), value.imag());
            self.plain = match self.plain.take() {
                Some(Plain::Integers(numbers)) => {
                    Some(Plain::Complex(numbers.iter().map(|&number| Complex64::new(number as f64, 0.0)).collect()))
                }
                Some(Plain::Floats(numbers)) => {
                    Some(Plain::Complex(numbers.iter().map(|&number| number.into()).collect()))
                }
                other => other,
            };
            match self.plain.get_or_insert_with(|| Plain::Complex(Vec::new())) {
                Plain::Complex(numbers) => numbers.push(value),
                other => return Err(mixed("a complex number", other)),
            }
        } else if let Some(text) = text(value)? {
            match self.plain.get_or_insert_with(|| Plain::Strings(Vec::new())) {
                Plain::Strings(texts) => texts.push(text),
                other => return Err(mixed("a string", other)),
            }
        } else {
            return self.other(value);
        }
        Ok(())
    }

    fn integer(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let beyond = |_| PyValueError::new_err(format!("{value} is beyond all dtypes of integers: make it a float"));
        // Beside floats it is one, however large.
        match &mut self.plain {
            Some(Plain::Floats(numbers)) => {
                numbers.push(value.extract().map_err(beyond)?);
                return Ok(());
            }
            Some(Plain::Complex(numbers)) => {
                numbers.push(value.extract::<f64>().map_err(beyond)?.into());
                return Ok(());
            }
            _ => {}
        }
        let Ok(number) = value.extract::<i64>() else {
            let large: u64 = value.extract().map_err(beyond)?;
            let mut before = match self.plain.take() {
                None => Vec::new(),
                Some(Plain::Large(numbers)) => numbers,
                Some(Plain::Integers(numbers)) if numbers.iter().all(|&number| number >= 0) => {
                    numbers.iter().map(|&number| number as u64).collect()
                }
                Some(Plain::Integers(_)) => return Err(of_no_dtype()),
                Some(other) => return Err(mixed("an integer", &other)),
            };
            before.push(large);
            self.plain = Some(Plain::Large(before));
            return Ok(());
        };
        match self.plain.get_or_insert_with(|| Plain::Integers(Vec::new())) {
            Plain::Integers(numbers) => numbers.push(number),
            Plain::Large(numbers) if number >= 0 => numbers.push(number as u64),
            Plain::Large(_) => return Err(of_no_dtype()),
            other => return Err(mixed("an integer", other)),
        }
        Ok(())
    }

    /// A scalar of NumPy's among the elements.
    fn other(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if value.hasattr("item")? && rank(value) == Some(0) {
            return self.element(&value.call_method0("item")?);
        }
        Err(PyTypeError::new_err(format!("a value of type {} cannot be a tensor", value.get_type().name()?)))
    }
}

/// The rank of what has a shape, such as an array of NumPy's.
fn rank(value: &Bound<'_, PyAny>) -> Option<usize> {
    if is_number(value) || is_python(value) {
        return None;
    }
    value.getattr(intern!(value.py(), "shape")).ok()?.len().ok()
}

/// The dtype of a float of NumPy's.
fn numpy_float(value: &Bound<'_, PyAny>) -> Option<DataType> {
    if is_python(value) || value.is_exact_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
        return None;
    }
    let dtype = value.getattr(intern!(value.py(), "dtype")).and_then(|dtype| dtype_of(&dtype)).ok()?;
    dtype.is_floating().then_some(dtype)
}

/// Whether a value is a tensor, a variable or an output of a graph.
fn is_tensor(value: &Bound<'_, PyAny>) -> bool {
    !is_number(value)
        && (value.is_instance_of::<Tensor>()
            || value.is_instance_of::<SymbolicTensor>()
            || value.hasattr(intern!(value.py(), "__kernlink_tensor__")).unwrap_or(false))
}

/// What is a list of numbers to TensorFlow, as one: a range, bytes that can be changed, a view of memory, an array of the module
/// `array`.
fn as_list<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    static ARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if is_python(value) || is_number(value) {
        return Ok(None);
    }
    let py = value.py();
    if value.is_instance_of::<PyRange>() || value.is_instance_of::<PyByteArray>() {
        return py.get_type::<PyList>().call1((value,)).map(Some);
    }
    if value.is_instance_of::<PyMemoryView>() || value.is_instance(ARRAY.import(py, "array", "array")?)? {
        return value.call_method0(intern!(py, "tolist")).map(Some).map_err(|error| {
            let kind = value.get_type().to_string();
            PyTypeError::new_err(format!("a value of {kind} cannot be a tensor: {}", error.value(py)))
        });
    }
    Ok(None)
}

fn of_no_dtype() -> PyErr {
    PyValueError::new_err("no dtype has integers below zero and of 2**63 or more: make them floats")
}

/// A list with arrays of NumPy's in it, which NumPy stacks. Their elements count as numbers of NumPy's in lists do: integers are int32
/// if they fit, and floats take the dtype of the first element.
///
/// # Errors
/// ValueError and TypeError for what is no tensor, or has elements of several kinds.
pub(crate) fn stacked(value: &Bound<'_, PyAny>) -> PyResult<Converted<CoreTensor>> {
    let py = value.py();
    let array = py
        .import("numpy")?
        .call_method1("asarray", (value,))
        .map_err(|error| if error.is_instance_of::<PyValueError>(py) { ragged() } else { error })?;
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    if shape.contains(&0) {
        return CoreTensor::from_elements::<f64>(Shape::from(shape), &[]).map(Converted::literal).or_raise();
    }
    let as_dtype = |name: &str| crate::convert::array_tensor(&array.call_method1("astype", (name,))?);
    let (first, kind) = (first_element(value)?, array.getattr("dtype")?.getattr("kind")?.extract::<char>()?);
    let is_text = text(&first)?.is_some() || kind_of(&first).is_some_and(|kind| matches!(kind, 'U' | 'S' | 'T'));
    let is_bool = first.is_instance_of::<PyBool>() || kind_of(&first) == Some('b');
    match kind {
        'i' | 'u' | 'f' | 'c' if is_bool => Err(mixed("a number", &Plain::Bools(Vec::new()))),
        'U' | 'S' if !is_text => Err(mixed("a string", &Plain::Integers(Vec::new()))),
        'i' | 'u' => {
            let within = |least: i64, most: i64| -> PyResult<bool> {
                Ok(array.call_method0("min")?.ge(least)? && array.call_method0("max")?.le(most)?)
            };
            match (within(i32::MIN.into(), i32::MAX.into())?, within(i64::MIN, i64::MAX)?) {
                (true, _) => as_dtype("int32").map(Converted::literal),
                (_, true) => as_dtype("int64").map(Converted::python),
                _ => as_dtype("uint64").map(Converted::python),
            }
        }
        'f' => match numpy_float(&first) {
            Some(dtype) => crate::eager::cast(crate::convert::array_tensor(&array)?, dtype).map(Converted::python),
            None => as_dtype("float64").map(Converted::literal),
        },
        'c' => as_dtype("complex128").map(Converted::python),
        _ => crate::convert::array_value(&array),
    }
}

/// The first element of nested lists: an array, if it is in one.
fn first_element<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match is_list(value) && value.len()? > 0 {
        true => first_element(&value.get_item(0)?),
        false => Ok(value.clone()),
    }
}

/// The kind of the dtype of something of NumPy's.
fn kind_of(value: &Bound<'_, PyAny>) -> Option<char> {
    value.getattr("dtype").ok()?.getattr("kind").ok()?.extract().ok()
}

fn ragged() -> PyErr {
    PyValueError::new_err("the lists are of different lengths: a tensor has rows of one length")
}

fn mixed(what: &str, others: &Plain) -> PyErr {
    let others = match others {
        Plain::Bools(_) => "bools",
        Plain::Integers(_) | Plain::Large(_) => "integers",
        Plain::Floats(_) => "floats",
        Plain::Complex(_) => "complex numbers",
        Plain::Strings(_) => "strings",
    };
    PyTypeError::new_err(format!("{what} among {others}: the elements of a tensor have one dtype"))
}
