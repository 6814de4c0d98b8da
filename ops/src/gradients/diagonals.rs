//! Matrices and their diagonals.

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::scalar_like;
use crate::*;

#[register_gradient(op = [MatrixBandPart])]
fn matrix_band_part_gradient(
    g: &mut GradientScope<'_>,
    num_lower: Value,
    num_upper: Value,
    d_band: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    Ok((matrix_band_part(g, d_band, num_lower, num_upper).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = Diag)]
fn diag_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    diag_part(g, d_output).build()
}

#[register_gradient(op = DiagPart)]
fn diag_part_gradient(g: &mut GradientScope<'_>, d_diagonal: Value) -> Result<Value> {
    diag(g, d_diagonal).build()
}

#[register_gradient(op = MatrixDiag)]
fn matrix_diag_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    matrix_diag_part(g, d_output).build()
}

#[register_gradient(op = MatrixDiagV2)]
fn matrix_diag_v2_gradient(
    g: &mut GradientScope<'_>,
    k: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient, NoGradient, NoGradient)> {
    let nothing = scalar_like(g, d_output, 0.0)?;
    let diagonal = matrix_diag_part_v2(g, d_output, k, nothing).build()?;
    Ok((diagonal, NoGradient, NoGradient, NoGradient, NoGradient))
}

#[register_gradient(op = MatrixDiagV3)]
fn matrix_diag_v3_gradient(
    g: &mut GradientScope<'_>,
    align: String,
    k: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient, NoGradient, NoGradient)> {
    let nothing = scalar_like(g, d_output, 0.0)?;
    let diagonal = matrix_diag_part_v3(g, d_output, k, nothing).align(&align).build()?;
    Ok((diagonal, NoGradient, NoGradient, NoGradient, NoGradient))
}

/// Zeros in the shape of a matrix of which diagonals were taken.
fn zeros_around(g: &mut GradientScope<'_>, input: &ShapeOf, flow: Value) -> Result<Value> {
    let dtype = g.dtype(flow)?;
    g.zeros(dtype, input)
}

#[register_gradient(op = MatrixDiagPart)]
fn matrix_diag_part_gradient(g: &mut GradientScope<'_>, input: ShapeOf, d_diagonal: Value) -> Result<Value> {
    let zeros = zeros_around(g, &input, d_diagonal)?;
    matrix_set_diag(g, zeros, d_diagonal).build()
}

#[register_gradient(op = MatrixDiagPartV2)]
fn matrix_diag_part_v2_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    k: Value,
    d_diagonal: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let zeros = zeros_around(g, &input, d_diagonal)?;
    Ok((matrix_set_diag_v2(g, zeros, d_diagonal, k).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = MatrixDiagPartV3)]
fn matrix_diag_part_v3_gradient(
    g: &mut GradientScope<'_>,
    align: String,
    input: ShapeOf,
    k: Value,
    d_diagonal: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let zeros = zeros_around(g, &input, d_diagonal)?;
    Ok((matrix_set_diag_v3(g, zeros, d_diagonal, k).align(&align).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = MatrixSetDiag)]
fn matrix_set_diag_gradient(g: &mut GradientScope<'_>, diagonal: ShapeOf, d_output: Value) -> Result<(Value, Value)> {
    let zeros = zeros_around(g, &diagonal, d_output)?;
    Ok((matrix_set_diag(g, d_output, zeros).build()?, matrix_diag_part(g, d_output).build()?))
}

#[register_gradient(op = MatrixSetDiagV2)]
fn matrix_set_diag_v2_gradient(
    g: &mut GradientScope<'_>,
    diagonal: ShapeOf,
    k: Value,
    d_output: Value,
) -> Result<(Value, Value, NoGradient)> {
    let (zeros, nothing) = (zeros_around(g, &diagonal, d_output)?, scalar_like(g, d_output, 0.0)?);
    let rest = matrix_set_diag_v2(g, d_output, zeros, k).build()?;
    Ok((rest, matrix_diag_part_v2(g, d_output, k, nothing).build()?, NoGradient))
}

#[register_gradient(op = MatrixSetDiagV3)]
fn matrix_set_diag_v3_gradient(
    g: &mut GradientScope<'_>,
    align: String,
    diagonal: ShapeOf,
    k: Value,
    d_output: Value,
) -> Result<(Value, Value, NoGradient)> {
    let (zeros, nothing) = (zeros_around(g, &diagonal, d_output)?, scalar_like(g, d_output, 0.0)?);
    let rest = matrix_set_diag_v3(g, d_output, zeros, k).align(&align).build()?;
    Ok((rest, matrix_diag_part_v3(g, d_output, k, nothing).align(&align).build()?, NoGradient))
}
