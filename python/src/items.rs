//! The elements of nested lists: numbers, texts, and what has memory of its own.

use kernlink::dtype::{Complex64, DataType, TString};
use kernlink::graph::Operand;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyByteArray, PyComplex, PyFloat, PyInt, PyList, PyMemoryView, PyType};

use crate::convert::{Converted, array_in, beyond_int64, check_floats, is_list, is_number, is_python, text};
use crate::dtypes::dtype_of;
use crate::error::Raise;
use crate::symbolic::SymbolicTensor;
use crate::tensor::Tensor;
use crate::values::shortened;

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

/// The elements of nested lists. The first says what they are, as in TensorFlow: behind an integer there may be floats, which make
/// floats of all, behind a number bools of Python's, but not of NumPy's, and behind a bool or a text nothing else.
#[derive(Default)]
pub(crate) struct Items {
    pub(crate) shape: Vec<usize>,
    /// The dtype that is asked for. If that has fractions, integers become floats, however large they are.
    wanted: Option<DataType>,
    /// The rank at which elements were found.
    depth: Option<usize>,
    plain: Option<Plain>,
    /// The dtype of the first element, if it is a float of NumPy's: floats after it take it.
    first: Option<DataType>,
    /// Whether there are bools of NumPy's, which are no numbers whatever is asked for.
    has_fixed_bools: bool,
    /// Whether there are arrays among them.
    pub(crate) has_arrays: bool,
    /// Whether there are tensors, or outputs of a graph.
    pub(crate) has_tensors: bool,
    /// In how many lists and arrays of objects these stand.
    base: usize,
}

/// No tensor has a higher rank.
pub(crate) const MOST_DEEP: usize = 254;

impl Items {
    pub(crate) fn of_dtype(wanted: Option<DataType>) -> Items {
        Items { wanted, ..Items::default() }
    }

    /// Those of an array of objects that stands in so many lists and other such arrays.
    pub(crate) fn of_objects(base: usize) -> Items {
        Items { base, ..Items::default() }
    }

    /// All of them as a tensor of the shape.
    ///
    /// # Errors
    /// ValueError for floats that are beyond the dtype of the first.
    pub(crate) fn converted(self) -> PyResult<Converted<CoreTensor>> {
        let Items { shape, plain, first, wanted, has_fixed_bools, .. } = self;
        let shape = Shape::from(shape);
        let converted = match plain {
            None => CoreTensor::from_elements::<f64>(shape, &[]).map(Converted::literal),
            Some(Plain::Bools(bools)) if has_fixed_bools => CoreTensor::from_vec(shape, bools).map(Converted::constant),
            Some(Plain::Bools(bools)) => CoreTensor::from_vec(shape, bools).map(Converted::python),
            Some(Plain::Integers(numbers)) => {
                let small: Result<Vec<i32>, _> = numbers.iter().map(|&number| i32::try_from(number)).collect();
                match small {
                    Ok(small) => CoreTensor::from_vec(shape, small).map(Converted::literal),
                    Err(_) => CoreTensor::from_vec(shape, numbers).map(Converted::python),
                }
            }
            Some(Plain::Large(numbers)) => CoreTensor::from_vec(shape, numbers).map(Converted::python),
            Some(Plain::Floats(numbers)) => {
                let tensor = CoreTensor::from_vec(shape, numbers).or_raise()?;
                return match first.filter(|_| wanted.is_none()) {
                    None => Ok(Converted::literal(tensor)),
                    Some(DataType::Double) => Ok(Converted::python(tensor)),
                    Some(dtype) => {
                        check_floats(&tensor, dtype)?;
                        crate::eager::cast(tensor, dtype).map(Converted::python)
                    }
                };
            }
            Some(Plain::Complex(numbers)) => CoreTensor::from_vec(shape, numbers).map(Converted::python),
            Some(Plain::Strings(texts)) => CoreTensor::from_vec(shape, texts).map(Converted::constant),
        };
        converted.or_raise()
    }

