//! Products of matrices.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// The product of two matrices: `[m, k] × [k, n] → [m, n]`.
#[register_op(
    attr("transpose_a: bool = false", "Whether `a` is stored as `[k, m]`."),
    attr("transpose_b: bool = false", "Whether `b` is stored as `[n, k]`."),
    attr("T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}"),
    attr("grad_a: bool = false", "Whether `a` is a gradient; a hint that changes nothing."),
    attr("grad_b: bool = false", "Whether `b` is a gradient; a hint that changes nothing."),
    input("a: T"),
    input("b: T"),
    output("product: T"),
    shape_fn = shapes::mat_mul_shape,
)]
pub struct MatMul;

/// The product of two matrices, as `MatMul`, followed by the ops that `fused_ops` names.
///
/// `fused_ops` begins with steps of each column, `BiasAdd` or `Mul`, after which may come `Add` and an activation: `Relu`, `Relu6`, `Elu`, `LeakyRelu`,
/// `Sigmoid`, `Tanh`, `GeluExact`, `GeluApproximate`, `_MklSwish` (`x * sigmoid(x)`) or `_FusedHardSwish` (`x * relu6(x + 3) / 6`).
/// TensorFlow takes some of these with oneDNN only, and others not at all.
#[register_op(
    name = "_FusedMatMul",
    attr("transpose_a: bool = false", "Whether `a` is stored as `[k, m]`."),
    attr("transpose_b: bool = false", "Whether `b` is stored as `[n, k]`."),
    attr("T: {bfloat16, half, float}"),
    attr("num_args: int >= 0"),
    attr("fused_ops: list(string) = []", "The ops that follow, in order."),
    attr("epsilon: float = 0.0001", "Without effect: no product of matrices is followed by a normalisation."),
    attr("leakyrelu_alpha: float = 0.2", "The slope of `LeakyRelu` below zero."),
    input("a: T"),
    input("b: T"),
    input("args: num_args * T", "The other operands of `fused_ops`: a bias, `[n]`; a summand, `[m, n]`."),
    output("product: T"),
    shape_fn = shapes::mat_mul_shape,
)]
pub struct FusedMatMul;

/// The products of two stacks of matrices, as `BatchMatMulV2`, followed by the ops that `fused_ops` names, of which
/// `_FusedMatMul` has the list. Kernlink's own, made by rewrites.
#[register_op(
    name = "_FusedBatchMatMulV2",
    attr("adj_x: bool = false", "Whether to take the transposes of `x`."),
    attr("adj_y: bool = false", "Whether to take the transposes of `y`."),
    attr("T: {float}"),
    attr("num_args: int >= 0"),
    attr("fused_ops: list(string) = []", "The ops that follow, in order."),
    attr("leakyrelu_alpha: float = 0.2", "The slope of `LeakyRelu` below zero."),
    input("x: T"),
    input("y: T"),
    input("args: num_args * T", "The other operands of `fused_ops`: a bias, `[n]`; a summand, in the output's shape."),
    output("output: T"),
    shape_fn = shapes::batch_mat_mul_v2_shape,
)]
pub struct FusedBatchMatMulV2;

#[register_op(
    attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"),
    attr("adj_x: bool = false", "Whether to take the conjugate transposes of `x`."),
    attr("adj_y: bool = false", "Whether to take the conjugate transposes of `y`."),
    attr("grad_x: bool = false", "Whether `x` is a gradient; a hint that changes nothing."),
    attr("grad_y: bool = false", "Whether `y` is a gradient; a hint that changes nothing."),
    input("x: T"),
    input("y: T"),
    output("output: T"),
    shape_fn = shapes::batch_mat_mul_shape,
)]
pub enum BatchProducts {
    /// The products of two stacks of matrices, `[…, m, k] × […, k, n] → […, m, n]`; the outer dimensions must be equal.
    BatchMatMul,
    /// The products of two stacks of matrices, `[…, m, k] × […, k, n] → […, m, n]`; the outer dimensions broadcast.
    #[op(
        attr(
            "T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, \
             complex128}",
        ),
        shape_fn = shapes::batch_mat_mul_v2_shape,
    )]
    BatchMatMulV2,
}

/// The products of two stacks of matrices, which may differ in dtype, computed and returned as `Tout`; the outer
/// dimensions broadcast.
#[register_op(
    attr("Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}"),
    attr("Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}"),
    attr("Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}"),
    attr("adj_x: bool = false", "Whether to take the conjugate transposes of `x`."),
    attr("adj_y: bool = false", "Whether to take the conjugate transposes of `y`."),
    attr("grad_x: bool = false", "Whether `x` is a gradient; a hint that changes nothing."),
    attr("grad_y: bool = false", "Whether `y` is a gradient; a hint that changes nothing."),
    input("x: Ta"),
    input("y: Tb"),
    output("output: Tout"),
    shape_fn = shapes::batch_mat_mul_v2_shape,
)]
pub struct BatchMatMulV3;

/// Sums of products over dimensions that have labels: `"ij,jk->ik"` multiplies matrices.
///
/// A letter labels a dimension. Those that the output lacks are summed over, those that occur twice in one input are
/// its diagonal, and `...` stands for dimensions that broadcast.
#[register_op(
    attr("equation: string", "The labels of one or two inputs, then `->` and those of the output."),
    attr("N: int >= 1"),
    attr("T: type"),
    input("inputs: N * T"),
    output("output: T"),
    shape_fn = shapes::einsum_shape,
)]
pub struct Einsum;

/// The cross products of the vectors of three elements in the last dimension.
#[register_op(
    attr("T: realnumbertype"),
    input("a: T"),
    input("b: T", "In the shape of `a`."),
    output("product: T"),
    shape_fn = cross_shape,
)]
pub struct Cross;

fn cross_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let a = c.with_rank_at_least(c.input(0), 1)?;
    let b = c.with_rank_at_least(c.input(1), 1)?;
    let both = c.merge(a, b)?;
    if c.rank_known(both) {
        c.with_value(c.dim(both, -1), 3)?;
    }
    shapes::output_shape(c, both)
}
