//! Neural networks.

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::{scalar_like, times};
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

#[register_gradient(op = SoftmaxCrossEntropyWithLogits)]
fn softmax_cross_entropy_with_logits_gradient(
    g: &mut GradientScope<'_>,
    features: Value,
    backprop: Value,
    d_loss: Value,
    d_backprop: Option<Value>,
) -> Result<(Value, Value)> {
    let of_features = of_logits(g, features, backprop, d_loss, d_backprop)?;
    let logarithms = log_softmax(g, features).build()?;
    let negative = neg(g, logarithms).build()?;
    Ok((of_features, by_rows(g, d_loss, negative)?))
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

#[register_gradient(op = Conv2D)]
fn conv2d_gradient(
    g: &mut GradientScope<'_>,
    strides: Vec<i64>,
    padding: String,
    explicit_paddings: Vec<i64>,
    data_format: String,
    dilations: Vec<i64>,
    input: Value,
    filter: Value,
    d_output: Value,
) -> Result<(Option<Value>, Option<Value>)> {
    let mut found = [None, None];
    let sizes = [super::shape_of(g, input), super::shape_of(g, filter)];
    if g.is_wanted(0) {
        let dims = g.dims(&sizes[0])?;
        let flow = conv2d_backprop_input(g, dims, filter, d_output, &strides[..], &padding);
        let flow = flow.explicit_paddings(&explicit_paddings[..]).data_format(&data_format).dilations(&dilations[..]);
        found[0] = Some(flow.build()?);
    }
    if g.is_wanted(1) {
        let dims = g.dims(&sizes[1])?;
        let flow = conv2d_backprop_filter(g, input, dims, d_output, &strides[..], &padding);
        let flow = flow.explicit_paddings(&explicit_paddings[..]).data_format(&data_format).dilations(&dilations[..]);
        found[1] = Some(flow.build()?);
    }
    let [of_input, of_filter] = found;
    Ok((of_input, of_filter))
}

#[register_gradient(op = AvgPool)]
fn avg_pool_gradient(
    g: &mut GradientScope<'_>,
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: String,
    data_format: String,
    value: ShapeOf,
    d_output: Value,
) -> Result<Value> {
    let dims = g.dims(&value)?;
    let required = AvgPoolGradRequired { ksize: &ksize, strides: &strides, padding: &padding };
    avg_pool_grad(g, dims, d_output, required).data_format(&data_format).build()
}

#[register_gradient(op = MaxPool)]
fn max_pool_gradient(
    g: &mut GradientScope<'_>,
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: String,
    explicit_paddings: Vec<i64>,
    data_format: String,
    input: Value,
    output: Value,
    d_output: Value,
) -> Result<Value> {
    let required = MaxPoolGradRequired { ksize: &ksize, strides: &strides, padding: &padding };
    let flow = max_pool_grad(g, input, output, d_output, required);
    flow.explicit_paddings(&explicit_paddings[..]).data_format(&data_format).build()
}

/// In training and in inference, of what is normalised, the scale and the offset alone.
#[register_gradient(op = FusedBatchNormV3)]
fn fused_batch_norm_v3_gradient(
    g: &mut GradientScope<'_>,
    epsilon: f32,
    data_format: String,
    is_training: bool,
    x: Value,
    scale: Value,
    mean: Value,
    variance: Value,
    reserve_space_1: Value,
    reserve_space_2: Value,
    reserve_space_3: Value,
    d_y: Value,
) -> Result<(Value, Value, Value, NoGradient, NoGradient)> {
    let (first, second) = if is_training { (reserve_space_1, reserve_space_2) } else { (mean, variance) };
    let flow = fused_batch_norm_grad_v3(g, d_y, x, scale, first, second, reserve_space_3);
    let flow = flow.epsilon(epsilon).data_format(&data_format).is_training(is_training).build()?;
    Ok((flow.x_backprop, flow.scale_backprop, flow.offset_backprop, NoGradient, NoGradient))
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
