//! Python's operators, of tensors and of outputs of graphs: which methods there are, and which ops they run.

use kernlink::dtype::DataType;
use kernlink::graph::Operand;
use kernlink::tensor::Tensor as CoreTensor;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::convert::{Converted, numbers_for, operand};
use crate::dtypes::name_of;
use crate::eager::run;
use crate::error::Raise;
use crate::graph::SymbolicTensor;
use crate::tensor::Tensor;

/// The one list of operators, given to a macro: those of two operands with their reflections, comparisons with theirs, and those of
/// one operand. `__pow__`, `__eq__` and `__ne__` are of their own kinds, so that the macro names them itself.
macro_rules! each_operator {
    ($with:ident $($first:tt)*) => {
        $with! {
            $($first)*
            [
                __add__ __radd__ Add, __sub__ __rsub__ Sub, __mul__ __rmul__ Mul, __truediv__ __rtruediv__ TrueDiv,
                __floordiv__ __rfloordiv__ FloorDiv, __mod__ __rmod__ Mod, __matmul__ __rmatmul__ MatMul,
                __and__ __rand__ And, __or__ __ror__ Or, __xor__ __rxor__ Xor
            ]
            [
                __lt__ __gt__ Less, __le__ __ge__ LessEqual, __gt__ __lt__ Greater, __ge__ __le__ GreaterEqual
            ]
            [__neg__ Neg, __abs__ Abs, __invert__ Invert]
        }
    };
}

/// Gives a class the operators. It has `equal(slf, other, is)` for `==` and `!=`.
macro_rules! operators {
    ($class:ident) => {
        crate::operators::each_operator!(operators $class);
    };
    (
        $class:ident
        [$($binary:ident $reflected:ident $binary_op:ident),*]
        [$($compare:ident $mirrored:ident $compare_op:ident),*]
        [$($unary:ident $unary_op:ident),*]
    ) => {
        #[pymethods]
        impl $class {
            $(
                fn $binary<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    let names = (stringify!($reflected), false);
                    let this = (slf.as_any(), slf.get().core_dtype());
                    crate::operators::binary(crate::operators::Operator::$binary_op, this, other, names)
                }

                fn $reflected<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    let names = (stringify!($binary), true);
                    let this = (slf.as_any(), slf.get().core_dtype());
                    crate::operators::binary(crate::operators::Operator::$binary_op, this, other, names)
                }
            )*

            $(
                fn $compare<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    let names = (stringify!($mirrored), false);
                    let this = (slf.as_any(), slf.get().core_dtype());
                    crate::operators::binary(crate::operators::Operator::$compare_op, this, other, names)
                }
            )*

            $(
                fn $unary<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                    let this = (slf.as_any(), slf.get().core_dtype());
                    crate::operators::unary(crate::operators::Operator::$unary_op, this)
                }
            )*

            fn __pow__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
                modulo: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                crate::operators::power((slf.as_any(), slf.get().core_dtype()), other, modulo, ("__rpow__", false))
            }

            fn __rpow__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
                modulo: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                crate::operators::power((slf.as_any(), slf.get().core_dtype()), other, modulo, ("__pow__", true))
            }

            fn __eq__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                $class::equal(slf, other, true)
            }

            fn __ne__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                $class::equal(slf, other, false)
            }
        }
    };
}

pub(crate) use {each_operator, operators};

macro_rules! names {
    (
        [$($binary:ident $reflected:ident $binary_op:ident),*]
        [$($compare:ident $mirrored:ident $compare_op:ident),*]
        [$($unary:ident $unary_op:ident),*]
    ) => {
        &[
            $((stringify!($binary), 1), (stringify!($reflected), 1),)*
            $((stringify!($compare), 1),)*
            $((stringify!($unary), 0),)*
            ("__pow__", 2), ("__rpow__", 2), ("__eq__", 1), ("__ne__", 1),
        ]
    };
}

