//! Neural networks.

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::{scalar_like, shape_of, times, unbroadcast};
use crate::*;

#[register_gradient(op = Relu)]
fn relu_gradient(g: &mut GradientScope<'_>, activations: Value, d_activations: Value) -> Result<Value> {
    relu_grad(g, d_activations, activations).build()
}

#[register_gradient(op = Relu6)]
fn relu6_gradient(g: &mut GradientScope<'_>, activations: Value, d_activations: Value) -> Result<Value> {
    relu6_grad(g, d_activations, activations).build()
}

#[register_gradient(op = LeakyRelu)]
fn leaky_relu_gradient(g: &mut GradientScope<'_>, alpha: f32, features: Value, d_activations: Value) -> Result<Value> {
    leaky_relu_grad(g, d_activations, features).alpha(alpha).build()
}

#[register_gradient(op = Elu)]
fn elu_gradient(g: &mut GradientScope<'_>, activations: Value, d_activations: Value) -> Result<Value> {
    elu_grad(g, d_activations, activations).build()
}

#[register_gradient(op = Selu)]
fn selu_gradient(g: &mut GradientScope<'_>, activations: Value, d_activations: Value) -> Result<Value> {
    selu_grad(g, d_activations, activations).build()
}

#[register_gradient(op = Softplus)]
fn softplus_gradient(g: &mut GradientScope<'_>, features: Value, d_activations: Value) -> Result<Value> {
    softplus_grad(g, d_activations, features).build()
}

#[register_gradient(op = Softsign)]
fn softsign_gradient(g: &mut GradientScope<'_>, features: Value, d_activations: Value) -> Result<Value> {
    softsign_grad(g, d_activations, features).build()
}

#[register_gradient(op = [ReluGrad, Relu6Grad])]
fn relu_grad_gradient(g: &mut GradientScope<'_>, features: Value, d_backprops: Value) -> Result<(Value, Value)> {
    let zeros = zeros_like(g, features).build()?;
    let flow = match &*g.op().name {
        "Relu6Grad" => relu6_grad(g, d_backprops, features).build()?,
        _ => relu_grad(g, d_backprops, features).build()?,
    };
    Ok((flow, zeros))
}

/// The sum over the last dimension, which is kept.
fn sum_of_last(g: &mut GradientScope<'_>, value: Value) -> Result<Value> {
    sum(g, value, &[-1i32][..]).keep_dims(true).build()
}

/// What flows on through a softmax: `(d - Σ d softmax) softmax`.
fn through_softmax(g: &mut GradientScope<'_>, softmax: Value, flow: Value) -> Result<Value> {
    let weighted = mul(g, flow, softmax).build()?;
    let total = sum_of_last(g, weighted)?;
    let centred = sub(g, flow, total).build()?;
    mul(g, centred, softmax).build()
}

#[register_gradient(op = Softmax)]
fn softmax_gradient(g: &mut GradientScope<'_>, softmax: Value, d_softmax: Value) -> Result<Value> {
    through_softmax(g, softmax, d_softmax)
}

#[register_gradient(op = LogSoftmax)]
fn log_softmax_gradient(g: &mut GradientScope<'_>, logsoftmax: Value, d_logsoftmax: Value) -> Result<Value> {
    let (softmax, total) = (exp(g, logsoftmax).build()?, sum_of_last(g, d_logsoftmax)?);
    let shared = mul(g, total, softmax).build()?;
    sub(g, d_logsoftmax, shared).build()
}

#[register_gradient(op = BiasAdd)]
fn bias_add_gradient(g: &mut GradientScope<'_>, data_format: String, d_output: Value) -> Result<(Value, Value)> {
    Ok((d_output, bias_add_grad(g, d_output).data_format(&data_format).build()?))
}

#[register_gradient(op = BiasAddV1)]
fn bias_add_v1_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<(Value, Value)> {
    Ok((d_output, bias_add_grad(g, d_output).build()?))
}

