// Functions of f32 that WGSL lacks, or leaves inaccurate or undefined at the edges. A shader gets those that it calls.
// Infinities and NaN are made from bits and found by bits: WGSL has no constants of them and lets compilers assume
// none.

fn inf() -> f32 {
    var bits = 0x7f800000u;
    return bitcast<f32>(bits);
}

fn nan() -> f32 {
    var bits = 0x7fc00000u;
    return bitcast<f32>(bits);
}

fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn is_inf(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }
fn is_negative(x: f32) -> bool { return (bitcast<u32>(x) >> 31u) != 0u; }

fn with_sign_of(x: f32, sign: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(sign) & 0x80000000u));
}

// Between the bounds, or NaN.
fn bounded(x: f32, low: f32, high: f32) -> f32 {
    let below = select(x, high, high < x);
    return select(below, low, low > below);
}

// The first if it is greater or NaN.
fn greater(x: f32, y: f32) -> f32 { return select(y, x, x > y || is_nan(x)); }
fn less(x: f32, y: f32) -> f32 { return select(y, x, x < y || is_nan(x)); }
fn power_of_two(n: i32) -> f32 { return bitcast<f32>(u32(n + 127) << 23u); }

// A whole number n, and x - n ln 2, which is small.
fn reduced(x: f32) -> vec2<f32> {
    let whole = round(x * 1.44269504);
    return vec2<f32>(whole, x - whole * 0.693359375 - whole * -2.12194440e-4);
}

// exp(r) - 1 for what `reduced` leaves.
fn exp_m1_reduced(r: f32) -> f32 {
    let p = ((((1.9875691e-4 * r + 1.3981999e-3) * r + 8.333452e-3) * r + 4.1665796e-2) * r + 1.6666665e-1) * r + 0.5;
    return p * (r * r) + r;
}

// e to the power of x and what x lacks, which is small.
fn exp_of_sum(x: f32, lacking: f32) -> f32 {
    let parts = reduced(bounded(x, -104.0, 89.0));
    let n = i32(parts.x);
    // In two steps, so that the result may overflow or be subnormal.
    let half = n >> 1u;
    return (exp_m1_reduced(parts.y + lacking) + 1.0) * power_of_two(half) * power_of_two(n - half);
}

fn own_exp(x: f32) -> f32 { return exp_of_sum(x, 0.0); }

fn own_expm1(x: f32) -> f32 {
    let parts = reduced(bounded(x, -20.0, 89.0));
    // Half the result, which does not overflow.
    let half = power_of_two(i32(parts.x) - 1);
    let result = (exp_m1_reduced(parts.y) * half + (half - 0.5)) * 2.0;
    return select(result, x, abs(x) < 1e-8);
}

// The exponent of x, and the mantissa from sqrt(1/2) to sqrt(2).
fn split(x: f32) -> vec2<f32> {
    let bits = bitcast<i32>(x);
    let offset = bits - 0x3f3504f3;
    return vec2<f32>(f32(offset >> 23u), bitcast<f32>(bits - (offset & -0x800000)));
}

// ln(1 + m) - m for 1 + m from sqrt(1/2) to sqrt(2).
fn ln_tail(m: f32) -> f32 {
    let z = m * m;
    let p = (((((((7.0376836e-2 * m - 1.151461e-1) * m + 1.16769984e-1) * m - 1.2420141e-1) * m + 1.4249323e-1) * m
        - 1.6668057e-1) * m + 2.0000714e-1) * m - 2.4999994e-1) * m + 3.3333331e-1;
    return m * z * p - 0.5 * z;
}

fn ln_of_parts(m: f32, exponent: f32) -> f32 {
    let tail = ln_tail(m) + exponent * -2.12194440e-4;
    return m + tail + exponent * 0.693359375;
}

// The logarithm of x, which is `log` if x is positive and finite.
fn ln_of_any(x: f32, log: f32) -> f32 {
    if (x > 0.0) {
        return select(x, log, x < inf());
    }
    return select(nan(), -inf(), x == 0.0);
}

