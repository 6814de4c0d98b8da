//! Functions of `f32` and `f64` without branches, which the compiler turns into vector code. The tests state how accurate
//! each is.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod real;

pub use real::{Real, monic, polynomial};

use crate::vector::widest;

/// ln(2) in two parts, the first of which has few bits.
const LN_2: (f64, f64) = (0.693_359_375, -2.121_944_400_546_905_827_679e-4);

/// `n` and `x - n * ln 2`, where `n` is a whole number and the rest is small.
#[inline(always)]
fn reduced<F: Real>(x: F) -> (F, F) {
    let whole = rounded(x * F::of(std::f64::consts::LOG2_E));
    (whole, x - whole * F::of(LN_2.0) - whole * F::of(LN_2.1))
}

/// The nearest whole number to one of moderate size.
#[inline(always)]
fn rounded<F: Real>(x: F) -> F {
    x + F::ROUNDER - F::ROUNDER
}

/// Between the bounds, or NaN.
#[inline(always)]
fn bounded<F: Real>(x: F, low: F, high: F) -> F {
    // A comparison with NaN is false, and so is each of these: a vector instruction each.
    let x = if high < x { high } else { x };
    if low > x { low } else { x }
}

/// `e` to the power of `x`.
#[inline(always)]
pub fn exp<F: Real>(x: F) -> F {
    let (n, r) = reduced(bounded(x, F::EXP_RANGE.0, F::EXP_RANGE.1));
    // In two steps, so that the result may overflow or be subnormal.
    let half = rounded(n * F::of(0.5));
    (F::exp_m1_reduced(r) + F::ONE) * half.power_of_two() * (n - half).power_of_two()
}