/// The same for all elements of a channel.
#[register_gradient(op = BiasAddGrad)]
fn bias_add_grad_gradient(
    g: &mut GradientScope<'_>,
    data_format: String,
    out_backprop: ShapeOf,
    d_output: Value,
) -> Result<Value> {
    let dims = g.dims(&out_backprop)?;
    let mut flow = d_output;
    if data_format == "NCHW" {
        // The channels are followed by all dimensions but the first two.
        let one = strided_slice(g, dims, &[2i32][..], &[0i32][..], &[1i32][..]).end_mask(1).build()?;
        let ones = ones_like(g, one).build()?;
        let own = shape_of(g, d_output);
        let own = g.dims(&own)?;
        let dtype = g.dtype(ones)?;
        let own = cast(g, own, dtype).build()?;
        let channels = concat_v2(g, [own, ones], 0).build()?;
        flow = reshape(g, d_output, channels).build()?;
    }
    broadcast_to(g, flow, dims).build()
}

/// A factor for each row.
fn by_rows(g: &mut GradientScope<'_>, factors: Value, rows: Value) -> Result<Value> {
    let factors = expand_dims(g, factors, -1).build()?;
    mul(g, factors, rows).build()
}

/// What flows on to the logits: by the loss, and by the first gradient, for the second order.
fn of_logits(
    g: &mut GradientScope<'_>,
    features: Value,
    backprop: Value,
    d_loss: Value,
    d_backprop: Option<Value>,
) -> Result<Value> {
    let first = by_rows(g, d_loss, backprop)?;
    let Some(d_backprop) = d_backprop else { return Ok(first) };
    let softmax = softmax(g, features).build()?;
    let second = through_softmax(g, softmax, d_backprop)?;
    add_v2(g, first, second).build()
}

/// The labels take part in the first gradient, too, with a slope of -1; features or labels may have been broadcast.
#[register_gradient(op = SoftmaxCrossEntropyWithLogits)]
fn softmax_cross_entropy_with_logits_gradient(
    g: &mut GradientScope<'_>,
    features: Value,
    labels: ShapeOf,
    backprop: Value,
    d_loss: Value,
    d_backprop: Option<Value>,
) -> Result<(Value, Value)> {
    let of_features = of_logits(g, features, backprop, d_loss, d_backprop)?;
    let logarithms = log_softmax(g, features).build()?;
    let negative = neg(g, logarithms).build()?;
    let mut of_labels = by_rows(g, d_loss, negative)?;
    if let Some(d_backprop) = d_backprop {
        of_labels = sub(g, of_labels, d_backprop).build()?;
    }
    let features = shape_of(g, features);
    Ok((unbroadcast(g, of_features, &features)?, unbroadcast(g, of_labels, &labels)?))
}

#[register_gradient(op = SparseSoftmaxCrossEntropyWithLogits)]
fn sparse_softmax_cross_entropy_with_logits_gradient(
    g: &mut GradientScope<'_>,
    features: Value,
    backprop: Value,
    d_loss: Value,
    d_backprop: Option<Value>,
) -> Result<(Value, NoGradient)> {
    Ok((of_logits(g, features, backprop, d_loss, d_backprop)?, NoGradient))
}

/// `d(1 / (1 + e^-x)) = 1 / (e^-x + 2 + e^x)`
#[register_gradient(op = SoftplusGrad)]
fn softplus_grad_gradient(
    g: &mut GradientScope<'_>,
    gradients: Value,
    features: Value,
    d_backprops: Value,
) -> Result<(Value, Value)> {
    let (negative, plain) = (neg(g, features).build()?, features);
    let (growing, falling) = (exp(g, negative).build()?, exp(g, plain).build()?);
    let two = scalar_like(g, features, 2.0)?;
    let total = add_v2(g, growing, falling).build()?;
    let total = add_v2(g, total, two).build()?;
    let flow = mul(g, d_backprops, gradients).build()?;
    let of_features = real_div(g, flow, total).build()?;
    Ok((softplus_grad(g, d_backprops, features).build()?, of_features))
}

#[register_gradient(op = L2Loss)]
fn l2_loss_gradient(g: &mut GradientScope<'_>, t: Value, d_output: Value) -> Result<Value> {
    times(g, d_output, t)
}
