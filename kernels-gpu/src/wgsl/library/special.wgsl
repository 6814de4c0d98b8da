// Special functions of f32; the coefficients are those that FreeBSD's libm, Cephes, and M. Giles published.
//@ import math

// sin(pi x) for x that is not negative.
fn sin_of_turns(x: f32) -> f32 {
    let y = x - 2.0 * floor(x * 0.5);
    let n = (i32(y * 4.0) + 1) / 2;
    return sin_of_parts(n, (y - f32(n) * 0.5) * 3.14159265);
}

// The logarithm of the gamma function of x between 0 and 2.
fn lgamma_small(x: f32) -> f32 {
    var shift = 0.0;
    var y = 0.0;
    var part = 0;
    if (x <= 0.9) {
        shift = -own_log(x);
        if (x >= 0.73163) {
            y = 1.0 - x;
        } else if (x >= 0.23164) {
            y = x - 0.4616321325;
            part = 1;
        } else {
            y = x;
            part = 2;
        }
    } else if (x >= 1.73163) {
        y = 2.0 - x;
    } else if (x >= 1.23163) {
        y = x - 1.4616321325;
        part = 1;
    } else {
        y = x - 1.0;
        part = 2;
    }
    if (part == 0) {
        let z = y * y;
        let even = ((((2.52144564e-05 * z + 0.00022086278477) * z + 0.0011927076848) * z + 0.0073855509982) * z +
        0.067352302372) * z + 0.077215664089;
        let odd = ((((4.4864096708e-05 * z + 0.00010801156895) * z + 0.00051006977446) * z + 0.0028905137442) * z
        + 0.020580807701) * z + 0.32246702909;
        return shift + (y * even + z * odd - 0.5 * y);
    }
    if (part == 1) {
        let z = y * y;
        let w = z * y;
        let first = (((0.00031563205994 * w - 0.0014034647029) * w + 0.0061005386524) * w - 0.032788541168) * w +
        0.48383611441;
        let second = (((-0.00031275415677 * w + 0.00088108185446) * w - 0.0036845202558) * w + 0.017970675603) * w
        - 0.14758771658;
        let third = (((0.00033552918467 * w - 0.00053859531181) * w + 0.0022596477065) * w - 0.010314224288) * w +
        0.064624942839;
        let p = z * first - (6.6971006518e-09 - w * (second + y * third));
        return shift + (-0.12148628384 + p);
    }
    let above = ((((0.013381091878 * y + 0.22896373272) * y + 0.97771751881) * y + 1.4549225569) * y +
        0.63282704353) * y - 0.077215664089;
    let below = ((((0.0032170924824 * y + 0.10422264785) * y + 0.76928514242) * y + 2.1284897327) * y +
        2.4559779167) * y + 1.0;
    return shift + (-0.5 * y + y * above / below);
}

fn own_lgamma(x: f32) -> f32 {
    if (is_nan(x)) {
        return x;
    }
    if (is_inf(x) || x == 0.0) {
        return inf();
    }
    let size = abs(x);
    var reflected = 0.0;
    if (x < 0.0) {
        if (size < 4.7e-7) {
            return -own_log(size);
        }
        let sine = abs(sin_of_turns(size));
        if (sine == 0.0 || floor(x) == x) {
            return inf();
        }
        reflected = own_log(3.14159265 / (sine * size));
    }
    var r = 0.0;
    if (size == 1.0 || size == 2.0) {
        r = 0.0;
    } else if (size < 2.0) {
        r = lgamma_small(size);
    } else if (size < 8.0) {
        let whole = floor(size);
        let y = size - whole;
        let above = (((((3.1947532989e-05 * y + 0.0018402845599) * y + 0.026642270386) * y + 0.14635047317) * y +
        0.32577878237) * y + 0.21498242021) * y - 0.077215664089;
        let below = (((((7.3266842264e-06 * y + 0.00077794247773) * y + 0.018645919859) * y + 0.17193385959) * y +
        0.72193557024) * y + 1.3920053244) * y + 1.0;
        var product = 1.0;
        for (var k = whole - 1.0; k >= 2.0; k -= 1.0) {
            product *= y + k;
        }
        r = 0.5 * y + y * above / below + own_log(product);
    } else if (size < 1e17) {
        let z = 1.0 / size;
        let y = z * z;
        let tail = ((((-0.0016309292987 * y + 0.00083633989561) * y - 0.00059518753551) * y + 0.00079365057172) *
        y - 0.002777777845) * y + 0.083333335817;
        r = (size - 0.5) * (own_log(size) - 1.0) + (0.41893854737 + z * tail);
    } else {
        r = size * (own_log(size) - 1.0);
    }
    return select(r, reflected - r, x < 0.0);
}