/// The names of the methods, which variables have, too, and what each takes beside its own operand.
pub(crate) const NAMES: &[(&str, usize)] = each_operator!(names);

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Operator {
    Add,
    Sub,
    Mul,
    TrueDiv,
    FloorDiv,
    Mod,
    MatMul,
    Pow,
    And,
    Or,
    Xor,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Neg,
    Abs,
    Invert,
}

impl Operator {
    /// The op that computes it for elements of a dtype.
    fn op(self, dtype: DataType) -> &'static str {
        match (self, dtype) {
            (Operator::Add, DataType::String) => "Add",
            (Operator::Add, _) => "AddV2",
            (Operator::Sub, _) => "Sub",
            (Operator::Mul, _) => "Mul",
            (Operator::TrueDiv, _) => "RealDiv",
            (Operator::FloorDiv, _) => "FloorDiv",
            (Operator::Mod, _) => "FloorMod",
            (Operator::MatMul, _) => "BatchMatMulV2",
            (Operator::Pow, _) => "Pow",
            (Operator::And, DataType::Bool) => "LogicalAnd",
            (Operator::And, _) => "BitwiseAnd",
            (Operator::Or, DataType::Bool) => "LogicalOr",
            (Operator::Or, _) => "BitwiseOr",
            // There is no op for one of two bools: it is that they differ.
            (Operator::Xor, DataType::Bool) => "NotEqual",
            (Operator::Xor, _) => "BitwiseXor",
            (Operator::Less, _) => "Less",
            (Operator::LessEqual, _) => "LessEqual",
            (Operator::Greater, _) => "Greater",
            (Operator::GreaterEqual, _) => "GreaterEqual",
            (Operator::Neg, _) => "Neg",
            (Operator::Abs, DataType::Complex64 | DataType::Complex128) => "ComplexAbs",
            (Operator::Abs, _) => "Abs",
            (Operator::Invert, DataType::Bool) => "LogicalNot",
            (Operator::Invert, _) => "Invert",
        }
    }
}

/// The dtype of a tensor, or of an output of a graph.
fn dtype_of(value: &Bound<'_, PyAny>) -> Option<DataType> {
    match value.cast::<Tensor>() {
        Ok(tensor) => Some(tensor.get().core_dtype()),
        Err(_) => value.cast::<SymbolicTensor>().ok().map(|output| output.get().core_dtype()),
    }
}

/// An operator of two operands, of which `this` is a tensor or an output of a graph: the first, or the second if it is reflected. The
/// name is that of the method that the other operand is asked for if it is nothing that becomes a tensor.
///
/// # Errors
/// TypeError for what cannot be the other operand; those of the op.
pub(crate) fn binary<'py>(
    operator: Operator,
    (this, dtype): (&Bound<'py, PyAny>, DataType),
    other: &Bound<'py, PyAny>,
    (asked, is_reflected): (&'static str, bool),
) -> PyResult<Bound<'py, PyAny>> {
    let py = this.py();
    let compute = || match operator == Operator::TrueDiv && dtype.is_integer() {
        true => {
            let float = float_for(dtype);
            let (this, other) = (cast(this, float)?, cast(&alike(other, dtype)?, float)?);
            let (x, y) = if is_reflected { (other, this) } else { (this, other) };
            run(py, operator.op(dtype), &[&x, &y], None)
        }
        false => {
            let (x, y) = if is_reflected { (other, this) } else { (this, other) };
            run(py, operator.op(dtype), &[x, y], None)
        }
    };
    match compute() {
        Err(error) if error.is_instance_of::<PyTypeError>(py) && has_own(other, asked) => {
            Ok(py.NotImplemented().into_bound(py))
        }
        result => result,
    }
}

