// Gradients of functions of one element, by the names of their ops. Of halves they see `f32`.
//@ import math

// Products with 0 or 1, as in TensorFlow: an infinite gradient of what did not count becomes NaN.
fn ReluGrad(dy: T, x: T) -> T { return dy * select(0.0, 1.0, x > 0.0); } //@ if float
fn ReluGrad(dy: T, x: T) -> T { return select(T(0), dy, x > T(0)); } //@ if !float
fn Relu6Grad(dy: T, x: T) -> T { return dy * select(0.0, 1.0, x > 0.0 && x < 6.0); } //@ if float
fn Relu6Grad(dy: T, x: T) -> T { return select(T(0), dy, x > T(0) && x < T(6)); } //@ if !float
fn EluGrad(dy: T, x: T) -> T { return select(dy, (x + 1.0) * dy, x < 0.0); }
fn SeluGrad(dy: T, x: T) -> T { return dy * select(1.05070098, x + 1.75809934, x < 0.0); }
fn SoftplusGrad(dy: T, x: T) -> T { return dy / (own_exp(-x) + 1.0); }
fn SoftsignGrad(dy: T, x: T) -> T { return dy / ((abs(x) + 1.0) * (abs(x) + 1.0)); }

// From what the functions gave, and what flows back into them.
fn SigmoidGrad(y: T, dy: T) -> T { return dy * y * (1.0 - y); }
fn TanhGrad(y: T, dy: T) -> T { return dy * (1.0 - y * y); }
fn RsqrtGrad(y: T, dy: T) -> T { return -0.5 * (dy * y) * (y * y); }

fn SqrtGrad(y: T, dy: T) -> T {
    if (dy == 0.0) {
        return 0.0;
    }
    return 0.5 * dy / y;
}

fn ReciprocalGrad(y: T, dy: T) -> T { return -y * dy * y; }
fn InvGrad(y: T, dy: T) -> T { return -y * dy * y; }
fn LeakyReluGrad(dy: T, x: T) -> T { return select(dy * slope(), dy, x > 0.0); }

// The attr as the dtype holds it.
fn slope() -> f32 {
    return f32(f16(params.alpha)); //@ if f16
    return params.alpha; //@ if !f16
}