fn own_log(x: f32) -> f32 {
    let subnormal = x < 1.17549435e-38;
    let parts = split(select(x, x * 8388608.0, subnormal));
    return ln_of_any(x, ln_of_parts(parts.y - 1.0, parts.x - select(0.0, 23.0, subnormal)));
}

// The same finite number. Drivers take `(a + b) - a` for `b` unless something stands between.
fn rounded(x: f32) -> f32 { return min(x, 3.40282347e38); }

fn own_log1p(x: f32) -> f32 {
    let exact = 1.0 + x;
    let sum = rounded(exact);
    // What the sum lost.
    let rest = select(1.0 - (sum - x), x - (sum - 1.0), x < 1.0);
    let parts = split(sum);
    let m = parts.y - 1.0 + rest * power_of_two(-min(i32(parts.x), 126));
    return select(ln_of_any(exact, ln_of_parts(m, parts.x)), x - 0.5 * x * x, abs(x) < 1e-4);
}

fn own_sigmoid(x: f32) -> f32 {
    let e = own_exp(-abs(x));
    return select(1.0, e, x < 0.0) / (1.0 + e);
}

fn own_tanh(given: f32) -> f32 {
    let x = bounded(given, -9.02, 9.02);
    let z = x * x;
    let above = (((1.3331778e-8 * z + 2.0597672e-5) * z + 3.4951414e-3) * z + 1.338074e-1) * z + 1.0;
    let below = (((7.768659e-7 * z + 3.2847255e-4) * z + 2.587556e-2) * z + 4.6714061e-1) * z + 1.0;
    return bounded(x * above / below, -1.0, 1.0);
}

// The 64 bits of a product, the higher ones first.
fn wide_product(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let left = (a >> 16u) * (b & 0xffffu);
    let right = (a & 0xffffu) * (b >> 16u);
    let middle = (low >> 16u) + (left & 0xffffu) + (right & 0xffffu);
    let high = (a >> 16u) * (b >> 16u) + (left >> 16u) + (right >> 16u) + (middle >> 16u);
    return vec2<u32>(high, (middle << 16u) | (low & 0xffffu));
}

// Bits of 4 / pi from its byte number i - 3.
fn inverse_of_pi(i: u32) -> u32 {
    switch i {
        case 0u: { return 0x000000a2u; }
        case 1u: { return 0x0000a2f9u; }
        case 2u: { return 0x00a2f983u; }
        case 3u: { return 0xa2f9836eu; }
        case 4u: { return 0xf9836e4eu; }
        case 5u: { return 0x836e4e44u; }
        case 6u: { return 0x6e4e4415u; }
        case 7u: { return 0x4e441529u; }
        case 8u: { return 0x441529fcu; }
        case 9u: { return 0x1529fc27u; }
        case 10u: { return 0x29fc2757u; }
        case 11u: { return 0xfc2757d1u; }
        case 12u: { return 0x2757d1f5u; }
        case 13u: { return 0x57d1f534u; }
        case 14u: { return 0xd1f534ddu; }
        case 15u: { return 0xf534ddc0u; }
        case 16u: { return 0x34ddc0dbu; }
        case 17u: { return 0xddc0db62u; }
        case 18u: { return 0xc0db6295u; }
        case 19u: { return 0xdb629599u; }
        case 20u: { return 0x6295993cu; }
        case 21u: { return 0x95993c43u; }
        case 22u: { return 0x993c4390u; }
        default: { return 0x3c439041u; }
    }
}

