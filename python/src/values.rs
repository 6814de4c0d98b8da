//! The values of attrs and of other arguments, from Python and to it.

use std::ffi::OsString;
use std::path::PathBuf;

use kernlink::attr::{AttrBase, AttrType, AttrValue, FunctionRef};
use kernlink::dtype::{DataType, TString};
use kernlink::shape::PartialShape;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyInt, PyList, PyMemoryView, PyString, PyType};

use crate::convert::{tensor_of, text};
use crate::dtypes::{dtype_of, name_of};
use crate::error::Raise;
use crate::tensor::Tensor;

/// The value of an attr of this type that Python gave.
///
/// # Errors
/// TypeError for what is no such value.
pub(crate) fn attr_value(value: &Bound<'_, PyAny>, ty: AttrType) -> PyResult<AttrValue> {
    macro_rules! value {
        ($one:ident, $many:ident, $convert:expr) => {
            match ty.list {
                false => AttrValue::$one($convert(value)?),
                true => AttrValue::$many(items(value)?.iter().map($convert).collect::<PyResult<_>>()?),
            }
        };
    }
    Ok(match ty.base {
        AttrBase::String => value!(String, ListString, string),
        AttrBase::Int => value!(Int, ListInt, integer),
        AttrBase::Float => value!(Float, ListFloat, float),
        AttrBase::Bool => value!(Bool, ListBool, boolean),
        AttrBase::Type => value!(Type, ListType, dtype_of),
        AttrBase::Shape => value!(Shape, ListShape, shape),
        AttrBase::Tensor => value!(Tensor, ListTensor, |value: &Bound<'_, PyAny>| tensor_of(value, None)),
        AttrBase::Func => value!(Func, ListFunc, function),
    })
}

/// That a value is no such thing.
pub(crate) fn wrong(value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    PyTypeError::new_err(format!("expected {expected}, not {}", described(value)))
}

/// [`wrong`] of an argument, or of what else a value is for.
pub(crate) fn wrong_argument(value: &Bound<'_, PyAny>, name: &str, expected: &str) -> PyErr {
    PyTypeError::new_err(format!("{name}: expected {expected}, not {}", described(value)))
}

/// Functions that take arguments of such types. An argument of another type is a TypeError, which says what it is called.
macro_rules! arguments {
    ($($function:ident: $type:ty = $name:literal, $expected:literal;)*) => {
        $(
            fn $function<'py>(value: &pyo3::Bound<'py, pyo3::PyAny>) -> pyo3::PyResult<$type> {
                pyo3::types::PyAnyMethods::extract(value)
                    .map_err(|_| crate::values::wrong_argument(value, $name, $expected))
            }
        )*
    };
}

pub(crate) use arguments;

/// An error with what it is about before its text, if it is a TypeError; others say that by themselves.
pub(crate) fn about(py: Python<'_>, what: &str, error: PyErr) -> PyErr {
    match error.is_instance_of::<PyTypeError>(py) {
        true => PyTypeError::new_err(format!("{what}: {}", error.value(py))),
        false => error,
    }
}

/// What a value is, for an error.
fn described(value: &Bound<'_, PyAny>) -> String {
    let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    if value.is_none() { kind } else { format!("the {kind} {}", shortened(value)) }
}

/// The name that a node of `whose` is to have.
pub(crate) fn name(value: &Bound<'_, PyAny>, whose: &str) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(name) => name.extract(),
        Err(_) => Err(wrong_argument(value, &format!("name of {whose}"), "a str")),
    }
}

