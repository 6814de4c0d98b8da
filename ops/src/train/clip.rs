//! Bounds of gradients.

use kernlink::dtype::DataType;
use kernlink::graph::OpScope;
use kernlink::{Result, ensure};

use super::gradient::VariableGradient;
use crate::{add_n, add_v2, cast, clip_by_value, minimum, mul, real_div, reshape, sqrt, square, sub, sum};

/// How gradients are bounded before a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Clip {
    /// Each number to `-limit ..= limit`: `clipvalue` of `tf.keras`.
    Value(f64),
    /// The norm of each gradient: `clipnorm` of `tf.keras`.
    Norm(f64),
    /// The norm of all gradients together, which keep their proportions: `global_clipnorm` of `tf.keras`.
    GlobalNorm(f64),
}

impl Clip {
    pub(super) fn check(self) -> Result<()> {
        let (Clip::Value(limit) | Clip::Norm(limit) | Clip::GlobalNorm(limit)) = self;
        ensure!(limit > 0.0, InvalidArgument, "gradients are clipped to {limit}: the limit must be greater than 0");
        Ok(())
    }
}

/// A gradient and its dtype.
pub type TypedGradient<V> = (VariableGradient<V>, DataType);

/// Gradients after they were clipped, and what norm all of them had.
pub type Clipped<V, N> = (Vec<VariableGradient<V>>, N);

/// The sum of squares of all numbers, a scalar: `float`, or `double` where the numbers are.
fn sum_of_squares<S: OpScope>(scope: &mut S, values: S::Output, dtype: DataType) -> Result<(S::Output, DataType)> {
    let wide =
        if matches!(dtype, DataType::Double | DataType::Complex128) { DataType::Double } else { DataType::Float };
    let values = match dtype {
        _ if dtype.is_complex() => crate::complex_abs(scope, values).tout(wide).build()?,
        _ if dtype == wide => values,
        _ => cast(scope, values, wide).build()?,
    };
    // As one dimension, whatever the rank is.
    let values = reshape(scope, values, &[-1i32][..]).build()?;
    let squares = square(scope, values).build()?;
    Ok((sum(scope, squares, 0).build()?, wide))
}

/// `values` times a scalar of dtype `of`, in their own dtype.
fn scaled<S: OpScope>(
    scope: &mut S,
    (gradient, dtype): TypedGradient<S::Output>,
    scale: S::Output,
    of: DataType,
) -> Result<VariableGradient<S::Output>> {
    let scale = if of == dtype { scale } else { cast(scope, scale, dtype).build()? };
    let values = mul(scope, gradient.values(), scale).build()?;
    Ok(gradient.with_values(values))
}

/// A tensor, scaled down to a norm if its own is greater: `tf.clip_by_norm`.
///
/// # Errors
/// NOT_FOUND if an op or its kernel is missing.
pub fn clip_by_norm<S: OpScope>(
    scope: &mut S,
    gradient: VariableGradient<S::Output>,
    dtype: DataType,
    clip_norm: f64,
) -> Result<VariableGradient<S::Output>> {
    let (squares, wide) = sum_of_squares(scope, gradient.values(), dtype)?;
    let norm = sqrt(scope, squares).build()?;
    let divisor = crate::maximum(scope, norm, clip_norm).build()?;
    let scale = real_div(scope, clip_norm, divisor).build()?;
    scaled(scope, (gradient, dtype), scale, wide)
}

/// The norm of several gradients together, a `float`: `tf.linalg.global_norm`. Each comes with its dtype.
///
/// # Errors
/// NOT_FOUND if an op or its kernel is missing.
pub fn global_norm<S: OpScope>(scope: &mut S, gradients: &[TypedGradient<S::Output>]) -> Result<S::Output> {
    let mut squares = Vec::with_capacity(gradients.len());
    for (gradient, dtype) in gradients {
        let (sum, wide) = sum_of_squares(scope, gradient.values(), *dtype)?;
        squares.push(if wide == DataType::Float { sum } else { cast(scope, sum, DataType::Float).build()? });
    }
    let sum = match &squares[..] {
        [] => return crate::constant(scope, 0.0f32),
        [one] => one.clone(),
        _ => add_n(scope, squares).build()?,
    };
    sqrt(scope, sum).build()
}

/// Gradients, scaled down together to a norm if theirs is greater, and the norm that they had: `tf.clip_by_global_norm`. If a
/// number is infinite or no number, all become so.
///
/// # Errors
/// NOT_FOUND if an op or its kernel is missing.
pub fn clip_by_global_norm<S: OpScope>(
    scope: &mut S,
    gradients: Vec<TypedGradient<S::Output>>,
    clip_norm: f64,
) -> Result<Clipped<S::Output, S::Output>> {
    let norm = global_norm(scope, &gradients)?;
    let inverse = real_div(scope, 1.0, norm.clone()).build()?;
    let least = minimum(scope, inverse, 1.0 / clip_norm).build()?;
    let scale = mul(scope, least, clip_norm).build()?;
    let zero_or_nan = sub(scope, norm.clone(), norm.clone()).build()?;
    let scale = add_v2(scope, scale, zero_or_nan).build()?;
    let clipped = gradients.into_iter().map(|gradient| scaled(scope, gradient, scale.clone(), DataType::Float));
    Ok((clipped.collect::<Result<_>>()?, norm))
}

/// The gradients, bounded, and their norm if that was asked for.
pub(super) fn clipped<S: OpScope>(
    scope: &mut S,
    gradients: Vec<TypedGradient<S::Output>>,
    clip: Clip,
) -> Result<Clipped<S::Output, Option<S::Output>>> {
    let each = |clipped: Result<Vec<_>>| Ok((clipped?, None));
    match clip {
        Clip::Value(limit) => each(
            gradients
                .into_iter()
                .map(|(gradient, _)| {
                    let values = clip_by_value(scope, gradient.values(), -limit, limit).build()?;
                    Ok(gradient.with_values(values))
                })
                .collect(),
        ),
        Clip::Norm(limit) => {
            each(gradients.into_iter().map(|(gradient, dtype)| clip_by_norm(scope, gradient, dtype, limit)).collect())
        }
        Clip::GlobalNorm(limit) => {
            let (clipped, norm) = clip_by_global_norm(scope, gradients, limit)?;
            Ok((clipped, Some(norm)))
        }
    }
}