/// `exp(x) - 1`, which keeps its precision near 0.
#[inline(always)]
pub fn exp_m1<F: Real>(x: F) -> F {
    let (n, r) = reduced(bounded(x, F::EXP_M1_RANGE.0, F::EXP_M1_RANGE.1));
    // Half the result, which does not overflow.
    let half = (n - F::ONE).power_of_two();
    let result = (F::exp_m1_reduced(r) * half + (half - F::of(0.5))) * F::of(2.0);
    if x.abs() < F::TINY { x } else { result }
}

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh<F: Real>(x: F) -> F {
    let (n, r) = reduced(bounded(x.abs(), F::ZERO, F::HYPERBOLIC_BOUND));
    // A sixteenth of `exp(x) - 1`, which does not overflow.
    let scale = (n - F::of(4.0)).power_of_two();
    let part = F::exp_m1_reduced(r) * scale + (scale - F::of(0.0625));
    let result = (part * F::of(8.0) + F::of(0.5) * (part / (part + F::of(0.0625)))).copysign(x);
    if x.abs() < F::TINY { x } else { result }
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh<F: Real>(x: F) -> F {
    let (n, r) = reduced(bounded(x.abs(), F::ZERO, F::HYPERBOLIC_BOUND));
    // A sixteenth of `exp(x)`, which does not overflow.
    let part = (F::exp_m1_reduced(r) + F::ONE) * (n - F::of(4.0)).power_of_two();
    part * F::of(8.0) + F::of(0.03125) / part
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh<F: Real>(x: F) -> F {
    x.tanh()
}

/// `ln(1 + m) + exponent * ln(2)` for `1 + m` from sqrt(1/2) to sqrt(2).
#[inline(always)]
fn ln_of_parts<F: Real>(m: F, exponent: F) -> F {
    let z = m * m;
    let tail = m * z * F::ln_tail(m) + exponent * F::of(LN_2.1) - F::of(0.5) * z;
    m + tail + exponent * F::of(LN_2.0)
}

/// The logarithm of `x`, which is `log` if `x` is positive and finite.
#[inline(always)]
fn ln_of_any<F: Real>(x: F, log: F) -> F {
    let log = if x < F::INFINITY { log } else { x };
    let other = if x == F::ZERO { -F::INFINITY } else { F::NAN };
    if x > F::ZERO { log } else { other }
}

/// The natural logarithm.
#[inline(always)]
pub fn ln<F: Real>(x: F) -> F {
    let (normal, shift) = x.normalized();
    let (exponent, mantissa) = normal.split();
    ln_of_any(x, ln_of_parts(mantissa - F::ONE, exponent - shift))
}

/// `ln(1 + x)`, which keeps its precision near 0.
#[inline(always)]
pub fn ln_1p<F: Real>(x: F) -> F {
    let sum = F::ONE + x;
    // What the sum lost.
    let rest = if x < F::ONE { x - (sum - F::ONE) } else { F::ONE - (sum - x) };
    let log = ln_of_sum(sum, rest);
    if x.abs() < F::TINY { x } else { log }
}

/// The natural logarithm of `sum + rest`, where `sum` is no subnormal number and `rest` at most half a unit of its last
/// place.
#[inline(always)]
pub fn ln_of_sum<F: Real>(sum: F, rest: F) -> F {
    let (exponent, mantissa) = sum.split();
    // Of large numbers there is nothing left that a quotient of subnormal numbers would have to show.
    let scale = if exponent < F::of(100.0) { -exponent } else { F::of(-100.0) };
    let m = mantissa - F::ONE + rest * scale.power_of_two();
    ln_of_any(sum, ln_of_parts(m, exponent))
}

/// The inverse of the hyperbolic sine.
#[inline(always)]
pub fn asinh<F: Real>(x: F) -> F {
    let a = x.abs();
    let large = a > F::BIG;
    let square = a * a;
    let grown = a + square / (F::ONE + (square + F::ONE).sqrt());
    let log = ln_1p(if large { a } else { grown });
    (if large { log + F::of(std::f64::consts::LN_2) } else { log }).copysign(x)
}

/// The inverse of the hyperbolic cosine; NaN below 1.
#[inline(always)]
pub fn acosh<F: Real>(x: F) -> F {
    let large = x > F::BIG;
    let t = x - F::ONE;
    let log = ln_1p(if large { x } else { t + (t * (t + F::of(2.0))).sqrt() });
    let result = if large { log + F::of(std::f64::consts::LN_2) } else { log };
    if x < F::ONE { F::NAN } else { result }
}

/// The inverse of the hyperbolic tangent; NaN beyond 1.
#[inline(always)]
pub fn atanh<F: Real>(x: F) -> F {
    let a = x.abs();
    (F::of(0.5) * ln_1p(F::of(2.0) * a / (F::ONE - a))).copysign(x)
}

/// `1 / (1 + exp(-x))`.
#[inline(always)]
pub fn sigmoid<F: Real>(x: F) -> F {
    let e = exp(-x.abs());
    (if x < F::ZERO { e } else { F::ONE }) / (F::ONE + e)
}

/// `x / (1 + exp(-x))`.
#[inline(always)]
pub fn swish<F: Real>(x: F) -> F {
    x * sigmoid(x)
}

/// Declares a function of neighbours: of `$source`, or in place.
macro_rules! of_slices {
    ($(#[$meta:meta])* $name:ident, $in_place:ident: $function:ident) => {
        $(#[$meta])*
        pub fn $name(source: &[f32], target: &mut [f32]) {
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx512f") {
                let count = source.len().min(target.len());
                // SAFETY: the processor has the feature, both have as many elements, and a shared and an exclusive
                // reference do not overlap.
                return unsafe { avx512::$function(source.as_ptr(), target.as_mut_ptr(), count) };
            }
            widest! {
                fn each(source: &[f32], target: &mut [f32]) {
                    for (target, &x) in target.iter_mut().zip(source) {
                        *target = $function(x);
                    }
                }
            }
            each(source, target);
        }

        /// The same in place.
        pub fn $in_place(elements: &mut [f32]) {
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx512f") {
                let start = elements.as_mut_ptr();
                // SAFETY: the processor has the feature, and both are the same elements.
                return unsafe { avx512::$function(start, start, elements.len()) };
            }
            widest! {
                fn each(elements: &mut [f32]) {
                    for x in elements {
                        *x = $function(*x);
                    }
                }
            }
            each(elements);
        }
    };
}

of_slices! {
    /// [`sigmoid`] of neighbours, of as many as both have. By AVX-512 its last bits are others, and the same in every slice.
    sigmoids, sigmoids_in_place: sigmoid
}
of_slices! {
    /// [`swish`] of neighbours, as [`sigmoids`].
    swishes, swishes_in_place: swish
}

/// The error function near 0, where it is as exact as [`erf`] and takes fewer steps.
#[inline(always)]
pub fn erf_near<F: Real>(x: F) -> F {
    x * F::erf_near(x * x)
}

/// `erfc(a)` for `a` from 1 on.
#[inline(always)]
fn erfc_far<F: Real>(a: F) -> F {
    let a = bounded(a, F::ONE, F::of(28.0));
    // The square of a number with few bits is exact, and what the other gives is small.
    let few = rounded(a * F::of(64.0)) * F::of(1.0 / 64.0);
    let rest = a - few;
    let below = F::exp_m1_reduced(-(rest * (few + few + rest)));
    let size = exp(-(few * few));
    F::erfc_far(a) * (size + size * below)
}

/// The error function.
#[inline(always)]
pub fn erf<F: Real>(x: F) -> F {
    x.erf()
}

/// `1 - erf(x)`, which keeps its precision where that is small.
#[inline(always)]
pub fn erfc<F: Real>(x: F) -> F {
    let a = x.abs();
    let far = erfc_far(a);
    let far = if x < F::ZERO { F::of(2.0) - far } else { far };
    if a > F::ONE { far } else { F::ONE - erf_near(x) }
}

/// `|x|` in quarter turns, a number that stands in the low bits, and the rest, at most an eighth turn.
#[inline(always)]
fn quarters<F: Real>(x: F) -> (F, F) {
    let x = x.abs();
    let shifted = x * F::of(std::f64::consts::FRAC_2_PI) + F::ROUNDER;
    let whole = shifted - F::ROUNDER;
    (shifted, F::QUARTER.into_iter().fold(x, |rest, part| rest - whole * part))
}

/// The sine and the cosine of at most an eighth turn.
#[inline(always)]
fn sin_and_cos_reduced<F: Real>(r: F) -> (F, F) {
    let z = r * r;
    (F::sin_tail(z) * z * r + r, F::cos_tail(z) * (z * z) - F::of(0.5) * z + F::ONE)
}

/// The sine of at most [`Real::MOST_TURNED`].
#[inline(always)]
pub fn sin<F: Real>(x: F) -> F {
    let (turns, r) = quarters(x);
    let (sin, cos) = sin_and_cos_reduced(r);
    let size = (if F::is_odd(turns, 0) { cos } else { sin }).turned(turns, 0);
    size * F::ONE.copysign(x)
}

/// The sine and the cosine of at most [`Real::MOST_TURNED`].
#[inline(always)]
pub fn sin_cos<F: Real>(x: F) -> (F, F) {
    let (turns, r) = quarters(x);
    let (sin, cos) = sin_and_cos_reduced(r);
    let odd = F::is_odd(turns, 0);
    let size = (if odd { cos } else { sin }).turned(turns, 0);
    (size * F::ONE.copysign(x), (if odd { sin } else { cos }).turned(turns, 1))
}

/// The cosine of at most [`Real::MOST_TURNED`].
#[inline(always)]
pub fn cos<F: Real>(x: F) -> F {
    let (turns, r) = quarters(x);
    let (sin, cos) = sin_and_cos_reduced(r);
    (if F::is_odd(turns, 1) { cos } else { sin }).turned(turns, 1)
}

/// The tangent of at most [`Real::MOST_TURNED`].
#[inline(always)]
pub fn tan<F: Real>(x: F) -> F {
    let (turns, r) = quarters(x);
    let (sin, cos) = sin_and_cos_reduced(r);
    let odd = F::is_odd(turns, 0);
    let size = (if odd { -cos } else { sin }) / (if odd { sin } else { cos });
    size * F::ONE.copysign(x)
}

/// The angle of a point none of whose coordinates is negative, from the first axis.
#[inline(always)]
fn angle<F: Real>(y: F, x: F) -> F {
    /// tan(π/8) and tan(3π/8)
    const BOUNDS: (f64, f64) = (0.414_213_562_373_095_05, 2.414_213_562_373_095_05);
    let (steep, middle) = (y > x * F::of(BOUNDS.1), y > x * F::of(BOUNDS.0));
    // The angle less a multiple of an eighth turn.
    let above = if middle { y - x } else { y };
    let below = if middle { y + x } else { x };
    let t = (if steep { -x } else { above }) / (if steep { y } else { below });
    let (high, low) = F::HALF_PI;
    let part = if middle { F::of(0.5) } else { F::ZERO };
    let part = if steep { F::ONE } else { part };
    let z = t * t;
    high * part + (F::atan_tail(z) * z * t + (t + low * part))
}

/// The inverse of the tangent.
#[inline(always)]
pub fn atan<F: Real>(x: F) -> F {
    angle(x.abs(), F::ONE).copysign(x)
}

/// The angle of the point `(x, y)` from the first axis, as the function of C.
#[inline(always)]
pub fn atan2<F: Real>(y: F, x: F) -> F {
    let (a, b) = (y.abs(), x.abs());
    // Quotients of zeros and of infinities: the angles of 0 and of an eighth turn.
    let b = if a == F::ZERO && b == F::ZERO { F::ONE } else { b };
    let diagonal = a == F::INFINITY && b == F::INFINITY;
    let (a, b) = (if diagonal { F::ONE } else { a }, if diagonal { F::ONE } else { b });
    // Sums must not overflow.
    let scale = if a + b > F::HUGE { F::of(0.25) } else { F::ONE };
    let angle = angle(a * scale, b * scale);
    let (high, low) = F::HALF_PI;
    let beyond = F::of(2.0) * high - (angle - F::of(2.0) * low);
    (if F::ONE.copysign(x) < F::ZERO { beyond } else { angle }).copysign(y)
}

/// The arcsine of `|x|`, or of the sine of half the angle to the axis for what is above 1/2; and which it is.
#[inline(always)]
fn arc<F: Real>(x: F) -> (F, bool) {
    let a = x.abs();
    let steep = a > F::of(0.5);
    let square = if steep { (F::ONE - a) * F::of(0.5) } else { a * a };
    let sine = if steep { square.sqrt() } else { a };
    (sine + sine * (square * F::asin_tail(square)), steep)
}

/// The inverse of the sine; NaN beyond 1.
#[inline(always)]
pub fn asin<F: Real>(x: F) -> F {
    let (arc, steep) = arc(x);
    let (high, low) = F::HALF_PI;
    (if steep { high - (F::of(2.0) * arc - low) } else { arc }).copysign(x)
}

/// The inverse of the cosine; NaN beyond 1.
#[inline(always)]
pub fn acos<F: Real>(x: F) -> F {
    let (arc, steep) = arc(x);
    let (high, low) = F::HALF_PI;
    let two = F::of(2.0);
    let near = high - (arc.copysign(x) - low);
    let far = if x < F::ZERO { two * high - (two * arc - two * low) } else { two * arc };
    if steep { far } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error over floats of every size, in units in the last place of the right answer.
    fn worst(function: fn(f32) -> f32, right: fn(f64) -> f64) -> (f64, f32) {
        let mut worst = (0.0, 0.0);
        for bits in (0..u32::MAX).step_by(4999) {
            let x = f32::from_bits(bits);
            let (got, exact) = (function(x), right(f64::from(x)));
            let nearest = exact as f32;
            if nearest.is_nan() || nearest.is_infinite() {
                assert!(got == nearest || got.is_nan() && nearest.is_nan(), "{x:e} gives {got:e}, not {nearest:e}");
                continue;
            }
            let unit = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
            let error = (f64::from(got) - exact).abs() / unit;
            if error.is_nan() || error > worst.0 {
                worst = (error, x);
            }
        }
        worst
    }

    /// As [`worst`], of `f64`, whose right answers are those of the C library and themselves off by up to one unit.
    fn worst_double(function: fn(f64) -> f64, right: fn(f64) -> f64) -> (f64, f64) {
        let mut worst = (0.0, 0.0);
        let every_size = (0..u64::MAX).step_by(0x0000_7f4a_7c15_b979).map(f64::from_bits);
        let moderate = (0..400_000).map(|i| (f64::from(i) - 200_000.0) * 0.000_137_035_999);
        for x in every_size.chain(moderate) {
            let (got, exact) = (function(x), right(x));
            if exact.is_nan() || exact.is_infinite() {
                assert!(got == exact || got.is_nan() && exact.is_nan(), "{x:e} gives {got:e}, not {exact:e}");
                continue;
            }
            let error = (got - exact).abs() / (exact.abs().next_up() - exact.abs());
            if error.is_nan() || error > worst.0 {
                worst = (error, x);
            }
        }
        worst
    }

    /// The argument if [`sin`] and its like know it.
    fn turned<F: Real>(x: F) -> F {
        if x.abs() <= F::MOST_TURNED { x } else { F::ZERO }
    }

    /// NaN below 1, where that of `libm` is not for all.
    fn acosh_of_libm(x: f64) -> f64 {
        if x < 1.0 { f64::NAN } else { libm::acosh(x) }
    }

    #[test]
    fn errors_are_a_few_units() {
        let mut wrong = Vec::new();
        for (name, limit, (error, x)) in [
            ("exp", 3.0, worst(exp, f64::exp)),
            ("ln", 3.0, worst(ln, f64::ln)),
            ("sigmoid", 4.0, worst(sigmoid, |x| 1.0 / (1.0 + (-x).exp()))),
            ("tanh", 6.0, worst(tanh, f64::tanh)),
            ("erf", 8.0, worst(erf, libm::erf)),
            ("erfc", 12.0, worst(erfc, libm::erfc)),
            ("exp_m1", 3.0, worst(exp_m1, f64::exp_m1)),
            ("ln_1p", 3.0, worst(ln_1p, f64::ln_1p)),
            ("sinh", 4.0, worst(sinh, f64::sinh)),
            ("cosh", 3.0, worst(cosh, f64::cosh)),
            ("asinh", 4.0, worst(asinh, f64::asinh)),
            ("acosh", 4.0, worst(acosh, acosh_of_libm)),
            ("atanh", 4.0, worst(atanh, f64::atanh)),
            ("sin", 3.0, worst(|x| sin(turned(x)), |x| f64::from(turned(x as f32)).sin())),
            ("cos", 3.0, worst(|x| cos(turned(x)), |x| f64::from(turned(x as f32)).cos())),
            ("tan", 5.0, worst(|x| tan(turned(x)), |x| f64::from(turned(x as f32)).tan())),
            ("atan", 3.0, worst(atan, f64::atan)),
            ("asin", 3.0, worst(asin, f64::asin)),
            ("acos", 3.0, worst(acos, f64::acos)),
        ] {
            if error.is_nan() || error > limit {
                wrong.push((name, x, error));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn errors_of_double_precision_are_a_few_units() {
        let mut wrong = Vec::new();
        for (name, limit, (error, x)) in [
            ("exp", 3.0, worst_double(exp, f64::exp)),
            ("ln", 3.0, worst_double(ln, f64::ln)),
            ("sigmoid", 4.0, worst_double(sigmoid, |x| if x < -40.0 { x.exp() } else { 1.0 / (1.0 + (-x).exp()) })),
            ("tanh", 5.0, worst_double(tanh, f64::tanh)),
            ("erf", 4.0, worst_double(erf, libm::erf)),
            ("erfc", 12.0, worst_double(erfc, libm::erfc)),
            ("exp_m1", 4.0, worst_double(exp_m1, f64::exp_m1)),
            ("ln_1p", 4.0, worst_double(ln_1p, f64::ln_1p)),
            ("sinh", 4.0, worst_double(sinh, f64::sinh)),
            ("cosh", 4.0, worst_double(cosh, f64::cosh)),
            ("asinh", 4.0, worst_double(asinh, libm::asinh)),
            ("acosh", 5.0, worst_double(acosh, acosh_of_libm)),
            ("atanh", 4.0, worst_double(atanh, libm::atanh)),
            ("sin", 3.0, worst_double(|x| sin(turned(x)), |x| turned(x).sin())),
            ("cos", 3.0, worst_double(|x| cos(turned(x)), |x| turned(x).cos())),
            ("tan", 5.0, worst_double(|x| tan(turned(x)), |x| turned(x).tan())),
            ("atan", 3.0, worst_double(atan, f64::atan)),
            ("asin", 3.0, worst_double(asin, f64::asin)),
            ("acos", 3.0, worst_double(acos, f64::acos)),
        ] {
            if error.is_nan() || error > limit {
                wrong.push((name, x, error));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn angles_of_points_are_those_of_c() {
        let special = [0.0, 1.0, f64::INFINITY, f64::MAX, 1e-308, 5e-324, 3.0, 1e300, f64::NAN];
        let both = special.into_iter().chain(special.map(|x| -x));
        for y in both.clone() {
            for x in both.clone() {
                let (got, right) = (atan2(y, x), y.atan2(x));
                let near =
                    (got - right).abs() <= right.abs() * 4e-16 && got.is_sign_negative() == right.is_sign_negative();
                assert!(near || got.is_nan() && right.is_nan(), "atan2({y:e}, {x:e}) gives {got:e}, not {right:e}");
                let (y, x) = (y as f32, x as f32);
                let (got, right) = (atan2(y, x), y.atan2(x));
                let near =
                    (got - right).abs() <= right.abs() * 3e-7 && got.is_sign_negative() == right.is_sign_negative();
                assert!(near || got.is_nan() && right.is_nan(), "atan2({y:e}, {x:e}) gives {got:e}, not {right:e}");
            }
        }
        for i in 0..100_000 {
            let turn = (f64::from(i) / 50_000.0 - 1.0) * std::f64::consts::PI;
            let (y, x) = (turn.sin() * 7.0, turn.cos() * 7.0);
            assert!((atan2(y, x) - y.atan2(x)).abs() <= y.atan2(x).abs() * 5e-16, "{y} {x}");
            let (y, x) = (y as f32, x as f32);
            assert!((atan2(y, x) - y.atan2(x)).abs() <= y.atan2(x).abs() * 3e-7, "{y} {x}");
        }
    }

    #[test]
    fn sines_and_cosines_together_are_those_apart() {
        for i in 0..10_000 {
            let x = f64::from(i) * 0.37 - 1850.0;
            assert_eq!(sin_cos(x), (sin(x), cos(x)));
            assert_eq!(sin_cos(x as f32), (sin(x as f32), cos(x as f32)));
        }
    }

    #[test]
    fn functions_of_slices_are_accurate_everywhere_and_the_same_in_place() {
        // Whole vectors and what is beyond them.
        let mut values: Vec<f32> = (0..100_003).map(|i| (i as f32 - 50_001.0) / 480.0).collect();
        values.extend([f32::NAN, f32::INFINITY, -f32::INFINITY, 1e30, -1e30, 0.0]);
        type Ways = (fn(&[f32], &mut [f32]), fn(&mut [f32]), fn(f64) -> f64);
        let ways: [Ways; 2] = [
            (sigmoids, sigmoids_in_place, |x| 1.0 / (1.0 + (-x).exp())),
            (swishes, swishes_in_place, |x| x * (1.0 / (1.0 + (-x).exp()))),
        ];
        for (of_slices, in_place, defined) in ways {
            let (mut found, mut same) = (vec![7.0; values.len()], values.clone());
            of_slices(&values, &mut found);
            in_place(&mut same);
            for ((&x, found), same) in values.iter().zip(&found).zip(same) {
                assert_eq!(found.to_bits(), same.to_bits(), "{x}");
                let mut alone = [0.0];
                of_slices(&[x], &mut alone);
                assert_eq!(found.to_bits(), alone[0].to_bits(), "{x}");
                let expected = defined(x.into());
                // What is subnormal may be 0.
                let error = (f64::from(*found) - expected).abs() / (expected.abs() * f64::from(f32::EPSILON) + 1e-36);
                assert!(
                    error <= 4.0 || *found as f64 == expected || found.is_nan() && expected.is_nan(),
                    "{x}: {found}"
                );
            }
        }
    }

    #[test]
    fn edges() {
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(0.0f32), 1.0);
        assert_eq!(ln(1.0f32), 0.0);
        assert_eq!(ln(f32::from_bits(1)), -103.278_93);
        assert_eq!((tanh(40.0f32), tanh(-0.0f32).to_bits()), (1.0, (-0f32).to_bits()));
        assert_eq!((erf(9.0f32), erf(-9.0f32)), (1.0, -1.0));
        assert_eq!((erfc(30.0f64), erfc(-30.0f64), erfc(0.0f64)), (0.0, 2.0, 1.0));
        assert_eq!((exp_m1(f32::NEG_INFINITY), exp_m1(f32::INFINITY)), (-1.0, f32::INFINITY));
        assert_eq!((ln_1p(-1.0f32), ln_1p(f32::INFINITY)), (f32::NEG_INFINITY, f32::INFINITY));
        assert_eq!((atanh(1.0f64), atanh(-1.0f64)), (f64::INFINITY, f64::NEG_INFINITY));
        assert!(ln_1p(-1.5f32).is_nan() && acosh(0.5f64).is_nan() && asin(1.5f64).is_nan() && atanh(-2.0f32).is_nan());
        for function in [exp_m1, ln_1p, tanh, erf, sin, tan, sinh, asinh, atanh, atan, asin] {
            assert_eq!(function(-0.0f32).to_bits(), (-0f32).to_bits());
        }
        for function in [exp_m1, ln_1p, tanh, erf, sin, tan, sinh, asinh, atanh, atan, asin] {
            assert_eq!(function(-0.0f64).to_bits(), (-0f64).to_bits());
        }
        for function in
            [exp, exp_m1, ln, ln_1p, sigmoid, tanh, erf, sin, cos, erfc, sinh, cosh, asinh, acosh, atan, acos]
        {
            assert!(function(f32::NAN).is_nan());
        }
        for function in
            [exp, exp_m1, ln, ln_1p, sigmoid, tanh, erf, sin, cos, erfc, sinh, cosh, asinh, acosh, atan, acos]
        {
            assert!(function(f64::NAN).is_nan());
        }
    }
}
