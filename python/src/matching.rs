//! Which dtype an array or a number of Python's takes as an input of an op: TensorFlow casts it to that of the tensors beside it.

use kernlink::dtype::DataType;
use kernlink::graph::{NodeInput, Operand};
use kernlink::op::{AllowedValues, ArgType, AttrDefault, OpDef};
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::convert::{Given, beyond_int64};

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
    let is_number = |dtype: DataType| dtype.is_integer() || dtype.is_floating() || dtype.is_complex();
    match tensor.dtype() {
        same if same == dtype => true,
        DataType::Bool => is_number(dtype),
        from if from.is_complex() => dtype.is_complex(),
        from if !is_number(from) => false,
        _ if is_array => is_number(dtype) || dtype == DataType::Bool,
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
