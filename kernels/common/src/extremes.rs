//! The greater and the smaller of two numbers, by which of them is the result where one is NaN: TensorFlow's kernels differ in
//! this.

/// The greater; the first where one is NaN.
#[inline(always)]
pub fn max_or_first<T: PartialOrd>(first: T, second: T) -> T {
    if first < second { second } else { first }
}

/// The smaller; the first where one is NaN.
#[inline(always)]
pub fn min_or_first<T: PartialOrd>(first: T, second: T) -> T {
    if second < first { second } else { first }
}

/// The greater; the second where one is NaN.
#[inline(always)]
pub fn max_or_second<T: PartialOrd>(first: T, second: T) -> T {
    if first > second { first } else { second }
}

/// The smaller; the second where one is NaN.
#[inline(always)]
pub fn min_or_second<T: PartialOrd>(first: T, second: T) -> T {
    if first < second { first } else { second }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_is_named_is_left() {
        let all = |a: f32, b: f32| [max_or_first(a, b), min_or_first(a, b), max_or_second(a, b), min_or_second(a, b)];
        assert_eq!(all(1.0, 2.0), [2.0, 1.0, 2.0, 1.0]);
        assert_eq!(all(2.0, 1.0), [2.0, 1.0, 2.0, 1.0]);
        assert_eq!(all(f32::NAN, 1.0).map(f32::is_nan), [true, true, false, false]);
        assert_eq!(all(1.0, f32::NAN).map(f32::is_nan), [false, false, true, true]);
    }
}
