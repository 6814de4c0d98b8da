//! Libraries of ops that are loaded.

use pyo3::prelude::*;

use crate::error::Raise;

/// A library of ops that was loaded.
#[pyclass(module = "kernlink._kernlink", frozen)]
pub(crate) struct OpLibrary(kernlink::OpLibrary);

#[pymethods]
impl OpLibrary {
    /// The file, by its whole path.
    #[getter]
    fn path(&self) -> std::path::PathBuf {
        self.0.path().to_path_buf()
    }

    /// The names of its ops.
    #[getter]
    fn ops(&self) -> Vec<String> {
        self.0.ops().map(|op| op.name.to_string()).collect()
    }

    /// Takes its ops out of the process.
    fn unload(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.unload()).or_raise()
    }

    fn __repr__(&self) -> String {
        format!("<kernlink.OpLibrary {}: {}>", self.0.path().display(), self.ops().join(", "))
    }
}

/// Loads a library of ops.
#[pyfunction]
pub(crate) fn load_op_library(py: Python<'_>, path: std::path::PathBuf) -> PyResult<OpLibrary> {
    py.detach(|| kernlink::load_op_library(path)).or_raise().map(OpLibrary)
}