    pub(crate) fn take(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if is_list(value) {
            return self.list(value, depth);
        }
        self.has_tensors |= depth > 0 && is_tensor(value);
        if self.has_tensors {
            return Ok(());
        }
        match as_list(value)? {
            Some(Listed::List(list)) => return self.list(&list, depth),
            Some(Listed::Memory(memory)) => return self.array(&memory, depth, false),
            None => {}
        }
        if rank(value).is_some_and(|rank| rank > 0) {
            self.has_arrays = true;
            return self.array(value, depth, true);
        }
        self.elements_at(depth)?;
        if self.plain.is_none() {
            self.first = numpy_float(value);
        }
        match self.python(value, false)? {
            true => Ok(()),
            false => self.other(value),
        }
    }

    fn list(&mut self, list: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        let length = list.len()?;
        self.dimension(depth, length)?;
        if length == 0 && !self.has_tensors {
            self.elements_at(depth + 1)?;
        }
        for item in list.try_iter()? {
            self.take(&item?, depth + 1)?;
        }
        Ok(())
    }

    /// A list, or a dimension of an array, of this length.
    fn dimension(&mut self, depth: usize, length: usize) -> PyResult<()> {
        if self.base + depth >= MOST_DEEP {
            return Err(too_deep());
        }
        match self.shape.get(depth) {
            None if self.depth.is_some_and(|elements| depth >= elements) => Err(ragged()),
            None => {
                self.shape.push(length);
                Ok(())
            }
            Some(&expected) if expected != length && !self.has_tensors => Err(ragged()),
            Some(_) => Ok(()),
        }
    }

    /// That there are elements in so many lists.
    fn elements_at(&mut self, depth: usize) -> PyResult<()> {
        match *self.depth.get_or_insert(depth) == depth {
            true => Ok(()),
            false => Err(ragged()),
        }
    }

    /// The elements of what has memory of its own. They are `fixed` if they are an array's, which says what their dtype is.
    fn array(&mut self, value: &Bound<'_, PyAny>, depth: usize, fixed: bool) -> PyResult<()> {
        let (tensor, is_array) = match array_in(value, self.base + depth)?.ok_or_else(|| no_tensor(value))? {
            Converted::Flexible(flexible) => (flexible.tensor, flexible.is_array),
            Converted::Operand(Operand::Value(tensor) | Operand::Constant(tensor) | Operand::Literal(tensor)) => {
                (tensor, false)
            }
        };
        let dims = tensor.shape().dims().to_vec();
        for (at, &size) in dims.iter().enumerate() {
            self.dimension(depth + at, size)?;
        }
        self.elements_at(depth + dims.len())?;
        if tensor.num_elements() == 0 {
            return Ok(());
        }
        let (fixed, dtype) = (fixed && is_array, tensor.dtype());
        match dtype {
            DataType::Bool => self.bools(tensor.as_slice().or_raise()?, fixed),
            DataType::Uint64 => {
                tensor.as_slice::<u64>().or_raise()?.iter().try_for_each(|&number| self.unsigned(number))
            }
            _ if dtype.is_integer() => {
                let numbers = crate::eager::cast(tensor, DataType::Int64)?;
                self.integers(numbers.as_slice().or_raise()?)
            }
            _ if dtype.is_floating() => {
                if self.plain.is_none() {
                    self.first = fixed.then_some(dtype);
                }
                let numbers = crate::eager::cast(tensor, DataType::Double)?;
                self.floats(numbers.as_slice().or_raise()?)
            }
            _ if dtype.is_complex() => {
                let numbers = crate::eager::cast(tensor, DataType::Complex128)?;
                numbers.as_slice().or_raise()?.iter().try_for_each(|&number| self.complex(number))
            }
            DataType::String => {
                tensor.as_slice::<TString>().or_raise()?.iter().try_for_each(|text| self.text(text.clone()))
            }
            _ => Err(no_tensor(value)),
        }
    }

