// Conversions of elements to another dtype, as C++ on x86 converts them. `T` is the type of elements, `R` that of results;
// halves are computed with as `f32`.
//@ import math

fn unchanged(x: T) -> R { return x; }
fn converted(x: T) -> R { return R(x); }
fn float_to_bool(x: f32) -> u32 { return u32((bitcast<u32>(x) << 1u) != 0u); }
fn integer_to_bool(x: T) -> u32 { return u32(x != T(0)); }

// What no integer holds becomes the lowest.
fn float_to_i32(x: f32) -> i32 {
    if (x < 2147483648.0 && x >= -2147483648.0) {
        return i32(x);
    }
    return i32(-2147483648);
}

fn float_to_u32(x: f32) -> u32 { return low_bits(x); }

fn float_to_i64(x: f32) -> i64 {
    if (x < 9223372036854775808.0 && x >= -9223372036854775808.0) {
        return i64(x);
    }
    return i64(1) << 63u;
}

// By way of 64 bits without a sign: some devices take a `u32` for an `i32` on the way to an `i64`.
fn u32_to_i64(x: u32) -> i64 { return i64(u64(x)); }

// What 16 bits do not hold is dropped, not rounded.
fn truncated_to_f16(x: f32) -> f32 {
    if (is_nan(x)) {
        return x;
    }
    return bitcast<f32>(bitcast<u32>(x) & 0xffffe000u);
}