/// A list of texts.
pub(crate) fn texts(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<String>> {
    let named = |_| wrong_argument(value, name, "a list of str");
    items(value).map_err(named)?.iter().map(|item| item.extract::<String>()).collect::<PyResult<_>>().map_err(named)
}

/// A list of texts, or one text by itself; `None` for none.
#[pyfunction]
pub(crate) fn texts_argument(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match value.cast::<PyString>() {
        _ if value.is_none() => Ok(Vec::new()),
        Ok(text) => Ok(vec![text.extract()?]),
        Err(_) => items(value)
            .and_then(|items| items.iter().map(|item| item.extract::<String>()).collect())
            .map_err(|_| wrong_argument(value, name, "a str or a list of str")),
    }
}

/// A text, or `None`.
#[pyfunction]
pub(crate) fn text_argument(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    value.extract().map_err(|_| wrong_argument(value, name, "a str"))
}

/// A bool.
#[pyfunction]
pub(crate) fn bool_argument(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().map_err(|_| wrong_argument(value, name, "a bool"))
}

/// A path, for Python.
#[pyfunction]
pub(crate) fn path_argument(name: &str, value: &Bound<'_, PyAny>) -> PyResult<OsString> {
    path(name, value).map(PathBuf::into_os_string)
}

/// A path: a text, bytes as the system has them, or what has `__fspath__`.
///
/// # Errors
/// TypeError, which names it, for what is none.
pub(crate) fn path(name: &str, value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let decoded = value.py().import("os")?.call_method1("fsdecode", (value,)).map_err(|error| {
        match error.is_instance_of::<PyTypeError>(value.py()) {
            true => wrong_argument(value, name, "a path, a str, bytes or an os.PathLike"),
            false => error,
        }
    })?;
    Ok(PathBuf::from(decoded.extract::<OsString>()?))
}

/// A list of paths, or one path by itself.
///
/// # Errors
/// TypeError, which names it, for what is none; ValueError if there is none in it.
#[pyfunction]
pub(crate) fn paths_argument(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<OsString>> {
    let is_one = text(value)?.is_some() || value.hasattr("__fspath__")?;
    let paths: Vec<OsString> = match is_one {
        true => vec![path_argument(name, value)?],
        false => {
            let items = value.try_iter().map_err(|_| wrong_argument(value, name, "a path or a list of paths"))?;
            items.map(|item| path_argument(name, &item?)).collect::<PyResult<_>>()?
        }
    };
    match paths.is_empty() {
        true => Err(PyValueError::new_err(format!("{name} is empty: name one path at least"))),
        false => Ok(paths),
    }
}

/// The bytes of a serialized message: `bytes`, a `bytearray`, or a view of memory.
pub(crate) fn serialized(value: &Bound<'_, PyAny>, name: &str, what: &str) -> PyResult<Vec<u8>> {
    let is_memory = value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>();
    match value.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
        Err(_) if is_memory => {
            Ok(value.py().get_type::<PyBytes>().call1((value,))?.cast::<PyBytes>()?.as_bytes().to_vec())
        }
        Err(_) => Err(wrong_argument(value, name, &format!("the bytes of {what}"))),
    }
}

/// A whole number that is not below `least`.
///
/// # Errors
/// TypeError for what is no integer, ValueError for one that is too small or too large for the unsigned type; `name` is what it is
/// called.
pub(crate) fn number<T: TryFrom<i128>>(value: &Bound<'_, PyAny>, name: &str, least: i128) -> PyResult<T> {
    // Bools are integers to Python, and a class of integers has the method that its objects have.
    let is_none = value.is_instance_of::<PyBool>() || value.is_instance_of::<PyType>();
    let number = match value.getattr("__index__") {
        Ok(index) if !is_none => index.call0()?,
        _ => return Err(wrong_argument(value, name, "a whole number")),
    };
    let is_small = number.lt(least)?;
    let found = number.extract::<i128>().ok().filter(|_| !is_small).and_then(|number| number.try_into().ok());
    found.ok_or_else(|| {
        let most = if is_small { String::new() } else { format!(", below 2**{}", 8 * size_of::<T>()) };
        PyValueError::new_err(format!("{name} is a whole number from {least}{most}, not {}", shortened(value)))
    })
}

/// The device that ops or a session ask for.
pub(crate) fn device(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    match value.cast::<PyString>() {
        _ if value.is_none() => Ok(None),
        Ok(name) => name.extract().map(Some),
        Err(_) => Err(wrong_argument(value, "device", "a str")),
    }
}

/// A number of seconds, or `None`.
pub(crate) fn timeout(value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    match value.extract::<f64>() {
        _ if value.is_none() => Ok(None),
        // A run that may take for ever has none.
        Ok(f64::INFINITY) => Ok(None),
        Ok(seconds) => Ok(Some(seconds)),
        Err(_) => Err(wrong_argument(value, "timeout", "a number of seconds")),
    }
}

/// How many threads a session has; 0, or `None`, for one per processor.
pub(crate) fn threads(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    if value.is_none() { Ok(0) } else { number(value, "threads", 0) }
}

/// The number of a pool of a session's, on which a run is.
pub(crate) fn inter_op_pool(value: &Bound<'_, PyAny>) -> PyResult<i32> {
    number(value, "inter_op_pool", i32::MIN.into())
}

pub(crate) fn shortened(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map(|text| text.to_string()).unwrap_or_default();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

pub(crate) fn items<'py>(value: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if text(value)?.is_some() {
        return Err(wrong(value, "a list"));
    }
    match value.try_iter() {
        Ok(items) => items.collect(),
        Err(_) => Err(wrong(value, "a list")),
    }
}

