//! `kernlink.Tensor`.

use std::sync::OnceLock;

use kernlink::dispatch_pod;
use kernlink::dtype::{DataType, Scalar, ScalarElement, TString};
use kernlink::gradient::{IntoTraced, Traced};
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyRange, PyTuple};

use crate::body::Maker;
use crate::convert::tensor_of;
use crate::dtypes::{dtype_of, name_of, to_array_interface};
use crate::error::Raise;
use crate::foreign::is_shared;
use crate::operators::operators;

/// An array of elements of one dtype, which never changes.
#[pyclass(module = "kernlink", name = "Tensor", frozen, weakref)]
pub(crate) struct Tensor(CoreTensor, OnceLock<Traced>, Maker);

impl Tensor {
    pub(crate) fn new(tensor: CoreTensor) -> Tensor {
        Tensor(tensor, OnceLock::new(), Maker::entered())
    }

    /// One that tapes know.
    pub(crate) fn of_traced(traced: Traced) -> Tensor {
        Tensor(traced.tensor().clone(), OnceLock::from(traced), Maker::entered())
    }

    pub(crate) fn core(&self) -> &CoreTensor {
        &self.0
    }

    /// Where it was made.
    pub(crate) fn maker(&self) -> &Maker {
        &self.2
    }

    pub(crate) fn core_dtype(&self) -> DataType {
        self.0.dtype()
    }

    /// The tensor, or a copy of it if others may write to its memory.
    pub(crate) fn owned(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        if !is_shared(slf.get().core()) {
            return Ok(slf);
        }
        let mut copy = slf.get().core().clone();
        copy.make_unique().or_raise()?;
        Bound::new(slf.py(), Tensor::new(copy))
    }

    fn equal<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>, is: bool) -> PyResult<Bound<'py, PyAny>> {
        crate::operators::equal(slf.as_any(), other, is)
    }

    /// As tapes know it.
    pub(crate) fn traced(&self) -> kernlink::Result<Traced> {
        match self.1.get() {
            Some(traced) => Ok(traced.clone()),
            None => self.0.clone().into_traced(),
        }
    }

    /// Has a tape know it, under the id that it has already, if it has one.
    pub(crate) fn watch(&self, watch: impl Fn(Traced) -> kernlink::Result<Traced>) -> kernlink::Result<()> {
        if self.1.get().is_none() && self.1.set(watch(self.0.clone().into_traced()?)?).is_ok() {
            return Ok(());
        }
        // It had an id, or another thread gave it one meanwhile.
        watch(self.traced()?).map(drop)
    }
}

/// How long a text of elements may be, in elements.
const SHOWN: usize = 1000;

/// The elements, for people.
pub(crate) fn text_of(tensor: &CoreTensor) -> String {
    match tensor.num_elements() > SHOWN {
        true => "…".to_owned(),
        false => tensor.values_text(),
    }
}

/// The dtype as the package has it.
pub(crate) fn dtype_object(py: Python<'_>, dtype: DataType) -> PyResult<Bound<'_, PyAny>> {
    static AS_DTYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let find = AS_DTYPE
        .get_or_try_init(py, || -> PyResult<_> { Ok(py.import("kernlink._dtypes")?.getattr("as_dtype")?.unbind()) })?;
    find.bind(py).call1((name_of(dtype),))
}

/// The elements one after the other, as Python's numbers, or as bytes.
fn objects<'py>(py: Python<'py>, tensor: &CoreTensor) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let object = |scalar| -> PyResult<Bound<'py, PyAny>> {
        Ok(match scalar {
            Scalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
            Scalar::Integer(value) => match i64::try_from(value) {
                Ok(value) => value.into_pyobject(py)?.into_any(),
                Err(_) => value.into_pyobject(py)?.into_any(),
            },
            Scalar::Float(value) => value.into_pyobject(py)?.into_any(),
            Scalar::Complex(value) => PyComplex::from_doubles(py, value.re, value.im).into_any(),
        })
    };
    if let Ok(texts) = tensor.as_slice::<TString>() {
        return Ok(texts.iter().map(|text| PyBytes::new(py, text.as_bytes()).into_any()).collect());
    }
    let objects = dispatch_pod!(tensor.dtype(), T => {
        let elements = tensor.as_slice::<T>().or_raise()?;
        elements.iter().map(|element| object(element.to_scalar())).collect::<PyResult<Vec<_>>>()?
    });
    objects.ok_or_else(|| PyTypeError::new_err(format!("Python has no elements for dtype {}", name_of(tensor.dtype()))))
}

