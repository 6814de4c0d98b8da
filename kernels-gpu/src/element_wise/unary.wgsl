// Functions of one element, by the names of their ops. Of halves they see `f32`.
//@ import math, special

fn Abs(x: T) -> T { return abs(x); } //@ if float
fn Abs(x: T) -> T { return select(x, -x, x < T(0)); } //@ if !float
fn Neg(x: T) -> T { return -x; }

fn Sign(x: T) -> T {
    if (x > T(0)) {
        return T(1);
    }
    if (x < T(0)) {
        return T(-1);
    }
    return x;
}

fn Square(x: T) -> T { return x * x; }
fn Reciprocal(x: T) -> T { return 1.0 / x; }
fn Inv(x: T) -> T { return 1.0 / x; }
fn Floor(x: T) -> T { return floor(x); }
fn Ceil(x: T) -> T { return ceil(x); }

//@ if float
fn Round(x: T) -> T { return round(x); }
//@ else
// Of integers TensorFlow makes zero.
fn Round(x: T) -> T { return T(0); }
//@ end

fn Rint(x: T) -> T { return round(x); }
fn IsNan(x: T) -> u32 { return u32(is_nan(x)); }
fn IsInf(x: T) -> u32 { return u32(is_inf(x)); }
fn IsFinite(x: T) -> u32 { return u32(!is_inf(x) && !is_nan(x)); }
fn Invert(x: T) -> T { return ~x; }

fn Sqrt(x: T) -> T {
    if (x < 0.0) {
        return nan();
    }
    return sqrt(x);
}

fn Rsqrt(x: T) -> T {
    if (x < 0.0) {
        return nan();
    }
    return inverseSqrt(x);
}

fn Exp(x: T) -> T { return own_exp(x); }
fn Expm1(x: T) -> T { return own_expm1(x); }
fn Log(x: T) -> T { return own_log(x); }
fn Log1p(x: T) -> T { return own_log1p(x); }
fn Sin(x: T) -> T { return own_sin(x); }
fn Cos(x: T) -> T { return own_cos(x); }
fn Tan(x: T) -> T { return own_tan(x); }
fn Asin(x: T) -> T { return own_asin(x); }
fn Acos(x: T) -> T { return own_acos(x); }
fn Atan(x: T) -> T { return own_atan(x); }
fn Sinh(x: T) -> T { return own_sinh(x); }
fn Cosh(x: T) -> T { return own_cosh(x); }
fn Tanh(x: T) -> T { return own_tanh(x); }
fn Asinh(x: T) -> T { return own_asinh(x); }
fn Acosh(x: T) -> T { return own_acosh(x); }
fn Atanh(x: T) -> T { return own_atanh(x); }
fn Sigmoid(x: T) -> T { return own_sigmoid(x); }
fn Erf(x: T) -> T { return own_erf(x); }
fn Erfc(x: T) -> T { return own_erfc(x); }
fn Lgamma(x: T) -> T { return own_lgamma(x); }
fn Digamma(x: T) -> T { return own_digamma(x); }
fn Ndtri(x: T) -> T { return own_ndtri(x); }
fn Erfinv(x: T) -> T { return own_erfinv(x); }

// NaN stays NaN in all of them.
fn Relu(x: T) -> T { return select(x, 0.0, x <= 0.0); } //@ if float
fn Relu(x: T) -> T { return select(x, T(0), x < T(0)); } //@ if signed
fn Relu(x: T) -> T { return x; } //@ if u32
fn Relu6(x: T) -> T { return select(select(x, 0.0, x <= 0.0), 6.0, x > 6.0); } //@ if float
fn Relu6(x: T) -> T { return select(select(x, T(0), x < T(0)), T(6), x > T(6)); } //@ if !float
fn Elu(x: T) -> T { return select(x, own_expm1(x), x < 0.0); }
fn Selu(x: T) -> T { return select(1.05070098 * x, 1.75809934 * own_expm1(x), x < 0.0); }
fn _Swish(x: T) -> T { return x * own_sigmoid(x); }
fn _HardSwish(x: T) -> T { let y = x + 3.0; return x * (select(select(y, 0.0, y <= 0.0), 6.0, y > 6.0) / 6.0); }
fn _GeluExact(x: T) -> T { return 0.5 * x * (1.0 + own_erf(x * 0.70710678)); }
fn _GeluApproximate(x: T) -> T { return 0.5 * x * (1.0 + own_tanh(0.79788456 * (x + 0.044715 * (x * x * x)))); }
fn Softplus(x: T) -> T { return select(x, 0.0, x < 0.0) + own_log1p(own_exp(-abs(x))); }

fn Softsign(x: T) -> T {
    if (is_inf(x)) {
        return nan();
    }
    return x / (1.0 + abs(x));
}

fn LogicalNot(x: u32) -> u32 { return 1u - x; }
fn LeakyRelu(x: T) -> T { return select(x * slope(), x, x > 0.0); }

// The attr as the dtype holds it.
fn slope() -> f32 {
    return f32(f16(params.alpha)); //@ if f16
    return params.alpha; //@ if !f16
}