// x, not negative, in quarter turns modulo 4, and the rest, at most an eighth turn.
fn quarters(x: f32) -> vec2<f32> {
    if (x <= 6400.0) {
        let whole = round(x * 0.63661977);
        let rest = x - whole * 1.5703125 - whole * 4.837513e-4 - whole * 7.549533e-8 - whole * 2.5633441e-12;
        return vec2<f32>(f32(i32(whole) & 3), rest);
    }
    if (is_nan(x) || is_inf(x)) {
        return vec2<f32>(0.0, nan());
    }
    let bits = bitcast<u32>(x);
    let at = (bits >> 26u) & 15u;
    let mantissa = ((bits & 0x7fffffu) | 0x800000u) << ((bits >> 23u) & 7u);
    let middle = wide_product(mantissa, inverse_of_pi(at + 4u));
    var low = wide_product(mantissa, inverse_of_pi(at + 8u)).x;
    low += middle.y;
    var high = mantissa * inverse_of_pi(at) + middle.x + u32(low < middle.y);
    // 62 bits stand behind the point.
    let n = (high + 0x20000000u) >> 30u;
    high -= n << 30u;
    let negative = (high >> 31u) != 0u;
    if (negative) {
        low = ~low + 1u;
        high = ~high + u32(low == 0u);
    }
    let rest = (f32(high) + f32(low) * 2.3283064e-10) * 1.4629181e-9;
    return vec2<f32>(f32(n & 3u), select(rest, -rest, negative));
}

fn sin_reduced(r: f32) -> f32 {
    let z = r * r;
    return ((-1.9515296e-4 * z + 8.332161e-3) * z - 1.6666655e-1) * z * r + r;
}

fn cos_reduced(r: f32) -> f32 {
    let z = r * r;
    return ((2.4433157e-5 * z - 1.3887316e-3) * z + 4.1666646e-2) * (z * z) - 0.5 * z + 1.0;
}

fn sin_of_parts(n: i32, r: f32) -> f32 {
    let size = select(sin_reduced(r), cos_reduced(r), (n & 1) == 1);
    return select(size, -size, (n & 2) == 2);
}

fn own_sin(x: f32) -> f32 {
    let parts = quarters(abs(x));
    let y = sin_of_parts(i32(parts.x), parts.y);
    return select(y, -y, is_negative(x));
}

fn own_cos(x: f32) -> f32 {
    let parts = quarters(abs(x));
    return sin_of_parts(i32(parts.x) + 1, parts.y);
}

fn own_tan(x: f32) -> f32 {
    let parts = quarters(abs(x));
    let sine = sin_reduced(parts.y);
    let cosine = cos_reduced(parts.y);
    let odd = (i32(parts.x) & 1) == 1;
    let y = select(sine / cosine, -cosine / sine, odd);
    return select(y, -y, is_negative(x));
}

// The arc whose sine is x, not above 1/2.
fn asin_small(x: f32) -> f32 {
    let z = x * x;
    let p = (((4.2163199048e-2 * z + 2.4181311049e-2) * z + 4.5470025998e-2) * z + 7.4953002686e-2) * z
        + 1.6666752422e-1;
    return p * z * x + x;
}

fn own_asin(x: f32) -> f32 {
    let size = abs(x);
    if (size > 1.0) {
        return nan();
    }
    var y = 0.0;
    if (size > 0.5) {
        y = 1.57079633 - 2.0 * asin_small(sqrt(0.5 * (1.0 - size)));
    } else {
        y = asin_small(size);
    }
    return select(y, -y, is_negative(x));
}

fn own_acos(x: f32) -> f32 {
    let size = abs(x);
    if (size > 1.0) {
        return nan();
    }
    if (size > 0.5) {
        let y = 2.0 * asin_small(sqrt(0.5 * (1.0 - size)));
        return select(y, 3.14159265 - y, x < 0.0);
    }
    let y = asin_small(size);
    return 1.57079633 - select(y, -y, x < 0.0);
}

