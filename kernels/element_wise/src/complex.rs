//! Functions of complex numbers, with the branch cuts of C99 and its values at infinity. `complex64` is computed as
//! `complex128`.

use std::f64::consts::FRAC_PI_2;

use kernlink::dtype::{Complex32, Complex64};
use kernlink_kernels_common::fast::{self, Real};

/// A complex number that can be computed as a `Complex64`.
pub(super) trait Wide: Copy {
    fn wide(self) -> Complex64;
    fn narrow(value: Complex64) -> Self;
}

impl Wide for Complex64 {
    #[inline(always)]
    fn wide(self) -> Complex64 {
        self
    }
    #[inline(always)]
    fn narrow(value: Complex64) -> Self {
        value
    }
}

impl Wide for Complex32 {
    #[inline(always)]
    fn wide(self) -> Complex64 {
        Complex64::new(self.re.into(), self.im.into())
    }
    #[inline(always)]
    fn narrow(value: Complex64) -> Self {
        Complex32::new(value.re as f32, value.im as f32)
    }
}

/// A number of either width as what functions take. They are called by name between this and [`narrow`]: where a function
/// is an argument the call is not inlined, and a loop of calls is no vector code.
#[inline(always)]
pub(super) fn wide<T: Wide>(x: T) -> Complex64 {
    x.wide()
}

/// What functions give, in either width.
#[inline(always)]
pub(super) fn narrow<T: Wide>(value: Complex64) -> T {
    T::narrow(value)
}

#[inline(always)]
fn c(re: f64, im: f64) -> Complex64 {
    Complex64::new(re, im)
}

fn is_infinite(z: Complex64) -> bool {
    z.re.is_infinite() || z.im.is_infinite()
}

/// The argument of a number at least one part of which is infinite: a multiple of a quarter of pi, or NaN.
fn angle_at_infinity(re: f64, im: f64) -> f64 {
    let unit = |part: f64| if part.is_infinite() { 1f64.copysign(part) } else { part * 0.0 };
    unit(im).atan2(unit(re))
}

fn times_i(z: Complex64) -> Complex64 {
    c(-z.im, z.re)
}

fn over_i(z: Complex64) -> Complex64 {
    c(z.im, -z.re)
}

/// One of two numbers, without a branch.
#[inline(always)]
fn select(condition: bool, then: f64, otherwise: f64) -> f64 {
    if condition { then } else { otherwise }
}

/// Smith's division, which does not overflow where the quotient does not.
#[inline(always)]
pub(super) fn divide(x: Complex64, y: Complex64) -> Complex64 {
    let flat = y.re.abs() >= y.im.abs();
    let (large, small) = (select(flat, y.re, y.im), select(flat, y.im, y.re));
    let (first, second) = (select(flat, x.re, x.im), select(flat, x.im, x.re));
    let ratio = small / large;
    let scale = large + small * ratio;
    let part = first * ratio;
    c((first + second * ratio) / scale, (select(flat, second, part) - select(flat, part, second)) / scale)
}

// What blocks of numbers are computed by that have no special ones among them. Nothing branches, so that loops over them
// are vector code.

/// Whether the square of the size neither overflows nor is subnormal or 0.
#[inline(always)]
pub(super) fn is_moderate<T: Wide>(z: T) -> bool {
    let z = z.wide();
    let size = z.re * z.re + z.im * z.im;
    (size < 1e280) & (size > 1e-280)
}

/// Whether neither part is infinite or NaN.
#[inline(always)]
pub(super) fn is_finite<T: Wide>(z: T) -> bool {
    let z = z.wide();
    (z.re.abs() < f64::INFINITY) & (z.im.abs() < f64::INFINITY)
}

/// Whether [`quick_exp`] knows the number.
#[inline(always)]
pub(super) fn is_moderate_exponent<T: Wide>(z: T) -> bool {
    let z = z.wide();
    (z.im.abs() <= f64::MOST_TURNED) & (z.re.abs() < f64::INFINITY)
}

/// [`divide`] for a moderate divisor. The parts of `complex64` lose nothing by it.
#[inline(always)]
pub(super) fn quick_divide(x: Complex64, y: Complex64) -> Complex64 {
    let scale = 1.0 / (y.re * y.re + y.im * y.im);
    c((x.re * y.re + x.im * y.im) * scale, (x.im * y.re - x.re * y.im) * scale)
}

