//! Ops that Kernlink does not declare yet, for the common shape functions that are meant for them. An op that moves to
//! `kernlink-ops` leaves this file.
#![allow(missing_docs, dead_code, reason = "TensorFlow documents them; they are used by name")]

use kernlink::attr::AttrValue;
use kernlink::ops::shapes;
use kernlink::prelude::*;
use kernlink::shape_inference::{InferenceContext, ShapeAndType};

/// As in TensorFlow.
#[register_op(
    attr("T: {half, float}"),
    attr("U: {float}"),
    attr("epsilon: float = 0.0001"),
    attr("num_side_inputs: int >= 0 = 0"),
    attr("activation_mode: string = 'Identity'"),
    attr("data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'"),
    attr("is_training: bool = true"),
    input("y_backprop: T"),
    input("x: T"),
    input("scale: float"),
    input("reserve_space_1: U"),
    input("reserve_space_2: U"),
    input("reserve_space_3: U"),
    input("offset: float"),
    input("y: T"),
    output("x_backprop: T"),
    output("scale_backprop: U"),
    output("offset_backprop: U"),
    output("reserve_space_4: U"),
    output("reserve_space_5: U"),
    output("side_input_backprop: num_side_inputs * T"),
    shape_fn = shapes::fused_batch_norm_grad_ex_shape,
)]
pub(crate) struct _FusedBatchNormGradEx;

/// As in TensorFlow.
#[register_op(
    attr("Tinput: {qint8, quint8, qint32, qint16, quint16} = DT_QUINT8"),
    attr("Tfilter: {qint8, quint8, qint32, qint16, quint16} = DT_QINT8"),
    attr("Tbias: {float, qint32} = DT_QINT32"),
    attr("Tsummand: {float, quint8, qint8, qint32}"),
    attr("out_type: {qint8, quint8, qint32, qint16, quint16} = DT_QINT32"),
    attr("Tdevice_inputs: list(type) >= 0 = []"),
    attr("Thost_inputs: list(type) >= 0"),
    attr("Tdevice_outputs: list(type) >= 0 = []"),
    attr("Thost_outputs: list(type) >= 0"),
    attr("data_format: string = 'NHWC'"),
    attr("strides: list(int)"),
    attr("is_filter_const: bool = true"),
    attr("is_bias_const: bool = true"),
    attr("padding: {'SAME', 'VALID', 'EXPLICIT'}"),
    attr("explicit_paddings: list(int) = []"),
    attr("dilations: list(int) = [1, 1, 1, 1]"),
    attr("fused_ops: list(string) = []"),
    attr("alpha: float = 0"),
    input("device_inputs: Tdevice_inputs"),
    input("host_inputs: Thost_inputs"),
    output("device_outputs: Tdevice_outputs"),
    output("host_outputs: Thost_outputs"),
    shape_fn = shapes::fused_quantized_depthwise_conv2d,
)]
pub(crate) struct _FusedQuantizedDepthwiseConv2D;

/// As in TensorFlow.
#[register_op(
    attr("T: {bfloat16, float, half}"),
    attr("strides: list(int)"),
    attr("use_cudnn_on_gpu: bool = true"),
    attr("padding: {'SAME', 'VALID'}"),
    attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'"),
    attr("dilations: list(int) = [1, 1, 1, 1]"),
    input("input: T"),
    input("filter_sizes: int32"),
    input("out_backprop: T"),
    output("output: T"),
    output("bias_grad: T"),
    shape_fn = shapes::conv2d_backprop_filter_with_bias_shape,
)]
pub(crate) struct _MklNativeConv2DBackpropFilterWithBias;

fn scatter_nd_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let indices = c.with_rank_at_least(c.input(0), 1)?;
    let updates = c.with_rank_at_least(c.input(1), 1)?;
    let output = c.make_shape_from_shape_tensor(2)?;
    shapes::scatter_nd_shape_helper(c, indices, updates, output)
}

fn tensor_scatter_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let output = c.with_rank_at_least(c.input(0), 1)?;
    let indices = c.with_rank_at_least(c.input(1), 1)?;
    shapes::scatter_nd_shape_helper(c, indices, c.input(2), output)
}

fn var_handle_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.make_shape_from_partial(&c.attr("shape")?);
    c.set_output(0, c.scalar());
    c.set_output_handle_shapes_and_types(0, &[ShapeAndType { shape, dtype: Some(c.attr("dtype")?) }]);
    Ok(())
}

fn read_variable_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = match c.attrs().get("_shape") {
        Some(AttrValue::Shape(shape)) => c.make_shape_from_partial(shape),
        _ => shapes::validate_variable_resource_handle(c)?[0].shape,
    };
    c.set_output(0, shape);
    Ok(())
}

fn assign_variable_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let variable = shapes::validate_variable_resource_handle(c)?;
    c.merge(variable[0].shape, c.input(1)).map(drop)
}

fn variable_shape_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let held = c.input_handle_shapes_and_types(0).and_then(|held| held.first());
    let rank = held.and_then(|held| c.rank(held.shape)).map_or(-1, |rank| rank as i64);
    c.set_output(0, c.vector(rank));
    Ok(())
}
