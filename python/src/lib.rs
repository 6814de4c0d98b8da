//! The Python package's extension: tensors, ops that run at once, models.
//!
//! What a person sees is in Python, in `kernlink/`; this crate gives it what only Rust can.

#![allow(missing_docs, reason = "what Python sees is documented there, by the docstrings")]

mod aside;
mod body;
mod checkpoint;
mod commands;
mod convert;
mod describe;
mod device;
mod dlpack;
mod dtypes;
mod eager;
mod error;
mod fetches;
mod foreign;
mod functions;
mod gradients;
mod graph;
mod graph_tape;
mod interrupt;
mod items;
mod keep;
mod library;
mod locks;
mod matching;
mod metadata;
mod model;
mod operators;
mod options;
mod pickle;
mod session;
mod symbolic;
mod tape;
mod tensor;
mod values;

use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

#[pymodule]
fn _kernlink(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("OPERATORS", operators::NAMES.iter().copied().into_py_dict(module.py())?)?;
    module.add_class::<tensor::Tensor>()?;
    module.add_class::<tape::Tape>()?;
    module.add_class::<graph_tape::GraphTape>()?;
    module.add_class::<functions::Held>()?;
    module.add_class::<graph::Graph>()?;
    module.add_class::<graph::SymbolicTensor>()?;
    module.add_class::<graph::Operation>()?;
    module.add_class::<model::MetaGraph>()?;
    module.add_class::<model::Signature>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<options::SessionOptions>()?;
    module.add_class::<metadata::RunMetadata>()?;
    module.add_class::<metadata::NodeStats>()?;
    module.add_class::<metadata::OpCost>()?;
    module.add_class::<checkpoint::CheckpointReader>()?;
    module.add_class::<device::Device>()?;
    module.add_class::<device::DeviceScope>()?;
    module.add_class::<library::OpLibrary>()?;
    module.add_function(wrap_pyfunction!(convert::as_tensor, module)?)?;
    module.add_function(wrap_pyfunction!(dlpack::from_dlpack, module)?)?;
    module.add_function(wrap_pyfunction!(pickle::from_pickle, module)?)?;
    module.add_function(wrap_pyfunction!(describe::op_names, module)?)?;
    module.add_function(wrap_pyfunction!(describe::op_def, module)?)?;
    module.add_function(wrap_pyfunction!(describe::did_you_mean, module)?)?;
    module.add_function(wrap_pyfunction!(eager::execute, module)?)?;
    module.add_function(wrap_pyfunction!(eager::requested_device, module)?)?;
    module.add_function(wrap_pyfunction!(eager::destroy_resource, module)?)?;
    module.add_function(wrap_pyfunction!(eager::value_text, module)?)?;
    module.add_function(wrap_pyfunction!(functions::function_names, module)?)?;
    module.add_function(wrap_pyfunction!(tape::set_trainable, module)?)?;
    module.add_function(wrap_pyfunction!(library::load_op_library, module)?)?;
    module.add_function(wrap_pyfunction!(model::load_saved_model, module)?)?;
    module.add_function(wrap_pyfunction!(model::load_meta_graph, module)?)?;
    module.add_function(wrap_pyfunction!(model::tag_sets, module)?)?;
    module.add_function(wrap_pyfunction!(session::load_graph, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::write_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::save_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::latest_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::list_checkpoints, module)?)?;
    module.add_function(wrap_pyfunction!(device::devices, module)?)?;
    module.add_function(wrap_pyfunction!(values::bool_argument, module)?)?;
    module.add_function(wrap_pyfunction!(values::path_argument, module)?)?;
    module.add_function(wrap_pyfunction!(values::paths_argument, module)?)?;
    module.add_function(wrap_pyfunction!(values::text_argument, module)?)?;
    module.add_function(wrap_pyfunction!(values::texts_argument, module)?)?;
    module.add_function(wrap_pyfunction!(commands::bench, module)?)?;
    module.add_function(wrap_pyfunction!(commands::ops_json, module)?)?;
    module.add_function(wrap_pyfunction!(commands::write_pages, module)?)?;
    module.add_function(wrap_pyfunction!(commands::new_crate, module)?)?;
    module.add_function(wrap_pyfunction!(commands::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(commands::optimize, module)?)?;
    module.add_function(wrap_pyfunction!(commands::gradients, module)?)?;
    module.add_function(wrap_pyfunction!(commands::read_graph, module)?)?;
    module.add_function(wrap_pyfunction!(commands::graph_in_format, module)?)?;
    module.add_function(wrap_pyfunction!(commands::select, module)?)?;
    module.add_function(wrap_pyfunction!(commands::compare_ops, module)?)?;
    module.add_function(wrap_pyfunction!(commands::op_list, module)?)?;
    module.add_function(wrap_pyfunction!(commands::verify, module)?)?;
    module.add_function(wrap_pyfunction!(commands::kernels, module)?)?;
    module.add_function(wrap_pyfunction!(commands::passes, module)?)?;
    module.add_function(wrap_pyfunction!(commands::command, module)?)
}
