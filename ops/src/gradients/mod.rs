//! Gradients of the ops, by theme. They are TensorFlow's, at points where a function has no slope, too; where TensorFlow's are
//! wrong, docs/gradients.md says what these do.

mod binary;
mod control_flow;
#[cfg(feature = "list")]
mod lists;
mod moves;
#[cfg(feature = "nn")]
mod networks;
mod nothing;
mod products;
mod reductions;
#[cfg(feature = "data_flow")]
mod tensor_arrays;
mod unary;
#[cfg(feature = "state")]
mod variables;

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, ShapeOf, Value};

use crate::*;

/// The shape of a value that is there.
fn shape_of(g: &GradientScope<'_>, value: Value) -> ShapeOf {
    ShapeOf::of(value, g.known_shape(value))
}

/// The dtype of complex numbers of which floats are parts.
fn complex_dtype(part: DataType) -> DataType {
    if part == DataType::Double { DataType::Complex128 } else { DataType::Complex64 }
}

/// The dtype of the parts of complex numbers.
fn real_dtype(whole: DataType) -> DataType {
    if whole == DataType::Complex128 { DataType::Double } else { DataType::Float }
}

/// The conjugate of complex numbers; of others, what they are.
fn conjugate(g: &mut GradientScope<'_>, value: Value) -> Result<Value> {
    match g.dtype(value)?.is_complex() {
        true => conj(g, value).build(),
        false => Ok(value),
    }
}

/// A product with what flows back: `d_y * conj(slope)`.
fn times(g: &mut GradientScope<'_>, d_y: Value, slope: Value) -> Result<Value> {
    let slope = conjugate(g, slope)?;
    mul(g, d_y, slope).build()
}

/// A scalar of the dtype of a value.
fn scalar_like(g: &mut GradientScope<'_>, like: Value, value: f64) -> Result<Value> {
    let dtype = g.dtype(like)?;
    g.scalar(dtype, value)
}

/// What flows back to a tensor that was broadcast: the sum over the dimensions along which it was.
fn unbroadcast(g: &mut GradientScope<'_>, flow: Value, to: &ShapeOf) -> Result<Value> {
    if let (Some(from), Some(own)) = (g.known_shape(flow).to_shape(), to.known().to_shape()) {
        if from == own {
            return Ok(flow);
        }
        let added = from.rank().saturating_sub(own.rank());
        let is_summed = |&axis: &usize| axis < added || (own[axis - added] == 1 && from[axis] != 1);
        let axes: Vec<i32> = (0..from.rank()).filter(is_summed).map(|axis| axis as i32).collect();
        let summed = if axes.is_empty() { flow } else { sum(g, flow, &axes[..]).build()? };
        let dims = g.dims(to)?;
        return reshape(g, summed, dims).build();
    }
    let (own, flowing) = (g.dims(to)?, shape_of(g, flow));
    let flowing = g.dims(&flowing)?;
    let axes = broadcast_gradient_args(g, own, flowing).build()?;
    let summed = sum(g, flow, axes.r0).build()?;
    reshape(g, summed, own).build()
}
