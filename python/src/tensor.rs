//! `kernlink.Tensor`.

use std::sync::OnceLock;

use kernlink::dtype::{Complex64, DataType, TString};
use kernlink::gradient::{IntoTraced, Traced};
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyComplex, PyDict, PyList, PyTuple};

use crate::convert::tensor_of;
use crate::dtypes::{dtype_of, name_of, to_array_interface};
use crate::eager::run;
use crate::error::Raise;
use crate::operators::operators;

/// An array of elements of one dtype, which never changes.
#[pyclass(module = "kernlink", name = "Tensor", frozen, weakref)]
pub(crate) struct Tensor(CoreTensor, OnceLock<Traced>);

impl Tensor {
    pub(crate) fn new(tensor: CoreTensor) -> Tensor {
        Tensor(tensor, OnceLock::new())
    }

    /// One that tapes know.
    pub(crate) fn of_traced(traced: Traced) -> Tensor {
        Tensor(traced.tensor().clone(), OnceLock::from(traced))
    }

    pub(crate) fn core(&self) -> &CoreTensor {
        &self.0
    }

    /// As tapes know it.
    pub(crate) fn traced(&self) -> kernlink::Result<Traced> {
        match self.1.get() {
            Some(traced) => Ok(traced.clone()),
            None => self.0.clone().into_traced(),
        }
    }

    /// Has a tape know it, under the id that it has already, if it has one.
    pub(crate) fn watch(&self, watch: impl FnOnce(Traced) -> kernlink::Result<Traced>) -> kernlink::Result<()> {
        let watched = watch(self.traced()?)?;
        let _ = self.1.set(watched);
        Ok(())
    }
}

/// How long a text of elements may be, in elements.
const SHOWN: usize = 1000;

/// The dtype as the package has it.
pub(crate) fn dtype_object(py: Python<'_>, dtype: DataType) -> PyResult<Bound<'_, PyAny>> {
    static AS_DTYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let find = AS_DTYPE
        .get_or_try_init(py, || -> PyResult<_> { Ok(py.import("kernlink._dtypes")?.getattr("as_dtype")?.unbind()) })?;
    find.bind(py).call1((name_of(dtype),))
}

/// The element at a place.
fn element<'py>(py: Python<'py>, tensor: &CoreTensor, index: usize) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! number {
        ($type:ty, $convert:expr) => {{
            let convert: fn(&$type) -> _ = $convert;
            Ok(convert(&tensor.as_slice::<$type>().or_raise()?[index]).into_pyobject(py)?.into_any())
        }};
    }
    match tensor.dtype() {
        DataType::Float => number!(f32, |&value| f64::from(value)),
        DataType::Double => number!(f64, |&value| value),
        DataType::Int8 => number!(i8, |&value| value),
        DataType::Int16 => number!(i16, |&value| value),
        DataType::Int32 => number!(i32, |&value| value),
        DataType::Int64 => number!(i64, |&value| value),
        DataType::Uint8 => number!(u8, |&value| value),
        DataType::Uint16 => number!(u16, |&value| value),
        DataType::Uint32 => number!(u32, |&value| value),
        DataType::Uint64 => number!(u64, |&value| value),
        DataType::Bool => {
            Ok(pyo3::types::PyBool::new(py, tensor.as_slice::<bool>().or_raise()?[index]).to_owned().into_any())
        }
        DataType::Complex64 => {
            let value = tensor.as_slice::<kernlink::dtype::Complex32>().or_raise()?[index];
            Ok(PyComplex::from_doubles(py, value.re.into(), value.im.into()).into_any())
        }
        DataType::Complex128 => {
            let value: Complex64 = tensor.as_slice::<Complex64>().or_raise()?[index];
            Ok(PyComplex::from_doubles(py, value.re, value.im).into_any())
        }
        DataType::String => Ok(PyBytes::new(py, tensor.as_slice::<TString>().or_raise()?[index].as_bytes()).into_any()),
        dtype if dtype.is_floating() => element(py, &crate::eager::cast(tensor.clone(), DataType::Float)?, index),
        dtype => Err(PyTypeError::new_err(format!("Python has no elements for dtype {}", name_of(dtype)))),
    }
}

