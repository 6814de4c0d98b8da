//! Sequences of numbers that are evenly spaced.

use super::integers::ensure_single;
use kernlink::dtype::{RealNumber, bf16, f16};
use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::tensor::Tensor;

/// A number of which sequences are made.
pub trait Progression: RealNumber {
    /// How many steps of `delta`, which is not 0 and goes the right way, lead from `start` to `limit`; `None` if they
    /// cannot be counted.
    fn steps(start: Self, limit: Self, delta: Self) -> Option<i64>;
}

macro_rules! integer_progressions {
    ($($t:ty),*) => {$(
        impl Progression for $t {
            fn steps(start: Self, limit: Self, delta: Self) -> Option<i64> {
                let range = (i128::from(limit) - i128::from(start)).unsigned_abs();
                i64::try_from(range.div_ceil(i128::from(delta).unsigned_abs())).ok()
            }
        }
    )*};
}
integer_progressions!(i32, i64);

macro_rules! float_progressions {
    ($($t:ty),*) => {$(
        impl Progression for $t {
            fn steps(start: Self, limit: Self, delta: Self) -> Option<i64> {
                // The quotient is rounded to the dtype, as TensorFlow's is.
                let count = f64::from((limit - start) / delta).abs().ceil();
                (count < i64::MAX as f64).then_some(count as i64)
            }
        }
    )*};
}
float_progressions!(f32, f64, f16, bf16);

/// The first number, the distance between neighbours, and how many there are before `limit`.
///
/// # Errors
/// INVALID_ARGUMENT if one is not given by one element, the distance is 0 or leads away, or they cannot be counted.
pub fn range<T: Progression>(start: &Tensor, limit: &Tensor, delta: &Tensor) -> Result<(T, T, usize)> {
    let value = |tensor: &Tensor, name: &str| {
        ensure_single(tensor, name)?;
        tensor.to_scalar::<T>()
    };
    let (start, limit, delta) = (value(start, "start")?, value(limit, "limit")?, value(delta, "delta")?);
    ensure!(delta != T::ZERO, InvalidArgument, "Requires delta != 0: {delta:?}");
    // What is not a number leads nowhere either.
    let ((from, to), (comparison, sign)) =
        if delta > T::ZERO { ((start, limit), ("<=", '>')) } else { ((limit, start), (">=", '<')) };
    let leads_there = from <= to;
    ensure!(leads_there, InvalidArgument, "Requires start {comparison} limit when delta {sign} 0: {start:?}/{limit:?}");
    let count = T::steps(start, limit, delta).and_then(|count| usize::try_from(count).ok()).ok_or_else(|| {
        Error::invalid_argument(format!(
            "Requires ((limit - start) / delta) <= {}, not ({limit:?} - {start:?}) / {delta:?}",
            i64::MAX
        ))
    })?;
    Ok((start, delta, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted() {
        let count = |start: i64, limit: i64, delta: i64| {
            let [start, limit, delta] = [start, limit, delta].map(Tensor::scalar);
            range::<i64>(&start, &limit, &delta).map(|(_, _, count)| count)
        };
        assert_eq!(count(0, 10, 3).unwrap(), 4);
        assert_eq!(count(10, 0, -5).unwrap(), 2);
        assert_eq!(count(3, 3, 1).unwrap(), 0);
        assert!(count(0, 10, 0).is_err());
        assert!(count(0, 10, -1).is_err());
        assert!(count(i64::MIN, i64::MAX, 1).is_err());
        assert_eq!(f32::steps(0.0, 1.0, 0.3), Some(4));
        assert_eq!(f32::steps(0.0, f32::INFINITY, 1.0), None);
    }
}
