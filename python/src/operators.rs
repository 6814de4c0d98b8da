//! Python's operators, of tensors and of outputs of graphs.

/// Gives a class the operators that ops compute.
macro_rules! operators {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "AddV2", &[slf.as_any(), other])
            }

            fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "AddV2", &[other, slf.as_any()])
            }

            fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "Sub", &[slf.as_any(), other])
            }

            fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "Sub", &[other, slf.as_any()])
            }

            fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "Mul", &[slf.as_any(), other])
            }

            fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "Mul", &[other, slf.as_any()])
            }

            fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "RealDiv", &[slf.as_any(), other])
            }

            fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "RealDiv", &[other, slf.as_any()])
            }

            fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "FloorDiv", &[slf.as_any(), other])
            }

            fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "FloorDiv", &[other, slf.as_any()])
            }

            fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "FloorMod", &[slf.as_any(), other])
            }

            fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "FloorMod", &[other, slf.as_any()])
            }

            fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "BatchMatMulV2", &[slf.as_any(), other])
            }

            fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "BatchMatMulV2", &[other, slf.as_any()])
            }

            fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "LogicalAnd", &[slf.as_any(), other])
            }

            fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "LogicalOr", &[slf.as_any(), other])
            }

            fn __pow__<'py>(
                slf: &Bound<'py, Self>,
                other: &Bound<'py, PyAny>,
                _modulo: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "Pow", &[slf.as_any(), other])
            }

            fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "Neg", &[slf.as_any()])
            }

            fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "Abs", &[slf.as_any()])
            }

            fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                crate::eager::run(slf.py(), "LogicalNot", &[slf.as_any()])
            }
        }
    };
}

pub(crate) use operators;