fn own_digamma(given: f32) -> f32 {
    var x = given;
    var reflected = 0.0;
    if (is_nan(x)) {
        return x;
    }
    if (x <= 0.0) {
        // Exact, also next to a whole number.
        let part = x - round(x);
        if (part == 0.0) {
            return nan();
        }
        if (abs(part) != 0.5) {
            reflected = 3.14159265 / own_tan(3.14159265 * part);
        }
        x = 1.0 - x;
    }
    var sum = 0.0;
    while (x < 10.0) {
        sum += 1.0 / x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let series = z * (0.083333333 - z * (8.3333333e-3 - z * (3.9682540e-3 - z * 4.1666667e-3)));
    return own_log(x) - 0.5 / x - series - sum - reflected;
}

fn own_erfinv(x: f32) -> f32 {
    let size = abs(x);
    if (size >= 1.0 || is_nan(x)) {
        return select(nan(), with_sign_of(inf(), x), size == 1.0);
    }
    var w = -own_log((1.0 - x) * (1.0 + x));
    if (w < 5.0) {
        w -= 2.5;
        let p = (((((((2.81022636e-08 * w + 3.43273939e-07) * w - 3.5233877e-06) * w - 4.39150654e-06) * w +
        0.00021858087) * w - 0.00125372503) * w - 0.00417768164) * w + 0.246640727) * w + 1.50140941;
        return p * x;
    }
    w = sqrt(w) - 3.0;
    let p = (((((((-0.000200214257 * w + 0.000100950558) * w + 0.00134934322) * w - 0.00367342844) * w +
        0.00573950773) * w - 0.0076224613) * w + 0.00943887047) * w + 1.00167406) * w + 2.83297682;
    return p * x;
}

fn own_ndtri(p: f32) -> f32 {
    if (!(p >= 0.0 && p <= 1.0)) {
        return nan();
    }
    if (p == 0.0 || p == 1.0) {
        return select(inf(), -inf(), p == 0.0);
    }
    let upper = p > 0.86466472;
    let tail = select(p, 1.0 - p, upper);
    if (tail > 0.13533528) {
        let y = tail - 0.5;
        let s = y * y;
        let above = (((-59.96335010141079 * s + 98.00107541859997) * s - 56.67628574690703) * s +
        13.931260938727968) * s - 1.2391658386738127;
        let below = (((((((1.0 * s + 1.9544885833814176) * s + 4.676279128988815) * s + 86.36024213908905) * s -
        225.46268785411937) * s + 200.26021238006066) * s - 82.03722561683334) * s + 15.90562251262117) * s -
        1.1833162112133;
        return (y + y * (s * above / below)) * 2.50662827;
    }
    let x = sqrt(-2.0 * own_log(tail));
    let first = x - own_log(x) / x;
    let z = 1.0 / x;
    var second = 0.0;
    if (x < 8.0) {
        let above = (((((((4.055448923059624 * z + 31.52510945998939) * z + 57.16281922464213) * z +
        44.08050738932008) * z + 14.684956192885801) * z + 2.1866330685079025) * z - 0.1402560791713545) * z -
        0.03504246268278482) * z - 0.0008574567851546854;
        let below = (((((((1.0 * z + 15.779988325646675) * z + 45.39076351288792) * z + 41.3172038254672) * z +
        15.04253856929075) * z + 2.504649462083094) * z - 0.14218292285478779) * z - 0.03808064076915783) * z -
        0.0009332594808954574;
        second = z * above / below;
    } else {
        let above = (((((((3.2377489177694603 * z + 6.915228890689842) * z + 3.9388102529247444) * z +
        1.3330346081580755) * z + 0.20148538954917908) * z + 0.012371663481782001) * z + 0.0003015815535082354)
        * z + 2.6580697468673755e-06) * z + 6.239745391849833e-09;
        let below = (((((((1.0 * z + 6.02427039364742) * z + 3.6798356385616087) * z + 1.3770209948908132) * z +
        0.21623699359449663) * z + 0.013420400608854318) * z + 0.00032801446468212774) * z +
        2.892478647453807e-06) * z + 6.790194080099813e-09;
        second = z * above / below;
    }
    return select(second - first, first - second, upper);
}

fn next_after(x: f32, y: f32) -> f32 {
    if (is_nan(x) || is_nan(y)) {
        return nan();
    }
    if (x == y) {
        return y;
    }
    if (x == 0.0) {
        return bitcast<f32>((bitcast<u32>(y) & 0x80000000u) | 1u);
    }
    let bits = bitcast<u32>(x);
    return bitcast<f32>(select(bits - 1u, bits + 1u, (x < y) == (x > 0.0)));
}

// x^a e^-x / gamma(a)
fn gamma_term(a: f32, x: f32) -> f32 { return own_exp(a * own_log(x) - x - own_lgamma(a)); }

// P(a, x) by its power series, for x that is not much greater than a.
fn lower_series(a: f32, x: f32) -> f32 {
    var divisor = a;
    var term = 1.0;
    var sum = 1.0;
    for (var k = 0; k < 2000; k++) {
        divisor += 1.0;
        term *= x / divisor;
        sum += term;
        if (term <= 5.9604645e-8 * sum) {
            break;
        }
    }
    return sum * gamma_term(a, x) / a;
}

// Q(a, x) by its continued fraction, for x greater than a and 1.
fn upper_fraction(a: f32, x: f32) -> f32 {
    var y = 1.0 - a;
    var z = x + 1.0 - a + 1.0;
    var c = 0.0;
    var before_p = 1.0;
    var before_q = x;
    var p = x + 1.0;
    var q = z * x;
    var ratio = p / q;
    for (var k = 0; k < 2000; k++) {
        c += 1.0;
        y += 1.0;
        z += 2.0;
        let next_p = p * z - before_p * (y * c);
        let next_q = q * z - before_q * (y * c);
        before_p = p;
        before_q = q;
        p = next_p;
        q = next_q;
        if (q != 0.0) {
            let next = p / q;
            let change = abs((ratio - next) / next);
            ratio = next;
            if (change <= 5.9604645e-8) {
                break;
            }
        }
        if (abs(p) > 16777216.0) {
            before_p *= 5.9604645e-8;
            before_q *= 5.9604645e-8;
            p *= 5.9604645e-8;
            q *= 5.9604645e-8;
        }
    }
    return ratio * gamma_term(a, x);
}

fn own_igamma(a: f32, x: f32) -> f32 {
    if (x < 0.0 || a <= 0.0 || is_nan(a) || is_nan(x)) {
        return nan();
    }
    if (x == 0.0 || is_inf(a)) {
        return select(0.0, nan(), is_inf(x));
    }
    if (is_inf(x)) {
        return 1.0;
    }
    if (x > 1.0 && x > a) {
        return 1.0 - upper_fraction(a, x);
    }
    return lower_series(a, x);
}

fn own_igammac(a: f32, x: f32) -> f32 {
    if (x < 0.0 || a <= 0.0 || is_nan(a) || is_nan(x)) {
        return nan();
    }
    if (x == 0.0 || is_inf(a)) {
        return select(1.0, nan(), is_inf(x));
    }
    if (is_inf(x)) {
        return 0.0;
    }
    if (x < 1.0 || x < a) {
        return 1.0 - lower_series(a, x);
    }
    return upper_fraction(a, x);
}

fn is_even(x: f32) -> bool { return floor(x * 0.5) * 2.0 == x; }

// The inverse of number k of what the Euler-Maclaurin sum divides by.
fn zeta_factor(k: i32) -> f32 {
    switch k {
        case 0: { return 8.3333333e-2; }
        case 1: { return -1.3888889e-3; }
        case 2: { return 3.3068783e-5; }
        case 3: { return -8.2671958e-7; }
        case 4: { return 2.0876757e-8; }
        case 5: { return -5.2841901e-10; }
        case 6: { return 1.3382537e-11; }
        case 7: { return -3.3896803e-13; }
        case 8: { return 8.5860621e-15; }
        case 9: { return -2.1748687e-16; }
        case 10: { return 5.5090029e-18; }
        default: { return -1.3954465e-19; }
    }
}

// The Hurwitz zeta function.
fn own_zeta(x: f32, q: f32) -> f32 {
    if (x == 1.0) {
        return inf();
    }
    if (x < 1.0 || is_nan(x) || is_nan(q)) {
        return nan();
    }
    if (q <= 0.0) {
        if (q == floor(q)) {
            return select(nan(), inf(), is_even(x));
        }
        if (x != floor(x)) {
            return nan();
        }
    }
    if (is_inf(q)) {
        return 0.0;
    }
    var sum = own_pow(q, -x);
    var a = q;
    var last = 0.0;
    // Far below zero there are more terms than anyone would wait for.
    for (var terms = 0; terms < 9 || (a <= 9.0 && terms < 100000); terms++) {
        a += 1.0;
        last = own_pow(a, -x);
        sum += last;
        if (abs(last / sum) < 5.9604645e-8) {
            return sum;
        }
    }
    sum += last * a / (x - 1.0);
    sum -= 0.5 * last;
    var factor = 1.0;
    for (var k = 0; k < 12; k++) {
        let twice = f32(2 * k);
        factor *= x + twice;
        last /= a;
        let term = factor * last * zeta_factor(k);
        sum += term;
        if (abs(term / sum) < 5.9604645e-8) {
            break;
        }
        factor *= x + twice + 1.0;
        last /= a;
    }
    return sum;
}

// The derivative of the digamma function of order n.
fn own_polygamma(n: f32, x: f32) -> f32 {
    if (n < 0.0 || n != floor(n)) {
        return nan();
    }
    if (n == 0.0) {
        return own_digamma(x);
    }
    let size = own_exp(own_lgamma(n + 1.0)) * own_zeta(n + 1.0, x);
    return select(size, -size, is_even(n));
}
