//! Whether two tensors are equal, or near enough, and where they differ.

use std::fmt::Debug;

use crate::dispatch_pod;
use crate::dtype::{DataType, Element, Scalar, ScalarElement as _, TString};
use crate::tensor::Tensor;

/// How far floats may be from what is expected: by `absolute + relative * |expected|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// In relation to the expected value.
    pub relative: f64,
    /// Whatever the expected value.
    pub absolute: f64,
}

impl Tolerance {
    /// Equal numbers; NaN equals NaN, and 0 equals −0.
    pub const EXACT: Tolerance = Tolerance { relative: 0.0, absolute: 0.0 };

    /// What rounding suffices to explain in computations of a few steps.
    pub fn of(dtype: DataType) -> Tolerance {
        let (relative, absolute) = match dtype {
            DataType::Double | DataType::Complex128 => (1e-12, 1e-12),
            DataType::Half => (1e-3, 1e-3),
            DataType::Bfloat16 => (1e-2, 1e-2),
            DataType::Float | DataType::Complex64 => (1e-5, 1e-6),
            _ => (0.0, 0.0),
        };
        Tolerance { relative, absolute }
    }

    fn at(self, expected: f64) -> f64 {
        self.absolute + self.relative * expected
    }
}

impl From<f64> for Tolerance {
    /// The same for both.
    fn from(tolerance: f64) -> Tolerance {
        Tolerance { relative: tolerance, absolute: tolerance }
    }
}

/// Compares dtypes, shapes and elements. Integers, bools and strings must be equal, floats and complex numbers within the
/// tolerance.
///
/// # Errors
/// Says where they differ, and by how much.
pub fn compare(actual: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Result<(), String> {
    // Everything would be within a relative tolerance of infinity.
    let within = |difference: f64, expected: f64| expected.is_finite() && difference <= tolerance.at(expected);
    let near = |a: f64, e: f64| (a.is_nan() && e.is_nan()) || a == e || within((a - e).abs(), e.abs());
    let same = |a: Scalar, e: Scalar| match (a, e) {
        (Scalar::Float(a), Scalar::Float(e)) => near(a, e),
        (Scalar::Complex(a), Scalar::Complex(e)) => {
            (near(a.re, e.re) && near(a.im, e.im)) || within((a - e).norm(), e.norm())
        }
        _ => a == e,
    };
    compare_by(actual, expected, same)
}

/// Compares what must be the same to the last bit; any NaN is like any other.
///
/// # Errors
/// See [`compare`].
pub(super) fn compare_bits(actual: &Tensor, expected: &Tensor) -> Result<(), String> {
    let alike = |a: f64, e: f64| (a.is_nan() && e.is_nan()) || a.to_bits() == e.to_bits();
    compare_by(actual, expected, |a, e| match (a, e) {
        (Scalar::Float(a), Scalar::Float(e)) => alike(a, e),
        (Scalar::Complex(a), Scalar::Complex(e)) => alike(a.re, e.re) && alike(a.im, e.im),
        _ => a == e,
    })
}

fn compare_by(actual: &Tensor, expected: &Tensor, same: impl Fn(Scalar, Scalar) -> bool) -> Result<(), String> {
    if actual.dtype() != expected.dtype() {
        return Err(format!("dtype {} instead of {}", actual.dtype(), expected.dtype()));
    }
    if actual.shape() != expected.shape() {
        return Err(format!("shape {} instead of {}", actual.shape(), expected.shape()));
    }
    match actual.dtype() {
        DataType::String => differences::<TString>(actual, expected, |x, y| x == y),
        dtype => dispatch_pod!(dtype, T => {
            differences::<T>(actual, expected, |x, y| same(x.to_scalar(), y.to_scalar()))
        })
        .unwrap_or_else(|| Err(format!("{dtype} elements cannot be compared"))),
    }
}

fn differences<T: Element>(actual: &Tensor, expected: &Tensor, same: impl Fn(&T, &T) -> bool) -> Result<(), String> {
    let slices = (actual.as_slice::<T>(), expected.as_slice::<T>());
    let (Ok(a), Ok(e)) = slices else { return Err("the elements cannot be read".to_owned()) };
    let mut wrong = (0..a.len()).filter(|&i| !same(&a[i], &e[i]));
    let Some(first) = wrong.next() else { return Ok(()) };
    Err(told(1 + wrong.count(), actual, first, [&a[first], &e[first]]))
}

/// How many elements differ, and the first of them.
fn told(count: usize, actual: &Tensor, first: usize, elements: [&dyn Debug; 2]) -> String {
    let (all, place, [actual, expected]) = (actual.num_elements(), place(actual.shape().dims(), first), elements);
    format!("{count} of {all} elements differ; the first is element {place}: {actual:?} instead of {expected:?}")
}

/// Where an element is, by its indices.
fn place(dims: &[usize], mut index: usize) -> String {
    let mut indices: Vec<usize> = dims.iter().rev().map(|dim| (index % dim, index /= dim).0).collect();
    indices.reverse();
    format!("{indices:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::IntoTensor;

    fn difference(actual: impl IntoTensor, expected: impl IntoTensor, tolerance: Tolerance) -> Result<(), String> {
        compare(&Tensor::new(actual).unwrap(), &Tensor::new(expected).unwrap(), tolerance)
    }

    #[test]
    fn what_is_equal() {
        let exact = Tolerance::EXACT;
        assert!(difference([1.0f32, f32::NAN, -0.0], [1.0f32, f32::NAN, 0.0], exact).is_ok());
        assert!(difference(["a", "b"], ["a", "b"], exact).is_ok());
        assert!(difference([100.0f32, 0.5], [101.0f32, 0.5], 0.01.into()).is_ok());
        assert!(difference([100i32], [101i32], 0.5.into()).is_err(), "integers are exact");
        assert!(difference(f64::INFINITY, f64::NEG_INFINITY, 1.0.into()).is_err());
        assert!(difference(1.0f32 + f32::EPSILON, 1.0f32, Tolerance::of(DataType::Float)).is_ok());
    }

    #[test]
    fn what_is_the_same_to_the_last_bit() {
        let [a, b] = [[1.0f32, f32::NAN, -0.0], [1.0, -f32::NAN, 0.0]].map(|values| Tensor::new(values).unwrap());
        assert!(compare_bits(&a, &a).is_ok());
        let said = "1 of 3 elements differ; the first is element [2]: -0.0 instead of 0.0";
        assert_eq!(compare_bits(&a, &b).unwrap_err(), said);
    }

    #[test]
    fn where_they_differ() {
        let exact = Tolerance::EXACT;
        let message = difference([[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 0, 0]], exact).unwrap_err();
        assert_eq!(message, "2 of 6 elements differ; the first is element [1, 1]: 5 instead of 0");
        assert_eq!(difference([1], [[1]], exact).unwrap_err(), "shape [1] instead of [1,1]");
        assert_eq!(difference(1u8, 1i8, exact).unwrap_err(), "dtype uint8 instead of int8");
        assert!(difference("a", "b", exact).unwrap_err().ends_with("element []: \"a\" instead of \"b\""));
    }
}