fn own_atan(x: f32) -> f32 {
    let size = abs(x);
    var base = 0.0;
    var r = size;
    if (size > 2.414213562) {
        base = 1.57079633;
        r = -1.0 / size;
    } else if (size > 0.4142135624) {
        base = 0.785398163;
        r = (size - 1.0) / (size + 1.0);
    }
    let z = r * r;
    let p = ((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1;
    let y = base + (p * z * r + r);
    return select(y, -y, is_negative(x));
}

fn own_atan2(y: f32, x: f32) -> f32 {
    if (is_nan(x) || is_nan(y)) {
        return nan();
    }
    let behind = is_negative(x);
    var angle = 0.0;
    if (y == 0.0) {
        angle = select(0.0, 3.14159265, behind);
    } else if (x == 0.0) {
        angle = 1.57079633;
    } else if (is_inf(x) && is_inf(y)) {
        angle = select(0.785398163, 2.35619449, behind);
    } else if (is_inf(x)) {
        angle = select(0.0, 3.14159265, behind);
    } else if (is_inf(y)) {
        angle = 1.57079633;
    } else {
        // Both of a size at which quotients keep their bits.
        let scale = select(1.0, 5.9604645e-8, max(abs(x), abs(y)) > 1e30);
        let steep = own_atan((abs(y) * scale) / (abs(x) * scale));
        angle = select(steep, 3.14159265 - steep, behind);
    }
    return select(angle, -angle, is_negative(y));
}

fn own_sinh(x: f32) -> f32 {
    let size = abs(x);
    var y = 0.0;
    if (size < 1.0) {
        let z = x * x;
        y = size + size * z * ((2.03721912945e-4 * z + 8.33028376239e-3) * z + 1.66667160211e-1);
    } else {
        let e = own_exp(0.5 * size);
        y = (0.5 * e) * e - 0.5 * own_exp(-size);
    }
    return select(y, -y, is_negative(x));
}

fn own_cosh(x: f32) -> f32 {
    let e = own_exp(0.5 * abs(x));
    return (0.5 * e) * e + 0.5 * own_exp(-abs(x));
}

fn own_asinh(x: f32) -> f32 {
    let size = abs(x);
    var y = 0.0;
    if (size > 4096.0) {
        y = own_log(size) + 0.69314718;
    } else {
        let z = size * size;
        y = own_log1p(size + z / (1.0 + sqrt(z + 1.0)));
    }
    return select(y, -y, is_negative(x));
}

fn own_acosh(x: f32) -> f32 {
    if (x > 4096.0) {
        return own_log(x) + 0.69314718;
    }
    if (x >= 1.0) {
        let above = x - 1.0;
        return own_log1p(above + sqrt(2.0 * above + above * above));
    }
    return nan();
}

fn own_atanh(x: f32) -> f32 {
    let size = abs(x);
    if (size == 1.0) {
        return select(inf(), -inf(), x < 0.0);
    }
    if (size < 1.0) {
        let y = 0.5 * own_log1p((size + size) / (1.0 - size));
        return select(y, -y, is_negative(x));
    }
    return nan();
}

fn own_erf(x: f32) -> f32 {
    let b = bounded(x, -4.0, 4.0);
    let z = b * b;
    let above = (((((-2.7261423e-10 * z + 2.7706814e-8) * z - 2.101024e-6) * z - 5.6925064e-5) * z - 7.3499063e-4) * z
        - 2.9546e-3) * z - 1.6096033e-2;
    let below = (((-1.4566072e-5 * z - 2.1337406e-4) * z - 1.682827e-3) * z - 7.373329e-3) * z - 1.4264739e-2;
    return select(b * (above / below), with_sign_of(1.0, x), abs(x) >= 3.92);
}

// For x from 0.84375 on.
fn erfc_far(x: f32) -> f32 {
    if (x < 1.25) {
        let s = x - 1.0;
        let p = -2.3621185683e-3 + s * (4.1485610604e-1 + s * (-3.7220788002e-1 + s * (3.1834661961e-1
            + s * (-1.1089469492e-1 + s * (3.5478305072e-2 + s * -2.1663755178e-3)))));
        let q = 1.0 + s * (1.0642088205e-1 + s * (5.4039794207e-1 + s * (7.1828655899e-2 + s * (1.2617121637e-1
            + s * (1.3637083583e-2 + s * 1.1984500103e-2)))));
        return 1.0 - 8.4506291151e-1 - p / q;
    }
    let s = 1.0 / (x * x);
    var r = 0.0;
    var q = 0.0;
    if (x < 2.857142925) {
        r = -9.8649440333e-3 + s * (-6.9385856390e-1 + s * (-1.0558626175e1 + s * (-6.2375331879e1
            + s * (-1.6239666748e2 + s * (-1.8460508728e2 + s * (-8.1287437439e1 + s * -9.8143291473))))));
        q = 1.0 + s * (1.9651271820e1 + s * (1.3765776062e2 + s * (4.3456588745e2 + s * (6.4538726807e2
            + s * (4.2900814819e2 + s * (1.0863500214e2 + s * (6.5702495575 + s * -6.0424413532e-2)))))));
    } else {
        r = -9.8649431020e-3 + s * (-7.9928326607e-1 + s * (-1.7757955551e1 + s * (-1.6063638306e2
            + s * (-6.3756646729e2 + s * (-1.0250950928e3 + s * -4.8351919556e2)))));
        q = 1.0 + s * (3.0338060379e1 + s * (3.2579251099e2 + s * (1.5367296143e3 + s * (3.1998581543e3
            + s * (2.5530502930e3 + s * (4.7452853394e2 + s * -2.2440952301e1))))));
    }
    let z = bitcast<f32>(bitcast<u32>(x) & 0xffffe000u);
    return own_exp(-z * z - 0.5625) * own_exp((z - x) * (z + x) + r / q) / x;
}

fn own_erfc(x: f32) -> f32 {
    let size = abs(x);
    if (is_nan(x)) {
        return x;
    }
    if (size < 0.84375) {
        let z = x * x;
        let r = 1.2837916613e-1 + z * (-3.2504209876e-1 + z * (-2.8481749818e-2 + z * (-5.7702702470e-3
            + z * -2.3763017452e-5)));
        let s = 1.0 + z * (3.9791721106e-1 + z * (6.5022252500e-2 + z * (5.0813062117e-3 + z * (1.3249473704e-4
            + z * -3.9602282413e-6))));
        let y = x * (r / s);
        return select(1.0 - (x + y), 0.5 - (x - 0.5 + y), x >= 0.25);
    }
    if (size < 28.0) {
        let y = erfc_far(size);
        return select(y, 2.0 - y, x < 0.0);
    }
    return select(0.0, 2.0, x < 0.0);
}

// The quotient rounded as IEEE 754 wants it, where it and the divisor are of a moderate size.
fn rounded_quotient(x: f32, y: f32) -> f32 {
    let q = x / y;
    let exponents = vec2<u32>(bitcast<u32>(q), bitcast<u32>(y)) & vec2<u32>(0x7f800000u);
    if (any(exponents < vec2<u32>(0x28000000u)) || any(exponents > vec2<u32>(0x58000000u))) {
        return q;
    }
    let q_high = bitcast<f32>(bitcast<u32>(q) & 0xfffff000u);
    let y_high = bitcast<f32>(bitcast<u32>(y) & 0xfffff000u);
    let q_low = q - q_high;
    let y_low = y - y_high;
    let rest = ((x - q_high * y_high) - (q_high * y_low + q_low * y_high)) - q_low * y_low;
    return q + rest / y;
}

// The remainder with the sign of x; exact.
fn own_fmod(x: f32, y: f32) -> f32 {
    let sign = bitcast<u32>(x) & 0x80000000u;
    var a = bitcast<u32>(x) & 0x7fffffffu;
    let b = bitcast<u32>(y) & 0x7fffffffu;
    if (a >= 0x7f800000u || b > 0x7f800000u || b == 0u) {
        return nan();
    }
    if (a < b) {
        return x;
    }
    var a_exponent = i32(a >> 23u);
    var b_exponent = i32(b >> 23u);
    var a_bits = a & 0x7fffffu;
    var b_bits = b & 0x7fffffu;
    if (a_exponent == 0) {
        let shift = countLeadingZeros(a_bits) - 8u;
        a_bits <<= shift;
        a_exponent = 1 - i32(shift);
    } else {
        a_bits |= 0x800000u;
    }
    if (b_exponent == 0) {
        let shift = countLeadingZeros(b_bits) - 8u;
        b_bits <<= shift;
        b_exponent = 1 - i32(shift);
    } else {
        b_bits |= 0x800000u;
    }
    while (a_exponent > b_exponent) {
        if (a_bits >= b_bits) {
            a_bits -= b_bits;
        }
        a_bits <<= 1u;
        a_exponent -= 1;
    }
    if (a_bits >= b_bits) {
        a_bits -= b_bits;
    }
    if (a_bits == 0u) {
        return bitcast<f32>(sign);
    }
    let shift = countLeadingZeros(a_bits) - 8u;
    a_bits <<= shift;
    a_exponent -= i32(shift);
    if (a_exponent > 0) {
        a = (a_bits - 0x800000u) | (u32(a_exponent) << 23u);
    } else {
        a = a_bits >> u32(1 - a_exponent);
    }
    return bitcast<f32>(a | sign);
}

// The power of a positive finite number to a finite one.
fn power_of_positive(x: f32, given: f32) -> f32 {
    let y = bounded(given, -1e11, 1e11);
    let subnormal = x < 1.17549435e-38;
    let parts = split(select(x, x * 8388608.0, subnormal));
    let exponent = parts.x - select(0.0, 23.0, subnormal);
    // The logarithm in two parts, of which the first has few enough bits for an exact product with half of y's.
    let m = parts.y - 1.0;
    let head = exponent * 0.693359375;
    let sum = rounded(head + m);
    let log_high = bitcast<f32>(bitcast<u32>(sum) & 0xfffff000u);
    let lost = select(head - (sum - m), m - (sum - head), abs(head) >= abs(m));
    let log_low = (sum - log_high) + (lost + (ln_tail(m) + exponent * -2.12194440e-4));
    let y_high = bitcast<f32>(bitcast<u32>(y) & 0xfffff000u);
    let y_low = y - y_high;
    let high = y_high * log_high;
    let low = y_low * log_high + y * log_low;
    let product = rounded(high + low);
    if (abs(product) > 110.0) {
        return select(0.0, inf(), product > 0.0);
    }
    return exp_of_sum(product, low - (product - high));
}

fn own_pow(x: f32, y: f32) -> f32 {
    if (y == 0.0 || x == 1.0) {
        return 1.0;
    }
    if (is_nan(x) || is_nan(y)) {
        return nan();
    }
    let size = abs(x);
    if (is_inf(y)) {
        if (size == 1.0) {
            return 1.0;
        }
        return select(0.0, inf(), (size > 1.0) == (y > 0.0));
    }
    let whole = trunc(y) == y;
    let odd = whole && abs(y) < 16777216.0 && (i32(y) & 1) == 1;
    var power = 0.0;
    if (size == 0.0) {
        power = select(inf(), 0.0, y > 0.0);
    } else if (is_inf(x)) {
        power = select(0.0, inf(), y > 0.0);
    } else if (x < 0.0 && !whole) {
        return nan();
    } else {
        power = power_of_positive(size, y);
    }
    return select(power, -power, odd && is_negative(x));
}

// The low bits of the number that is left without the fraction, of what 64 bits hold.
fn low_bits(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let exponent = i32((bits >> 23u) & 255u) - 150;
    let mantissa = (bits & 0x7fffffu) | 0x800000u;
    if (exponent >= 32 || exponent <= -24) {
        return 0u;
    }
    let size = select(mantissa >> (u32(-exponent) & 31u), mantissa << (u32(exponent) & 31u), exponent >= 0);
    return select(size, 0u - size, (bits >> 31u) != 0u);
}

