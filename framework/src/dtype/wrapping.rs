//! Numbers whose integers wrap in every build.

use std::fmt;

use super::{DataType, Element, Number, Pod, Scalar, ScalarElement, Sealed};

/// A number that wraps on overflow as TensorFlow's integers do, whether or not overflow checks are on. Floats and complex
/// numbers are what they are without it.
///
/// It is an element of the dtype of `T`, so that a tensor's elements are seen through it where they lie:
///
/// ```
/// use kernlink_framework::dtype::{Number, Wrapping};
/// use kernlink_framework::tensor::Tensor;
///
/// fn squares<T: Number>(x: &mut Tensor) -> kernlink_framework::Result<()> {
///     x.as_mut_slice::<Wrapping<T>>()?.iter_mut().for_each(|x| *x = *x * *x);
///     Ok(())
/// }
/// let mut x = Tensor::vector(&[3, 1 << 16, i32::MAX])?;
/// squares::<i32>(&mut x)?;
/// assert_eq!(x.as_slice::<i32>()?, [9, 0, 1]);
/// # Ok::<(), kernlink_framework::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Wrapping<T>(pub T);

impl<T: fmt::Debug> fmt::Debug for Wrapping<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for Wrapping<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Number> Sealed for Wrapping<T> {}

impl<T: Number> Element for Wrapping<T> {
    const DTYPE: DataType = T::DTYPE;
}

// SAFETY: a transparent wrapper of a type that has what is asked for; no `Number` is a bool.
unsafe impl<T: Number> Pod for Wrapping<T> {}

impl<T: Number> ScalarElement for Wrapping<T> {
    #[inline]
    fn to_scalar(self) -> Scalar {
        self.0.to_scalar()
    }

    #[inline]
    fn from_scalar(value: Scalar) -> Option<Self> {
        T::from_scalar(value).map(Wrapping)
    }
}