/// Whether another package's class has the operator, which so can do what tensors cannot.
fn has_own(other: &Bound<'_, PyAny>, method: &str) -> bool {
    let kind = other.get_type();
    let is_builtin = kind.module().is_ok_and(|module| module == "builtins" || module == "numpy");
    let is_tensor = dtype_of(other).is_some() || other.hasattr("__kernlink_tensor__").unwrap_or(false);
    !is_builtin && !is_tensor && kind.hasattr(method).unwrap_or(false)
}

/// `this ** other`, or the other way round.
///
/// # Errors
/// TypeError if there is a modulo; those of [`binary`].
pub(crate) fn power<'py>(
    this: (&Bound<'py, PyAny>, DataType),
    other: &Bound<'py, PyAny>,
    modulo: Option<&Bound<'py, PyAny>>,
    names: (&'static str, bool),
) -> PyResult<Bound<'py, PyAny>> {
    if modulo.is_some_and(|modulo| !modulo.is_none()) {
        return Err(PyTypeError::new_err("powers of tensors have no modulo"));
    }
    binary(Operator::Pow, this, other, names)
}

/// `this == other`, or whether it is not so: by element, and one bool for operands whose shapes do not suit each other. Nothing equals
/// `None`.
///
/// # Errors
/// TypeError for what cannot be the other operand.
pub(crate) fn equal<'py>(this: &Bound<'py, PyAny>, other: &Bound<'py, PyAny>, is: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = this.py();
    let bool = |value: bool| PyBool::new(py, value).to_owned().into_any();
    if other.is_none() {
        return Ok(bool(!is));
    }
    let (op, asked) = if is { ("Equal", "__eq__") } else { ("NotEqual", "__ne__") };
    let compute =
        |other: &Bound<'py, PyAny>| run(py, op, &[this, other], Some(("incompatible_shape_error", bool(false))));
    let result = compute(other);
    if let Err(error) = &result
        && !error.is_instance_of::<PyRuntimeError>(py)
        && let Some((nearest, has)) = nearest(this, other)?
    {
        let equal = compute(&nearest)?;
        return match has {
            Some(has) if rank(&equal)? > 0 || rank(&has)? == 0 => match is {
                true => run(py, "LogicalAnd", &[&equal, &has], None),
                false => run(py, "LogicalOr", &[&equal, &run(py, "LogicalNot", &[&has], None)?], None),
            },
            // Their shapes do not suit each other, or the dtype has all of them.
            _ => Ok(equal),
        };
    }
    match result {
        // Each object has these: one that does more than tell objects apart says so.
        Err(error) if error.is_instance_of::<PyTypeError>(py) && has_own(other, asked) => {
            let object = py.get_type::<PyAny>().getattr(asked)?;
            match other.get_type().getattr(asked)?.is(&object) {
                true => Err(error),
                false => Ok(py.NotImplemented().into_bound(py)),
            }
        }
        result => result,
    }
}

/// Numbers of Python's, of which the dtype of a tensor has not all, as a tensor of that dtype: floats are rounded, to infinity too, and
/// in the place of integers that it has not there are others. Beside them which of them it has, for integers. `None` if the operand is
/// something else.
fn nearest<'py>(this: &Bound<'py, PyAny>, other: &Bound<'py, PyAny>) -> PyResult<Option<Nearest<'py>>> {
    let is_tensor = dtype_of(other).is_some() || other.hasattr("__kernlink_tensor__")?;
    let (Some(dtype), false) = (dtype_of(this), is_tensor) else { return Ok(None) };
    let Ok(numbers) = numbers_for(other, dtype) else { return Ok(None) };
    let from = numbers.dtype();
    let tensor = |tensor: CoreTensor| Ok::<_, PyErr>(Bound::new(this.py(), Tensor::new(tensor))?.into_any());
    if dtype.is_floating() && (from.is_integer() || from == DataType::Double) {
        return Ok(Some((tensor(crate::eager::cast(numbers, dtype)?)?, None)));
    }
    if !(dtype.is_integer() && from.is_integer()) {
        return Ok(None);
    }
    let within = crate::eager::cast(numbers.clone(), dtype)?;
    // What comes back as it was is there; between the dtypes of 64 bits its sign must be the same, too.
    let back = crate::eager::cast(within.clone(), from)?;
    let signs = [&numbers, &within].map(is_negative);
    let same = numbers.bytes().or_raise()?.chunks(from.size()).zip(back.bytes().or_raise()?.chunks(from.size()));
    let [before, after] = signs;
    let has: Vec<bool> = same.zip(before?.into_iter().zip(after?)).map(|((a, b), (c, d))| a == b && c == d).collect();
    let has = CoreTensor::from_vec(numbers.shape().clone(), has).or_raise()?;
    Ok(Some((tensor(within)?, Some(tensor(has)?))))
}

