//! The gradients of activations and functions: of two arguments of one shape.

use kernlink_ops as ops;

use super::table::functions;

functions! {
    2;
    // Products with 0 or 1, as in TensorFlow: an infinite gradient of what did not count becomes NaN.
    Equal ReluGrad { [f32] [f16; "f16"] } T "return x * select(0.0, 1.0, y > 0.0);";
    Equal ReluGrad { [i32, u32] [i64; "i64"] } T "return select(T(0), x, y > T(0));";
    Equal Relu6Grad { [f32] [f16; "f16"] } T "return x * select(0.0, 1.0, y > 0.0 && y < 6.0);";
    Equal Relu6Grad { [i32, u32] [i64; "i64"] } T "return select(T(0), x, y > T(0) && y < T(6));";
    Equal EluGrad { [f32] [f16; "f16"] } T "return select(x, (y + 1.0) * x, y < 0.0);";
    Equal SeluGrad { [f32] [f16; "f16"] } T "return x * select(1.05070098, y + 1.75809934, y < 0.0);";
    Equal SoftplusGrad { [f32] [f16; "f16"] } T "return x / (own_exp(-y) + 1.0);";
    Equal SoftsignGrad { [f32] [f16; "f16"] } T "return x / ((abs(y) + 1.0) * (abs(y) + 1.0));";

    // From what the functions gave, and what flows back into them.
    Alike SigmoidGrad { [f32] [f16; "f16"] } T "return y * x * (1.0 - x);";
    Alike TanhGrad { [f32] [f16; "f16"] } T "return y * (1.0 - x * x);";
    Alike RsqrtGrad { [f32] [f16; "f16"] } T "return -0.5 * (y * x) * (x * x);";
    Alike SqrtGrad { [f32] [f16; "f16"] } T "if (y == 0.0) { return 0.0; }\n    return 0.5 * y / x;";
    Alike ReciprocalGrad { [f32] [f16; "f16"] } T "return -x * y * x;";
    Alike InvGrad { [f32] [f16; "f16"] } T "return -x * y * x;";
}
