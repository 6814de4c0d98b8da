//! The Python package's extension: tensors, ops that run at once, models.
//!
//! What a person sees is in Python, in `kernlink/`; this crate gives it what only Rust can.

#![allow(missing_docs, reason = "what Python sees is documented there, by the docstrings")]

mod convert;
mod describe;
mod dlpack;
mod dtypes;
mod eager;
mod error;
mod foreign;
mod graph;
mod interrupt;
mod library;
mod model;
mod operators;
mod tape;
mod tensor;
mod values;

use pyo3::prelude::*;

#[pymodule]
fn _kernlink(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<tensor::Tensor>()?;
    module.add_class::<tape::GradientTape>()?;
    module.add_class::<graph::Graph>()?;
    module.add_class::<graph::SymbolicTensor>()?;
    module.add_class::<graph::Operation>()?;
    module.add_class::<model::SavedModel>()?;
    module.add_class::<model::Signature>()?;
    module.add_class::<model::Session>()?;
    module.add_class::<library::OpLibrary>()?;
    module.add_function(wrap_pyfunction!(convert::as_tensor, module)?)?;
    module.add_function(wrap_pyfunction!(dlpack::from_dlpack, module)?)?;
    module.add_function(wrap_pyfunction!(describe::op_names, module)?)?;
    module.add_function(wrap_pyfunction!(describe::op_def, module)?)?;
    module.add_function(wrap_pyfunction!(eager::execute, module)?)?;
    module.add_function(wrap_pyfunction!(eager::destroy_resource, module)?)?;
    module.add_function(wrap_pyfunction!(library::load_op_library, module)?)?;
    module.add_function(wrap_pyfunction!(model::load_saved_model, module)?)?;
    module.add_function(wrap_pyfunction!(model::load_graph, module)?)?;
    module.add_function(wrap_pyfunction!(model::command, module)?)
}
