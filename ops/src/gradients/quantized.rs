//! Values that are quantized and turned back: what flows through them.

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink_macros::{not_differentiable, register_gradient};

use crate::*;

not_differentiable!(
    FakeQuantWithMinMaxArgsGradient,
    FakeQuantWithMinMaxVarsGradient,
    FakeQuantWithMinMaxVarsPerChannelGradient
);

#[register_gradient(op = FakeQuantWithMinMaxArgs)]
fn fake_quant_args_gradient(
    g: &mut GradientScope<'_>,
    min: f32,
    max: f32,
    num_bits: i64,
    narrow_range: bool,
    inputs: Value,
    d_outputs: Value,
) -> Result<Value> {
    let flow = fake_quant_with_min_max_args_gradient(g, d_outputs, inputs).min(min).max(max);
    flow.num_bits(num_bits).narrow_range(narrow_range).build()
}

#[register_gradient(op = FakeQuantWithMinMaxVars)]
fn fake_quant_vars_gradient(
    g: &mut GradientScope<'_>,
    num_bits: i64,
    narrow_range: bool,
    inputs: Value,
    min: Value,
    max: Value,
    d_outputs: Value,
) -> Result<(Value, Value, Value)> {
    let flow = fake_quant_with_min_max_vars_gradient(g, d_outputs, inputs, min, max);
    let flow = flow.num_bits(num_bits).narrow_range(narrow_range).build()?;
    Ok((flow.backprops_wrt_input, flow.backprop_wrt_min, flow.backprop_wrt_max))
}

#[register_gradient(op = FakeQuantWithMinMaxVarsPerChannel)]
fn fake_quant_channels_gradient(
    g: &mut GradientScope<'_>,
    num_bits: i64,
    narrow_range: bool,
    inputs: Value,
    min: Value,
    max: Value,
    d_outputs: Value,
) -> Result<(Value, Value, Value)> {
    let flow = fake_quant_with_min_max_vars_per_channel_gradient(g, d_outputs, inputs, min, max);
    let flow = flow.num_bits(num_bits).narrow_range(narrow_range).build()?;
    Ok((flow.backprops_wrt_input, flow.backprop_wrt_min, flow.backprop_wrt_max))
}

/// What flows passes as if nothing were rounded or cut.
#[register_gradient(op = QuantizeAndDequantize)]
fn quantize_and_dequantize_gradient(_: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    Ok(d_output)
}

#[register_gradient(op = QuantizeAndDequantizeV2)]
fn quantize_and_dequantize_v2_gradient(
    _: &mut GradientScope<'_>,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    Ok((d_output, NoGradient, NoGradient))
}

#[register_gradient(op = QuantizeAndDequantizeV3)]
fn quantize_and_dequantize_v3_gradient(
    _: &mut GradientScope<'_>,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient, NoGradient)> {
    Ok((d_output, NoGradient, NoGradient, NoGradient))
}

#[register_gradient(op = QuantizeAndDequantizeV4)]
fn quantize_and_dequantize_v4_gradient(
    g: &mut GradientScope<'_>,
    axis: i64,
    input: Value,
    input_min: Value,
    input_max: Value,
    d_output: Value,
) -> Result<(Value, Value, Value)> {
    let flow = quantize_and_dequantize_v4_grad(g, d_output, input, input_min, input_max).axis(axis).build()?;
    Ok((flow.input_backprop, flow.input_min_backprop, flow.input_max_backprop))
}
