//! Arithmetic with quantized numbers.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// The sum of two tensors of quantized numbers. One may be a scalar, or have the last dimensions of the other.
#[register_op(
    input("x: T1", "Any shape."),
    input("y: T2", "A shape that broadcasts with that of `x`."),
    input("min_x: float", "What the lowest number of `x` stands for, a scalar."),
    input("max_x: float", "What the highest stands for."),
    input("min_y: float", "What the lowest number of `y` stands for, a scalar."),
    input("max_y: float", "What the highest stands for."),
    output("z: Toutput"),
    output("min_z: float", "What the lowest number of the sum stands for."),
    output("max_z: float", "What the highest stands for."),
    attr("T1: quantizedtype"),
    attr("T2: quantizedtype"),
    attr("Toutput: quantizedtype = DT_QINT32"),
    shape_fn = quantized_add_shape,
)]
pub struct QuantizedAdd;

/// The product of two tensors of quantized numbers. One may be a scalar, or have the last dimensions of the other.
#[register_op(
    input("x: T1", "Any shape."),
    input("y: T2", "A shape that broadcasts with that of `x`."),
    input("min_x: float", "What the lowest number of `x` stands for, a scalar."),
    input("max_x: float", "What the highest stands for."),
    input("min_y: float", "What the lowest number of `y` stands for, a scalar."),
    input("max_y: float", "What the highest stands for."),
    output("z: Toutput"),
    output("min_z: float", "What the lowest number of the product stands for."),
    output("max_z: float", "What the highest stands for."),
    attr("T1: quantizedtype"),
    attr("T2: quantizedtype"),
    attr("Toutput: quantizedtype = DT_QINT32"),
    shape_fn = quantized_mul_shape,
)]
pub struct QuantizedMul;

/// Quantized numbers to which a bias is added along the last dimension.
#[register_op(
    input("input: T1", "`[..., channels]`."),
    input("bias: T2", "`[channels]`."),
    input("min_input: float", "What the lowest number of `input` stands for, a scalar."),
    input("max_input: float", "What the highest stands for."),
    input("min_bias: float", "What the lowest number of `bias` stands for, a scalar."),
    input("max_bias: float", "What the highest stands for."),
    output("output: out_type"),
    output("min_out: float", "What the lowest number of the sum stands for."),
    output("max_out: float", "What the highest stands for."),
    attr("T1: quantizedtype"),
    attr("T2: quantizedtype"),
    attr("out_type: quantizedtype"),
    shape_fn = quantized_bias_add_shape,
)]
pub struct QuantizedBiasAdd;

/// The greater of quantized numbers and zero.
#[register_op(
    input("features: Tinput", "Any shape."),
    input("min_features: float", "What the lowest number of `features` stands for, a scalar."),
    input("max_features: float", "What the highest stands for."),
    output("activations: out_type"),
    output("min_activations: float", "`min_features`."),
    output("max_activations: float", "`max_features`."),
    attr("Tinput: quantizedtype"),
    attr("out_type: quantizedtype = DT_QUINT8"),
    shape_fn = shapes::quantized_unchanged::<2>,
)]
pub struct QuantizedRelu;

/// Quantized numbers that are cut to those from zero to six.
#[register_op(
    input("features: Tinput", "Any shape."),
    input("min_features: float", "What the lowest number of `features` stands for, a scalar."),
    input("max_features: float", "What the highest stands for."),
    output("activations: out_type"),
    output("min_activations: float", "`min_features`."),
    output("max_activations: float", "`max_features`."),
    attr("Tinput: quantizedtype"),
    attr("out_type: quantizedtype = DT_QUINT8"),
    shape_fn = shapes::quantized_unchanged::<2>,
)]
pub struct QuantizedRelu6;

/// Quantized numbers in another shape, as `Reshape` has it.
#[register_op(
    input("tensor: T", "Any shape."),
    input("shape: Tshape", "The new shape, a vector; one dimension may be -1."),
    input("input_min: float", "What the lowest number of the input stands for, a scalar."),
    input("input_max: float", "What the highest stands for."),
    output("output: T"),
    output("output_min: float", "What the lowest number of the output stands for."),
    output("output_max: float", "What the highest stands for."),
    attr("T: type"),
    attr("Tshape: {int32, int64} = DT_INT32"),
    shape_fn = quantized_reshape_shape,
)]
pub struct QuantizedReshape;

/// Tensors of quantized numbers that are joined along a dimension, in the range that holds all.
#[register_op(
    input("concat_dim: int32", "The dimension, a scalar."),
    input("values: N * T", "Tensors that differ in no other dimension."),
    input("input_mins: N * float", "What the lowest number of each tensor stands for."),
    input("input_maxes: N * float", "What the highest stands for."),
    output("output: T"),
    output("output_min: float", "What the lowest number of the output stands for."),
    output("output_max: float", "What the highest stands for."),
    attr("N: int >= 2"),
    attr("T: type"),
    shape_fn = quantized_concat_shape,
)]
pub struct QuantizedConcat;

/// The product of two matrices of quantized numbers.
#[register_op(
    input("a: T1", "A matrix."),
    input("b: T2", "A matrix."),
    input("min_a: float", "What the lowest number of `a` stands for, a scalar."),
    input("max_a: float", "What the highest stands for."),
    input("min_b: float", "What the lowest number of `b` stands for, a scalar."),
    input("max_b: float", "What the highest stands for."),
    output("out: Toutput"),
    output("min_out: float", "What the lowest number of the product stands for."),
    output("max_out: float", "What the highest stands for."),
    attr("T1: quantizedtype"),
    attr("T2: quantizedtype"),
    attr("Toutput: quantizedtype = DT_QINT32"),
    attr("transpose_a: bool = false", "Whether `a` is transposed."),
    attr("transpose_b: bool = false", "Whether `b` is transposed."),
    attr("Tactivation: quantizedtype = DT_QUINT8", "Not read."),
    shape_fn = quantized_mat_mul_shape,
)]
pub struct QuantizedMatMul;

fn quantized_add_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::broadcast_binary_op(c)?;
    shapes::with_ranges(c, 2..6)
}

fn quantized_mul_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::broadcast_binary_op(c)?;
    shapes::with_ranges(c, 0..0)
}

fn quantized_bias_add_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::bias_add_shape(c)?;
    shapes::with_ranges(c, 2..6)
}

fn quantized_reshape_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::reshape_shape(c)?;
    shapes::with_ranges(c, 2..4)
}

fn quantized_concat_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let count = c.num_inputs().saturating_sub(1) / 3;
    shapes::quantized_concat_shape(c, count)?;
    shapes::with_ranges(c, 1 + count..c.num_inputs())
}

fn quantized_mat_mul_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::mat_mul_shape(c)?;
    shapes::with_ranges(c, 2..6)
}
