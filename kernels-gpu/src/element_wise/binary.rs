//! Functions of two arguments that broadcast.

use kernlink_geometry::element_wise::{BY_ZERO, NEGATIVE_POWER};
use kernlink_ops as ops;

use super::table::functions;

const QUOTIENT: &str =
    "if (y == T(0)) { refused = true; return T(0); }\n    if (y == T(-1)) { return -x; }\n    return x / y;";
const UNSIGNED_QUOTIENT: &str = "if (y == 0u) { refused = true; return 0u; }\n    return x / y;";
const REMAINDER: &str =
    "if (y == T(0)) { refused = true; return T(0); }\n    if (y == T(-1)) { return T(0); }\n    return x - x / y * y;";
const FLOORED_QUOTIENT: &str = "if (y == T(0)) { refused = true; return T(0); }\n    \
    if (y == T(-1)) { return -x; }\n    \
    let quotient = x / y;\n    \
    return select(quotient, quotient - T(1), ((x < T(0)) != (y < T(0))) && quotient * y != x);";
const FLOORED_REMAINDER: &str = "if (y == T(0)) { refused = true; return T(0); }\n    \
    if (y == T(-1)) { return T(0); }\n    \
    let rest = x - x / y * y;\n    return select(rest, rest + y, rest != T(0) && ((y < T(0)) != (rest < T(0))));";
const POWER: &str = "if (y < T(0)) { refused = true; return T(1); }\n    var base = x;\n    var exponent = y;\n    \
    var power = T(1);\n    while (exponent > T(0)) {\n        \
    if ((exponent & T(1)) == T(1)) { power = power * base; }\n        \
    base = base * base;\n        exponent = exponent / T(2);\n    }\n    return power;";

functions! {
    2;
    Broadcast Add { [f32, i32] [f16; "f16"] [i64; "i64"] } T "return x + y;";
    Broadcast AddV2 { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } T "return x + y;";
    Broadcast Sub { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } T "return x - y;";
    Broadcast Mul { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } T "return x * y;";
    Broadcast MulNoNan { [f32] [f16; "f16"] } T "return select(x * y, 0.0, y == 0.0);";
    Broadcast Maximum { [f32] [f16; "f16"] } T "return greater(x, y);";
    Broadcast Maximum { [i32, u32] [i64; "i64"] } T "return select(y, x, x > y);";
    Broadcast Minimum { [f32] [f16; "f16"] } T "return less(x, y);";
    Broadcast Minimum { [i32, u32] [i64; "i64"] } T "return select(y, x, x < y);";
    Broadcast SquaredDifference { [f32, i32] [f16; "f16"] [i64; "i64"] } T "return (x - y) * (x - y);";
    Broadcast Atan2 { [f32] [f16; "f16"] } T "return own_atan2(x, y);";
    Broadcast Xlogy { [f32] [f16; "f16"] } T "if (x == 0.0) { return 0.0; }\n    return x * own_log(y);";
    Broadcast Xdivy { [f32] [f16; "f16"] } T "if (x == 0.0) { return 0.0; }\n    return x / y;";
    Broadcast Igamma { [f32] } T "return own_igamma(x, y);";
    Broadcast Igammac { [f32] } T "return own_igammac(x, y);";
    Broadcast Zeta { [f32] } T "return own_zeta(x, y);";
    Broadcast Polygamma { [f32] } T "return own_polygamma(x, y);";
    Broadcast NextAfter { [f32] } T "return next_after(x, y);";
    Broadcast Pow { [f32] [f16; "f16"] } T "return own_pow(x, y);";
    Broadcast Pow { [i32] [i64; "i64"] } T POWER, InvalidArgument NEGATIVE_POWER;

    Broadcast Div { [f32] [f16; "f16"] } T "return x / y;";
    Broadcast Div { [i32] [i64; "i64"] } T QUOTIENT, InvalidArgument BY_ZERO;
    Broadcast Div { [u32] } T UNSIGNED_QUOTIENT, InvalidArgument BY_ZERO;
    Broadcast RealDiv { [f32] [f16; "f16"] } T "return x / y;";
    Broadcast DivNoNan { [f32] [f16; "f16"] } T "if (y == 0.0) { return 0.0; }\n    return x / y;";
    // The quotient is rounded to the dtype before it is made whole.
    Broadcast FloorDiv { [f32] } T "return floor(rounded_quotient(x, y));";
    Broadcast FloorDiv { [f16; "f16"] } T "return floor(f32(f16(x / y)));";
    Broadcast FloorDiv { [i32] [i64; "i64"] } T FLOORED_QUOTIENT, InvalidArgument BY_ZERO;
    Broadcast FloorDiv { [u32] } T UNSIGNED_QUOTIENT, InvalidArgument BY_ZERO;
    Broadcast TruncateDiv { [f32] } T "return trunc(rounded_quotient(x, y));";
    Broadcast TruncateDiv { [f16; "f16"] } T "return trunc(f32(f16(x / y)));";
    // The code is TensorFlow's: it does not expect this error of the truncating ones.
    Broadcast TruncateDiv { [i32] [i64; "i64"] } T QUOTIENT, Internal BY_ZERO;
    Broadcast TruncateDiv { [u32] } T UNSIGNED_QUOTIENT, Internal BY_ZERO;
    Broadcast FloorMod { [f32] [f16; "f16"] } T
        "let rest = own_fmod(x, y);\n    return select(rest, rest + y, rest != 0.0 && ((y < 0.0) != (rest < 0.0)));";
    Broadcast FloorMod { [i32] [i64; "i64"] } T FLOORED_REMAINDER, InvalidArgument BY_ZERO;
    Broadcast FloorMod { [u32] } T
        "if (y == 0u) { refused = true; return 0u; }\n    return x % y;", InvalidArgument BY_ZERO;
    Broadcast Mod { [f32] } T "return own_fmod(x, y);";
    Broadcast Mod { [i32] [i64; "i64"] } T REMAINDER, InvalidArgument BY_ZERO;
    Broadcast TruncateMod { [f32] } T "return own_fmod(x, y);";
    Broadcast TruncateMod { [i32] [i64; "i64"] } T REMAINDER, Internal BY_ZERO;

    Broadcast Less { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } bool "return u32(x < y);";
    Broadcast LessEqual { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } bool "return u32(x <= y);";
    Broadcast Greater { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } bool "return u32(x > y);";
    Broadcast GreaterEqual { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } bool "return u32(x >= y);";

    Broadcast BitwiseAnd { [i32, u32] [i64; "i64"] } T "return x & y;";
    Broadcast BitwiseOr { [i32, u32] [i64; "i64"] } T "return x | y;";
    Broadcast BitwiseXor { [i32, u32] [i64; "i64"] } T "return x ^ y;";
    // The distance is clamped to what the dtype has bits for.
    Broadcast LeftShift { [i32] } T "return x << u32(clamp(y, 0, 31));";
    Broadcast LeftShift { [u32] } T "return x << min(y, 31u);";
    Broadcast LeftShift { [i64; "i64"] } T
        "return x << u32(select(select(y, T(63), y > T(63)), T(0), y < T(0)));";
    Broadcast RightShift { [i32] } T "return x >> u32(clamp(y, 0, 31));";
    Broadcast RightShift { [u32] } T "return x >> min(y, 31u);";
    Broadcast RightShift { [i64; "i64"] } T
        "return x >> u32(select(select(y, T(63), y > T(63)), T(0), y < T(0)));";
}