/// [`reciprocal`] of a moderate number.
#[inline(always)]
pub(super) fn quick_reciprocal(z: Complex64) -> Complex64 {
    quick_divide(c(1.0, 0.0), z)
}

/// [`sqrt`] of a moderate number.
#[inline(always)]
pub(super) fn quick_sqrt(z: Complex64) -> Complex64 {
    let half = ((z.re.abs() + (z.re * z.re + z.im * z.im).sqrt()) * 0.5).sqrt();
    let other = z.im.abs() / (2.0 * half);
    let right = z.re >= 0.0;
    c(select(right, half, other), select(right, other, half).copysign(z.im))
}

/// [`rsqrt`] of a moderate number.
#[inline(always)]
pub(super) fn quick_rsqrt(z: Complex64) -> Complex64 {
    quick_reciprocal(quick_sqrt(z))
}

/// [`exp`] of a number that [`is_moderate_exponent`].
#[inline(always)]
pub(super) fn quick_exp(z: Complex64) -> Complex64 {
    let (size, (sin, cos)) = (fast::exp(z.re), fast::sin_cos(z.im));
    // Where the size is infinite, 0 stays 0.
    c(size * cos, select(z.im == 0.0, z.im, size * sin))
}

/// Whether [`quick_sin`] and its like know the number: neither part turns too far, and no power overflows.
#[inline(always)]
pub(super) fn is_moderate_angle<T: Wide>(z: T) -> bool {
    let z = z.wide();
    (z.re.abs() < 300.0) & (z.im.abs() < 300.0)
}

/// [`sin`] of a number that [`is_moderate_angle`].
#[inline(always)]
pub(super) fn quick_sin(z: Complex64) -> Complex64 {
    let (sin, cos) = fast::sin_cos(z.re);
    c(sin * fast::cosh(z.im), cos * fast::sinh(z.im))
}

/// [`cos`] of a number that [`is_moderate_angle`].
#[inline(always)]
pub(super) fn quick_cos(z: Complex64) -> Complex64 {
    let (sin, cos) = fast::sin_cos(z.re);
    c(cos * fast::cosh(z.im), -sin * fast::sinh(z.im))
}

/// [`sinh`] of a number that [`is_moderate_angle`].
#[inline(always)]
pub(super) fn quick_sinh(z: Complex64) -> Complex64 {
    let (sin, cos) = fast::sin_cos(z.im);
    c(fast::sinh(z.re) * cos, fast::cosh(z.re) * sin)
}

/// [`cosh`] of a number that [`is_moderate_angle`].
#[inline(always)]
pub(super) fn quick_cosh(z: Complex64) -> Complex64 {
    let (sin, cos) = fast::sin_cos(z.im);
    c(fast::cosh(z.re) * cos, fast::sinh(z.re) * sin)
}

/// Whether [`quick_tanh`] knows the number.
#[inline(always)]
pub(super) fn is_moderate_tangent<T: Wide>(z: T) -> bool {
    let z = z.wide();
    (z.re.abs() < 20.0) & (z.im.abs() < 300.0)
}

/// [`tanh`] of a number that [`is_moderate_tangent`], by Kahan's formula.
#[inline(always)]
pub(super) fn quick_tanh(z: Complex64) -> Complex64 {
    let (tan, sinh) = (fast::tan(z.im), fast::sinh(z.re));
    let beta = 1.0 + tan * tan;
    let scale = 1.0 + beta * sinh * sinh;
    c(beta * (1.0 + sinh * sinh).sqrt() * sinh / scale, tan / scale)
}

/// [`sigmoid`] of a number that [`is_moderate_angle`].
#[inline(always)]
pub(super) fn quick_sigmoid(z: Complex64) -> Complex64 {
    divide(c(1.0, 0.0), c(1.0, 0.0) + quick_exp(-z))
}

