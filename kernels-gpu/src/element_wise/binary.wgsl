// Functions of two elements, by the names of their ops. Of halves they see `f32`. One that refuses elements sets `refused`.
//@ import math, special

fn Add(x: T, y: T) -> T { return x + y; }
fn AddV2(x: T, y: T) -> T { return x + y; }
fn Sub(x: T, y: T) -> T { return x - y; }
fn Mul(x: T, y: T) -> T { return x * y; }
fn MulNoNan(x: T, y: T) -> T { return select(x * y, 0.0, y == 0.0); }
fn Maximum(x: T, y: T) -> T { return greater(x, y); } //@ if float
fn Maximum(x: T, y: T) -> T { return select(y, x, x > y); } //@ if !float
fn Minimum(x: T, y: T) -> T { return less(x, y); } //@ if float
fn Minimum(x: T, y: T) -> T { return select(y, x, x < y); } //@ if !float
fn SquaredDifference(x: T, y: T) -> T { return (x - y) * (x - y); }
fn Atan2(x: T, y: T) -> T { return own_atan2(x, y); }

fn Xlogy(x: T, y: T) -> T {
    if (x == 0.0) {
        return 0.0;
    }
    return x * own_log(y);
}

fn Xdivy(x: T, y: T) -> T {
    if (x == 0.0) {
        return 0.0;
    }
    return x / y;
}

fn Igamma(x: T, y: T) -> T { return own_igamma(x, y); }
fn Igammac(x: T, y: T) -> T { return own_igammac(x, y); }
fn Zeta(x: T, y: T) -> T { return own_zeta(x, y); }
fn Polygamma(x: T, y: T) -> T { return own_polygamma(x, y); }
fn NextAfter(x: T, y: T) -> T { return next_after(x, y); }

fn Pow(x: T, y: T) -> T {
    //@ if float
    return own_pow(x, y);
    //@ else
    if (y < T(0)) {
        refused = true;
        return T(1);
    }
    var base = x;
    var exponent = y;
    var power = T(1);
    while (exponent > T(0)) {
        if ((exponent & T(1)) == T(1)) {
            power = power * base;
        }
        base = base * base;
        exponent = exponent / T(2);
    }
    return power;
    //@ end
}

// The quotient of integers without its fraction. It wraps for the least one and -1.
fn whole_quotient(x: T, y: T) -> T {
    if (y == T(0)) {
        refused = true;
        return T(0);
    }
    //@ if signed
    if (y == T(-1)) {
        return -x;
    }
    //@ end
    return x / y;
}

// What is left of integers, with the sign of the dividend.
fn rest_of(x: T, y: T) -> T { return x - whole_quotient(x, y) * y; }

// A quotient that is rounded to the dtype.
fn stored_quotient(x: T, y: T) -> T {
    return rounded_quotient(x, y); //@ if f32
    return f32(f16(x / y)); //@ if f16
}

fn RealDiv(x: T, y: T) -> T { return x / y; }
fn Div(x: T, y: T) -> T { return x / y; } //@ if float
fn Div(x: T, y: T) -> T { return whole_quotient(x, y); } //@ if int
fn TruncateDiv(x: T, y: T) -> T { return trunc(stored_quotient(x, y)); } //@ if float
fn TruncateDiv(x: T, y: T) -> T { return whole_quotient(x, y); } //@ if int
fn Mod(x: T, y: T) -> T { return own_fmod(x, y); } //@ if float
fn Mod(x: T, y: T) -> T { return rest_of(x, y); } //@ if int
fn TruncateMod(x: T, y: T) -> T { return own_fmod(x, y); } //@ if float
fn TruncateMod(x: T, y: T) -> T { return rest_of(x, y); } //@ if int

fn DivNoNan(x: T, y: T) -> T {
    if (y == 0.0) {
        return 0.0;
    }
    return x / y;
}

fn FloorDiv(x: T, y: T) -> T {
    return floor(stored_quotient(x, y)); //@ if float
    //@ if int
    let quotient = whole_quotient(x, y);
    return select(quotient, quotient - T(1), ((x < T(0)) != (y < T(0))) && quotient * y != x); //@ if signed
    return quotient; //@ if u32
    //@ end
}

fn FloorMod(x: T, y: T) -> T {
    let rest = own_fmod(x, y); //@ if float
    let rest = rest_of(x, y); //@ if int
    return select(rest, rest + y, rest != T(0) && ((y < T(0)) != (rest < T(0)))); //@ if !u32
    return rest; //@ if u32
}

fn Less(x: T, y: T) -> u32 { return u32(x < y); }
fn LessEqual(x: T, y: T) -> u32 { return u32(x <= y); }
fn Greater(x: T, y: T) -> u32 { return u32(x > y); }
fn GreaterEqual(x: T, y: T) -> u32 { return u32(x >= y); }
fn BitwiseAnd(x: T, y: T) -> T { return x & y; }
fn BitwiseOr(x: T, y: T) -> T { return x | y; }
fn BitwiseXor(x: T, y: T) -> T { return x ^ y; }

// The distance is clamped to what the dtype has bits for.
fn LeftShift(x: T, y: T) -> T { return x << u32(clamp(y, 0, 31)); } //@ if i32
fn LeftShift(x: T, y: T) -> T { return x << min(y, 31u); } //@ if u32
//@ if i64
fn LeftShift(x: T, y: T) -> T {
    return x << u32(select(select(y, T(63), y > T(63)), T(0), y < T(0)));
}
//@ end

fn RightShift(x: T, y: T) -> T { return x >> u32(clamp(y, 0, 31)); } //@ if i32
fn RightShift(x: T, y: T) -> T { return x >> min(y, 31u); } //@ if u32
//@ if i64
fn RightShift(x: T, y: T) -> T {
    return x >> u32(select(select(y, T(63), y > T(63)), T(0), y < T(0)));
}
//@ end

fn LogicalAnd(x: u32, y: u32) -> u32 { return x & y; }
fn LogicalOr(x: u32, y: u32) -> u32 { return x | y; }
fn Equal(x: T, y: T) -> u32 { return u32(x == y); }

// Whether NaN is unequal to itself is left to nobody.
fn NotEqual(x: T, y: T) -> u32 { return 1u - u32(x == y); }
fn ApproximateEqual(x: T, y: T) -> u32 { return u32(abs(x - y) < params.tolerance); }
