//! Dtypes, by the names that Python has for them.

use kernlink::dtype::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// TensorFlow's name of a dtype in Python, such as `float32`.
pub(crate) fn name_of(dtype: DataType) -> &'static str {
    match dtype {
        DataType::Float => "float32",
        DataType::Double => "float64",
        DataType::Half => "float16",
        other => other.name(),
    }
}

fn named(name: &str) -> Option<DataType> {
    DataType::ALL.iter().copied().find(|&dtype| name_of(dtype) == name)
}

/// The dtype that Python means: one of the package's, a name, a NumPy dtype, or one of Python's types.
pub(crate) fn dtype_of(value: &Bound<'_, PyAny>) -> PyResult<DataType> {
    if let Ok(name) = value.extract::<&str>()
        && let Some(dtype) = named(name)
    {
        return Ok(dtype);
    }
    if let Ok(number) = value.getattr("as_datatype_enum").and_then(|number| number.extract::<i32>())
        && let Some(dtype) = DataType::from_number(number)
    {
        return Ok(dtype);
    }
    // `kernlink.as_dtype` knows the rest.
    let number = value.py().import("kernlink._dtypes")?.getattr("as_dtype")?.call1((value,))?;
    let number = number.getattr("as_datatype_enum")?.extract::<i32>()?;
    DataType::from_number(number)
        .ok_or_else(|| PyTypeError::new_err(format!("{value} is no dtype that a tensor can have")))
}

/// The dtype whose elements the array interface describes so, if there is one.
pub(crate) fn of_array_interface(text: &str) -> Option<DataType> {
    let (order, kind) = text.split_at_checked(1)?;
    let other_order = if cfg!(target_endian = "little") { ">" } else { "<" };
    let dtype = match kind {
        "f4" => DataType::Float,
        "f8" => DataType::Double,
        "f2" => DataType::Half,
        "i1" => DataType::Int8,
        "i2" => DataType::Int16,
        "i4" => DataType::Int32,
        "i8" => DataType::Int64,
        "u1" => DataType::Uint8,
        "u2" => DataType::Uint16,
        "u4" => DataType::Uint32,
        "u8" => DataType::Uint64,
        "b1" => DataType::Bool,
        "c8" => DataType::Complex64,
        "c16" => DataType::Complex128,
        _ => return None,
    };
    (order != other_order).then_some(dtype)
}

/// How the array interface describes elements of a dtype; `None` for those that NumPy does not have.
pub(crate) fn to_array_interface(dtype: DataType) -> Option<&'static str> {
    macro_rules! text {
        ($kind:literal) => {
            if cfg!(target_endian = "little") { concat!("<", $kind) } else { concat!(">", $kind) }
        };
    }
    Some(match dtype {
        DataType::Float => text!("f4"),
        DataType::Double => text!("f8"),
        DataType::Half => text!("f2"),
        DataType::Int8 | DataType::Qint8 => "|i1",
        DataType::Int16 | DataType::Qint16 => text!("i2"),
        DataType::Int32 | DataType::Qint32 => text!("i4"),
        DataType::Int64 => text!("i8"),
        DataType::Uint8 | DataType::Quint8 => "|u1",
        DataType::Uint16 | DataType::Quint16 => text!("u2"),
        DataType::Uint32 => text!("u4"),
        DataType::Uint64 => text!("u8"),
        DataType::Bool => "|b1",
        DataType::Complex64 => text!("c8"),
        DataType::Complex128 => text!("c16"),
        _ => return None,
    })
}
