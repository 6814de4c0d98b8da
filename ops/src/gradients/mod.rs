//! Gradients of the ops, by theme. They are TensorFlow's, at points where a function has no slope, too; where TensorFlow's are
//! wrong, docs/gradients.md says what these do.

mod bessel;
mod binary;
mod control_flow;
#[cfg(feature = "nn")]
mod convolutions;
#[cfg(feature = "image")]
mod crops_and_colors;
mod diagonals;
mod einsum;
mod gather;
#[cfg(feature = "learning")]
mod learning;
#[cfg(feature = "linear_algebra")]
mod linear_algebra;
#[cfg(feature = "list")]
mod lists;
mod moves;
#[cfg(feature = "nn")]
mod networks;
#[cfg(feature = "nn")]
mod normalisation;
mod nothing;
mod order;
#[cfg(feature = "data_flow")]
mod partitions;
#[cfg(feature = "sparse")]
mod picked;
#[cfg(feature = "nn")]
mod pools;
mod products;
#[cfg(feature = "quantization")]
mod quantized;
#[cfg(feature = "sparse")]
mod ragged;
#[cfg(feature = "random")]
mod random;
#[cfg(feature = "nn")]
mod recurrent;
mod reductions;
mod resized_images;
mod scans;
mod scatter;
mod second;
mod segments;
#[cfg(feature = "signal")]
mod signal;
#[cfg(feature = "sparse")]
mod sparse;
#[cfg(feature = "sparse")]
mod sparse_matrices;
mod special;
mod strides;
#[cfg(feature = "data_flow")]
mod tensor_arrays;
mod unary;
#[cfg(feature = "state")]
mod variables;

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::error::Error;
use kernlink::gradient::{GradientScope, ShapeOf, Value};

use crate::*;

/// How many gradients macros register, which `registered_gradients!()` does not see.
pub(crate) const BY_MACROS: usize = sum_of(&[
    #[cfg(feature = "nn")]
    convolutions::BY_MACROS,
    #[cfg(feature = "nn")]
    normalisation::BY_MACROS,
    #[cfg(feature = "nn")]
    recurrent::BY_MACROS,
    #[cfg(feature = "sparse")]
    picked::BY_MACROS,
]);

const fn sum_of(counts: &[usize]) -> usize {
    match counts {
        [first, rest @ ..] => *first + sum_of(rest),
        [] => 0,
    }
}

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

/// What flows back to complex numbers that are always real: their imaginary parts do not change. Of others, all.
fn real_flow(g: &mut GradientScope<'_>, flow: Value) -> Result<Value> {
    if !g.dtype(flow)?.is_complex() {
        return Ok(flow);
    }
    let (conjugate, half) = (conj(g, flow).build()?, scalar_like(g, flow, 0.5)?);
    let twice = add_v2(g, flow, conjugate).build()?;
    mul(g, twice, half).build()
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
    // A dimension may be too large for `int32` that is known of one of them.
    let (own, flowing) = match g.dtype(own)? == g.dtype(flowing)? {
        true => (own, flowing),
        false => (cast(g, own, DataType::Int64).build()?, cast(g, flowing, DataType::Int64).build()?),
    };
    let axes = broadcast_gradient_args(g, own, flowing).build()?;
    let summed = sum(g, flow, axes.r0).build()?;
    reshape(g, summed, own).build()
}

/// The dimensions of a shape as a vector of `int64`.
fn long_dims(g: &mut GradientScope<'_>, shape: &ShapeOf) -> Result<Value> {
    if let Some(known) = shape.known().to_shape() {
        return g.constant(known.iter().map(|&dim| dim as i64).collect::<Vec<_>>());
    }
    let dims = g.dims(shape)?;
    cast(g, dims, DataType::Int64).build()
}

/// The product of all elements of a vector.
fn product_of_all(g: &mut GradientScope<'_>, vector: Value) -> Result<Value> {
    prod(g, vector, &[0i32][..]).build()
}

/// The product of the elements of a vector of `int64` from one place, a scalar of `int64`, to another.
fn product_of(g: &mut GradientScope<'_>, vector: Value, from: Value, to: Value) -> Result<Value> {
    if let (Some(vector), Some(from), Some(to)) = (g.known_value(vector), g.known_value(from), g.known_value(to)) {
        let (from, to) = (from.to_i64_vec()?, to.to_i64_vec()?);
        let range = from.first().copied().unwrap_or(0) as usize..to.first().copied().unwrap_or(0) as usize;
        let vector = vector.to_i64_vec()?;
        let part = vector.get(range).ok_or_else(|| Error::invalid_argument("dimensions that there are not"))?;
        return g.constant(part.iter().fold(1i64, |product, &dim| product.saturating_mul(dim)));
    }
    let (from, to) = (expand_dims(g, from, 0).build()?, expand_dims(g, to, 0).build()?);
    let part = strided_slice(g, vector, from, to, &[1i64][..]).build()?;
    product_of_all(g, part)
}

/// A tensor with dimensions of size 1 behind its own, so that it has as many as another.
fn with_ones_behind(g: &mut GradientScope<'_>, value: Value, like: Value) -> Result<Value> {
    let (own, other) = (shape_of(g, value), shape_of(g, like));
    let dims = g.dims(&own)?;
    let ones = match (own.known().rank(), other.known().rank()) {
        (Some(own), Some(other)) if own >= other => return Ok(value),
        (Some(own), Some(other)) => g.constant(vec![1i32; other - own])?,
        _ => {
            let (own, other) = (rank(g, value).build()?, rank(g, like).build()?);
            let count = sub(g, other, own).build()?;
            let count = expand_dims(g, count, 0).build()?;
            fill(g, count, 1i32).build()?
        }
    };
    let dtype = g.dtype(dims)?;
    let ones = cast(g, ones, dtype).build()?;
    let dims = concat_v2(g, [dims, ones], 0).build()?;
    reshape(g, value, dims).build()
}
