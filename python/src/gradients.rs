//! Gradients as Python has them.

use kernlink::gradient::{OutputGradient, Traced, TracedGradient};
use kernlink::graph::Output;
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass_init::PyClassInitializer;

/// A gradient of a tape or of a graph: one tensor, or values, indices and shape of rows.
pub(crate) enum Gradient<V> {
    Dense(V),
    Slices([V; 3]),
}

impl From<TracedGradient> for Gradient<Traced> {
    fn from(gradient: TracedGradient) -> Self {
        match gradient {
            TracedGradient::Dense(value) => Gradient::Dense(value),
            TracedGradient::Slices { values, indices, dense_shape } => Gradient::Slices([values, indices, dense_shape]),
        }
    }
}

impl From<OutputGradient> for Gradient<Output> {
    fn from(gradient: OutputGradient) -> Self {
        match gradient {
            OutputGradient::Dense(value) => Gradient::Dense(value),
            OutputGradient::Slices { values, indices, dense_shape } => Gradient::Slices([values, indices, dense_shape]),
        }
    }
}

/// A tensor, an `IndexedSlices`, or `None`; `tensor` says what a value is to Python.
pub(crate) fn gradient_object<V, T: PyClass + Into<PyClassInitializer<T>>>(
    py: Python<'_>,
    gradient: Option<impl Into<Gradient<V>>>,
    tensor: impl Fn(V) -> T,
) -> PyResult<Bound<'_, PyAny>> {
    match gradient.map(Into::into) {
        None => Ok(py.None().into_bound(py)),
        Some(Gradient::Dense(value)) => Ok(Bound::new(py, tensor(value))?.into_any()),
        Some(Gradient::Slices([values, indices, shape])) => {
            let class = py.import("kernlink._slices")?.getattr("IndexedSlices")?;
            let object = |value| Bound::new(py, tensor(value));
            class.call1((object(values)?, object(indices)?, object(shape)?))
        }
    }
}
