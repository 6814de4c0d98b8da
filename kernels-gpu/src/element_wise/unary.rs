//! Functions of one argument. Of 16-bit floats they see `f32`.

use kernlink_ops as ops;

use super::table::functions;

functions! {
    1;
    Equal Abs { [f32] [f16; "f16"] } T "return abs(x);";
    Equal Abs { [i32] [i64; "i64"] } T "return select(x, -x, x < T(0));";
    Equal Neg { [f32, i32] [f16; "f16"] [i64; "i64"] } T "return -x;";
    Equal Sign { [f32, i32] [f16; "f16"] [i64; "i64"] } T
        "if (x > T(0)) { return T(1); }\n    if (x < T(0)) { return T(-1); }\n    return x;";
    Equal Square { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } T "return x * x;";
    Equal Reciprocal { [f32] [f16; "f16"] } T "return 1.0 / x;";
    Equal Inv { [f32] [f16; "f16"] } T "return 1.0 / x;";
    Equal Floor { [f32] [f16; "f16"] } T "return floor(x);";
    Equal Ceil { [f32] [f16; "f16"] } T "return ceil(x);";
    Equal Round { [f32] [f16; "f16"] } T "return round(x);";
    // Of integers TensorFlow makes zero.
    Equal Round { [i32] [i64; "i64"] } T "return T(0);";
    Equal Rint { [f32] } T "return round(x);";
    Equal IsNan { [f32] [f16; "f16"] } bool "return u32(is_nan(x));";
    Equal IsInf { [f32] [f16; "f16"] } bool "return u32(is_inf(x));";
    Equal IsFinite { [f32] [f16; "f16"] } bool "return u32(!is_inf(x) && !is_nan(x));";
    Equal Invert { [i32, u32] [i64; "i64"] } T "return ~x;";

    Equal Sqrt { [f32] [f16; "f16"] } T "if (x < 0.0) { return nan(); }\n    return sqrt(x);";
    Equal Rsqrt { [f32] [f16; "f16"] } T "if (x < 0.0) { return nan(); }\n    return inverseSqrt(x);";
    Equal Exp { [f32] [f16; "f16"] } T "return own_exp(x);";
    Equal Expm1 { [f32] [f16; "f16"] } T "return own_expm1(x);";
    Equal Log { [f32] [f16; "f16"] } T "return own_log(x);";
    Equal Log1p { [f32] [f16; "f16"] } T "return own_log1p(x);";
    Equal Sin { [f32] [f16; "f16"] } T "return own_sin(x);";
    Equal Cos { [f32] [f16; "f16"] } T "return own_cos(x);";
    Equal Tan { [f32] [f16; "f16"] } T "return own_tan(x);";
    Equal Asin { [f32] [f16; "f16"] } T "return own_asin(x);";
    Equal Acos { [f32] [f16; "f16"] } T "return own_acos(x);";
    Equal Atan { [f32] [f16; "f16"] } T "return own_atan(x);";
    Equal Sinh { [f32] [f16; "f16"] } T "return own_sinh(x);";
    Equal Cosh { [f32] [f16; "f16"] } T "return own_cosh(x);";
    Equal Tanh { [f32] [f16; "f16"] } T "return own_tanh(x);";
    Equal Asinh { [f32] [f16; "f16"] } T "return own_asinh(x);";
    Equal Acosh { [f32] [f16; "f16"] } T "return own_acosh(x);";
    Equal Atanh { [f32] [f16; "f16"] } T "return own_atanh(x);";
    Equal Sigmoid { [f32] [f16; "f16"] } T "return own_sigmoid(x);";
    Equal Erf { [f32] [f16; "f16"] } T "return own_erf(x);";
    Equal Erfc { [f32] [f16; "f16"] } T "return own_erfc(x);";
    Equal Lgamma { [f32] [f16; "f16"] } T "return own_lgamma(x);";
    Equal Digamma { [f32] [f16; "f16"] } T "return own_digamma(x);";
    Equal Ndtri { [f32] } T "return own_ndtri(x);";
    Equal Erfinv { [f32] } T "return own_erfinv(x);";

    // NaN stays NaN in all of them.
    Equal Relu { [f32] [f16; "f16"] } T "return select(x, 0.0, x <= 0.0);";
    Equal Relu { [i32] [i64; "i64"] } T "return select(x, T(0), x < T(0));";
    Equal Relu { [u32] } T "return x;";
    Equal Relu6 { [f32] [f16; "f16"] } T "return select(select(x, 0.0, x <= 0.0), 6.0, x > 6.0);";
    Equal Relu6 { [i32, u32] [i64; "i64"] } T "return select(select(x, T(0), x < T(0)), T(6), x > T(6));";
    Equal Elu { [f32] [f16; "f16"] } T "return select(x, own_expm1(x), x < 0.0);";
    Equal Selu { [f32] [f16; "f16"] } T
        "return select(1.05070098 * x, 1.75809934 * own_expm1(x), x < 0.0);";
    Equal Softplus { [f32] [f16; "f16"] } T
        "return select(x, 0.0, x < 0.0) + own_log1p(own_exp(-abs(x)));";
    Equal Softsign { [f32] [f16; "f16"] } T
        "if (is_inf(x)) { return nan(); }\n    return x / (1.0 + abs(x));";
}