/// [`log`] of a moderate number.
#[inline(always)]
pub(super) fn quick_log(z: Complex64) -> Complex64 {
    let (re, im) = (z.re.abs(), z.im.abs());
    let (large, small) = (select(re > im, re, im), select(re > im, im, re));
    // Near the unit circle the square of the size is 1 and little.
    let beyond = (large - 1.0) * (large + 1.0) + small * small;
    let near = (large > 0.5) & (large < 2.0);
    let sum = select(near, 1.0 + beyond, large * large + small * small);
    let lost = select(beyond < 1.0, beyond - (sum - 1.0), 1.0 - (sum - beyond));
    c(0.5 * fast::ln_of_sum(sum, select(near, lost, 0.0)), fast::atan2(z.im, z.re))
}

#[inline(always)]
pub(super) fn reciprocal(z: Complex64) -> Complex64 {
    divide(c(1.0, 0.0), z)
}

pub(super) fn sign(z: Complex64) -> Complex64 {
    if z == c(0.0, 0.0) {
        return c(0.0, 0.0);
    }
    let size = z.re.hypot(z.im);
    c(z.re / size, z.im / size)
}

pub(super) fn sqrt(z: Complex64) -> Complex64 {
    if z == c(0.0, 0.0) {
        return c(0.0, z.im);
    }
    if z.im.is_infinite() {
        return c(f64::INFINITY, z.im);
    }
    let half = ((z.re.abs() + z.re.hypot(z.im)) / 2.0).sqrt();
    if z.re >= 0.0 { c(half, z.im / (2.0 * half)) } else { c(z.im.abs() / (2.0 * half), half.copysign(z.im)) }
}

pub(super) fn rsqrt(z: Complex64) -> Complex64 {
    if z == c(0.0, 0.0) {
        return c(f64::INFINITY, f64::NAN);
    }
    if is_infinite(z) {
        return c(0.0, 0.0);
    }
    reciprocal(sqrt(z))
}

pub(super) fn exp(z: Complex64) -> Complex64 {
    if z.re == f64::NEG_INFINITY {
        return c(0.0, 0.0);
    }
    if z.re == f64::INFINITY && !z.im.is_finite() {
        return c(f64::INFINITY, f64::NAN);
    }
    let (size, (sin, cos)) = (z.re.exp(), z.im.sin_cos());
    c(size * cos, if z.im == 0.0 { z.im } else { size * sin })
}

pub(super) fn expm1(z: Complex64) -> Complex64 {
    let (sin, cos) = z.im.sin_cos();
    let half = (z.im / 2.0).sin();
    c(z.re.exp_m1() * cos - 2.0 * half * half, z.re.exp() * sin)
}

pub(super) fn log(z: Complex64) -> Complex64 {
    let (large, small) = if z.re.abs() > z.im.abs() { (z.re.abs(), z.im.abs()) } else { (z.im.abs(), z.re.abs()) };
    // Near the unit circle the size is 1 and little, of which the logarithm keeps nothing.
    let size = if large > 0.5 && large < 2.0 {
        ((large - 1.0) * (large + 1.0) + small * small).ln_1p() / 2.0
    } else {
        z.re.hypot(z.im).ln()
    };
    c(size, z.im.atan2(z.re))
}

pub(super) fn log1p(z: Complex64) -> Complex64 {
    if z.re.abs() > 0.5 || z.im.abs() > 0.5 {
        return log(c(1.0 + z.re, z.im));
    }
    c((z.re * (2.0 + z.re) + z.im * z.im).ln_1p() / 2.0, z.im.atan2(1.0 + z.re))
}

pub(super) fn power(x: Complex64, y: Complex64) -> Complex64 {
    exp(y * log(x))
}

pub(super) fn sin(z: Complex64) -> Complex64 {
    over_i(sinh(times_i(z)))
}

pub(super) fn cos(z: Complex64) -> Complex64 {
    cosh(times_i(z))
}

pub(super) fn tan(z: Complex64) -> Complex64 {
    over_i(tanh(times_i(z)))
}

