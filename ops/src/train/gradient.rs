//! Gradients of variables.

use kernlink::Result;
use kernlink::gradient::{OutputGradient, TracedGradient};
use kernlink::graph::{IntoOperand, OpScope, Output};
use kernlink::tensor::Tensor;

use crate::{size, strided_slice, unique, unsorted_segment_sum};

/// What flows back to a variable.
#[derive(Clone, Debug)]
pub enum VariableGradient<V> {
    /// A tensor of its shape.
    Dense(V),
    /// Some of its rows, those that are there several times counting as often.
    Slices {
        /// The rows.
        values: V,
        /// Which rows they are.
        indices: V,
        /// The shape of the whole, a vector.
        dense_shape: V,
    },
}

impl<V: IntoOperand<V> + Clone> VariableGradient<V> {
    /// The numbers of which it is made.
    pub fn values(&self) -> V {
        match self {
            VariableGradient::Dense(values) | VariableGradient::Slices { values, .. } => values.clone(),
        }
    }

    /// The same with other numbers.
    pub(super) fn with_values(self, values: V) -> VariableGradient<V> {
        match self {
            VariableGradient::Dense(_) => VariableGradient::Dense(values),
            VariableGradient::Slices { indices, dense_shape, .. } => {
                VariableGradient::Slices { values, indices, dense_shape }
            }
        }
    }

    /// As a tensor of the variable's shape.
    ///
    /// # Errors
    /// NOT_FOUND if op UnsortedSegmentSum or its kernel is missing.
    pub fn dense<S: OpScope<Output = V>>(self, scope: &mut S) -> Result<V> {
        match self {
            VariableGradient::Dense(value) => Ok(value),
            VariableGradient::Slices { values, indices, dense_shape } => {
                let rows = strided_slice(scope, dense_shape, &[0i32][..], &[1i32][..], &[1i32][..]);
                let rows = rows.shrink_axis_mask(1).build()?;
                unsorted_segment_sum(scope, values, indices, rows).build()
            }
        }
    }
}

/// Rows of which each is there once, as the sum of those that were: an op that steps row by row would step by each of them.
pub(super) fn deduplicated<S: OpScope>(
    scope: &mut S,
    values: S::Output,
    indices: S::Output,
) -> Result<(S::Output, S::Output)> {
    let rows = unique(scope, indices).build()?;
    let count = size(scope, rows.y.clone()).build()?;
    let values = unsorted_segment_sum(scope, values, rows.idx, count).build()?;
    Ok((values, rows.y))
}

impl From<OutputGradient> for VariableGradient<Output> {
    fn from(gradient: OutputGradient) -> Self {
        match gradient {
            OutputGradient::Dense(value) => VariableGradient::Dense(value),
            OutputGradient::Slices { values, indices, dense_shape } => {
                VariableGradient::Slices { values, indices, dense_shape }
            }
        }
    }
}

impl From<TracedGradient> for VariableGradient<Tensor> {
    fn from(gradient: TracedGradient) -> Self {
        match gradient {
            TracedGradient::Dense(value) => VariableGradient::Dense(value.into_tensor()),
            TracedGradient::Slices { values, indices, dense_shape } => VariableGradient::Slices {
                values: values.into_tensor(),
                indices: indices.into_tensor(),
                dense_shape: dense_shape.into_tensor(),
            },
        }
    }
}

impl From<Output> for VariableGradient<Output> {
    fn from(value: Output) -> Self {
        VariableGradient::Dense(value)
    }
}

impl From<Tensor> for VariableGradient<Tensor> {
    fn from(value: Tensor) -> Self {
        VariableGradient::Dense(value)
    }
}
