//! Which dtype an array or a number of Python's takes as an input of an op: TensorFlow casts it to that of the tensors beside it.

use kernlink::dtype::DataType;
use kernlink::graph::{NodeInput, Operand};
use kernlink::op::{AllowedValues, ArgType, AttrDefault, OpDef};
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use smallvec::SmallVec;

use crate::convert::{Given, beyond_int64};
use crate::dtypes::name_of;
use crate::items::is_numeric;

/// A constant that takes the dtype that is asked for.
pub(crate) struct Flexible {
    pub(crate) tensor: CoreTensor,
    /// Whether it is an array, which is cast as NumPy casts; else it is Python's, and keeps its value.
    pub(crate) is_array: bool,
}

impl Flexible {
    pub(crate) fn array(tensor: CoreTensor) -> Flexible {
        Flexible { tensor, is_array: true }
    }

    pub(crate) fn of_python(tensor: CoreTensor) -> Flexible {
        Flexible { tensor, is_array: false }
    }

    /// Whether it is an integer that has a dtype only where one is asked for.
    pub(crate) fn is_of_python_beyond_int64(&self) -> bool {
        !self.is_array && self.tensor.dtype() == DataType::Uint64
    }

    /// Whether the elements become those of a dtype: strings stay strings, and what is imaginary is not dropped.
    pub(crate) fn becomes(&self, dtype: DataType) -> bool {
        becomes(&self.tensor, self.is_array, dtype)
    }
}

fn becomes(tensor: &CoreTensor, is_array: bool, dtype: DataType) -> bool {
    match tensor.dtype() {
        same if same == dtype => true,
        DataType::Bool => is_numeric(dtype),
        from if from.is_complex() => dtype.is_complex(),
        from if !is_numeric(from) => false,
        _ if is_array => is_numeric(dtype) || dtype == DataType::Bool,
        // Python's integers above 32 bits, which are not cut.
        DataType::Int64 if dtype == DataType::Uint64 => {
            tensor.as_slice::<i64>().is_ok_and(|numbers| numbers.iter().all(|&number| number >= 0))
        }
        _ => dtype.is_floating() || dtype.is_complex(),
    }
}

/// The flexible constants among the inputs of a call: the input, the place in its list, and whether it is an array.
pub(crate) type Places = SmallVec<[(usize, usize, bool); 2]>;

/// Casts flexible constants to the dtypes that their arguments have: a fixed one, or that of the tensors beside them, or of the
/// first among themselves. What cannot be cast is left to the op, which refuses it.
///
/// # Errors
/// Those of casts; ValueError if integers of Python's beyond `int64` alone say what the dtype is.
pub(crate) fn settle<V: Given>(def: &OpDef, inputs: &mut [NodeInput<V>], places: &Places) -> PyResult<()> {
    for &(input, place, is_array) in places {
        let wanted = match &def.inputs[input].ty {
            ArgType::Fixed(dtype) => Some(*dtype),
            ArgType::Attr(attr) => of_attr(def, attr, inputs, places)?,
            // Each tensor of such a list has a dtype of its own.
            ArgType::ListAttr(_) => None,
        };
        let operand = match &mut inputs[input] {
            NodeInput::Single(operand) => Some(operand),
            NodeInput::List(operands) => operands.get_mut(place),
        };
        if let (Some(wanted), Some(Operand::Constant(tensor))) = (wanted, operand)
            && tensor.dtype() != wanted
            && becomes(tensor, is_array, wanted)
        {
            *tensor = crate::eager::cast(tensor.clone(), wanted)?;
        }
    }
    Ok(())
}

/// Refuses inputs of one attr that are of several dtypes: nothing casts tensors, and no number becomes what it is not.
///
/// # Errors
/// TypeError, which says what each is.
pub(crate) fn check<V: Given>(def: &OpDef, inputs: &[NodeInput<V>], places: &Places) -> PyResult<()> {
    for (index, (arg, input)) in def.inputs.iter().zip(inputs).enumerate() {
        let ArgType::Attr(attr) = &arg.ty else { continue };
        // That which the first tensor of the attr has counts, wherever it stands.
        let Some((known, wanted)) = first_tensor(def, attr, inputs) else { continue };
        for (place, operand) in input.operands().iter().enumerate() {
            let found = match operand {
                Operand::Value(value) => value.dtype(),
                Operand::Constant(tensor) => Some(tensor.dtype()),
                Operand::Literal(literal) => Some(literal.dtype()).filter(|_| !can_be(literal, wanted)),
            };
            if let Some(found) = found.filter(|found| *found != wanted) {
                let is_python = |operand: &Operand<V>| match operand {
                    Operand::Value(_) => false,
                    Operand::Constant(_) => places.contains(&(index, place, false)),
                    Operand::Literal(_) => true,
                };
                let tensor = operand.tensor().filter(|_| is_python(operand));
                return Err(differ(def, (known, wanted), ((index, place), tensor, found)));
            }
        }
    }
    Ok(())
}