    /// A value of Python's own, or what NumPy makes of a scalar of its; false if it is none.
    fn python(&mut self, value: &Bound<'_, PyAny>, is_of_numpy: bool) -> PyResult<bool> {
        if value.is_instance_of::<PyBool>() {
            let value: bool = value.extract()?;
            // Python's are numbers, where numbers are asked for.
            match self.wanted.is_some_and(is_numeric) && !is_of_numpy {
                true => self.integers(&[value.into()])?,
                false => self.bools(&[value], is_of_numpy)?,
            }
        } else if value.is_instance_of::<PyInt>() {
            match (value.extract::<i64>(), value.extract::<u64>()) {
                (Ok(number), _) => self.integers(&[number])?,
                (_, Ok(number)) => self.unsigned(number)?,
                _ => self.beyond(value)?,
            }
        } else if value.is_instance_of::<PyFloat>() {
            self.floats(&[value.extract()?])?;
        } else if let Ok(value) = value.cast::<PyComplex>() {
            self.complex(Complex64::new(value.real(), value.imag()))?;
        } else if let Some(text) = text(value)? {
            self.text(text)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Behind numbers Python's bools are numbers, too, but no number is a bool.
    fn bools(&mut self, values: &[bool], is_of_numpy: bool) -> PyResult<()> {
        match self.plain.get_or_insert_with(|| Plain::Bools(Vec::new())) {
            Plain::Bools(bools) => {
                bools.extend_from_slice(values);
                self.has_fixed_bools |= is_of_numpy;
                return Ok(());
            }
            other @ Plain::Strings(_) => return Err(mixed("a bool", other)),
            other if is_of_numpy => return Err(mixed("a bool of NumPy's", other)),
            _ => {}
        }
        values.iter().try_for_each(|&value| self.integers(&[value.into()]))
    }

    /// What holds integers, if they are the first elements: floats, where a dtype with fractions is asked for.
    fn for_integers(&self, otherwise: Plain) -> Plain {
        match self.wanted.is_some_and(|wanted| wanted.is_floating() || wanted.is_complex()) {
            true => Plain::Floats(Vec::new()),
            false => otherwise,
        }
    }

    fn integers(&mut self, numbers: &[i64]) -> PyResult<()> {
        let empty = self.for_integers(Plain::Integers(Vec::new()));
        match self.plain.get_or_insert(empty) {
            Plain::Integers(before) => before.extend_from_slice(numbers),
            Plain::Large(before) => {
                for &number in numbers {
                    before.push(u64::try_from(number).map_err(|_| of_no_dtype())?);
                }
            }
            Plain::Floats(before) => before.extend(numbers.iter().map(|&number| number as f64)),
            Plain::Complex(before) => before.extend(numbers.iter().map(|&number| Complex64::new(number as f64, 0.0))),
            other => return Err(mixed("an integer", other)),
        }
        Ok(())
    }

    fn unsigned(&mut self, number: u64) -> PyResult<()> {
        if let Ok(number) = i64::try_from(number) {
            return self.integers(&[number]);
        }
        if let Some(Plain::Integers(before)) = &self.plain {
            let before: Result<_, _> = before.iter().map(|&number| u64::try_from(number)).collect();
            self.plain = Some(Plain::Large(before.map_err(|_| of_no_dtype())?));
        }
        let empty = self.for_integers(Plain::Large(Vec::new()));
        match self.plain.get_or_insert(empty) {
            Plain::Large(before) => before.push(number),
            Plain::Floats(before) => before.push(number as f64),
            Plain::Complex(before) => before.push(Complex64::new(number as f64, 0.0)),
            other => return Err(mixed("an integer", other)),
        }
        Ok(())
    }

    /// An integer beyond 64 bits, which is a float among floats.
    fn beyond(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let is_float = match &self.plain {
            Some(Plain::Floats(_) | Plain::Complex(_)) => true,
            Some(_) => false,
            None => matches!(self.for_integers(Plain::Integers(Vec::new())), Plain::Floats(_)),
        };
        let what = shortened(value);
        match value.extract::<f64>() {
            Ok(number) if is_float => self.floats(&[number]),
            Err(_) if is_float => Err(PyValueError::new_err(format!("{what} is beyond float64"))),
            _ => Err(PyValueError::new_err(format!("{what} is beyond all dtypes of integers: make it a float"))),
        }
    }

    fn floats(&mut self, numbers: &[f64]) -> PyResult<()> {
        if let Some(Plain::Integers(before)) = &self.plain {
            self.plain = Some(Plain::Floats(before.iter().map(|&number| number as f64).collect()));
        }
        match self.plain.get_or_insert_with(|| Plain::Floats(Vec::new())) {
            Plain::Floats(before) => before.extend_from_slice(numbers),
            Plain::Complex(before) => before.extend(numbers.iter().map(|&number| Complex64::new(number, 0.0))),
            Plain::Large(_) => return Err(beyond_int64()),
            other => return Err(mixed("a float", other)),
        }
        Ok(())
    }

    fn complex(&mut self, number: Complex64) -> PyResult<()> {
        let before: Option<Vec<_>> = match &self.plain {
            Some(Plain::Integers(numbers)) => {
                Some(numbers.iter().map(|&number| Complex64::new(number as f64, 0.0)).collect())
            }
            Some(Plain::Floats(numbers)) => Some(numbers.iter().map(|&number| Complex64::new(number, 0.0)).collect()),
            _ => None,
        };
        if let Some(before) = before {
            self.plain = Some(Plain::Complex(before));
        }
        match self.plain.get_or_insert_with(|| Plain::Complex(Vec::new())) {
            Plain::Complex(before) => before.push(number),
            Plain::Large(_) => return Err(beyond_int64()),
            other => return Err(mixed("a complex number", other)),
        }
        Ok(())
    }

    fn text(&mut self, text: TString) -> PyResult<()> {
        match self.plain.get_or_insert_with(|| Plain::Strings(Vec::new())) {
            Plain::Strings(texts) => texts.push(text),
            other => return Err(mixed("a string", other)),
        }
        Ok(())
    }

    /// A scalar of NumPy's among the elements.
    fn other(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if rank(value) == Some(0) && value.hasattr("item")? {
            // Some give what is a scalar of NumPy's again.
            let item = value.call_method0("item")?;
            if self.python(&item, true)? {
                return Ok(());
            }
        }
        Err(no_tensor(value))
    }
}

/// Whether the elements of a dtype are numbers.
pub(crate) fn is_numeric(dtype: DataType) -> bool {
    dtype.is_integer() || dtype.is_floating() || dtype.is_complex()
}

/// Whether lists hold tensors, or outputs of a graph, however deep.
pub(crate) fn hold_tensors(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    if !is_list(value) {
        return Ok(depth > 0 && is_tensor(value));
    }
    if depth >= MOST_DEEP {
        return Err(too_deep());
    }
    for item in value.try_iter()? {
        if hold_tensors(&item?, depth + 1)? {
            return Ok(true);
        }
    }
    Ok(false)
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

/// What is a list to TensorFlow.
enum Listed<'py> {
    /// One of Python's.
    List(Bound<'py, PyAny>),
    /// Memory with numbers, as an array of NumPy's.
    Memory(Bound<'py, PyAny>),
}

/// What is a list of numbers to TensorFlow, as one: a range, a deque and other sequences, bytes that can be changed, a view of memory,
/// an array of the module `array`.
fn as_list<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Listed<'py>>> {
    static SEQUENCE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static ARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if is_python(value) || is_number(value) {
        return Ok(None);
    }
    let py = value.py();
    let is_memory = value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PyMemoryView>()
        || value.is_instance(ARRAY.import(py, "array", "array")?)?;
    if is_memory && let Some(array) = memory(value) {
        return Ok(Some(Listed::Memory(array)));
    }
    if is_memory || value.is_instance(SEQUENCE.import(py, "collections.abc", "Sequence")?)? {
        let list = py.get_type::<PyList>().call1((value,)).map_err(|error| {
            let kind = value.get_type().to_string();
            PyTypeError::new_err(format!("a value of {kind} cannot be a tensor: {}", error.value(py)))
        })?;
        return Ok(Some(Listed::List(list)));
    }
    Ok(None)
}

/// The numbers in memory as an array of NumPy's; `None` if they are none, or there is no NumPy.
fn memory<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let view = PyMemoryView::from(value).ok()?;
    let array = value.py().import("numpy").ok()?.call_method1("asarray", (view,)).ok()?;
    // NumPy's texts lose their last bytes, if those are zero.
    let kind: char = array.getattr("dtype").ok()?.getattr("kind").ok()?.extract().ok()?;
    "biufc".contains(kind).then_some(array)
}

fn no_tensor(value: &Bound<'_, PyAny>) -> PyErr {
    match value.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("a value of type {name} cannot be a tensor")),
        Err(error) => error,
    }
}

fn of_no_dtype() -> PyErr {
    PyValueError::new_err("no dtype has integers below zero and of 2**63 or more: make them floats")
}

fn too_deep() -> PyErr {
    PyValueError::new_err(format!("lists and arrays of objects are nested {MOST_DEEP} deep at most"))
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
