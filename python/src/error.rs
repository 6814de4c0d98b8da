//! Errors, as exceptions of the class for their code.

use kernlink::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The exception that `kernlink.errors` makes of an error.
pub(crate) fn raise(error: &Error) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = |py: Python<'_>| -> PyResult<PyErr> {
        let make = MAKE.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
            Ok(py.import("kernlink.errors")?.getattr("from_code")?.unbind())
        })?;
        // The code stands in the class, the rest of the text says where.
        let text = error.to_string();
        let code = error.code();
        let text = text.strip_prefix(&format!("{code}: ")).unwrap_or(&text);
        Ok(PyErr::from_value(make.bind(py).call1((code as i32, text))?))
    };
    Python::attach(|py| made(py).unwrap_or_else(|_| PyRuntimeError::new_err(error.to_string())))
}

/// What Rust returned, for Python.
pub(crate) trait Raise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T> Raise<T> for kernlink::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| raise(&error))
    }
}