/// What [`nearest`] finds.
type Nearest<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// Which integers are below zero.
fn is_negative(numbers: &CoreTensor) -> PyResult<Vec<bool>> {
    if numbers.dtype() == DataType::Uint64 {
        return Ok(vec![false; numbers.num_elements()]);
    }
    let wide = crate::eager::cast(numbers.clone(), DataType::Int64)?;
    Ok(wide.as_slice::<i64>().or_raise()?.iter().map(|&number| number < 0).collect())
}

/// The rank of a result.
fn rank(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let shape = value.getattr("shape")?;
    // One that is not known is taken for that of a result whose operands suit each other.
    if shape.is_none() { Ok(usize::MAX) } else { shape.len() }
}

/// An operator of one operand, which is a tensor or an output of a graph.
///
/// # Errors
/// Those of the op.
pub(crate) fn unary<'py>(
    operator: Operator,
    (this, dtype): (&Bound<'py, PyAny>, DataType),
) -> PyResult<Bound<'py, PyAny>> {
    let size = match (operator, dtype) {
        (Operator::Abs, DataType::Complex64) => Some(DataType::Float),
        (Operator::Abs, DataType::Complex128) => Some(DataType::Double),
        _ => None,
    };
    let named =
        size.map(|size| Ok::<_, PyErr>(("Tout", name_of(size).into_pyobject(this.py())?.into_any()))).transpose()?;
    run(this.py(), operator.op(dtype), &[this], named)
}

/// The floats in which integers are divided.
fn float_for(dtype: DataType) -> DataType {
    if dtype.size() <= 2 { DataType::Float } else { DataType::Double }
}

fn cast<'py>(value: &Bound<'py, PyAny>, dtype: DataType) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    run(py, "Cast", &[value], Some(("DstT", name_of(dtype).into_pyobject(py)?.into_any())))
}

/// The other operand of what an op does not take as it is: of the dtype that it would have as an input beside that.
fn alike<'py>(value: &Bound<'py, PyAny>, dtype: DataType) -> PyResult<Bound<'py, PyAny>> {
    let refused = |other: DataType| {
        let text = format!("one operand is {}, the other {}: cast one", name_of(dtype), name_of(other));
        crate::matching::dtypes_differ(value.py(), &text)
    };
    let value = match value.getattr("__kernlink_tensor__") {
        Ok(read) => read.call0()?,
        Err(_) => value.clone(),
    };
    if let Some(other) = dtype_of(&value) {
        return if other == dtype { Ok(value) } else { Err(refused(other)) };
    }
    let tensor = match operand::<CoreTensor>(&value)? {
        Converted::Flexible(flexible) if flexible.becomes(dtype) => crate::eager::cast(flexible.tensor, dtype)?,
        Converted::Flexible(flexible) => flexible.tensor,
        Converted::Operand(operand) => match operand.with_dtype(dtype) {
            Operand::Value(tensor) | Operand::Constant(tensor) | Operand::Literal(tensor) => tensor,
        },
    };
    if tensor.dtype() != dtype {
        return Err(refused(tensor.dtype()));
    }
    Ok(Bound::new(value.py(), Tensor::new(tensor))?.into_any())
}
