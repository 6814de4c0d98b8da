//! Fourier transforms. They are linear, and unitary but for a factor: what flows back to one is the inverse transform of what
//! flows, times that factor.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::{complex_dtype, product_of_all, real_dtype, shape_of};
use crate::*;

/// How many elements a transform of the last dimensions of a value goes over, as a scalar.
fn size_of_last(g: &mut GradientScope<'_>, value: Value, rank: usize, dtype: DataType) -> Result<Value> {
    if let Some(shape) = g.known_shape(value).to_shape().filter(|shape| shape.rank() >= rank) {
        let count: usize = shape[shape.rank() - rank..].iter().product();
        return g.scalar(dtype, count as f64);
    }
    let shape = shape_of(g, value);
    let dims = g.dims(&shape)?;
    let last = strided_slice(g, dims, &[-(rank as i32)][..], &[0i32][..], &[1i32][..]).end_mask(1).build()?;
    let count = product_of_all(g, last)?;
    cast(g, count, dtype).build()
}

/// Times the number of elements of a transform of the last dimensions.
fn scaled_up(g: &mut GradientScope<'_>, flow: Value, rank: usize) -> Result<Value> {
    let dtype = g.dtype(flow)?;
    let size = size_of_last(g, flow, rank, dtype)?;
    mul(g, flow, size).build()
}

/// By the number of elements of a transform of the last dimensions of `of`.
fn scaled_down(g: &mut GradientScope<'_>, flow: Value, of: Value, rank: usize) -> Result<Value> {
    let (dtype, part) = (g.dtype(flow)?, real_dtype(g.dtype(flow)?));
    let size = size_of_last(g, of, rank, part)?;
    let reciprocal = reciprocal(g, size).build()?;
    let reciprocal = cast(g, reciprocal, dtype).build()?;
    mul(g, flow, reciprocal).build()
}

#[register_gradient(op = FFT)]
fn fft_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    let flow = ifft(g, d_output).build()?;
    scaled_up(g, flow, 1)
}

#[register_gradient(op = FFT2D)]
fn fft2d_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    let flow = ifft2d(g, d_output).build()?;
    scaled_up(g, flow, 2)
}

#[register_gradient(op = FFT3D)]
fn fft3d_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    let flow = ifft3d(g, d_output).build()?;
    scaled_up(g, flow, 3)
}

#[register_gradient(op = IFFT)]
fn ifft_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    let flow = fft(g, d_output).build()?;
    scaled_down(g, flow, d_output, 1)
}

#[register_gradient(op = IFFT2D)]
fn ifft2d_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    let flow = fft2d(g, d_output).build()?;
    scaled_down(g, flow, d_output, 2)
}

#[register_gradient(op = IFFT3D)]
fn ifft3d_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    let flow = fft3d(g, d_output).build()?;
    scaled_down(g, flow, d_output, 3)
}

/// For each element of the last dimension of a half: `alone` where it is its own conjugate, which are the first and, of an even
/// length, the last; `both` where it stands for two.
fn weighted(
    g: &mut GradientScope<'_>,
    half: Value,
    fft_length: Value,
    rank: usize,
    [alone, both]: [f64; 2],
) -> Result<Value> {
    let dtype = g.dtype(half)?;
    let last = rank as i32 - 1;
    let length = strided_slice(g, fft_length, &[last][..], &[last + 1][..], &[1i32][..]).build()?;
    let length = reshape(g, length, &[0i32; 0][..]).build()?;
    let shape = shape_of(g, half);
    let dims = g.dims(&shape)?;
    let count = strided_slice(g, dims, &[-1i32][..], &[0i32][..], &[1i32][..]).end_mask(1).build()?;
    let count = cast(g, count, DataType::Int32).build()?;
    let count = reshape(g, count, &[0i32; 0][..]).build()?;
    let places = range(g, 0, count, 1).build()?;
    let doubled = mul(g, places, 2).build()?;
    let (first, middle) = (equal(g, places, 0).build()?, equal(g, doubled, length).build()?);
    let is_alone = logical_or(g, first, middle).build()?;
    let is_alone = cast(g, is_alone, dtype).build()?;
    let (difference, both) = (g.scalar(dtype, alone - both)?, g.scalar(dtype, both)?);
    let weights = mul(g, is_alone, difference).build()?;
    let weights = add_v2(g, weights, both).build()?;
    mul(g, half, weights).build()
}

