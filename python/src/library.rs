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

    /// Takes its ops out of the process, if nothing of it lives: kernels in sessions and functions, tensors in its memory. Kernels that
    /// are kept for ops that run at once go, with the state of those that have one. Functions that were made of its ops fail then.
    /// Loading it again gives others; a library in Rust of which a kernel ran is loaded again only as a copy of the file.
    fn unload(&self, py: Python<'_>) -> PyResult<()> {
        let context = crate::eager::context(py)?;
        let ops = self.ops();
        let unload = || {
            self.0.unload().or_else(|_| {
                // Kernels of ops that ran at once are kept for the next call, functions until there are many that go: some may be of it.
                context.clear_kernels();
                crate::functions::clear(context);
                self.0.unload()
            })
        };
        py.detach(unload).or_raise()?;
        py.import("kernlink._library")?.call_method1("_forget", (self.path(), ops))?;
        Ok(())
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