/// Nested lists of the elements from `start` on.
fn nested<'py>(py: Python<'py>, tensor: &CoreTensor, dims: &[usize], start: usize) -> PyResult<Bound<'py, PyAny>> {
    let Some((&rows, inner)) = dims.split_first() else { return element(py, tensor, start) };
    let size: usize = inner.iter().product();
    let rows = (0..rows).map(|row| nested(py, tensor, inner, start + row * size)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, rows)?.into_any())
}

#[pymethods]
impl Tensor {
    /// `Tensor(value, dtype=None)`: as `kernlink.constant`.
    #[new]
    #[pyo3(signature = (value, dtype=None))]
    fn make(value: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Tensor> {
        let mut tensor = tensor_of(value, dtype.map(dtype_of).transpose()?)?;
        tensor.make_unique().or_raise()?;
        Ok(Tensor::new(tensor))
    }

    /// The dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtype_object(py, self.0.dtype())
    }

    /// The sizes of the dimensions, a tuple.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape().dims())
    }

    /// Arrays of NumPy's leave their operators to it.
    #[classattr]
    #[pyo3(name = "__array_priority__")]
    const ARRAY_PRIORITY: f64 = 100.0;

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.rank()
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.0.num_elements()
    }

    /// The number of bytes of the elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.num_bytes()
    }

    /// The elements as an array of NumPy's, which shares their memory and cannot be written to. Strings are copied, as an array of
    /// objects.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, tensor) = (slf.py(), &slf.get().0);
        let numpy = py.import("numpy")?;
        if to_array_interface(tensor.dtype()).is_some() {
            return numpy.call_method1("asarray", (slf,));
        }
        let shape = slf.get().shape(py)?;
        if tensor.dtype() == DataType::String {
            let array = numpy.call_method1("empty", (&shape, "O"))?;
            let flat = PyList::empty(py);
            for index in 0..tensor.num_elements() {
                flat.append(element(py, tensor, index)?)?;
            }
            match shape.is_empty() {
                true => array.set_item(shape, flat.get_item(0)?)?,
                false => array.getattr("flat")?.set_item(py.Ellipsis(), flat)?,
            }
            return Ok(array);
        }
        if !tensor.dtype().is_pod() {
            let message = format!("NumPy has no elements for dtype {}", name_of(tensor.dtype()));
            return Err(PyTypeError::new_err(message));
        }
        // What packages add to NumPy: `ml_dtypes` has bfloat16 and the small floats.
        let dtype = dtype_object(py, tensor.dtype())?.getattr("as_numpy_dtype")?;
        let raw = match tensor.dtype().size() {
            1 => "u1",
            2 => "u2",
            _ => return Err(PyTypeError::new_err(format!("NumPy has no {}", name_of(tensor.dtype())))),
        };
        let view = Py::new(py, Raw(tensor.clone(), raw))?;
        numpy.call_method1("asarray", (view,))?.call_method1("view", (dtype,))
    }

    #[getter(__array_interface__)]
    fn array_interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match to_array_interface(self.0.dtype()) {
            Some(kind) => interface(py, &self.0, kind),
            // Asked by whoever looks for the attribute: NumPy goes on with `__array__`.
            None => Err(pyo3::exceptions::PyAttributeError::new_err("__array_interface__")),
        }
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = Tensor::numpy(slf)?;
        let array = match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,))?,
            None => array,
        };
        if copy == Some(true) { array.call_method0("copy") } else { Ok(array) }
    }

    #[pyo3(signature = (**options))]
    fn __dlpack__<'py>(&self, py: Python<'py>, options: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        crate::dlpack::export(py, &self.0, options)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        crate::dlpack::CPU
    }

    /// The elements in nested lists of Python's numbers, or of bytes; the element itself of a scalar.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let dtype = self.0.dtype();
        let is_small = dtype.is_floating() && !matches!(dtype, DataType::Float | DataType::Double);
        let tensor = if is_small { &crate::eager::cast(self.0.clone(), DataType::Float)? } else { &self.0 };
        nested(py, tensor, tensor.shape().dims(), 0)
    }

    /// The only element.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.num_elements() {
            1 => element(py, &self.0, 0),
            count => Err(PyValueError::new_err(format!("a tensor of {count} elements is no scalar"))),
        }
    }

    fn __len__(&self) -> PyResult<usize> {
        self.0.shape().dims().first().copied().ok_or_else(|| PyTypeError::new_err("a scalar tensor has no length"))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        self.item(py)?.is_truthy()
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<pyo3::types::PyInt>().call1((self.item(py)?,))
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        self.item(py)?.extract()
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.dtype().is_integer() {
            true => self.item(py),
            false => Err(PyTypeError::new_err("only a tensor of integers is an index")),
        }
    }

    /// A row.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let Some(&rows) = this.0.shape().dims().first() else {
            return Err(PyIndexError::new_err("a scalar tensor has no rows"));
        };
        let at = if index < 0 { index + rows as isize } else { index };
        let Some(row) = usize::try_from(at).ok().filter(|row| *row < rows) else {
            return Err(PyIndexError::new_err(format!("there are {rows} rows, and no row {index}")));
        };
        if crate::tape::is_recording() {
            return crate::eager::row(slf.as_any(), row);
        }
        let mut shape = this.0.shape().clone();
        shape.remove(0);
        let row = this.0.slice_rows(row, row + 1).and_then(|row| row.reshaped(shape)).or_raise()?;
        Ok(Bound::new(slf.py(), Tensor::new(row))?.into_any())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let tensor = &slf.get().0;
        let (shape, dtype) = (tensor.shape(), name_of(tensor.dtype()));
        let dims = shape.dims().iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let dims = if shape.rank() == 1 { format!("({dims},)") } else { format!("({dims})") };
        let values = match tensor.num_elements() > SHOWN {
            true => "…".to_owned(),
            false => tensor.values_text(),
        };
        format!("<kernlink.Tensor: shape={dims}, dtype={dtype}, value={values}>")
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let op = match op {
            CompareOp::Eq => "Equal",
            CompareOp::Ne => "NotEqual",
            CompareOp::Lt => "Less",
            CompareOp::Le => "LessEqual",
            CompareOp::Gt => "Greater",
            CompareOp::Ge => "GreaterEqual",
        };
        run(slf.py(), op, &[slf.as_any(), other])
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        let _ = slf;
        Err(PyTypeError::new_err("a tensor is not hashable: use `id(tensor)`, or its elements"))
    }
}

operators!(Tensor);

/// Elements that NumPy sees as integers of their size.
#[pyclass(frozen)]
struct Raw(CoreTensor, &'static str);

#[pymethods]
impl Raw {
    #[getter(__array_interface__)]
    fn array_interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kind = match self.1 {
            "u1" => "|u1",
            _ if cfg!(target_endian = "little") => "<u2",
            _ => ">u2",
        };
        interface(py, &self.0, kind)
    }
}

/// What tells NumPy where the elements are; whoever has it holds the object that it is of.
fn interface<'py>(py: Python<'py>, tensor: &CoreTensor, kind: &str) -> PyResult<Bound<'py, PyDict>> {
    let bytes = tensor.bytes().or_raise()?;
    let item = PyDict::new(py);
    item.set_item("version", 3)?;
    item.set_item("shape", PyTuple::new(py, tensor.shape().dims())?)?;
    item.set_item("typestr", kind)?;
    item.set_item("data", (bytes.as_ptr().expose_provenance(), true))?;
    Ok(item)
}
