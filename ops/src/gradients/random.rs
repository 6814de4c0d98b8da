//! Random numbers whose distributions have parameters. What flows on to a parameter says how the same sample would move: the
//! probability that one is smaller stays as it is while the parameter changes.

use std::f64::consts::FRAC_1_SQRT_2;

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink_macros::register_gradient;

use super::{scalar_like, shape_of, unbroadcast};
use crate::*;

/// To the shape parameters of gamma distributions.
fn of_gamma(g: &mut GradientScope<'_>, alpha: Value, sample: Value, flow: Value) -> Result<Value> {
    let (dtype, of_alpha) = (g.dtype(alpha)?, shape_of(g, alpha));
    // There is no kernel for halves.
    let wide = if dtype == DataType::Double { dtype } else { DataType::Float };
    let (alpha, sample) = (cast(g, alpha, wide).build()?, cast(g, sample, wide).build()?);
    let slope = random_gamma_grad(g, alpha, sample).build()?;
    let slope = cast(g, slope, dtype).build()?;
    let flow = mul(g, flow, slope).build()?;
    unbroadcast(g, flow, &of_alpha)
}

#[register_gradient(op = RandomGamma)]
fn random_gamma_gradient(
    g: &mut GradientScope<'_>,
    alpha: Value,
    output: Value,
    d_output: Value,
) -> Result<(NoGradient, Value)> {
    Ok((NoGradient, of_gamma(g, alpha, output, d_output)?))
}

#[register_gradient(op = StatelessRandomGammaV2)]
fn stateless_random_gamma_v2_gradient(
    g: &mut GradientScope<'_>,
    alpha: Value,
    output: Value,
    d_output: Value,
) -> Result<(NoGradient, NoGradient, Value)> {
    Ok((NoGradient, NoGradient, of_gamma(g, alpha, output, d_output)?))
}

#[register_gradient(op = StatelessRandomGammaV3)]
fn stateless_random_gamma_v3_gradient(
    g: &mut GradientScope<'_>,
    alpha: Value,
    output: Value,
    d_output: Value,
) -> Result<(NoGradient, NoGradient, NoGradient, NoGradient, Value)> {
    Ok((NoGradient, NoGradient, NoGradient, NoGradient, of_gamma(g, alpha, output, d_output)?))
}

/// How likely a normally distributed number is smaller, twice: `1 + erf(x / √2)`, where that is not small.
fn twice_normal(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    let (root, one, two) = (scalar_like(g, x, FRAC_1_SQRT_2)?, scalar_like(g, x, 1.0)?, scalar_like(g, x, 2.0)?);
    let (scaled, zero) = (mul(g, x, root).build()?, scalar_like(g, x, 0.0)?);
    let (magnitude, middle) = (abs(g, scaled).build()?, erf(g, scaled).build()?);
    let (tail, middle) = (erfc(g, magnitude).build()?, add_v2(g, one, middle).build()?);
    let upper = sub(g, two, tail).build()?;
    let is_upper = greater(g, scaled, zero).build()?;
    let outer = select_v2(g, is_upper, upper, tail).build()?;
    let is_middle = less(g, magnitude, root).build()?;
    select_v2(g, is_middle, middle, outer).build()
}

/// The least positive number of a dtype that has all its digits, and the distance from one to the next number.
fn limits(dtype: DataType) -> (f64, f64) {
    match dtype {
        DataType::Half => (2f64.powi(-14), 2f64.powi(-10)),
        DataType::Bfloat16 => (2f64.powi(-126), 2f64.powi(-7)),
        DataType::Double => (f64::MIN_POSITIVE, f64::EPSILON),
        _ => (f32::MIN_POSITIVE.into(), f32::EPSILON.into()),
    }
}

/// `exp((sample² - end²) / 2) * part`, the part given by its logarithm: how a sample moves with an end.
fn moved(g: &mut GradientScope<'_>, sample: Value, end: Value, logarithm: Value) -> Result<Value> {
    let (sample, end, half) = (square(g, sample).build()?, square(g, end).build()?, scalar_like(g, end, 0.5)?);
    let difference = sub(g, sample, end).build()?;
    let exponent = mul(g, half, difference).build()?;
    let exponent = add_v2(g, exponent, logarithm).build()?;
    exp(g, exponent).build()
}

#[register_gradient(op = StatelessParameterizedTruncatedNormal)]
fn stateless_parameterized_truncated_normal_gradient(
    g: &mut GradientScope<'_>,
    means: Value,
    stddevs: Value,
    minvals: Value,
    maxvals: Value,
    output: Value,
    d_output: Value,
) -> Result<(NoGradient, NoGradient, Value, Value, Value, Value)> {
    let mut normal = |value: Value| {
        let centred = sub(g, value, means).build()?;
        real_div(g, centred, stddevs).build()
    };
    let (sample, low, high) = (normal(output)?, normal(minvals)?, normal(maxvals)?);
    let (of_sample, of_low, of_high) = (twice_normal(g, sample)?, twice_normal(g, low)?, twice_normal(g, high)?);
    // Which part of the samples is smaller.
    let (part, whole) = (sub(g, of_sample, of_low).build()?, sub(g, of_high, of_low).build()?);
    let part = real_div(g, part, whole).build()?;
    let (tiny, epsilon) = limits(g.dtype(means)?);
    let (tiny, below_one) = (scalar_like(g, means, tiny)?, scalar_like(g, means, 1.0 - epsilon)?);
    let part = clip_by_value(g, part, tiny, below_one).build()?;
    let (smaller, negative) = (log(g, part).build()?, neg(g, part).build()?);
    let greater = log1p(g, negative).build()?;
    let (by_high, by_low) = (moved(g, sample, high, smaller)?, moved(g, sample, low, greater)?);
    let mut side = |parameter: Value, slope: Option<Value>| {
        let flow = slope.map_or(Ok(d_output), |slope| mul(g, d_output, slope).build())?;
        let parameter = shape_of(g, parameter);
        unbroadcast(g, flow, &parameter)
    };
    let (of_means, of_stddevs) = (side(means, None)?, side(stddevs, Some(sample))?);
    let (of_minvals, of_maxvals) = (side(minvals, Some(by_low))?, side(maxvals, Some(by_high))?);
    Ok((NoGradient, NoGradient, of_means, of_stddevs, of_minvals, of_maxvals))
}
