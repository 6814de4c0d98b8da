//! Products of matrices.

use kernlink::shape_inference::common;
use kernlink_macros::register_op;

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
    shape_fn = common::mat_mul_shape,
)]
pub struct MatMul;

/// The products of two stacks of matrices, `[…, m, k] × […, k, n] → […, m, n]`; the outer dimensions must be equal.
#[register_op(
    attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"),
    attr("adj_x: bool = false", "Whether to take the conjugate transposes of `x`."),
    attr("adj_y: bool = false", "Whether to take the conjugate transposes of `y`."),
    attr("grad_x: bool = false", "Whether `x` is a gradient; a hint that changes nothing."),
    attr("grad_y: bool = false", "Whether `y` is a gradient; a hint that changes nothing."),
    input("x: T"),
    input("y: T"),
    output("output: T"),
    shape_fn = common::batch_mat_mul_shape,
)]
pub struct BatchMatMul;

/// The products of two stacks of matrices, `[…, m, k] × […, k, n] → […, m, n]`; the outer dimensions broadcast.
#[register_op(
    attr(
        "T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}",
    ),
    attr("adj_x: bool = false", "Whether to take the conjugate transposes of `x`."),
    attr("adj_y: bool = false", "Whether to take the conjugate transposes of `y`."),
    attr("grad_x: bool = false", "Whether `x` is a gradient; a hint that changes nothing."),
    attr("grad_y: bool = false", "Whether `y` is a gradient; a hint that changes nothing."),
    input("x: T"),
    input("y: T"),
    output("output: T"),
    shape_fn = common::batch_mat_mul_v2_shape,
)]
pub struct BatchMatMulV2;

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
    shape_fn = common::batch_mat_mul_v2_shape,
)]
pub struct BatchMatMulV3;