/// The elements of a tensor, or of an output of a graph, that an index means.
pub(crate) fn elements<'py>(tensor: &Bound<'py, PyAny>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static ELEMENTS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = tensor.py();
    let find = || -> PyResult<_> { Ok(py.import("kernlink._slices")?.getattr("elements")?.unbind()) };
    ELEMENTS.get_or_try_init(py, find)?.bind(py).call1((tensor, index))
}

/// Nested lists of what comes next.
fn nested<'py>(
    py: Python<'py>,
    objects: &mut impl Iterator<Item = Bound<'py, PyAny>>,
    dims: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match dims {
        [] => objects.next().ok_or_else(|| PyValueError::new_err("an element is missing"))?,
        [last] => PyList::new(py, objects.take(*last).collect::<Vec<_>>())?.into_any(),
        [rows, inner @ ..] => {
            let rows = (0..*rows).map(|_| nested(py, objects, inner)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, rows)?.into_any()
        }
    })
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

    /// The elements as an array of NumPy's, which shares their memory and cannot be written to; strings are copied, as an array of
    /// objects. Of a scalar one of NumPy's, or bytes.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let array = to_array(slf)?;
        // What NumPy gives for the element of an array.
        if slf.get().0.rank() == 0 { array.get_item(PyTuple::empty(slf.py())) } else { Ok(array) }
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
        let array = to_array(slf)?;
        let dtype = dtype.filter(|dtype| !array.getattr("dtype").and_then(|own| own.eq(dtype)).unwrap_or(false));
        let is_string = slf.get().0.dtype() == DataType::String;
        match (dtype, copy) {
            (None, Some(false)) if !is_string => Ok(array),
            (_, Some(false)) => Err(PyValueError::new_err("the elements cannot be had in an array without a copy")),
            (Some(dtype), _) => array.call_method1("astype", (dtype,)),
            (None, Some(true)) if !is_string => array.call_method0("copy"),
            (None, _) => Ok(array),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let make = py.import("kernlink._kernlink")?.getattr("from_pickle")?;
        Ok((make, crate::pickle::to_pickle(py, &self.0)?).into_pyobject(py)?.into_any())
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        Tensor::owned(slf)
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
        nested(py, &mut objects(py, &self.0)?.into_iter(), self.0.shape().dims())
    }

    /// The only element.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.num_elements() {
            1 => nested(py, &mut objects(py, &self.0)?.into_iter(), &[]),
            count => Err(PyValueError::new_err(format!("a tensor of {count} elements is no scalar"))),
        }
    }

    fn __len__(&self) -> PyResult<usize> {
        self.0.shape().dims().first().copied().ok_or_else(|| PyTypeError::new_err("a scalar tensor has no length"))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        match self.0.num_elements() {
            0 => Ok(false),
            1 => self.item(py)?.is_truthy(),
            count => Err(PyValueError::new_err(format!(
                "whether a tensor of {count} elements is true is not clear: use the op `Any` or `All`"
            ))),
        }
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<PyInt>().call1((self.item(py)?,))
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<PyFloat>().call1((self.item(py)?,))
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<PyComplex>().call1((self.item(py)?,))
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.dtype().is_integer() && self.0.rank() == 0 {
            true => self.item(py),
            false => Err(PyTypeError::new_err("only a scalar tensor of integers is an index")),
        }
    }

    /// A scalar as its element is written; others only without a specification.
    fn __format__<'py>(slf: &Bound<'py, Self>, specification: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match specification.is_empty() {
            // As NumPy shows the elements, where there is NumPy.
            true => match slf.call_method0("numpy") {
                Ok(array) => py.import("builtins")?.call_method1("format", (array, "")),
                Err(_) => Ok(slf.str()?.into_any()),
            },
            false => py.import("builtins")?.call_method1("format", (slf.get().item(py)?, specification)),
        }
    }

    /// Some elements, as TensorFlow's tensors give them: integers, slices, `...`, `None`, tensors of these, and masks of bools.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if index.is_exact_instance_of::<PyInt>()
            && !crate::tape::is_recording()
            && !crate::graph::is_any_entered()
            && let (Ok(at), Some(&rows)) = (index.extract::<isize>(), slf.get().0.shape().dims().first())
            && let Some(row) = if at < 0 { rows.checked_add_signed(at) } else { Some(at as usize) }
            && row < rows
        {
            let mut shape = slf.get().0.shape().clone();
            shape.remove(0);
            let row = slf.get().0.slice_rows(row, row + 1).and_then(|row| row.reshaped(shape)).or_raise()?;
            return Ok(Bound::new(slf.py(), Tensor::new(row))?.into_any());
        }
        elements(slf.as_any(), index)
    }

    /// The rows.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Some(&rows) = slf.get().0.shape().dims().first() else {
            return Err(PyTypeError::new_err("a scalar tensor has no rows to iterate over"));
        };
        let indices = py.get_type::<PyRange>().call1((rows,))?;
        py.import("builtins")?.call_method1("map", (slf.getattr("__getitem__")?, indices))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let tensor = &slf.get().0;
        let (shape, dtype) = (tensor.shape(), name_of(tensor.dtype()));
        let dims = shape.dims().iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let dims = if shape.rank() == 1 { format!("({dims},)") } else { format!("({dims})") };
        let values = text_of(tensor);
        format!("<kernlink.Tensor: shape={dims}, dtype={dtype}, value={values}>")
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        let _ = slf;
        Err(PyTypeError::new_err("a tensor is not hashable: use `id(tensor)`, or its elements"))
    }
}