/// With zeros behind, in the shape of an input of which a transform took the first elements only.
fn uncropped(g: &mut GradientScope<'_>, flow: Value, input: &ShapeOf) -> Result<Value> {
    if let (Some(has), Some(wanted)) = (g.known_shape(flow).to_shape(), input.known().to_shape())
        && has == wanted
    {
        return Ok(flow);
    }
    let has = shape_of(g, flow);
    let (has, wanted) = (g.dims(&has)?, g.dims(input)?);
    let (has, wanted) = (cast(g, has, DataType::Int64).build()?, cast(g, wanted, DataType::Int64).build()?);
    let after = sub(g, wanted, has).build()?;
    let before = zeros_like(g, after).build()?;
    let paddings = pack(g, [before, after]).axis(1).build()?;
    pad(g, flow, paddings).build()
}

/// The gradient of a transform of real numbers. What stands for two is halved first, as the inverse counts it twice.
fn real_gradient(
    g: &mut GradientScope<'_>,
    input: &ShapeOf,
    fft_length: Value,
    d_output: Value,
    rank: usize,
    inverse: impl FnOnce(&mut GradientScope<'_>, Value) -> Result<Value>,
) -> Result<(Value, NoGradient)> {
    let half = weighted(g, d_output, fft_length, rank, [1.0, 0.5])?;
    let flow = inverse(g, half)?;
    let flow = scaled_up(g, flow, rank)?;
    Ok((uncropped(g, flow, input)?, NoGradient))
}

#[register_gradient(op = RFFT)]
fn rfft_gradient(
    g: &mut GradientScope<'_>,
    Treal: DataType,
    input: ShapeOf,
    fft_length: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    real_gradient(g, &input, fft_length, d_output, 1, |g, half| irfft(g, half, fft_length).treal(Treal).build())
}

#[register_gradient(op = RFFT2D)]
fn rfft2d_gradient(
    g: &mut GradientScope<'_>,
    Treal: DataType,
    input: ShapeOf,
    fft_length: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    real_gradient(g, &input, fft_length, d_output, 2, |g, half| irfft2d(g, half, fft_length).treal(Treal).build())
}

/// TensorFlow has none.
#[register_gradient(op = RFFT3D)]
fn rfft3d_gradient(
    g: &mut GradientScope<'_>,
    Treal: DataType,
    input: ShapeOf,
    fft_length: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    real_gradient(g, &input, fft_length, d_output, 3, |g, half| irfft3d(g, half, fft_length).treal(Treal).build())
}

/// The gradient of a transform to real numbers. What stands for two counts twice.
fn inverse_real_gradient(
    g: &mut GradientScope<'_>,
    input: &ShapeOf,
    fft_length: Value,
    d_output: Value,
    rank: usize,
    forward: impl FnOnce(&mut GradientScope<'_>, DataType) -> Result<Value>,
) -> Result<(Value, NoGradient)> {
    let dtype = complex_dtype(g.dtype(d_output)?);
    let half = forward(g, dtype)?;
    let half = weighted(g, half, fft_length, rank, [1.0, 2.0])?;
    let flow = scaled_down(g, half, d_output, rank)?;
    Ok((uncropped(g, flow, input)?, NoGradient))
}

#[register_gradient(op = IRFFT)]
fn irfft_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    fft_length: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    inverse_real_gradient(g, &input, fft_length, d_output, 1, |g, dtype| {
        rfft(g, d_output, fft_length).tcomplex(dtype).build()
    })
}

#[register_gradient(op = IRFFT2D)]
fn irfft2d_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    fft_length: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    inverse_real_gradient(g, &input, fft_length, d_output, 2, |g, dtype| {
        rfft2d(g, d_output, fft_length).tcomplex(dtype).build()
    })
}

/// TensorFlow has none.
#[register_gradient(op = IRFFT3D)]
fn irfft3d_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    fft_length: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    inverse_real_gradient(g, &input, fft_length, d_output, 3, |g, dtype| {
        rfft3d(g, d_output, fft_length).tcomplex(dtype).build()
    })
}