fn string(value: &Bound<'_, PyAny>) -> PyResult<TString> {
    text(value)?.ok_or_else(|| wrong(value, "a string"))
}

fn integer(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let is_number = !value.is_instance_of::<PyBool>();
    value.extract().ok().filter(|_| is_number).ok_or_else(|| wrong(value, "an integer of 64 bits"))
}

fn float(value: &Bound<'_, PyAny>) -> PyResult<f32> {
    let is_number = !value.is_instance_of::<PyBool>();
    value.extract::<f64>().ok().filter(|_| is_number).map(|value| value as f32).ok_or_else(|| wrong(value, "a float"))
}

fn boolean(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<i64>()? != 0);
    }
    value.extract().map_err(|_| wrong(value, "a bool"))
}

/// `None` for any rank, or a list of sizes, `None` or -1 for those that are unknown.
pub(crate) fn shape(value: &Bound<'_, PyAny>) -> PyResult<PartialShape> {
    if value.is_none() {
        return Ok(PartialShape::unknown());
    }
    if value.is_instance_of::<PyInt>() {
        return PartialShape::from_dims(&[integer(value)?]).or_raise();
    }
    let dim = |item: &Bound<'_, PyAny>| if item.is_none() { Ok(-1) } else { integer(item) };
    let dims = items(value)?.iter().map(dim).collect::<PyResult<Vec<i64>>>()?;
    PartialShape::from_dims(&dims).or_raise()
}

/// A function by its name, or something that has one.
fn function(value: &Bound<'_, PyAny>) -> PyResult<FunctionRef> {
    let name = match text(value)? {
        Some(name) => String::from_utf8(name.as_bytes().to_vec())
            .map_err(|_| PyValueError::new_err("the name of a function is UTF-8"))?,
        None => match value.getattr("name") {
            Ok(name) => name.extract()?,
            Err(_) => return Err(wrong(value, "a function or its name")),
        },
    };
    Ok(FunctionRef { name, attrs: Default::default() })
}

/// The value of an attr, for Python.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &AttrValue) -> PyResult<Bound<'py, PyAny>> {
    fn list<'py, T>(
        py: Python<'py>,
        values: &[T],
        convert: impl Fn(&T) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = values.iter().map(convert).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, values)?.into_any())
    }
    let string = |text: &TString| Ok(PyBytes::new(py, text.as_bytes()).into_any());
    let int = |value: &i64| Ok(value.into_pyobject(py)?.into_any());
    let float = |value: &f32| Ok(f64::from(*value).into_pyobject(py)?.into_any());
    let bool = |value: &bool| Ok(PyBool::new(py, *value).to_owned().into_any());
    let dtype = |dtype: &DataType| Ok(name_of(*dtype).into_pyobject(py)?.into_any());
    let shape = |shape: &PartialShape| Ok(shape.dims().map(<[_]>::to_vec).into_pyobject(py)?.into_any());
    let tensor = |tensor: &kernlink::tensor::Tensor| Ok(Bound::new(py, Tensor::new(tensor.clone()))?.into_any());
    let func = |function: &FunctionRef| Ok(function.name.as_str().into_pyobject(py)?.into_any());
    match value {
        AttrValue::String(value) => string(value),
        AttrValue::Int(value) => int(value),
        AttrValue::Float(value) => float(value),
        AttrValue::Bool(value) => bool(value),
        AttrValue::Type(value) => dtype(value),
        AttrValue::Shape(value) => shape(value),
        AttrValue::Tensor(value) => tensor(value),
        AttrValue::Func(value) => func(value),
        AttrValue::ListString(values) => list(py, values, string),
        AttrValue::ListInt(values) => list(py, values, int),
        AttrValue::ListFloat(values) => list(py, values, float),
        AttrValue::ListBool(values) => list(py, values, bool),
        AttrValue::ListType(values) => list(py, values, dtype),
        AttrValue::ListShape(values) => list(py, values, shape),
        AttrValue::ListTensor(values) => list(py, values, tensor),
        AttrValue::ListFunc(values) => list(py, values, func),
        AttrValue::EmptyList => Ok(PyList::empty(py).into_any()),
        AttrValue::Placeholder(name) => Ok(format!("${name}").into_pyobject(py)?.into_any()),
    }
}
