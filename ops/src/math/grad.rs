//! The gradients of functions of one argument, from what the function gave.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {bfloat16, half, float, double, complex64, complex128}"),
    input("y: T", "What the function gave."),
    input("dy: T", "What flows back into it."),
    output("z: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub enum UnaryGradients {
    /// The gradient of `Sigmoid`: `dy * y * (1 - y)`.
    SigmoidGrad,
    /// The gradient of `Tanh`: `dy * (1 - y²)`.
    TanhGrad,
    /// The gradient of `Rsqrt`: `dy * -0.5 * y³`. Of complex numbers the conjugate of `y` counts.
    RsqrtGrad,
    /// The gradient of `Sqrt`: `dy * 0.5 / y`. Of complex numbers the conjugate of `y` counts.
    SqrtGrad,
    /// The gradient of `Reciprocal`: `-dy * y²`. Of complex numbers the conjugate of `y` counts.
    ReciprocalGrad,
    /// The gradient of `Inv`, an older name of `Reciprocal`: `-dy * y²`. Of complex numbers the conjugate of `y`
    /// counts.
    InvGrad,
}