/// The place and the dtype of the first tensor among the inputs of an attr, if there is one.
fn first_tensor<V: Given>(def: &OpDef, attr: &str, inputs: &[NodeInput<V>]) -> Option<((usize, usize), DataType)> {
    let of_attr = |ty: &ArgType| matches!(ty, ArgType::Attr(other) if other == attr);
    let all = def.inputs.iter().zip(inputs).enumerate().filter(|(_, (arg, _))| of_attr(&arg.ty));
    let mut constant = None;
    for (index, (_, input)) in all {
        for (place, operand) in input.operands().iter().enumerate() {
            match operand {
                Operand::Value(value) => return value.dtype().map(|dtype| ((index, place), dtype)),
                Operand::Constant(tensor) => _ = constant.get_or_insert(((index, place), tensor.dtype())),
                Operand::Literal(_) => {}
            }
        }
    }
    constant
}

/// Whether a literal may have its value in a dtype: no float is an integer, and no number a bool or a text. The op refuses, too, what a
/// dtype that is not named here has not.
fn can_be(literal: &CoreTensor, dtype: DataType) -> bool {
    let all = |is_there: &dyn Fn(i32) -> bool| {
        literal.as_slice::<i32>().is_ok_and(|numbers| numbers.iter().all(|&number| is_there(number)))
    };
    match (literal.dtype(), dtype) {
        _ if literal.num_elements() == 0 => true,
        (DataType::Double, DataType::Float | DataType::Complex64) => {
            let is_there = |number: &f64| !number.is_finite() || (*number as f32).is_finite();
            literal.as_slice::<f64>().is_ok_and(|numbers| numbers.iter().all(is_there))
        }
        (DataType::Double, _) => dtype.is_floating() || dtype.is_complex(),
        (_, DataType::Int8) => all(&|number| i8::try_from(number).is_ok()),
        (_, DataType::Int16) => all(&|number| i16::try_from(number).is_ok()),
        (_, DataType::Uint8) => all(&|number| u8::try_from(number).is_ok()),
        (_, DataType::Uint16) => all(&|number| u16::try_from(number).is_ok()),
        (_, DataType::Uint32 | DataType::Uint64) => all(&|number| number >= 0),
        _ => is_numeric(dtype),
    }
}

/// That two inputs differ in their dtypes: which, and what each is. The second is shown if it is of Python's numbers.
fn differ(
    def: &OpDef,
    (known, wanted): ((usize, usize), DataType),
    (second, numbers, found): ((usize, usize), Option<&CoreTensor>, DataType),
) -> PyErr {
    let name = |(index, place): (usize, usize)| {
        let arg = &def.inputs[index];
        if arg.is_list() { format!("{}[{place}]", arg.name) } else { arg.name.to_string() }
    };
    let (first, second, wanted_name) = (name(known), name(second), name_of(wanted));
    let what = match numbers {
        Some(one) if one.num_elements() == 1 => {
            format!("{second} is {}, which is no {wanted_name}", crate::tensor::text_of(one))
        }
        Some(_) => format!("{second} has {}, of which not all are {wanted_name}", name_of(found)),
        None if is_numeric(found) && is_numeric(wanted) => format!("{second} is {}: cast one", name_of(found)),
        None => format!("{second} is {}", name_of(found)),
    };
    Python::attach(|py| dtypes_differ(py, &format!("{first} of {} is {}, {what}", def.name, wanted_name)))
}

/// An error for dtypes that differ, which is a TypeError and an InvalidArgumentError.
pub(crate) fn dtypes_differ(py: Python<'_>, text: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || Ok(py.import("kernlink.errors")?.getattr("DTypeError")?.unbind()));
    match class.and_then(|class| class.bind(py).call1((text,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The dtype of an attr that inputs share; `None` if nothing but literals says what it is.
fn of_attr<V: Given>(def: &OpDef, attr: &str, inputs: &[NodeInput<V>], places: &Places) -> PyResult<Option<DataType>> {
    let (mut first, mut has_array) = (None, false);
    for (index, (arg, input)) in def.inputs.iter().zip(inputs).enumerate() {
        if !matches!(&arg.ty, ArgType::Attr(other) if other == attr) {
            continue;
        }
        for (place, operand) in input.operands().iter().enumerate() {
            match operand {
                Operand::Value(value) => return Ok(value.dtype()),
                Operand::Constant(tensor) => {
                    let Some(&(.., is_array)) = places.iter().find(|&&(i, p, _)| (i, p) == (index, place)) else {
                        return Ok(Some(tensor.dtype()));
                    };
                    has_array |= is_array;
                    first.get_or_insert(tensor.dtype());
                }
                Operand::Literal(_) => {}
            }
        }
    }
    let (Some(first), Some(def)) = (first, def.attrs.iter().find(|def| def.name == attr)) else { return Ok(None) };
    if first == DataType::Uint64 && !has_array {
        return Err(beyond_int64());
    }
    // Integers for sizes and indices may be of dtypes that the op does not list.
    Ok(match (&def.allowed, &def.default) {
        (Some(AllowedValues::Types(allowed)), Some(AttrDefault::Type(default)))
            if first.is_integer() && default.is_integer() && !allowed.contains(&first) =>
        {
            Some(*default)
        }
        _ => Some(first),
    })
}
