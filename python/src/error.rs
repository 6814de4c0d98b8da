//! Errors, as exceptions of the class for their code.

use kernlink::Error;
use kernlink::error::Advice;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// An error in words for Python.
pub(crate) fn told(error: &Error) -> String {
    error.clone().in_words(in_python).to_string()
}

/// What to do about an error, in Python.
pub(crate) fn in_python(advice: &Advice) -> String {
    match advice {
        Advice::GiveAttr { list, .. } => format!("give `{list}` one tensor at least, from which it follows"),
        Advice::RegisterGradient { .. } => {
            "have nothing flow back to it, by the op `StopGradient` on what it gives, or by `stops` of `kernlink.tools.gradients`; \
             gradients of ops are written in Rust"
                .to_owned()
        }
        Advice::RaiseLoops => {
            "`kernlink.tools.gradients` makes `While` nodes of such loops, which have one, in a graph of a file".to_owned()
        }
        Advice::BringOps => "`kernlink.load_op_library(path)` loads a library of ops that declares it, before the model is loaded".to_owned(),
        Advice::LoadLibrary => "`kernlink.load_op_library(path)` loads a library of ops that has it".to_owned(),
        Advice::Select(_) => advice.to_string().replacen("`kernlink ", "`python -m kernlink ", 1),
        Advice::NestMoreDeeply => "`call_depth` of `kernlink.SessionOptions` lets calls be nested more deeply".to_owned(),
        Advice::LeaveOutPass { name, variable } => {
            format!("`kernlink.SessionOptions(without_passes=[\"{name}\"])`, or {variable}={name}, leaves it out")
        }
        Advice::ListRewrites => "`kernlink.tools.passes()` lists".to_owned(),
        Advice::Said(words) => words.clone(),
    }
}

/// The exception that `kernlink.errors` makes of an error.
pub(crate) fn raise(error: &Error) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = |py: Python<'_>| -> PyResult<PyErr> {
        let make = MAKE.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
            Ok(py.import("kernlink.errors")?.getattr("from_code")?.unbind())
        })?;
        // The code stands in the class, the rest of the text says where.
        let text = told(error);
        let code = error.code();
        let text = text.strip_prefix(&format!("{code}: ")).unwrap_or(&text);
        Ok(PyErr::from_value(make.bind(py).call1((code as i32, text))?))
    };
    Python::attach(|py| made(py).unwrap_or_else(|_| PyRuntimeError::new_err(told(error))))
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