pub(super) fn sinh(z: Complex64) -> Complex64 {
    if z.im == 0.0 {
        return c(z.re.sinh(), z.im);
    }
    if !z.im.is_finite() && (z.re == 0.0 || z.re.is_infinite()) {
        return c(z.re, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    c(z.re.sinh() * cos, z.re.cosh() * sin)
}

pub(super) fn cosh(z: Complex64) -> Complex64 {
    if z.im == 0.0 {
        return c(z.re.cosh(), if z.re.is_sign_negative() { -z.im } else { z.im });
    }
    if !z.im.is_finite() && z.re == 0.0 {
        return c(f64::NAN, z.re);
    }
    if !z.im.is_finite() && z.re.is_infinite() {
        return c(f64::INFINITY, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    c(z.re.cosh() * cos, z.re.sinh() * sin)
}

pub(super) fn tanh(z: Complex64) -> Complex64 {
    if z.im == 0.0 {
        return c(z.re.tanh(), z.im);
    }
    if !z.im.is_finite() && z.re == 0.0 {
        return c(z.re, f64::NAN);
    }
    if !z.im.is_finite() && z.re.is_infinite() {
        return c(1f64.copysign(z.re), 0f64.copysign(z.im));
    }
    if z.re.abs() > 20.0 {
        let (sin, cos) = z.im.sin_cos();
        return c(1f64.copysign(z.re), 4.0 * sin * cos * (-2.0 * z.re.abs()).exp());
    }
    // Kahan's formula.
    let (tan, sinh) = (z.im.tan(), z.re.sinh());
    let beta = 1.0 + tan * tan;
    let scale = 1.0 + beta * sinh * sinh;
    c(beta * (1.0 + sinh * sinh).sqrt() * sinh / scale, tan / scale)
}

// The inverse functions follow Kahan, "Branch cuts for complex elementary functions".

pub(super) fn asin(z: Complex64) -> Complex64 {
    if is_infinite(z) {
        return c(angle_at_infinity(z.im.abs(), z.re), f64::INFINITY.copysign(z.im));
    }
    if z.re == 0.0 && z.im.is_nan() {
        return z;
    }
    let (minus, plus) = (sqrt(c(1.0 - z.re, -z.im)), sqrt(c(1.0 + z.re, z.im)));
    c(z.re.atan2((minus * plus).re), (minus.conj() * plus).im.asinh())
}

pub(super) fn acos(z: Complex64) -> Complex64 {
    if is_infinite(z) {
        return c(angle_at_infinity(z.re, z.im.abs()), f64::INFINITY.copysign(-z.im));
    }
    if z.re == 0.0 && z.im.is_nan() {
        return c(FRAC_PI_2, f64::NAN);
    }
    let (minus, plus) = (sqrt(c(1.0 - z.re, -z.im)), sqrt(c(1.0 + z.re, z.im)));
    c(2.0 * minus.re.atan2(plus.re), (plus.conj() * minus).im.asinh())
}

pub(super) fn atan(z: Complex64) -> Complex64 {
    over_i(atanh(times_i(z)))
}

pub(super) fn asinh(z: Complex64) -> Complex64 {
    over_i(asin(times_i(z)))
}

pub(super) fn acosh(z: Complex64) -> Complex64 {
    if is_infinite(z) {
        return c(f64::INFINITY, angle_at_infinity(z.re, z.im));
    }
    if z.re == 0.0 && z.im.is_nan() {
        return c(f64::NAN, FRAC_PI_2);
    }
    let (minus, plus) = (sqrt(c(z.re - 1.0, z.im)), sqrt(c(z.re + 1.0, z.im)));
    c((minus.conj() * plus).re.asinh(), 2.0 * minus.im.atan2(plus.re))
}

pub(super) fn atanh(z: Complex64) -> Complex64 {
    if z.im.is_infinite() || (z.re.is_infinite() && !z.im.is_nan()) {
        return c(0f64.copysign(z.re), FRAC_PI_2.copysign(z.im));
    }
    if z.im.is_nan() && (z.re == 0.0 || z.re.is_infinite()) {
        return c(0f64.copysign(z.re), f64::NAN);
    }
    let x = z.re.abs();
    let size = (4.0 * x / ((1.0 - x) * (1.0 - x) + z.im * z.im)).ln_1p() / 4.0;
    let angle = (2.0 * z.im).atan2((1.0 - x) * (1.0 + x) - z.im * z.im) / 2.0;
    c(size.copysign(z.re), angle)
}

pub(super) fn sigmoid(z: Complex64) -> Complex64 {
    let exp = exp(-z);
    if is_infinite(exp) { c(0.0, 0.0) } else { reciprocal(c(1.0, 0.0) + exp) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_lead_back() {
        let points = [-1.7, -0.6, -1e-3, 0.2, 0.9, 2.3];
        type Function = fn(Complex64) -> Complex64;
        let pairs: [(Function, Function); 9] = [
            (asin, sin),
            (acos, cos),
            (atan, tan),
            (asinh, sinh),
            (acosh, cosh),
            (atanh, tanh),
            (log, exp),
            (log1p, expm1),
            (sqrt, |z| z * z),
        ];
        for re in points {
            for im in points {
                for (index, (inverse, function)) in pairs.iter().enumerate() {
                    let back = function(inverse(c(re, im)));
                    assert!((back - c(re, im)).norm() < 1e-13, "pair {index}: {re} {im} becomes {back}");
                }
            }
        }
    }

    #[test]
    fn quick_functions_give_what_the_others_do() {
        let parts = [-1e9, -3.0, -1.0, -0.6, -1e-9, -0.0, 0.0, 1e-20, 0.2, 0.8, 1.0, 1.0 + 1e-12, 5.0, 19.0, 700.0];
        type Function = fn(Complex64) -> Complex64;
        type Known = fn(Complex64) -> bool;
        let triples: [(Function, Function, Known); 11] = [
            (quick_sqrt, sqrt, is_moderate),
            (quick_rsqrt, rsqrt, is_moderate),
            (quick_reciprocal, reciprocal, is_moderate),
            (quick_log, log, is_moderate),
            (quick_exp, exp, is_moderate_exponent),
            (quick_sin, sin, is_moderate_angle),
            (quick_cos, cos, is_moderate_angle),
            (quick_sinh, sinh, is_moderate_angle),
            (quick_cosh, cosh, is_moderate_angle),
            (quick_tanh, tanh, is_moderate_tangent),
            (quick_sigmoid, sigmoid, is_moderate_angle),
        ];
        for re in parts {
            for im in parts {
                let z = c(re, im);
                for (index, (quick, right, known)) in triples.iter().enumerate() {
                    if known(z) {
                        let (quick, right) = (quick(z), right(z));
                        let near = |quick: f64, right: f64| {
                            quick == right && quick.is_sign_negative() == right.is_sign_negative()
                                || (quick - right).abs() <= 4e-15 * right.abs()
                        };
                        assert!(
                            near(quick.re, right.re) && near(quick.im, right.im),
                            "{index}: {z}: {quick}, not {right}"
                        );
                    }
                }
                if is_moderate(z) {
                    let (quick, right) = (quick_divide(c(2.0, -3.0), z), divide(c(2.0, -3.0), z));
                    assert!((quick - right).norm() <= 4e-15 * right.norm(), "{z}: {quick}, not {right}");
                }
            }
        }
    }

    #[test]
    fn infinity_has_the_values_of_c99() {
        let inf = f64::INFINITY;
        assert_eq!(sqrt(c(3.0, -inf)), c(inf, -inf));
        assert_eq!(rsqrt(c(inf, f64::NAN)), c(0.0, 0.0));
        assert_eq!(sin(c(0.0, inf)), c(0.0, inf));
        assert_eq!(tanh(c(inf, inf)), c(1.0, 0.0));
        assert_eq!(acos(c(-inf, 2.0)), c(2.0 * FRAC_PI_2, -inf));
        assert_eq!(asin(c(inf, inf)), c(FRAC_PI_2 / 2.0, inf));
        assert_eq!(acosh(c(-inf, -inf)), c(inf, -1.5 * FRAC_PI_2));
        assert_eq!(atanh(c(-inf, -2.0)), c(0.0, -FRAC_PI_2));
    }

    #[test]
    fn branch_cuts_follow_the_sign_of_zero() {
        assert_eq!(sqrt(c(-4.0, 0.0)), c(0.0, 2.0));
        assert_eq!(sqrt(c(-4.0, -0.0)), c(0.0, -2.0));
        assert!(acos(c(2.0, 0.0)).im < 0.0 && acos(c(2.0, -0.0)).im > 0.0);
        assert!(atanh(c(2.0, 0.0)).im > 0.0 && atanh(c(2.0, -0.0)).im < 0.0);
    }
}