operators!(Tensor);

/// The elements as an array of NumPy's, also of a scalar.
fn to_array<'py>(tensor: &Bound<'py, Tensor>) -> PyResult<Bound<'py, PyAny>> {
    let (py, core) = (tensor.py(), tensor.get().core());
    let numpy = py.import("numpy")?;
    if to_array_interface(core.dtype()).is_some() {
        return numpy.call_method1("asarray", (tensor,));
    }
    if core.dtype() == DataType::String {
        let shape = tensor.get().shape(py)?;
        let array = numpy.call_method1("empty", (&shape, "O"))?;
        let flat = PyList::new(py, objects(py, core)?)?;
        match shape.is_empty() {
            true => array.set_item(shape, flat.get_item(0)?)?,
            false => array.getattr("flat")?.set_item(py.Ellipsis(), flat)?,
        }
        return Ok(array);
    }
    if !core.dtype().is_pod() {
        let message = format!("NumPy has no elements for dtype {}", name_of(core.dtype()));
        return Err(PyTypeError::new_err(message));
    }
    // What packages add to NumPy: `ml_dtypes` has bfloat16 and the small floats.
    let dtype = dtype_object(py, core.dtype())?.getattr("as_numpy_dtype")?;
    let raw = match core.dtype().size() {
        1 => "u1",
        2 => "u2",
        _ => return Err(PyTypeError::new_err(format!("NumPy has no {}", name_of(core.dtype())))),
    };
    let view = Py::new(py, Raw(core.clone(), raw))?;
    numpy.call_method1("asarray", (view,))?.call_method1("view", (dtype,))
}

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
