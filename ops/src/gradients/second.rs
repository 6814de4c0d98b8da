//! Gradients of the gradients that are ops of their own: those of functions of each element.

use kernlink::Result;
use kernlink::gradient::{GradientScope, Value};
use kernlink_macros::register_gradient;

use super::{conjugate, scalar_like};
use crate::*;

/// A product with a number.
fn scaled(g: &mut GradientScope<'_>, value: Value, factor: f64) -> Result<Value> {
    let factor = scalar_like(g, value, factor)?;
    mul(g, value, factor).build()
}

/// `-dy y²`, to both.
#[register_gradient(op = [ReciprocalGrad, InvGrad])]
fn reciprocal_grad_gradient(g: &mut GradientScope<'_>, y: Value, dy: Value, d_z: Value) -> Result<(Value, Value)> {
    let (y, flow) = (conjugate(g, y)?, conjugate(g, d_z)?);
    let flow = scaled(g, flow, -2.0)?;
    let flow = mul(g, flow, dy).build()?;
    Ok((mul(g, flow, y).build()?, reciprocal_grad(g, y, d_z).build()?))
}

/// `dy / (2 conj(y))`, to both.
#[register_gradient(op = SqrtGrad)]
fn sqrt_grad_gradient(g: &mut GradientScope<'_>, y: Value, z: Value, d_z: Value) -> Result<(Value, Value)> {
    let quotient = real_div(g, d_z, y).build()?;
    let conjugate = conjugate(g, quotient)?;
    let flow = mul(g, conjugate, z).build()?;
    Ok((neg(g, flow).build()?, scaled(g, quotient, 0.5)?))
}

/// `-dy conj(y)³ / 2`, to both.
#[register_gradient(op = RsqrtGrad)]
fn rsqrt_grad_gradient(g: &mut GradientScope<'_>, y: Value, dy: Value, d_z: Value) -> Result<(Value, Value)> {
    let (y, flow) = (conjugate(g, y)?, conjugate(g, d_z)?);
    let flow = scaled(g, flow, -1.5)?;
    let flow = mul(g, flow, dy).build()?;
    let square = square(g, y).build()?;
    Ok((mul(g, flow, square).build()?, rsqrt_grad(g, y, d_z).build()?))
}

/// `dy (1 - y²)`, to both.
#[register_gradient(op = TanhGrad)]
fn tanh_grad_gradient(g: &mut GradientScope<'_>, y: Value, dy: Value, d_z: Value) -> Result<(Value, Value)> {
    let (y, dy, flow) = (conjugate(g, y)?, conjugate(g, dy)?, scaled(g, d_z, -2.0)?);
    let flow = mul(g, flow, dy).build()?;
    Ok((mul(g, flow, y).build()?, tanh_grad(g, y, d_z).build()?))
}

/// `dy y (1 - y)`, to both.
#[register_gradient(op = SigmoidGrad)]
fn sigmoid_grad_gradient(g: &mut GradientScope<'_>, y: Value, dy: Value, d_z: Value) -> Result<(Value, Value)> {
    let (y, dy) = (conjugate(g, y)?, conjugate(g, dy)?);
    let flow = mul(g, d_z, dy).build()?;
    let twice = scaled(g, flow, 2.0)?;
    let twice = mul(g, twice, y).build()?;
    Ok((sub(g, flow, twice).build()?, sigmoid_grad(g, y, d_z).build()?))
}

/// Those of activations.
#[cfg(feature = "nn")]
mod activations {
    use super::*;

    /// What flows on where an output is negative: the slope is the output and a constant, there.
    fn where_negative(g: &mut GradientScope<'_>, outputs: Value, gradients: Value, flow: Value) -> Result<Value> {
        let (zero, flow) = (scalar_like(g, outputs, 0.0)?, mul(g, flow, gradients).build()?);
        let is_negative = less(g, outputs, zero).build()?;
        select_v2(g, is_negative, flow, zero).build()
    }

    #[register_gradient(op = EluGrad)]
    fn elu_grad_gradient(
        g: &mut GradientScope<'_>,
        gradients: Value,
        outputs: Value,
        d_backprops: Value,
    ) -> Result<(Value, Value)> {
        let flow = elu_grad(g, d_backprops, outputs).build()?;
        Ok((flow, where_negative(g, outputs, gradients, d_backprops)?))
    }

    #[register_gradient(op = SeluGrad)]
    fn selu_grad_gradient(
        g: &mut GradientScope<'_>,
        gradients: Value,
        outputs: Value,
        d_backprops: Value,
    ) -> Result<(Value, Value)> {
        let flow = selu_grad(g, d_backprops, outputs).build()?;
        Ok((flow, where_negative(g, outputs, gradients, d_backprops)?))
    }

    #[register_gradient(op = LeakyReluGrad)]
    fn leaky_relu_grad_gradient(
        g: &mut GradientScope<'_>,
        alpha: f32,
        features: Value,
        d_backprops: Value,
    ) -> Result<(Value, Value)> {
        let zeros = zeros_like(g, features).build()?;
        Ok((leaky_relu_grad(g, d_backprops, features).alpha(alpha).build()?, zeros))
    }

    /// `dy / (1 + |x|)²`, to both.
    #[register_gradient(op = SoftsignGrad)]
    fn softsign_grad_gradient(
        g: &mut GradientScope<'_>,
        gradients: Value,
        features: Value,
        d_backprops: Value,
    ) -> Result<(Value, Value)> {
        let (magnitude, one) = (abs(g, features).build()?, scalar_like(g, features, 1.0)?);
        let (width, sign) = (add_v2(g, magnitude, one).build()?, sign(g, features).build()?);
        let flow = softsign_grad(g, d_backprops, features).build()?;
        let slope = real_div(g, sign, width).build()?;
        let slope = scaled(g, slope, -2.0)?;
        let through = mul(g, flow, gradients).build()?;
        Ok((flow, mul(g, through, slope).build()?))
    }
}
